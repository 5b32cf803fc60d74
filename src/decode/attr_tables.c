/* SPDX-License-Identifier: MIT */
#include "decode/attr.h"
#include "decode/layout.h"
#include "decode/show.h"

#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

/* The structures in attributes. */
#define STATS(member, kind)                                                                                            \
	member(rx_packets, kind), member(tx_packets, kind), member(rx_bytes, kind), member(tx_bytes, kind),            \
		member(rx_errors, kind), member(tx_errors, kind), member(rx_dropped, kind), member(tx_dropped, kind),  \
		member(multicast, kind), member(collisions, kind), member(rx_length_errors, kind),                     \
		member(rx_over_errors, kind), member(rx_crc_errors, kind), member(rx_frame_errors, kind),              \
		member(rx_fifo_errors, kind), member(rx_missed_errors, kind), member(tx_aborted_errors, kind),         \
		member(tx_carrier_errors, kind), member(tx_fifo_errors, kind), member(tx_heartbeat_errors, kind),      \
		member(tx_window_errors, kind), member(rx_compressed, kind), member(tx_compressed, kind),              \
		member(rx_nohandler, kind)
static STRUCTURE_SAME(link_stats, STATS(M32, UINT));
static STRUCTURE_SAME(link_stats64, STATS(M64, ULONG), M64(rx_otherhost_dropped, ULONG));

static STRUCTURE_SAME(link_map, M64(mem_start, HEX), M64(mem_end, HEX), M64(base_addr, HEX), M16(irq, UINT),
		      M8(dma, UINT), M8(port, UINT));
static LAYOUT_SAME(ifa_cacheinfo, struct ifa_cacheinfo, (ifa_prefered, UINT), (ifa_valid, UINT), (cstamp, UINT),
		   (tstamp, UINT));
static LAYOUT_SAME(ifla_cacheinfo, struct ifla_cacheinfo, (max_reasm_len, UINT), (tstamp, UINT), (reachable_time, UINT),
		   (retrans_time, UINT));
static LAYOUT_SAME(rta_cacheinfo, struct rta_cacheinfo, (rta_clntref, UINT), (rta_lastuse, UINT), (rta_expires, INT),
		   (rta_error, UINT), (rta_used, UINT), (rta_id, HEX), (rta_ts, UINT), (rta_tsage, UINT));
static LAYOUT_SAME(rta_mfc_stats, struct rta_mfc_stats, (mfcs_packets, ULONG), (mfcs_bytes, ULONG),
		   (mfcs_wrong_if, ULONG));
static STRUCTURE_SAME(nda_cacheinfo, M32(ndm_confirmed, UINT), M32(ndm_used, UINT), M32(ndm_updated, UINT),
		      M32(ndm_refcnt, UINT));
static STRUCTURE_SAME(fra_uid_range, M32(start, UINT), M32(end, UINT));
static STRUCTURE_SAME(fra_port_range, M16(start, UINT), M16(end, UINT));
static STRUCTURE_SAME(bitfield32, M32(value, HEX), M32(selector, HEX));
static STRUCTURE_SAME(vlan_flags, M32(flags, HEX), M32(mask, HEX));
static STRUCTURE_SAME(vlan_qos, M32(from, UINT), M32(to, UINT));
static STRUCTURE_SAME(br_vlan_info, M16(flags, UINT), M16(vid, UINT));
static STRUCTURE_SAME(br_boolopt, M32(optval, HEX), M32(optmask, HEX));
static STRUCTURE_SAME(gnet_rate_est, M32(bps, UINT), M32(pps, UINT));

static STRUCTURE_SAME(tc_stats, M64(bytes, ULONG), M32(packets, UINT), M32(drops, UINT), M32(overlimits, UINT),
		      M32(bps, UINT), M32(pps, UINT), M32(qlen, UINT), M32(backlog, UINT));
static STRUCTURE_SAME(gnet_estimator, M8(interval, UINT), M8(ewma_log, UINT));
static STRUCTURE_SAME(gnet_basic, M64(bytes, ULONG), M32(packets, UINT));
static STRUCTURE_SAME(gnet_rate_est64, M64(bps, ULONG), M64(pps, ULONG));
static STRUCTURE_SAME(gnet_queue, M32(qlen, UINT), M32(backlog, UINT), M32(drops, UINT), M32(requeues, UINT),
		      M32(overlimits, UINT));

