/* SPDX-License-Identifier: MIT */

#include "base/buf.h"
#include "decode/attr.h"
#include "decode/layout.h"
#include "decode/show.h"
#include "tracee/names.h"

#include <linux/genetlink.h>
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#define ALIGNED(n) (((uint64_t)(n) + 3) & ~3ull)
/* The limit for the text of one call's messages. A program may send any number of messages. */
#define TEXT_MOST (1u << 18)

/* Emits the part of a message after its header. Returns false if this part must be shown as bytes. */
typedef bool payload_fn(const struct decode *d, const struct nlmsghdr *h, uint64_t at, uint64_t n);

/* rtnetlink(7): the structures at the beginning of messages. */
static LAYOUT_SAME(ifaddrmsg, struct ifaddrmsg, (ifa_family, SOCK_DOMAIN), (ifa_prefixlen, UINT),
		   (ifa_flags, IFA_FLAGS), (ifa_scope, RT_SCOPE), (ifa_index, IFINDEX));
static LAYOUT_SAME(rtmsg, struct rtmsg, (rtm_family, SOCK_DOMAIN), (rtm_dst_len, UINT), (rtm_src_len, UINT),
		   (rtm_tos, HEX), (rtm_table, RT_TABLE), (rtm_protocol, RTPROT), (rtm_scope, RT_SCOPE),
		   (rtm_type, RTN), (rtm_flags, RTM_F));
static STRUCTURE_SAME(ndmsg, M8(ndm_family, SOCK_DOMAIN), SKIP8(pad1), SKIP16(pad2), M32(ndm_ifindex, IFINDEX),
		      M16(ndm_state, NUD), M8(ndm_flags, NTF), M8(ndm_type, RTN));
static STRUCTURE_SAME(fib_rule_hdr, M8(family, SOCK_DOMAIN), M8(dst_len, UINT), M8(src_len, UINT), M8(tos, HEX),
		      M8(table, RT_TABLE), SKIP8(res1), SKIP8(res2), M8(action, FR_ACT), M32(flags, FIB_RULE));
static LAYOUT_SAME(tcmsg, struct tcmsg, (tcm_family, SOCK_DOMAIN), (tcm_ifindex, IFINDEX), (tcm_handle, HEX),
		   (tcm_parent, HEX), (tcm_info, HEX));
static LAYOUT_SAME(rtgenmsg, struct rtgenmsg, (rtgen_family, SOCK_DOMAIN));
static STRUCTURE_SAME(netconfmsg, M8(ncm_family, SOCK_DOMAIN));
static STRUCTURE_SAME(nhmsg, M8(nh_family, SOCK_DOMAIN), M8(nh_scope, RT_SCOPE), M8(nh_protocol, RTPROT), SKIP8(resvd),
		      M32(nh_flags, RTNH_F));
static STRUCTURE_SAME(if_stats_msg, M8(family, SOCK_DOMAIN), SKIP8(pad1), SKIP16(pad2), M32(ifindex, IFINDEX),
		      M32(filter_mask, HEX));

/* The families of rtnetlink's messages (linux/rtnetlink.h). Each has four types: NEW, DEL, GET, SET. */
static const struct {
	uint16_t first;
	const struct layout *head;
	const struct attr_table *attrs;
} route_families[] = {
	{RTM_NEWLINK, &layout_ifinfomsg, &attrs_ifla},
	{RTM_NEWADDR, &layout_ifaddrmsg, &attrs_ifa},
	{RTM_NEWROUTE, &layout_rtmsg, &attrs_rta},
	{RTM_NEWNEIGH, &layout_ndmsg, &attrs_nda},
	{RTM_NEWRULE, &layout_fib_rule_hdr, &attrs_fra},
	{RTM_NEWQDISC, &layout_tcmsg, &attrs_tca},
	{RTM_NEWTCLASS, &layout_tcmsg, &attrs_tca},
	{RTM_NEWTFILTER, &layout_tcmsg, &attrs_tca},
	{RTM_NEWNETCONF, &layout_netconfmsg, &attrs_netconfa},
	{RTM_NEWNSID, &layout_rtgenmsg, &attrs_netnsa},
	{RTM_NEWSTATS, &layout_if_stats_msg, &attrs_ifla_stats},
	{100 /* RTM_NEWCHAIN */, &layout_tcmsg, &attrs_tca},
	{104 /* RTM_NEWNEXTHOP */, &layout_nhmsg, &attrs_nha},
	{108 /* RTM_NEWLINKPROP */, &layout_ifinfomsg, &attrs_ifla},
};

