#include "tracee/sock_query.h"

#include "base/buf.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Requests select sockets in state TCP_BOUND_INACTIVE by this number; in the answers, their state is TCP_CLOSE. */
#define BOUND_INACTIVE 13

/* Reads an answer of `n` bytes. Returns true if this is the answer that the caller needs. */
typedef bool answer_fn(void *ctx, const void *answer, size_t n);

/*
 * Passes each answer in `bytes` to `look`, until `look` returns true. The kernel may send the answers in several parts,
 * and `bytes` is one part. Returns 1 if `look` returned true, 0 if more parts follow, -1 if this was the last part.
 */
static int look_at(const char *bytes, size_t n, answer_fn *look, void *ctx)
{
	const struct nlmsghdr *h = (const struct nlmsghdr *)bytes;
	for (; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
		if (h->nlmsg_type != SOCK_DIAG_BY_FAMILY)
			return -1;
		if (look(ctx, NLMSG_DATA(h), NLMSG_PAYLOAD(h, 0)))
			return 1;
		if (!(h->nlmsg_flags & NLM_F_MULTI))
			return -1;
	}
	return 0;
}

/* Sends the request, and passes each answer to `look` until it returns true. The answers are ready after send(2). */
static bool ask(const void *request, size_t size, uint16_t flags, answer_fn *look, void *ctx)
{
	_Alignas(struct nlmsghdr) char bytes[16384];
	struct nlmsghdr h = {.nlmsg_len = (uint32_t)(sizeof(h) + size),
			     .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			     .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags)};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (fd < 0)
		return false;
	memcpy(bytes, &h, sizeof(h));
	memcpy(bytes + sizeof(h), request, size);
	ssize_t n = send(fd, bytes, h.nlmsg_len, 0);
	int found = n == (ssize_t)h.nlmsg_len ? 0 : -1;
	while (!found && (n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
		found = look_at(bytes, (size_t)n, look, ctx);
	close(fd);
	return found > 0;
}

/* Finds the attribute of type `type` in the `n` bytes at `attrs`, and stores its value, a 32-bit number, in *v. */
static bool find_u32(const void *attrs, size_t n, uint16_t type, uint32_t *v)
{
	const struct rtattr *a = attrs;
	for (; RTA_OK(a, n); a = RTA_NEXT(a, n))
		if (a->rta_type == type && RTA_PAYLOAD(a) == sizeof(*v)) {
			memcpy(v, RTA_DATA(a), sizeof(*v));
			return true;
		}
	return false;
}

static bool is_peer(void *ctx, const void *answer, size_t n)
{
	uint32_t *peer = ctx;
	return n > sizeof(struct unix_diag_msg) &&
	       find_u32((const char *)answer + NLMSG_ALIGN(sizeof(struct unix_diag_msg)),
			n - NLMSG_ALIGN(sizeof(struct unix_diag_msg)), UNIX_DIAG_PEER, peer);
}

unsigned long sock_query_unix_peer(unsigned long inode)
{
	struct unix_diag_req request = {.sdiag_family = AF_UNIX,
					.udiag_states = UINT32_MAX,
					.udiag_ino = (uint32_t)inode,
					.udiag_show = UDIAG_SHOW_PEER,
					.udiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}};
	uint32_t peer = 0;
	return ask(&request, sizeof(request), 0, is_peer, &peer) ? peer : 0;
}

struct bound {
	unsigned long inode;
	struct inet_diag_msg found;
};

static bool is_bound(void *ctx, const void *answer, size_t n)
{
	struct bound *b = ctx;
	if (n < sizeof(b->found))
		return false;
	memcpy(&b->found, answer, sizeof(b->found));
	return b->found.idiag_inode == b->inode;
}

bool sock_query_tcp_bound(bool v6, unsigned long inode, struct buf *out)
{
	struct inet_diag_req_v2 request = {.sdiag_family = v6 ? AF_INET6 : AF_INET,
					   .sdiag_protocol = IPPROTO_TCP,
					   .idiag_states = 1u << BOUND_INACTIVE};
	struct bound b = {.inode = inode};
	char host[INET6_ADDRSTRLEN];
	if (!ask(&request, sizeof(request), NLM_F_DUMP, is_bound, &b) ||
	    !inet_ntop(request.sdiag_family, b.found.id.idiag_src, host, sizeof(host)))
		return false;
	buf_addf(out, v6 ? "[[%s]:%u]" : "[%s:%u]", host, ntohs(b.found.id.idiag_sport));
	return true;
}