static STRUCTURE_SAME(inet_diag_meminfo, M32(idiag_rmem, UINT), M32(idiag_wmem, UINT), M32(idiag_fmem, UINT),
		      M32(idiag_tmem, UINT));
static STRUCTURE_SAME(tcpvegas_info, M32(tcpv_enabled, UINT), M32(tcpv_rttcnt, UINT), M32(tcpv_rtt, UINT),
		      M32(tcpv_minrtt, UINT));
static STRUCTURE_SAME(tcp_dctcp_info, M16(dctcp_enabled, UINT), M16(dctcp_ce_state, UINT), M32(dctcp_alpha, UINT),
		      M32(dctcp_ab_ecn, UINT), M32(dctcp_ab_tot, UINT));
static STRUCTURE_SAME(tcp_bbr_info, M32(bbr_bw_lo, HEX), M32(bbr_bw_hi, HEX), M32(bbr_min_rtt, UINT),
		      M32(bbr_pacing_gain, UINT), M32(bbr_cwnd_gain, UINT));
struct unix_vfs {
	uint32_t udiag_vfs_ino, udiag_vfs_dev;
};
static LAYOUT_SAME(unix_vfs, struct unix_vfs, (udiag_vfs_dev, KERNEL_DEV), (udiag_vfs_ino, UINT));
static STRUCTURE_SAME(unix_rqlen, M32(udiag_rqueue, UINT), M32(udiag_wqueue, UINT));
static STRUCTURE_SAME(packet_diag_info, M32(pdi_index, IFINDEX), M32(pdi_version, UINT), M32(pdi_reserve, UINT),
		      M32(pdi_copy_thresh, UINT), M32(pdi_tstamp, UINT), M32(pdi_flags, PDI_FLAGS));
static STRUCTURE_SAME(packet_diag_ring, M32(pdr_block_size, UINT), M32(pdr_block_nr, UINT), M32(pdr_frame_size, UINT),
		      M32(pdr_frame_nr, UINT), M32(pdr_retire_tmo, UINT), M32(pdr_sizeof_priv, UINT),
		      M32(pdr_features, HEX));

/* The tables of attrs.def. */

/* These show values that cannot be understood from their bytes alone. */
static attr_show attr_by_family, attr_by_kind, attr_link, attr_veth_peer, attr_bridge_id, attr_multipath, attr_via,
	attr_tcp_info, attr_inet_sockopt, attr_unix_name;
/* `about` of attr_by_family(): the table for messages of one address family, and the table for all others. */
struct attr_families {
	uint8_t family;
	const struct attr_table *attrs, *others;
};
/* `about` of attr_by_kind(): another attribute, of type `type`, contains a name. This name selects the table. */
struct attr_kind {
	const char *kind;
	const struct attr_table *attrs;
};
struct attr_kinds {
	uint16_t type;
	size_t n;
	const struct attr_kind *kinds;
};

/* The last members of a struct attr: size, kind, show, and `about`. */
#define BYTES           0, 0, NULL, NULL
#define STRING          0, 0, attr_string, NULL
#define MAC             0, 0, attr_mac, NULL
#define ADDRESS         0, 0, attr_address, NULL
#define VALUE(size, k)  size, K_##k, NULL, NULL
#define INDEX           VALUE(4, IFINDEX)
#define TICKS32         VALUE(4, TICKS)
#define TICKS64         VALUE(8, TICKS)
#define U8              VALUE(1, UINT)
#define U16             VALUE(2, UINT)
#define U32             VALUE(4, UINT)
#define U64             VALUE(8, ULONG)
#define S32             VALUE(4, INT)
#define S64             VALUE(8, LONG)
#define X16             VALUE(2, HEX)
#define X32             VALUE(4, HEX)
#define X64             VALUE(8, HEX)
#define BE16            VALUE(2, BE16)
#define BE32            VALUE(4, BE32)
#define BE64            VALUE(8, BE64)
#define ETHERTYPE       VALUE(2, ETHERTYPE)
#define FD              VALUE(4, FD)
#define PID             VALUE(4, PID)
#define UID             VALUE(4, UID)
#define CHOICE(size, t) size, 0, attr_choice, &flags_##t
#define BITS(size, t)   size, 0, attr_bits, &flags_##t
#define STRUCT(l)       0, 0, attr_struct, &layout_##l
#define GROWS(l)        0, 0, attr_struct_grows, &layout_##l
#define NUMBERS(size)                                                                                                  \
	0, 0, attr_numbers, &(const struct pointee)                                                                    \
	{                                                                                                              \
		size == 4 ? K_UINT : K_HEX, size                                                                       \
	}