static bool payload_route(const struct decode *d, const struct nlmsghdr *h, uint64_t at, uint64_t n)
{
	for (size_t i = 0; i < sizeof(route_families) / sizeof(*route_families); i++)
		if (h->nlmsg_type / 4 == route_families[i].first / 4) {
			attr_emit_message(d, route_families[i].head, route_families[i].attrs, at, n);
			return true;
		}
	return false;
}

/* sock_diag(7): requests and answers as in linux/inet_diag.h, unix_diag.h, netlink_diag.h and packet_diag.h. */
static STRUCTURE_SAME(inet_diag_req, M8(sdiag_family, SOCK_DOMAIN), M8(sdiag_protocol, IPPROTO),
		      M8(idiag_ext, INET_DIAG_EXT), SKIP8(pad), M32(idiag_states, TCP_STATES),
		      INNER(struct inet_id, id, INET_DIAG_ID_REQ));
static STRUCTURE_SAME(inet_diag_msg, M8(idiag_family, SOCK_DOMAIN), M8(idiag_state, TCP_STATE), M8(idiag_timer, UINT),
		      M8(idiag_retrans, UINT), INNER(struct inet_id, id, INET_DIAG_ID), M32(idiag_expires, UINT),
		      M32(idiag_rqueue, UINT), M32(idiag_wqueue, UINT), M32(idiag_uid, UID), M32(idiag_inode, UINT));

static STRUCTURE_SAME(unix_diag_req, M8(sdiag_family, SOCK_DOMAIN), M8(sdiag_protocol, UINT), SKIP16(pad),
		      M32(udiag_states, TCP_STATES), M32(udiag_ino, UINT), M32(udiag_show, UDIAG_SHOW),
		      ARRAY(uint32_t, udiag_cookie, 2, DIAG_COOKIE));
static STRUCTURE_SAME(unix_diag_msg, M8(udiag_family, SOCK_DOMAIN), M8(udiag_type, SOCK_TYPE),
		      M8(udiag_state, TCP_STATE), SKIP8(pad), M32(udiag_ino, UINT),
		      ARRAY(uint32_t, udiag_cookie, 2, DIAG_COOKIE));

static STRUCTURE_SAME(netlink_diag_req, M8(sdiag_family, SOCK_DOMAIN), M8(sdiag_protocol, NDIAG_PROTOCOL), SKIP16(pad),
		      M32(ndiag_ino, UINT), M32(ndiag_show, NDIAG_SHOW), ARRAY(uint32_t, ndiag_cookie, 2, DIAG_COOKIE));
static STRUCTURE_SAME(netlink_diag_msg, M8(ndiag_family, SOCK_DOMAIN), M8(ndiag_type, SOCK_TYPE),
		      M8(ndiag_protocol, NETLINK_PROTOCOL), M8(ndiag_state, TCP_STATE), M32(ndiag_portid, UINT),
		      M32(ndiag_dst_portid, UINT), M32(ndiag_dst_group, UINT), M32(ndiag_ino, UINT),
		      ARRAY(uint32_t, ndiag_cookie, 2, DIAG_COOKIE));

static STRUCTURE_SAME(packet_diag_req, M8(sdiag_family, SOCK_DOMAIN), M8(sdiag_protocol, UINT), SKIP16(pad),
		      M32(pdiag_ino, UINT), M32(pdiag_show, PDIAG_SHOW), ARRAY(uint32_t, pdiag_cookie, 2, DIAG_COOKIE));
static STRUCTURE_SAME(packet_diag_msg, M8(pdiag_family, SOCK_DOMAIN), M8(pdiag_type, SOCK_TYPE), M16(pdiag_num, ETH_P),
		      M32(pdiag_ino, UINT), ARRAY(uint32_t, pdiag_cookie, 2, DIAG_COOKIE));

