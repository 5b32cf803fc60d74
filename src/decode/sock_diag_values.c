/* Shows the contents of sock_diag(7)'s structures and attributes. */
#include "decode/attr.h"
#include "decode/layout.h"
#include "decode/sock_diag.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

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

struct four {
	uint32_t a, b, c, d;
};
#define FOUR(nm, na, nb, nc, nd)                                                                                       \
	LAYOUT_OF(nm, sizeof(struct four), &layout_##nm, {na, offsetof(struct four, a), 4, K_UINT, 0},                 \
		  {nb, offsetof(struct four, b), 4, K_UINT, 0}, {nc, offsetof(struct four, c), 4, K_UINT, 0},          \
		  {nd, offsetof(struct four, d), 4, K_UINT, 0})
FOUR(inet_diag_meminfo, "idiag_rmem", "idiag_wmem", "idiag_fmem", "idiag_tmem");
FOUR(tcpvegas_info, "tcpv_enabled", "tcpv_rttcnt", "tcpv_rtt", "tcpv_minrtt");
struct dctcp {
	uint16_t dctcp_enabled, dctcp_ce_state;
	uint32_t dctcp_alpha, dctcp_ab_ecn, dctcp_ab_tot;
};
LAYOUT_SAME(tcp_dctcp_info, struct dctcp, (dctcp_enabled, UINT), (dctcp_ce_state, UINT), (dctcp_alpha, UINT),
	    (dctcp_ab_ecn, UINT), (dctcp_ab_tot, UINT));
struct bbr {
	uint32_t bbr_bw_lo, bbr_bw_hi, bbr_min_rtt, bbr_pacing_gain, bbr_cwnd_gain;
};
LAYOUT_SAME(tcp_bbr_info, struct bbr, (bbr_bw_lo, HEX), (bbr_bw_hi, HEX), (bbr_min_rtt, UINT), (bbr_pacing_gain, UINT),
	    (bbr_cwnd_gain, UINT));
struct unix_vfs {
	uint32_t udiag_vfs_ino, udiag_vfs_dev;
};
LAYOUT_SAME(unix_vfs, struct unix_vfs, (udiag_vfs_dev, KERNEL_DEV), (udiag_vfs_ino, UINT));
struct unix_queue {
	uint32_t udiag_rqueue, udiag_wqueue;
};
LAYOUT_SAME(unix_rqlen, struct unix_queue, (udiag_rqueue, UINT), (udiag_wqueue, UINT));
struct packet_info {
	uint32_t pdi_index, pdi_version, pdi_reserve, pdi_copy_thresh, pdi_tstamp, pdi_flags;
};
LAYOUT_SAME(packet_diag_info, struct packet_info, (pdi_index, IFINDEX), (pdi_version, UINT), (pdi_reserve, UINT),
	    (pdi_copy_thresh, UINT), (pdi_tstamp, UINT), (pdi_flags, PDI_FLAGS));
struct packet_ring {
	uint32_t pdr_block_size, pdr_block_nr, pdr_frame_size, pdr_frame_nr, pdr_retire_tmo, pdr_sizeof_priv,
		pdr_features;
};
LAYOUT_SAME(packet_diag_ring, struct packet_ring, (pdr_block_size, UINT), (pdr_block_nr, UINT), (pdr_frame_size, UINT),
	    (pdr_frame_nr, UINT), (pdr_retire_tmo, UINT), (pdr_sizeof_priv, UINT), (pdr_features, HEX));

/*
 * Shows the information about a TCP socket. The attribute may also contain the structure of another protocol. Only the
 * request, which is not available here, names the protocol, so this function checks the length. Since Linux 4.10, the
 * structure of TCP has between 192 and 280 bytes. That of MPTCP is shorter, and that of SCTP is longer.
 */
#define TCP_INFO_LEAST 192
#define TCP_INFO_MOST  280
bool attr_tcp_info(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at, uint64_t n)
{
	(void)chain, (void)about;
	if (n < TCP_INFO_LEAST || n > TCP_INFO_MOST)
		return false;
	layout_emit(d, &layout_tcp_info, at, n);
	return true;
}

/* Shows a struct inet_diag_sockopt, whose bits are in the order of this function's table. */
bool attr_inet_sockopt(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at,
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
bool attr_unix_name(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at, uint64_t n)
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