#define NAMED(t, k, size, first)                                                                                       \
	0, 0, attr_named, &(const struct attr_names)                                                                   \
	{                                                                                                              \
		&flags_##t, K_##k, size, first                                                                         \
	}
#define NEST(t)     0, 0, attr_nest, &attrs_##t
#define LIST(t)     0, 0, attr_list, &attrs_##t
#define SHOW(f)     0, 0, attr_##f, NULL
#define HOLDS(f, t) 0, 0, attr_##f, &attrs_##t
#define BY_FAMILY(family, t, others)                                                                                   \
	0, 0, attr_by_family, &(const struct attr_families)                                                            \
	{                                                                                                              \
		family, &attrs_##t, &attrs_##others                                                                    \
	}
#define BY_KIND(type, kinds)                                                                                           \
	0, 0, attr_by_kind, &(const struct attr_kinds)                                                                 \
	{                                                                                                              \
		type, sizeof(kinds) / sizeof(*(kinds)), kinds                                                          \
	}

/* The tables for IFLA_INFO_DATA of each kind of link, and those for IFLA_INFO_SLAVE_DATA of the ports of such links. */
static const struct attr_kind link_kinds[] = {
	{"bond", &attrs_bond}, {"bridge", &attrs_bridge}, {"macvlan", &attrs_macvlan}, {"macvtap", &attrs_macvlan},
	{"tun", &attrs_tun},   {"veth", &attrs_veth},     {"vlan", &attrs_vlan},       {"vxlan", &attrs_vxlan},
};
static const struct attr_kind port_kinds[] = {{"bridge", &attrs_brport}};

#define ATTRS(name, unknown) static const struct attr rows_##name[] = {
#define A(name, type, ...)   {#name, type, __VA_ARGS__},
#define END                                                                                                            \
	}                                                                                                              \
	;
#include "decode/attrs.def"
#undef ATTRS
#undef A
#undef END