static const struct diag_family {
	uint8_t family;
	const struct layout *request, *answer;
	const struct attr_table *request_attrs, *answer_attrs;
} diag_families[] = {
	{AF_INET, &layout_inet_diag_req, &layout_inet_diag_msg, &attrs_inet_diag_req, &attrs_inet_diag},
	{AF_INET6, &layout_inet_diag_req, &layout_inet_diag_msg, &attrs_inet_diag_req, &attrs_inet_diag},
	{AF_UNIX, &layout_unix_diag_req, &layout_unix_diag_msg, &attrs_unknown, &attrs_unix_diag},
	{AF_NETLINK, &layout_netlink_diag_req, &layout_netlink_diag_msg, &attrs_unknown, &attrs_netlink_diag},
	{AF_PACKET, &layout_packet_diag_req, &layout_packet_diag_msg, &attrs_unknown, &attrs_packet_diag},
};

static bool payload_sock_diag(const struct decode *d, const struct nlmsghdr *h, uint64_t at, uint64_t n)
{
	bool request = h->nlmsg_flags & NLM_F_REQUEST;
	uint8_t family;
	const struct diag_family *f = NULL;
	if (!n || !decode_get(d, at, &family, sizeof(family)))
		return false;
	for (size_t i = 0; i < sizeof(diag_families) / sizeof(*diag_families); i++)
		if (diag_families[i].family == family)
			f = &diag_families[i];
	const struct layout *head = !f ? NULL : request ? f->request : f->answer;
	if (!head || n < head->size)
		return false;
	attr_emit_message(d, head, request ? f->request_attrs : f->answer_attrs, at, n);
	return true;
}

/* Shows an audit record. It is text, which need not end with a NUL byte. */
static bool payload_audit(const struct decode *d, const struct nlmsghdr *h, uint64_t at, uint64_t n)
{
	(void)h;
	decode_bytes(d, at, n);
	return true;
}

static STRUCTURE_SAME(genlmsghdr, M8(cmd, UINT), M8(version, UINT), SKIP16(reserved));
static LAYOUT_SAME(genlmsghdr_ctrl, struct kernel_genlmsghdr, (cmd, CTRL_CMD), (version, UINT));

/*
 * Shows a generic netlink message. The kernel assigns the numbers of families when they are registered, except for the
 * controller, which reports these numbers.
 */
static bool payload_generic(const struct decode *d, const struct nlmsghdr *h, uint64_t at, uint64_t n)
{
	bool ctrl = h->nlmsg_type == GENL_ID_CTRL;
	if (n < sizeof(struct kernel_genlmsghdr))
		return false;
	attr_emit_message(d, ctrl ? &layout_genlmsghdr_ctrl : &layout_genlmsghdr, ctrl ? &attrs_ctrl : &attrs_unknown,
			  at, n);
	return true;
}

static STRUCTURE_SAME(nfgenmsg, M8(nfgen_family, SOCK_DOMAIN), M8(version, UINT), M16(res_id, BE16));

static bool payload_netfilter(const struct decode *d, const struct nlmsghdr *h, uint64_t at, uint64_t n)
{
	(void)h;
	if (n < sizeof(struct kernel_nfgenmsg))
		return false;
	attr_emit_message(d, &layout_nfgenmsg, &attrs_unknown, at, n);
	return true;
}

/*
 * What a message requests. This decides what the upper byte of its flags means (linux/netlink.h). The byte has no
 * meaning for VERB_SET, which therefore also stands for protocols whose requests are not known. VERB_OF_TYPE means that
 * the message type decides: rtnetlink has four types for each family of messages, in the order of the first four verbs.
 */
enum verb { VERB_NEW, VERB_DELETE, VERB_GET, VERB_SET, VERB_OF_TYPE };

static const struct protocol {
	int number;
	const struct flag_table *types;
	enum verb verb;
	payload_fn *payload;
} protocols[] = {
	{NETLINK_ROUTE, &flags_rtm, VERB_OF_TYPE, payload_route},
	{NETLINK_SOCK_DIAG, &flags_sock_diag, VERB_GET, payload_sock_diag},
	{NETLINK_AUDIT, &flags_audit, VERB_SET, payload_audit},
	{NETLINK_XFRM, &flags_xfrm_msg, VERB_SET, NULL},
	{NETLINK_GENERIC, &flags_genl_id, VERB_GET, payload_generic},
	{NETLINK_NETFILTER, NULL, VERB_SET, payload_netfilter},
};
static const struct protocol unknown = {-1, &flags_nlmsg_type, VERB_SET, NULL};

