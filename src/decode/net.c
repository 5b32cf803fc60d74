#include "decode/show.h"

#include "base/buf.h"
#include "decode/layout.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Socket addresses as in linux/netlink.h, if_packet.h, vm_sockets.h, if_alg.h, can.h and the headers of bluetooth. */
struct address_netlink {
	uint16_t family, pad;
	uint32_t pid, groups;
};
struct address_packet {
	uint16_t family, protocol;
	int32_t ifindex;
	uint16_t hatype;
	uint8_t pkttype, halen;
	uint8_t addr[8];
};
struct address_vsock {
	uint16_t family, reserved;
	uint32_t port, cid;
	uint8_t flags, zero[3];
};
struct address_alg {
	uint16_t family;
	char type[14];
	uint32_t feat, mask;
	char name[64];
};
struct address_can {
	uint16_t family, pad;
	int32_t ifindex;
};
struct address_xdp {
	uint16_t family, flags;
	uint32_t ifindex, queue, shared_fd;
};

/* The greatest length of an address that the kernel accepts (_K_SS_MAXSIZE of linux/socket.h). */
#define ADDRESS_MOST 128

struct address {
	size_t len; /* number of valid bytes */
	union {
		char bytes[ADDRESS_MOST]; /* the first member, so that an initialiser sets all bytes to 0 */
		uint16_t family;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
		struct address_netlink nl;
		struct address_packet ll;
		struct address_vsock vm;
		struct address_alg alg;
		struct address_can can;
		struct address_xdp xdp;
	};
};

typedef void address_fn(const struct decode *d, const struct address *a);

static void ip(struct emit *e, int family, const void *address)
{
	char text[INET6_ADDRSTRLEN];
	inet_ntop(family, address, text, sizeof(text));
	emit_wrap(e, family == AF_INET ? "inet_addr(" : "inet_pton(AF_INET6, ");
	emit_str(e, text, strlen(text), 0);
	emit_wrap(e, ")");
}

static void address_inet(const struct decode *d, const struct address *a)
{
	show_field(d, "sin_port", K_BE16, a->in.sin_port);
	show_field(d, "sin_addr", K_IN_ADDR, a->in.sin_addr.s_addr);
}

static void address_inet6(const struct decode *d, const struct address *a)
{
	show_field(d, "sin6_port", K_BE16, a->in6.sin6_port);
	show_field(d, "sin6_flowinfo", K_BE32, a->in6.sin6_flowinfo);
	emit_field(d->out, "sin6_addr");
	ip(d->out, AF_INET6, &a->in6.sin6_addr);
	show_field(d, "sin6_scope_id", K_IFINDEX, a->in6.sin6_scope_id);
}

static void address_unix(const struct decode *d, const struct address *a)
{
	struct emit *e = d->out;
	const char *path = a->un.sun_path;
	size_t n = a->len - offsetof(struct sockaddr_un, sun_path);
	emit_field(e, "sun_path");
	if (!path[0])
		emit_str(e, path + 1, n - 1, STRING_ABSTRACT);
	else
		emit_str(e, path, strnlen(path, n), 0);
}

static void address_netlink(const struct decode *d, const struct address *a)
{
	show_field(d, "nl_pid", K_INT, a->nl.pid);
	emit_field(d->out, "nl_groups");
	char text[16];
	snprintf(text, sizeof(text), "%#08x", a->nl.groups);
	emit_sym(d->out, text, a->nl.groups);
}

static void address_packet(const struct decode *d, const struct address *a)
{
	struct emit *e = d->out;
	show_field(d, "sll_protocol", K_ETHERTYPE, a->ll.protocol);
	show_field(d, "sll_ifindex", K_IFINDEX, (uint32_t)a->ll.ifindex);
	show_field(d, "sll_hatype", K_ARPHRD, a->ll.hatype);
	emit_field(e, "sll_pkttype");
	flags_emit_choice(e, &flags_packet_type, a->ll.pkttype);
	show_field(d, "sll_halen", K_ULONG, a->ll.halen);
	emit_field(e, "sll_addr");
	emit_open(e, '[');
	for (unsigned i = 0; i < a->ll.halen && i < sizeof(a->ll.addr); i++) {
		emit_element(e);
		emit_hex(e, a->ll.addr[i]);
	}
	emit_close(e, ']');
}

static void address_vsock(const struct decode *d, const struct address *a)
{
	struct emit *e = d->out;
	emit_field(e, "svm_cid");
	if (flags_find(&flags_vsock_cid, a->vm.cid))
		flags_emit_choice(e, &flags_vsock_cid, a->vm.cid);
	else
		emit_hex(e, a->vm.cid);
	emit_field(e, "svm_port");
	if (a->vm.port == UINT32_MAX)
		emit_sym(e, "VMADDR_PORT_ANY", a->vm.port);
	else
		emit_hex(e, a->vm.port);
	show_field(d, "svm_flags", K_HEX, a->vm.flags);
}

static void address_alg(const struct decode *d, const struct address *a)
{
	struct emit *e = d->out;
	emit_field(e, "salg_type");
	emit_str(e, a->alg.type, strnlen(a->alg.type, sizeof(a->alg.type)), 0);
	show_field(d, "salg_feat", K_HEX, a->alg.feat);
	show_field(d, "salg_mask", K_HEX, a->alg.mask);
	emit_field(e, "salg_name");
	emit_str(e, a->alg.name, strnlen(a->alg.name, sizeof(a->alg.name)), 0);
}