#define ATTRS(name, unknown_)                                                                                          \
	const struct attr_table attrs_##name = {                                                                       \
		.unknown = (unknown_), .n = sizeof(rows_##name) / sizeof(struct attr), .rows = rows_##name};
#define A(...)
#define END
#include "decode/attrs.def"

/*
 * Shows the contents of rtnetlink(7)'s attributes: structures, and values that cannot be understood from their bytes
 * alone.
 */
/* Used for messages about a link, and for the other end of a veth(4) pair. */
LAYOUT_SAME(ifinfomsg, struct ifinfomsg, (ifi_family, SOCK_DOMAIN), (ifi_type, ARPHRD), (ifi_index, IFINDEX),
	    (ifi_flags, IFF), (ifi_change, IFF));

/*
 * Shows an attribute whose table depends on the address family of the message. The family is the first member of each
 * structure.
 */
static bool attr_by_family(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at,
			   uint64_t n)
{
	const struct attr_families *f = about;
	uint8_t family;
	bool is = decode_get(d, chain->head, &family, sizeof(family)) && family == f->family;
	return attr_emit_inner(d, chain, is ? f->attrs : f->others, at, n);
}

/* Shows an attribute whose table depends on a name in a neighbouring attribute, such as IFLA_INFO_KIND. */
static bool attr_by_kind(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at,
			 uint64_t n)
{
	const struct attr_kinds *k = about;
	const struct attr_table *t = &attrs_unknown;
	char name[16] = "";
	uint64_t name_at, size;
	if (attr_find(d, chain, k->type, &name_at, &size) && size < sizeof(name) &&
	    decode_get(d, name_at, name, (size_t)size))
		for (size_t i = 0; i < k->n; i++)
			t = strcmp(k->kinds[i].kind, name) == 0 ? k->kinds[i].attrs : t;
	return attr_emit_inner(d, chain, t, at, n);
}

/*
 * Shows the index of another link. The name of that link is left out if it is in another network namespace, because the
 * name that this index has here would be wrong.
 */
static bool attr_link(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at,
		      uint64_t n)
{
	uint64_t index, other, size;
	(void)about;
	if (n != sizeof(uint32_t) || !attr_get_number(d, at, n, &index))
		return false;
	show_kind(d, attr_find(d, chain, IFLA_LINK_NETNSID, &other, &size) ? K_UINT : K_IFINDEX, index, -1);
	return true;
}

/* Shows the structure `l` at `at`, and the rest of the `n` bytes as attributes, which the table `about` describes. */
static void struct_and_attrs(const struct decode *d, const struct attr_chain *chain, const struct layout *l,
			     const void *about, uint64_t at, uint64_t n)
{
	emit_open(d->out, '[');
	emit_element(d->out);
	layout_emit(d, l, at, l->size);
	if (n > l->size) {
		emit_element(d->out);
		if (!attr_emit_inner(d, chain, about, at + l->size, n - l->size))
			decode_bytes(d, at + l->size, n - l->size);
	}
	emit_close(d->out, ']');
}

/* Shows the other end of a veth(4) pair: the structure of a link, and attributes. */
static bool attr_veth_peer(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at,
			   uint64_t n)
{
	if (n <= layout_ifinfomsg.size)
		return false;
	struct_and_attrs(d, chain, &layout_ifinfomsg, about, at, n);
	return true;
}

/* Shows a struct ifla_bridge_id: a priority and a hardware address. */
static bool attr_bridge_id(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at,
			   uint64_t n)
{
	(void)about;
	if (n != 8)
		return false;
	emit_open(d->out, '{');
	emit_field(d->out, "prio");
	decode_numbers(d, at, 2, 1, K_UINT);
	emit_field(d->out, "addr");
	if (!attr_mac(d, chain, NULL, at + 2, n - 2))
		emit_ptr(d->out, at + 2);
	emit_close(d->out, '}');
	return true;
}

struct via {
	uint16_t rtvia_family;
};
static bool attr_via(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at, uint64_t n)
{
	struct via v;
	(void)about;
	if (n <= sizeof(v) || !decode_get(d, at, &v, sizeof(v)))
		return false;
	emit_open(d->out, '{');
	show_field(d, "rtvia_family", K_SOCK_DOMAIN, v.rtvia_family);
	emit_field(d->out, "rtvia_addr");
	if (!attr_address(d, chain, NULL, at + sizeof(v), n - sizeof(v)))
		decode_bytes(d, at + sizeof(v), n - sizeof(v));
	emit_close(d->out, '}');
	return true;
}

static LAYOUT_SAME(rtnexthop, struct rtnexthop, (rtnh_len, UINT), (rtnh_flags, RTNH_F), (rtnh_hops, UINT),
		   (rtnh_ifindex, IFINDEX));

/*
 * Shows the next hops of a route. Each is a structure followed by attributes; the length in the structure includes the
 * attributes.
 */
static bool attr_multipath(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at,
			   uint64_t n)
{
	struct rtnexthop hop;
	if (n < sizeof(hop) || !decode_get(d, at, &hop, sizeof(hop)))
		return false;
	emit_open(d->out, '[');
	while (n >= sizeof(hop) && decode_get(d, at, &hop, sizeof(hop))) {
		uint64_t len = hop.rtnh_len >= sizeof(hop) && hop.rtnh_len <= n ? hop.rtnh_len : sizeof(hop);
		emit_element(d->out);
		struct_and_attrs(d, chain, &layout_rtnexthop, about, at, len);
		if (len != hop.rtnh_len || RTNH_ALIGN(len) >= n || attr_is_full(d, chain))
			break;
		at += RTNH_ALIGN(len);
		n -= RTNH_ALIGN(len);
	}
	emit_close(d->out, ']');
	return true;
}

/* Shows the contents of sock_diag(7)'s structures and attributes. */
static void address(const struct decode *d, const char *name, uint8_t family, const uint32_t *words, uint64_t at)
{
	emit_field(d->out, name);
	if (family == AF_INET6)
		show_kind(d, K_IN6_ADDR, at, -1);
	else
		show_kind(d, K_IN_ADDR, words[0], -1);
}

void show_inet_diag_id(const struct decode *d, const struct value *x)
{
	const unsigned *before = x->about;
	struct inet_id id;
	uint8_t family;
	if (!decode_get(d, x->v - *before, &family, sizeof(family)) || !decode_get(d, x->v, &id, sizeof(id))) {
		emit_ptr(d->out, x->v);
		return;
	}
	emit_open(d->out, '{');
	show_field(d, "idiag_sport", K_BE16, id.idiag_sport);
	show_field(d, "idiag_dport", K_BE16, id.idiag_dport);
	address(d, "idiag_src", family, id.idiag_src, x->v + offsetof(struct inet_id, idiag_src));
	address(d, "idiag_dst", family, id.idiag_dst, x->v + offsetof(struct inet_id, idiag_dst));
	show_field(d, "idiag_if", K_IFINDEX, id.idiag_if);
	show_field(d, "idiag_cookie", K_DIAG_COOKIE, x->v + offsetof(struct inet_id, idiag_cookie));
	emit_close(d->out, '}');
}

/* Shows one protocol, or NDIAG_PROTO_ALL for all of them (linux/netlink_diag.h). */
void show_ndiag_protocol(const struct decode *d, const struct value *x)
{
	if (x->v == 0xff)
		emit_sym(d->out, "NDIAG_PROTO_ALL", x->v);
	else
		flags_emit_choice(d->out, &flags_netlink_protocol, x->v);
}

/*
 * Shows the information about a TCP socket. The attribute may also contain the structure of another protocol. Only the
 * request, which is not available here, names the protocol, so this function checks the length. Since Linux 4.10, the
 * structure of TCP has between 192 and 280 bytes. That of MPTCP is shorter, and that of SCTP is longer.
 */
#define TCP_INFO_LEAST 192
#define TCP_INFO_MOST  280
static bool attr_tcp_info(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at,
			  uint64_t n)
{
	(void)chain, (void)about;
	if (n < TCP_INFO_LEAST || n > TCP_INFO_MOST)
		return false;
	layout_emit(d, &layout_tcp_info, at, n);
	return true;
}

/* Shows a struct inet_diag_sockopt, whose bits are in the order of this function's table. */
static bool attr_inet_sockopt(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at,
			      uint64_t n)
{
	static const char *const names[] = {"recverr",         "is_icsk",      "freebind",
					    "hdrincl",         "mc_loop",      "transparent",
					    "mc_all",          "nodefrag",     "bind_address_no_port",
					    "recverr_rfc4884", "defer_connect"};
	uint16_t bits;
	(void)chain, (void)about;
	if (n != sizeof(bits) || !decode_get(d, at, &bits, sizeof(bits)))
		return false;
	emit_open(d->out, '{');
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		emit_field(d->out, names[i]);
		emit_unum(d->out, bits >> i & 1);
	}
	emit_close(d->out, '}');
	return true;
}

/*
 * Shows the name of a socket: a path, which ends with a NUL byte, or an abstract name, which begins with one. A path of
 * 108 bytes fits into struct sockaddr_un only without its NUL byte, which the kernel adds.
 */
static bool attr_unix_name(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at,
			   uint64_t n)
{
	char name[108 + 1];
	(void)chain, (void)about;
	if (!n || n > sizeof(name) || !decode_get(d, at, name, (size_t)n))
		return false;
	if (name[0])
		emit_str(d->out, name, strnlen(name, (size_t)n), 0);
	else
		emit_str(d->out, name + 1, (size_t)n - 1, STRING_ABSTRACT);
	return true;
}
