/* SPDX-License-Identifier: MIT */
#include "tracee/names.h"

#include "base/buf.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * All states but TCP_TIME_WAIT: these sockets have no descriptor, and a machine may have thousands of them. States that
 * are newer than this program are included (TCP_BOUND_INACTIVE since Linux 6.8).
 */
#define STATES (~(1u << TCP_TIME_WAIT))

/* Reads an answer of `n` bytes. Returns true if this is the answer that the caller needs. */
typedef bool answer_fn(void *ctx, const void *answer, size_t n);

enum progress { MORE, FOUND, NONE, REFUSED };

/* Returns the meaning of a message that ends the answers. NLMSG_DONE contains an error if the kernel cannot answer. */
static enum progress end_of(const struct nlmsghdr *h)
{
	int32_t error = 0;
	if (h->nlmsg_type == NLMSG_DONE && NLMSG_PAYLOAD(h, 0) >= sizeof(error))
		memcpy(&error, NLMSG_DATA(h), sizeof(error));
	return h->nlmsg_type == NLMSG_DONE && !error ? NONE : REFUSED;
}

/* Passes each answer in `bytes`, one part of the answers, to `look`, until `look` returns true. */
static enum progress look_at(const char *bytes, size_t n, answer_fn *look, void *ctx)
{
	const struct nlmsghdr *h = (const struct nlmsghdr *)bytes;
	for (; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
		if (h->nlmsg_type != SOCK_DIAG_BY_FAMILY)
			return end_of(h);
		if (look(ctx, NLMSG_DATA(h), NLMSG_PAYLOAD(h, 0)))
			return FOUND;
		if (!(h->nlmsg_flags & NLM_F_MULTI))
			return NONE;
	}
	return MORE;
}

/* Sends the request, and passes each answer to `look` until it returns true. The answers are ready after send(2). */
static enum progress ask(const void *request, size_t size, uint16_t flags, answer_fn *look, void *ctx)
{
	_Alignas(struct nlmsghdr) char bytes[16384];
	struct nlmsghdr h = {.nlmsg_len = (uint32_t)(sizeof(h) + size),
			     .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			     .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags)};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (fd < 0)
		return REFUSED;
	memcpy(bytes, &h, sizeof(h));
	memcpy(bytes + sizeof(h), request, size);
	ssize_t n = send(fd, bytes, h.nlmsg_len, 0);
	enum progress p = n == (ssize_t)h.nlmsg_len ? MORE : REFUSED;
	while (p == MORE && (n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
		p = look_at(bytes, (size_t)n, look, ctx);
	close(fd);
	return p == MORE ? REFUSED : p;
}

/* Fills in what an attribute of the answer says. The kernel's length of a path includes the zero byte at its end. */
static void take_attribute(struct sock_query_unix *s, const struct rtattr *a)
{
	const char *at = RTA_DATA(a);
	const size_t n = RTA_PAYLOAD(a);
	uint32_t peer;
	if (a->rta_type == UNIX_DIAG_PEER && n == sizeof(peer)) {
		memcpy(&peer, at, sizeof(peer));
		s->peer = peer;
	} else if (a->rta_type == UNIX_DIAG_NAME && n && n <= sizeof(s->name)) {
		s->abstract = !*at;
		s->len = s->abstract ? n - 1 : strnlen(at, n);
		memcpy(s->name, at + s->abstract, s->len);
	}
}

static bool is_unix(void *ctx, const void *answer, size_t n)
{
	struct sock_query_unix *s = ctx;
	struct unix_diag_msg found;
	const size_t head = NLMSG_ALIGN(sizeof(found));
	if (n < head)
		return false;
	memcpy(&found, answer, sizeof(found));
	if (found.udiag_ino != s->inode)
		return false;
	const struct rtattr *a = (const void *)((const char *)answer + head);
	for (n -= head; RTA_OK(a, n); a = RTA_NEXT(a, n))
		take_attribute(s, a);
	return true;
}

bool sock_query_unix(struct sock_query_unix *s)
{
	struct unix_diag_req request = {.sdiag_family = AF_UNIX,
					.udiag_states = UINT32_MAX,
					.udiag_ino = (uint32_t)s->inode,
					.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER,
					.udiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}};
	*s = (struct sock_query_unix){.inode = s->inode};
	return ask(&request, sizeof(request), 0, is_unix, s) == FOUND;
}

