/* SPDX-License-Identifier: MIT */
/* Shows addresses and options of sockets. */
#include "base/buf.h"
#include "decode/layout.h"
#include "decode/show.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Shows the addresses, the protocols and the options of sockets. */

/* As in linux/netlink.h, if_packet.h, vm_sockets.h, if_alg.h, can.h and the headers of bluetooth. */
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
/* The greatest length of an address that the kernel accepts (_K_SS_MAXSIZE of linux/socket.h). */
#define ADDRESS_MOST 128

struct address {
	size_t len; /* number of valid bytes */
	union {
		char bytes[ADDRESS_MOST]; /* the first member, so that an initialiser sets all bytes to 0 */
		uint16_t family;
		struct sockaddr_un un;
		struct address_netlink nl;
		struct address_packet ll;
		struct address_vsock vm;
		struct address_alg alg;
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

/* Addresses whose members are all shown by their kinds. */
static STRUCTURE_SAME(address_inet, M16(sa_family, SOCK_DOMAIN), M16(sin_port, BE16), M32(sin_addr, IN_ADDR));
static STRUCTURE_SAME(address_inet6, M16(sa_family, SOCK_DOMAIN), M16(sin6_port, BE16), M32(sin6_flowinfo, BE32),
		      ARRAY(uint8_t, sin6_addr, 16, IN6_ADDR), M32(sin6_scope_id, IFINDEX));
static STRUCTURE_SAME(address_can, M16(sa_family, SOCK_DOMAIN), SKIP16(pad), M32(can_ifindex, IFINDEX));
static STRUCTURE_SAME(address_xdp, M16(sa_family, SOCK_DOMAIN), M16(sxdp_flags, XDP_FLAGS), M32(sxdp_ifindex, IFINDEX),
		      M32(sxdp_queue_id, ULONG), M32(sxdp_shared_umem_fd, INT));

static const struct family {
	uint16_t family, least; /* `least` is the length of the shortest address that contains all members that are
				 * shown */
	address_fn *show;
	const struct layout *layout; /* instead of `show` */
} families[] = {
	{AF_INET, sizeof(struct kernel_address_inet), NULL, &layout_address_inet},
	{AF_INET6, sizeof(struct kernel_address_inet6), NULL, &layout_address_inet6},
	{AF_UNIX, sizeof(sa_family_t) + 1, address_unix, NULL},
	{AF_NETLINK, sizeof(struct address_netlink), address_netlink, NULL},
	{AF_PACKET, offsetof(struct address_packet, addr), address_packet, NULL},
	{AF_VSOCK, offsetof(struct address_vsock, zero), address_vsock, NULL},
	{AF_ALG, sizeof(struct address_alg), address_alg, NULL},
	{AF_CAN, sizeof(struct kernel_address_can), NULL, &layout_address_can},
	{AF_XDP, sizeof(struct kernel_address_xdp), NULL, &layout_address_xdp},
};

static const struct family *family_of(uint16_t family, size_t len)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++)
		if (families[i].family == family && len >= families[i].least)
			return &families[i];
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
	const struct family *f = family_of(a.family, n);
	if (f && f->layout) {
		layout_emit(d, f->layout, addr, f->layout->size);
		return;
	}
	emit_open(d->out, '{');
	show_field(d, "sa_family", K_SOCK_DOMAIN, a.family);
	if (f) {
		f->show(d, &a);
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

/* getsockopt(2) and setsockopt(2): the names of the options of each level, and the kinds of their values. */
STRUCTURE_SAME(ucred, M32(pid, PID), M32(uid, UID), M32(gid, UID));
static STRUCTURE_SAME(linger, M32(l_onoff, INT), M32(l_linger, INT));
static LAYOUT_SAME(ip_mreq, struct ip_mreq, (imr_multiaddr, IN_ADDR), (imr_interface, IN_ADDR));
static LAYOUT_SAME(ip_mreqn, struct ip_mreqn, (imr_multiaddr, IN_ADDR), (imr_address, IN_ADDR), (imr_ifindex, IFINDEX));
/* struct ipv6_mreq (linux/in6.h) */
static STRUCTURE_SAME(ipv6_mreq, INNER(struct in6_addr, ipv6mr_multiaddr, IN6_ADDR), M32(ipv6mr_ifindex, IFINDEX));
LAYOUT_SAME(in_pktinfo, struct in_pktinfo, (ipi_ifindex, IFINDEX), (ipi_spec_dst, IN_ADDR), (ipi_addr, IN_ADDR));
STRUCTURE_SAME(in6_pktinfo, INNER(struct in6_addr, ipi6_addr, IN6_ADDR), M32(ipi6_ifindex, IFINDEX));
static LAYOUT_SAME(tpacket_stats, struct tpacket_stats, (tp_packets, UINT), (tp_drops, UINT));
static LAYOUT_SAME(tpacket_req, struct tpacket_req, (tp_block_size, UINT), (tp_block_nr, UINT), (tp_frame_size, UINT),
		   (tp_frame_nr, UINT));
static LAYOUT_SAME(tpacket_stats_v3, struct tpacket_stats_v3, (tp_packets, UINT), (tp_drops, UINT),
		   (tp_freeze_q_cnt, UINT));
static LAYOUT_SAME(tpacket_req3, struct tpacket_req3, (tp_block_size, UINT), (tp_block_nr, UINT), (tp_frame_size, UINT),
		   (tp_frame_nr, UINT), (tp_retire_blk_tov, UINT), (tp_sizeof_priv, UINT), (tp_feature_req_word, HEX));
static STRUCTURE_SAME(packet_mreq, M32(mr_ifindex, IFINDEX), M16(mr_type, PACKET_MR), M16(mr_alen, UINT),
		      ARRAY(uint8_t, mr_address, 8, HARDWARE_ADDRESS));
static LAYOUT_SAME(ip_mreq_source, struct ip_mreq_source, (imr_multiaddr, IN_ADDR), (imr_interface, IN_ADDR),
		   (imr_sourceaddr, IN_ADDR));
/* struct group_req (linux/in.h) */
static STRUCTURE(group_req, M32(gr_interface, IFINDEX), SKIP32(pad), ARRAY(char, gr_group, 128, SOME_ADDRESS));
/* The value of options named ..._NEW, which is the same for all word sizes. */
STRUCTURE_SAME(new_timeval, M64(tv_sec, LONG), M64(tv_usec, LONG));
/* The beginning of struct tcp_info (linux/tcp.h). Newer kernels have more members. */
STRUCTURE_SAME(tcp_info, M8(tcpi_state, UINT), SKIP8(tcpi_ca_state), M8(tcpi_retransmits, UINT), SKIP8(tcpi_probes),
	       SKIP8(tcpi_backoff), SKIP8(tcpi_options), SKIP8(wscale), SKIP8(limited), M32(tcpi_rto, UINT),
	       SKIP32(tcpi_ato), M32(tcpi_snd_mss, UINT), SKIP32(tcpi_rcv_mss), M32(tcpi_unacked, UINT),
	       SKIP32(tcpi_sacked), M32(tcpi_lost, UINT), SKIP32(tcpi_retrans), SKIP32(tcpi_fackets),
	       SKIP32(tcpi_last_data_sent), SKIP32(tcpi_last_ack_sent), SKIP32(tcpi_last_data_recv),
	       SKIP32(tcpi_last_ack_recv), SKIP32(tcpi_pmtu), SKIP32(tcpi_rcv_ssthresh), M32(tcpi_rtt, UINT),
	       M32(tcpi_rttvar, UINT), SKIP32(tcpi_snd_ssthresh), M32(tcpi_snd_cwnd, UINT), SKIP32(tcpi_advmss),
	       SKIP32(tcpi_reordering));

#define AF_VSOCK_ 40 /* the level of the options of vsock(7) */

static const struct {
	uint32_t level;
	const struct flag_table *names;
} levels[] = {
	{1, &flags_so},
	{0, &flags_ip},
	{41, &flags_ipv6},
	{6, &flags_tcp},
	{17, &flags_udp},
	{263, &flags_packet},
	{270, &flags_netlink_option},
	{AF_VSOCK_, &flags_vsock_option},
	{282, &flags_tls},
	{279, &flags_alg},
	{283, &flags_xdp},
	{255, &flags_raw},
	{58, &flags_icmpv6},
};

const struct flag_table *sockopt_names(uint32_t level)
{
	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++)
		if (levels[i].level == level)
			return levels[i].names;
	return NULL;
}

/* Most levels are constants SOL_..., but vsock(7) uses its address family. */
void show_sol_level(const struct decode *d, const struct value *x)
{
	if ((uint32_t)x->v == AF_VSOCK_)
		emit_sym(d->out, "AF_VSOCK", AF_VSOCK_);
	else
		flags_emit_choice(d->out, &flags_sol, (uint32_t)x->v);
}

/* The previous argument is the level. */
void show_sockopt(const struct decode *d, const struct value *x)
{
	const struct flag_table *names = sockopt_names((uint32_t)d->call->args[x->arg - 1]);
	if (names)
		flags_emit_choice(d->out, names, (uint32_t)x->v);
	else
		emit_hex(d->out, (uint32_t)x->v);
}

/* As show_sockopt(). SO_ATTACH_FILTER has another name if it is read. */
void show_sockopt_read(const struct decode *d, const struct value *x)
{
	enum { SOCKET = 1, FILTER = 26 };
	if ((uint32_t)d->call->args[x->arg - 1] == SOCKET && (uint32_t)x->v == FILTER)
		emit_sym(d->out, "SO_GET_FILTER", FILTER);
	else
		show_sockopt(d, x);
}

/*
 * Options whose value is not a plain number: the kind of an int, or the layout of a structure. A structure is shown
 * only if the value is long enough for its layout. Of TCP_INFO, the members that the value has are shown.
 */
static const struct {
	uint32_t level, option;
	enum syscall_kind kind;
	const struct layout *layout;
} values[] = {
	{1, 13, K_END, &layout_linger},         /* SO_LINGER */
	{1, 17, K_END, &layout_ucred},          /* SO_PEERCRED */
	{1, 20, K_END, &layout_timeval},        /* SO_RCVTIMEO_OLD */
	{1, 21, K_END, &layout_timeval},        /* SO_SNDTIMEO_OLD */
	{1, 66, K_END, &layout_new_timeval},    /* SO_RCVTIMEO_NEW */
	{1, 67, K_END, &layout_new_timeval},    /* SO_SNDTIMEO_NEW */
	{1, 26, K_END, &layout_filter_program}, /* SO_ATTACH_FILTER */
	{1, 51, K_END, &layout_filter_program}, /* SO_ATTACH_REUSEPORT_CBPF */
	{1, 3, K_SOCK_TYPE, NULL},              /* SO_TYPE */
	{1, 4, K_ERRNO, NULL},                  /* SO_ERROR */
	{1, 38, K_IPPROTO, NULL},               /* SO_PROTOCOL */
	{1, 39, K_SOCK_DOMAIN, NULL},           /* SO_DOMAIN */
	{0, 35, K_END, &layout_ip_mreqn},       /* IP_ADD_MEMBERSHIP */
	{0, 36, K_END, &layout_ip_mreqn},       /* IP_DROP_MEMBERSHIP */
	{0, 37, K_END, &layout_ip_mreq_source}, /* IP_UNBLOCK_SOURCE */
	{0, 38, K_END, &layout_ip_mreq_source}, /* IP_BLOCK_SOURCE */
	{0, 39, K_END, &layout_ip_mreq_source}, /* IP_ADD_SOURCE_MEMBERSHIP */
	{0, 40, K_END, &layout_ip_mreq_source}, /* IP_DROP_SOURCE_MEMBERSHIP */
	{41, 20, K_END, &layout_ipv6_mreq},     /* IPV6_ADD_MEMBERSHIP */
	{41, 21, K_END, &layout_ipv6_mreq},     /* IPV6_DROP_MEMBERSHIP */
	{6, 11, K_END, &layout_tcp_info},       /* TCP_INFO */
	{263, 1, K_END, &layout_packet_mreq},   /* PACKET_ADD_MEMBERSHIP */
	{263, 2, K_END, &layout_packet_mreq},   /* PACKET_DROP_MEMBERSHIP */
	{263, 5, K_END, &layout_tpacket_req},   /* PACKET_RX_RING */
	{263, 13, K_END, &layout_tpacket_req},  /* PACKET_TX_RING */
	{263, 6, K_END, &layout_tpacket_stats}, /* PACKET_STATISTICS */
	{0, 42, K_END, &layout_group_req},      /* MCAST_JOIN_GROUP */
	{0, 45, K_END, &layout_group_req},      /* MCAST_LEAVE_GROUP */
	{41, 42, K_END, &layout_group_req},     /* MCAST_JOIN_GROUP */
	{41, 45, K_END, &layout_group_req},     /* MCAST_LEAVE_GROUP */
	{255, 1, K_ICMP_FILTER, NULL},          /* ICMP_FILTER */
	{AF_VSOCK_, 0, K_ULONG, NULL},          /* SO_VM_SOCKETS_BUFFER_SIZE */
	{AF_VSOCK_, 1, K_ULONG, NULL},          /* SO_VM_SOCKETS_BUFFER_MIN_SIZE */
	{AF_VSOCK_, 2, K_ULONG, NULL},          /* SO_VM_SOCKETS_BUFFER_MAX_SIZE */
};
#define NVALUES (sizeof(values) / sizeof(*values))

static size_t value_row(const struct decode *d, int i)
{
	size_t j = 0;
	while (j < NVALUES && (values[j].level != (uint32_t)d->call->args[i - 2] ||
			       values[j].option != (uint32_t)d->call->args[i - 1]))
		j++;
	return j;
}

/* Shows the types of messages that are discarded: ~[ICMP_ECHOREPLY] means all others. */
void show_icmp_filter(const struct decode *d, const struct value *x)
{
	auto_buf text = {0};
	bool most = __builtin_popcount((uint32_t)x->v) > 16;
	uint32_t mask = most ? ~(uint32_t)x->v : (uint32_t)x->v;
	buf_adds(&text, most ? "~[" : "[");
	for (unsigned type = 0, n = 0; type < 32; type++) {
		const char *name = flags_find(&flags_icmp, type);
		if (!(mask >> type & 1))
			continue;
		buf_adds(&text, n++ ? " " : "");
		if (name)
			buf_adds(&text, name);
		else
			buf_addf(&text, "%u", type);
	}
	buf_addc(&text, ']');
	emit_sym(d->out, buf_str(&text), (uint32_t)x->v);
}

/* Some options have several structures, and the length of the value says which one is meant. */
static const struct layout *of_length(const struct layout *l, uint64_t len)
{
	static const struct {
		const struct layout *usual, *other;
	} pairs[] = {{&layout_ip_mreqn, &layout_ip_mreq},
		     {&layout_tpacket_req, &layout_tpacket_req3},
		     {&layout_tpacket_stats, &layout_tpacket_stats_v3}};
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		if (l == pairs[i].usual && len == pairs[i].other->size)
			return pairs[i].other;
	return l;
}

static void value(const struct decode *d, uint64_t addr, uint64_t len, int i)
{
	size_t j = value_row(d, i);
	const struct layout *l =
		j < NVALUES && values[j].layout ? of_length(layout_for(d, values[j].layout), len) : NULL;
	bool number = j < NVALUES && !values[j].layout;
	uint32_t mask;
	if (l && len >= l->size)
		layout_emit(d, l, addr, l->size);
	else if (l && l == &layout_tcp_info)
		layout_emit(d, l, addr, len);
	else if (number && values[j].kind == K_ICMP_FILTER && len == sizeof(mask) &&
		 decode_get(d, addr, &mask, sizeof(mask)))
		show_kind(d, K_ICMP_FILTER, mask, -1);
	else if (len == sizeof(int))
		decode_number(d, addr, sizeof(int), number ? values[j].kind : K_INT);
	else if (number && len == sizeof(uint64_t))
		decode_number(d, addr, sizeof(uint64_t), values[j].kind);
	else
		decode_bytes(d, addr, len);
}

/* The next argument is the length of the value. The two arguments before the value are the level and the option. */
void show_sockopt_value(const struct decode *d, const struct value *x)
{
	uint32_t len = (uint32_t)d->call->args[x->arg + 1];
	if (len > INT32_MAX)
		emit_ptr(d->out, x->v);
	else
		value(d, x->v, len, x->arg);
}

/* The next argument points at the length of the value. */
void show_out_sockopt_value(const struct decode *d, const struct value *x)
{
	uint32_t len;
	if (decode_get(d, d->call->args[x->arg + 1], &len, sizeof(len)) && len <= INT32_MAX)
		value(d, x->v, len, x->arg);
	else
		emit_ptr(d->out, x->v);
}
