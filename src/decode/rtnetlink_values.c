/*
 * Shows the contents of rtnetlink(7)'s attributes: structures, and values that cannot be understood from their bytes
 * alone.
 */
#include "decode/attr.h"
#include "decode/layout.h"

#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>

/* Used for messages about a link, and for the other end of a veth(4) pair. */
LAYOUT_SAME(ifinfomsg, struct ifinfomsg, (ifi_family, SOCK_DOMAIN), (ifi_type, ARPHRD), (ifi_index, IFINDEX),
	    (ifi_flags, IFF), (ifi_change, IFF));

#define STATS(X)                                                                                                       \
	X(rx_packets), X(tx_packets), X(rx_bytes), X(tx_bytes), X(rx_errors), X(tx_errors), X(rx_dropped),             \
		X(tx_dropped), X(multicast), X(collisions), X(rx_length_errors), X(rx_over_errors), X(rx_crc_errors),  \
		X(rx_frame_errors), X(rx_fifo_errors), X(rx_missed_errors), X(tx_aborted_errors),                      \
		X(tx_carrier_errors), X(tx_fifo_errors), X(tx_heartbeat_errors), X(tx_window_errors),                  \
		X(rx_compressed), X(tx_compressed), X(rx_nohandler)
#define NAME(m) m
struct stats {
	uint32_t STATS(NAME);
};
struct stats64 {
	uint64_t STATS(NAME), rx_otherhost_dropped;
};
#define COUNT(m)   (m, UINT)
#define COUNT64(m) (m, ULONG)
LAYOUT_SAME(link_stats, struct stats, STATS(COUNT));
LAYOUT_SAME(link_stats64, struct stats64, STATS(COUNT64), COUNT64(rx_otherhost_dropped));

struct map {
	uint64_t mem_start, mem_end, base_addr;
	uint16_t irq;
	uint8_t dma, port;
};
LAYOUT_SAME(link_map, struct map, (mem_start, HEX), (mem_end, HEX), (base_addr, HEX), (irq, UINT), (dma, UINT),
	    (port, UINT));
LAYOUT_SAME(ifa_cacheinfo, struct ifa_cacheinfo, (ifa_prefered, UINT), (ifa_valid, UINT), (cstamp, UINT),
	    (tstamp, UINT));
LAYOUT_SAME(ifla_cacheinfo, struct ifla_cacheinfo, (max_reasm_len, UINT), (tstamp, UINT), (reachable_time, UINT),
	    (retrans_time, UINT));
LAYOUT_SAME(rta_cacheinfo, struct rta_cacheinfo, (rta_clntref, UINT), (rta_lastuse, UINT), (rta_expires, INT),
	    (rta_error, UINT), (rta_used, UINT), (rta_id, HEX), (rta_ts, UINT), (rta_tsage, UINT));
LAYOUT_SAME(rta_mfc_stats, struct rta_mfc_stats, (mfcs_packets, ULONG), (mfcs_bytes, ULONG), (mfcs_wrong_if, ULONG));
struct neighbour_cache {
	uint32_t ndm_confirmed, ndm_used, ndm_updated, ndm_refcnt;
};
LAYOUT_SAME(nda_cacheinfo, struct neighbour_cache, (ndm_confirmed, UINT), (ndm_used, UINT), (ndm_updated, UINT),
	    (ndm_refcnt, UINT));

/* Several structures consist of two numbers of the same size. Only the names of the members differ. */
struct pair16 {
	uint16_t a, b;
};
struct pair32 {
	uint32_t a, b;
};
#define PAIR(nm, type, first, second, k)                                                                               \
	LAYOUT_OF(nm, sizeof(struct type), &layout_##nm,                                                               \
		  {first, offsetof(struct type, a), sizeof(((struct type *)0)->a), K_##k, 0},                          \
		  {second, offsetof(struct type, b), sizeof(((struct type *)0)->b), K_##k, 0})
PAIR(fra_uid_range, pair32, "start", "end", UINT);
PAIR(fra_port_range, pair16, "start", "end", UINT);
PAIR(bitfield32, pair32, "value", "selector", HEX);
PAIR(vlan_flags, pair32, "flags", "mask", HEX);
PAIR(vlan_qos, pair32, "from", "to", UINT);
PAIR(br_vlan_info, pair16, "flags", "vid", UINT);
PAIR(br_boolopt, pair32, "optval", "optmask", HEX);
PAIR(gnet_rate_est, pair32, "bps", "pps", UINT);

struct traffic {
	uint64_t bytes;
	uint32_t packets, drops, overlimits, bps, pps, qlen, backlog;
};
LAYOUT_SAME(tc_stats, struct traffic, (bytes, ULONG), (packets, UINT), (drops, UINT), (overlimits, UINT), (bps, UINT),
	    (pps, UINT), (qlen, UINT), (backlog, UINT));
struct estimator {
	int8_t interval;
	uint8_t ewma_log;
};
LAYOUT_SAME(gnet_estimator, struct estimator, (interval, UINT), (ewma_log, UINT));
struct basic {
	uint64_t bytes;
	uint32_t packets;
};
LAYOUT_SAME(gnet_basic, struct basic, (bytes, ULONG), (packets, UINT));
struct rate64 {
	uint64_t bps, pps;
};
LAYOUT_SAME(gnet_rate_est64, struct rate64, (bps, ULONG), (pps, ULONG));
struct queue {
	uint32_t qlen, backlog, drops, requeues, overlimits;
};
LAYOUT_SAME(gnet_queue, struct queue, (qlen, UINT), (backlog, UINT), (drops, UINT), (requeues, UINT),
	    (overlimits, UINT));

/*
 * Shows an attribute whose table depends on the address family of the message. The family is the first member of each
 * structure.
 */
bool attr_by_family(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at, uint64_t n)
{
	const struct attr_families *f = about;
	uint8_t family;
	bool is = decode_get(d, chain->head, &family, sizeof(family)) && family == f->family;
	return attr_emit_inner(d, chain, is ? f->attrs : f->others, at, n);
}

/* Shows an attribute whose table depends on a name in a neighbouring attribute, such as IFLA_INFO_KIND. */
bool attr_by_kind(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at, uint64_t n)
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
bool attr_link(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at, uint64_t n)
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
bool attr_veth_peer(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at, uint64_t n)
{
	if (n <= layout_ifinfomsg.size)
		return false;
	struct_and_attrs(d, chain, &layout_ifinfomsg, about, at, n);
	return true;
}

/* Shows a struct ifla_bridge_id: a priority and a hardware address. */
bool attr_bridge_id(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at, uint64_t n)
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
bool attr_via(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at, uint64_t n)
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
bool attr_multipath(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at, uint64_t n)
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