struct inet {
	unsigned long inode;
	struct inet_diag_msg found;
};

static bool is_inet(void *ctx, const void *answer, size_t n)
{
	struct inet *i = ctx;
	if (n < sizeof(i->found))
		return false;
	memcpy(&i->found, answer, sizeof(i->found));
	return i->found.idiag_inode == i->inode;
}

/*
 * The kernel finds a TCP socket by its ends without a search. The inode shows whether they are still this socket's. For
 * UDP, the kernel expects the ends in reverse order, and its table is short.
 */
static enum progress find_inet(bool v6, int protocol, const struct inet_diag_sockid *known, struct inet *i)
{
	struct inet_diag_req_v2 request = {
		.sdiag_family = v6 ? AF_INET6 : AF_INET, .sdiag_protocol = (uint8_t)protocol, .idiag_states = STATES};
	if (protocol == IPPROTO_TCP && known->idiag_sport) {
		request.id = *known;
		if (ask(&request, sizeof(request), 0, is_inet, i) == FOUND)
			return FOUND;
	}
	request.id = (struct inet_diag_sockid){0};
	return ask(&request, sizeof(request), NLM_F_DUMP, is_inet, i);
}

static void add_end(struct buf *out, uint8_t family, const void *address, uint16_t port)
{
	char host[INET6_ADDRSTRLEN];
	inet_ntop(family, address, host, sizeof(host));
	buf_addf(out, family == AF_INET6 ? "[%s]:%u" : "%s:%u", host, ntohs(port));
}

int sock_query_inet(bool v6, int protocol, unsigned long inode, struct inet_diag_sockid *ends, struct buf *out)
{
	struct inet i = {.inode = inode};
	enum progress p = find_inet(v6, protocol, ends, &i);
	if (p != FOUND)
		return p == NONE ? 0 : -1;
	*ends = i.found.id;
	buf_addc(out, '[');
	add_end(out, i.found.idiag_family, ends->idiag_src, ends->idiag_sport);
	if (ends->idiag_dport) {
		buf_adds(out, "->");
		add_end(out, i.found.idiag_family, ends->idiag_dst, ends->idiag_dport);
	}
	buf_addc(out, ']');
	return 1;
}

/* Appends an address, if it belongs to the family. */
static bool add_address(struct buf *out, uint8_t family, const void *address)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	memcpy(&v4, address, sizeof(v4));
	memcpy(&v6, address, sizeof(v6));
	if (v4.sin_family != family || (family != AF_INET && family != AF_INET6))
		return false;
	add_end(out, family, family == AF_INET ? (const void *)&v4.sin_addr : &v6.sin6_addr, v4.sin_port);
	return true;
}

bool sock_query_name(int protocol, const void *local, const void *peer, unsigned long inode, struct buf *out)
{
	struct sockaddr_in to;
	memcpy(&to, local, sizeof(to));
	const bool bound = to.sin_port != 0;
	const uint8_t family = (uint8_t)to.sin_family;
	const char *name = protocol == IPPROTO_TCP ? "TCP" : protocol == IPPROTO_RAW ? "RAW" : "UDP";
	buf_addf(out, "%s%s:[", name, family == AF_INET6 ? "v6" : "");
	if (!bound)
		buf_addf(out, "%lu", inode);
	else if (!add_address(out, family, local))
		return false;
	if (bound && peer) {
		buf_adds(out, "->");
		if (!add_address(out, family, peer))
			return false;
	}
	buf_addc(out, ']');
	return true;
}