static const struct protocol *protocol_of(int number)
{
	for (size_t i = 0; i < sizeof(protocols) / sizeof(*protocols); i++)
		if (protocols[i].number == number)
			return &protocols[i];
	return &unknown;
}

/*
 * Shows the type of a netfilter message, such as NFNL_SUBSYS_NFTABLES<<8|0x1. It consists of a subsystem and a number
 * of that subsystem.
 */
static void netfilter_type(const struct decode *d, uint16_t type)
{
	char text[64];
	const char *subsystem = flags_find(&flags_nfnl_subsys, type >> 8);
	if (subsystem)
		snprintf(text, sizeof(text), "%s<<8|%#x", subsystem, type & 0xff);
	else
		snprintf(text, sizeof(text), "%#x<<8|%#x", type >> 8, type & 0xff);
	emit_sym(d->out, text, type);
}

static void type_name(const struct decode *d, const struct protocol *p, uint16_t type)
{
	if (type < NLMSG_MIN_TYPE)
		flags_emit_choice(d->out, &flags_nlmsg_type, type);
	else if (p->types)
		flags_emit_choice(d->out, p->types, type);
	else
		netfilter_type(d, type);
}

/*
 * Returns the names of the flags in the upper byte. They are different for requests that create, delete or list, and
 * for acknowledgements.
 */
static const struct flag_table *flags_of(const struct protocol *p, uint16_t type)
{
	static const struct flag_table *const by_verb[] = {&flags_nlm_f_new, &flags_nlm_f_delete, &flags_nlm_f_get,
							   &flags_nlm_f};
	if (type == NLMSG_ERROR || type == NLMSG_DONE)
		return &flags_nlm_f_ack;
	if (type < NLMSG_MIN_TYPE)
		return &flags_nlm_f;
	return by_verb[p->verb == VERB_OF_TYPE ? type % 4 : p->verb];
}

static void header(const struct decode *d, const struct protocol *p, const struct nlmsghdr *h)
{
	emit_open(d->out, '{');
	show_field(d, "nlmsg_len", K_ULONG, h->nlmsg_len);
	emit_field(d->out, "nlmsg_type");
	type_name(d, p, h->nlmsg_type);
	emit_field(d->out, "nlmsg_flags");
	flags_emit(d->out, flags_of(p, h->nlmsg_type), h->nlmsg_flags);
	show_field(d, "nlmsg_seq", K_ULONG, h->nlmsg_seq);
	show_field(d, "nlmsg_pid", K_ULONG, h->nlmsg_pid);
	emit_close(d->out, '}');
}

static void content(const struct decode *d, const struct protocol *p, const struct nlmsghdr *h, uint64_t at, uint64_t n)
{
	if (!p->payload || !p->payload(d, h, at, n))
		decode_bytes(d, at, n);
}

/*
 * Shows the message that an error refers to: its header and, unless NLM_F_CAPPED is set, the rest of that message, of
 * which at most `n` bytes are available. Returns the aligned length of the rest that was shown.
 */
static uint64_t refused(const struct decode *d, const struct protocol *p, const struct nlmsghdr *about, bool capped,
			uint64_t at, uint64_t n)
{
	uint64_t rest = capped || about->nlmsg_len < sizeof(*about) ? 0 : about->nlmsg_len - sizeof(*about);
	rest = rest < n ? rest : n;
	if (!rest || about->nlmsg_type < NLMSG_MIN_TYPE) {
		header(d, p, about);
		return ALIGNED(rest);
	}
	emit_open(d->out, '[');
	emit_element(d->out);
	header(d, p, about);
	emit_element(d->out);
	content(d, p, about, at, rest);
	emit_close(d->out, ']');
	return ALIGNED(rest);
}