static void address_can(const struct decode *d, const struct address *a)
{
	show_field(d, "can_ifindex", K_IFINDEX, (uint32_t)a->can.ifindex);
}

static void address_xdp(const struct decode *d, const struct address *a)
{
	show_field(d, "sxdp_flags", K_XDP_FLAGS, a->xdp.flags);
	show_field(d, "sxdp_ifindex", K_IFINDEX, a->xdp.ifindex);
	show_field(d, "sxdp_queue_id", K_ULONG, a->xdp.queue);
	show_field(d, "sxdp_shared_umem_fd", K_INT, a->xdp.shared_fd);
}

static const struct {
	uint16_t family, least; /* `least` is the length of the shortest address that contains all members that are
				 * shown */
	address_fn *show;
} families[] = {
	{AF_INET, offsetof(struct sockaddr_in, sin_zero), address_inet},
	{AF_INET6, sizeof(struct sockaddr_in6), address_inet6},
	{AF_UNIX, sizeof(sa_family_t) + 1, address_unix},
	{AF_NETLINK, sizeof(struct address_netlink), address_netlink},
	{AF_PACKET, offsetof(struct address_packet, addr), address_packet},
	{AF_VSOCK, offsetof(struct address_vsock, zero), address_vsock},
	{AF_ALG, sizeof(struct address_alg), address_alg},
	{AF_CAN, sizeof(struct address_can), address_can},
	{AF_XDP, sizeof(struct address_xdp), address_xdp},
};

static address_fn *address_of(uint16_t family, size_t len)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++)
		if (families[i].family == family && len >= families[i].least)
			return families[i].show;
	return NULL;
}

void decode_sockaddr(const struct decode *d, uint64_t addr, uint64_t len)
{
	struct address a = {.len = len < ADDRESS_MOST ? (size_t)len : ADDRESS_MOST};
	size_t n = a.len;
	if (len > INT32_MAX || n < sizeof(a.family) || !decode_get(d, addr, a.bytes, n)) {
		emit_ptr(d->out, addr);
		return;
	}
	address_fn *show = address_of(a.family, n);
	emit_open(d->out, '{');
	show_field(d, "sa_family", K_SOCK_DOMAIN, a.family);
	if (show) {
		show(d, &a);
	} else if (n > sizeof(a.family)) {
		emit_field(d->out, "sa_data");
		emit_str(d->out, a.bytes + sizeof(a.family), n - sizeof(a.family), 0);
	}
	emit_close(d->out, '}');
}

/* The next argument is the length of the address. */
void show_sockaddr(const struct decode *d, const struct value *x)
{
	decode_sockaddr(d, x->v, (uint32_t)d->call->args[x->arg + 1]);
}

/*
 * The next argument points at the length of the address. If the buffer is too short, the kernel writes only the
 * beginning of the address.
 */
void show_out_sockaddr(const struct decode *d, const struct value *x)
{
	uint32_t len;
	if (x->v && decode_get(d, d->call->args[x->arg + 1], &len, sizeof(len)) && len <= ADDRESS_MOST)
		decode_sockaddr(d, x->v, d->memo && d->memo->known && d->memo->length < len ? d->memo->length : len);
	else
		emit_ptr(d->out, x->v);
}

/* socket(2): two arguments earlier is the domain, which decides what the number of a protocol means. */
/* The names of protocols of each family. */
static const struct {
	uint32_t domain;
	const struct flag_table *names;
} protocols[] = {
	{AF_INET, &flags_ipproto},        {AF_INET6, &flags_ipproto}, {AF_NETLINK, &flags_netlink_protocol},
	{AF_BLUETOOTH, &flags_bluetooth}, {AF_CAN, &flags_can},       {43 /* AF_SMC */, &flags_smc},
};

void show_sock_proto(const struct decode *d, const struct value *x)
{
	uint32_t domain = (uint32_t)d->call->args[x->arg - 2];
	for (size_t i = 0; i < sizeof(protocols) / sizeof(*protocols); i++)
		if (protocols[i].domain == domain) {
			flags_emit_choice(d->out, protocols[i].names, (uint32_t)x->v);
			return;
		}
	if (domain == AF_PACKET && flags_find(&flags_ethertype, ntohs((uint16_t)x->v)))
		show_ethertype(d, x);
	else
		emit_num(d->out, (int32_t)x->v);
}

/* Shows an address whose length is not known. Only addresses of IPv4 and IPv6 are shown in full. */
void show_some_address(const struct decode *d, const struct value *x)
{
	uint16_t family;
	if (decode_need(d, x->v, &family, sizeof(family)))
		decode_sockaddr(d, x->v,
				family == AF_INET    ? sizeof(struct sockaddr_in)
				: family == AF_INET6 ? sizeof(struct sockaddr_in6)
						     : sizeof(family));
}

/* Shows a member that is in network byte order. */
void show_in_addr(const struct decode *d, const struct value *x)
{
	struct in_addr a = {.s_addr = (uint32_t)x->v};
	ip(d->out, AF_INET, &a);
}

void show_in6_addr(const struct decode *d, const struct value *x)
{
	struct in6_addr a;
	if (decode_need(d, x->v, &a, sizeof(a)))
		ip(d->out, AF_INET6, &a);
}