/* Shows an error: its number, the message that it refers to and, with NLM_F_ACK_TLVS, the explanation of the kernel. */
static void error(const struct decode *d, const struct protocol *p, const struct nlmsghdr *h, uint64_t at, uint64_t n)
{
	struct nlmsgerr e;
	int32_t code;
	if (n < sizeof(code) || !decode_get(d, at, &code, sizeof(code))) {
		decode_bytes(d, at, n);
		return;
	}
	emit_open(d->out, '{');
	show_field(d, "error", K_NEGATIVE_ERRNO, (uint32_t)code);
	uint64_t taken = n;
	if (n >= sizeof(e) && decode_get(d, at, &e, sizeof(e))) {
		emit_field(d->out, "msg");
		taken = sizeof(e) + refused(d, p, &e.msg, h->nlmsg_flags & NLM_F_CAPPED, at + sizeof(e), n - sizeof(e));
	}
	emit_close(d->out, '}');
	if (h->nlmsg_flags & NLM_F_ACK_TLVS && taken < n) {
		emit_element(d->out);
		attr_emit(d, &attrs_nlmsgerr, at, at + taken, n - taken);
	}
}

/* Shows the message at the end of a list. It may contain an error and an explanation of the kernel. */
static void done(const struct decode *d, const struct nlmsghdr *h, uint64_t at, uint64_t n)
{
	int32_t code;
	if (n < sizeof(code) || !decode_get(d, at, &code, sizeof(code))) {
		decode_bytes(d, at, n);
		return;
	}
	show_kind(d, K_NEGATIVE_ERRNO, (uint32_t)code, -1);
	if (h->nlmsg_flags & NLM_F_ACK_TLVS && n > sizeof(code)) {
		emit_element(d->out);
		attr_emit(d, &attrs_nlmsgerr, at, at + sizeof(code), n - sizeof(code));
	}
}

static void message(const struct decode *d, const struct nlmsghdr *h, const struct protocol *p, uint64_t at, uint64_t n)
{
	if (n <= sizeof(*h)) {
		header(d, p, h);
		return;
	}
	at += sizeof(*h);
	n -= sizeof(*h);
	emit_open(d->out, '[');
	emit_element(d->out);
	header(d, p, h);
	emit_element(d->out);
	if (h->nlmsg_type == NLMSG_ERROR)
		error(d, p, h, at, n);
	else if (h->nlmsg_type == NLMSG_DONE)
		done(d, h, at, n);
	else if (h->nlmsg_type < NLMSG_MIN_TYPE)
		decode_bytes(d, at, n);
	else
		content(d, p, h, at, n);
	emit_close(d->out, ']');
}

static bool get_header(const struct decode *d, uint64_t at, uint64_t n, struct nlmsghdr *h)
{
	return n >= sizeof(*h) && decode_get(d, at, h, sizeof(*h));
}

/* Returns true if the message that begins with `h` is completely within the `n` available bytes. */
static bool is_whole(const struct nlmsghdr *h, uint64_t n)
{
	return h->nlmsg_len >= sizeof(*h) && h->nlmsg_len <= n;
}

bool decode_netlink(const struct decode *d, uint64_t addr, uint64_t n)
{
	struct nlmsghdr h;
	const struct names *names = d->opts->names;
	int32_t protocol;
	if (!get_header(d, addr, n, &h))
		return false;
	if (!decode_get(d, CAPTURED_PROTOCOL_AT, &protocol, sizeof(protocol)))
		protocol = names && names->netlink ? names->netlink(names->ctx, d->pid, (int)d->call->args[0]) : -1;
	if (protocol < 0 || protocol == NETLINK_KOBJECT_UEVENT)
		return false;
	const struct protocol *p = protocol_of(protocol);
	bool several = is_whole(&h, n) && ALIGNED(h.nlmsg_len) < n;
	size_t start = d->out->out->len;
	if (several)
		emit_open(d->out, '[');
	for (;;) {
		bool whole = is_whole(&h, n);
		uint64_t step = ALIGNED(h.nlmsg_len);
		if (several)
			emit_element(d->out);
		/*
		 * If the buffer was too small, it contains only the beginning of the message. If the length in the
		 * header is invalid, nothing after the header is shown.
		 */
		message(d, &h, p, addr, whole ? h.nlmsg_len : h.nlmsg_len > n ? n : sizeof(h));
		if (!whole || step >= n)
			break;
		addr += step;
		n -= step;
		if (d->out->out->len - start > TEXT_MOST) {
			emit_more(d->out);
			break;
		}
		if (!get_header(d, addr, n, &h)) {
			emit_element(d->out);
			decode_bytes(d, addr, n);
			break;
		}
	}
	if (several)
		emit_close(d->out, ']');
	return true;
}
