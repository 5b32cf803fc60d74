#include "decode/netlink.h"

#include "base/buf.h"
#include "decode/layout.h"
#include "decode/net.h"

#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#define ALIGNED(n) (((uint64_t)(n) + 3) & ~3ull)
/* Where the text of one call's messages ends: a program may send any number of them. */
#define TEXT_MOST (1u << 18)

LAYOUT_SAME(ifinfomsg, struct ifinfomsg, M(struct ifinfomsg, ifi_family, SOCK_DOMAIN),
	    M(struct ifinfomsg, ifi_type, ARPHRD), M(struct ifinfomsg, ifi_index, INT),
	    M(struct ifinfomsg, ifi_flags, IFF), M(struct ifinfomsg, ifi_change, IFF));
LAYOUT_SAME(ifaddrmsg, struct ifaddrmsg, M(struct ifaddrmsg, ifa_family, SOCK_DOMAIN),
	    M(struct ifaddrmsg, ifa_prefixlen, UINT), M(struct ifaddrmsg, ifa_flags, IFA_FLAGS),
	    M(struct ifaddrmsg, ifa_scope, RT_SCOPE), M(struct ifaddrmsg, ifa_index, UINT));
LAYOUT_SAME(rtmsg, struct rtmsg, M(struct rtmsg, rtm_family, SOCK_DOMAIN), M(struct rtmsg, rtm_dst_len, UINT),
	    M(struct rtmsg, rtm_src_len, UINT), M(struct rtmsg, rtm_tos, HEX), M(struct rtmsg, rtm_table, RT_TABLE),
	    M(struct rtmsg, rtm_protocol, RTPROT), M(struct rtmsg, rtm_scope, RT_SCOPE), M(struct rtmsg, rtm_type, RTN),
	    M(struct rtmsg, rtm_flags, RTM_F));

/* What an attribute holds, where it is more than bytes. */
enum attribute_form { BYTES, STRING, ADDRESS, NUMBER, IFA_BITS, MASK, TABLE };
struct attribute_row {
	uint16_t type;
	enum attribute_form form;
};

static const struct attribute_row link_rows[] = {
	{IFLA_EXT_MASK, MASK}, {IFLA_IFNAME, STRING},      {IFLA_QDISC, STRING},         {IFLA_IFALIAS, STRING},
	{IFLA_MTU, NUMBER},    {IFLA_LINK, NUMBER},        {IFLA_MASTER, NUMBER},        {IFLA_TXQLEN, NUMBER},
	{IFLA_GROUP, NUMBER},  {IFLA_PROMISCUITY, NUMBER}, {IFLA_NUM_TX_QUEUES, NUMBER}, {IFLA_NUM_RX_QUEUES, NUMBER},
};
static const struct attribute_row addr_rows[] = {
	{IFA_ADDRESS, ADDRESS}, {IFA_LOCAL, ADDRESS},  {IFA_BROADCAST, ADDRESS},
	{IFA_LABEL, STRING},    {IFA_FLAGS, IFA_BITS},
};
static const struct attribute_row route_rows[] = {
	{RTA_DST, ADDRESS}, {RTA_SRC, ADDRESS}, {RTA_GATEWAY, ADDRESS}, {RTA_PREFSRC, ADDRESS},
	{RTA_IIF, NUMBER},  {RTA_OIF, NUMBER},  {RTA_PRIORITY, NUMBER}, {RTA_TABLE, TABLE},
};

/* rtnetlink's families of messages (linux/rtnetlink.h): four types each, NEW, DEL, GET, SET. */
#define ROWS(r) r, sizeof(r) / sizeof(*(r))
static const struct family {
	uint16_t first;
	const struct layout *head;
	const struct flag_table *types;
	const struct attribute_row *rows;
	size_t n;
} families[] = {
	{RTM_NEWLINK, &layout_ifinfomsg, &flags_ifla, ROWS(link_rows)},
	{RTM_NEWADDR, &layout_ifaddrmsg, &flags_ifa, ROWS(addr_rows)},
	{RTM_NEWROUTE, &layout_rtmsg, &flags_rta, ROWS(route_rows)},
};

static enum attribute_form form_of(const struct family *f, uint16_t type)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->rows[i].type == type)
			return f->rows[i].form;
	return BYTES;
}

static void attribute_value(const struct decode *d, enum attribute_form form, uint64_t at, uint64_t n)
{
	static const enum syscall_kind numbers[] = {
		[NUMBER] = K_UINT, [IFA_BITS] = K_IFA_FLAGS, [MASK] = K_RTEXT_FILTER, [TABLE] = K_RT_TABLE};
	uint32_t v;
	if (form == STRING)
		decode_string(d, at, n);
	else if (form == ADDRESS && n == 4 && decode_get(d, at, &v, 4))
		show_kind(d, K_IN_ADDR, v, -1);
	else if (form == ADDRESS && n == 16)
		show_kind(d, K_IN6_ADDR, at, -1);
	else if (form >= NUMBER && n == 4 && decode_get(d, at, &v, 4))
		show_kind(d, numbers[form], v, -1);
	else
		decode_bytes(d, at, n);
}

/* A chain of attributes, each aligned to 4 bytes; the upper bits of a type are not part of its name. */
static void attributes(const struct decode *d, const struct family *f, uint64_t at, uint64_t n)
{
	struct nlattr a;
	size_t start = d->out->out->len;
	emit_open(d->out, '[');
	while (n >= sizeof(a) && decode_get(d, at, &a, sizeof(a))) {
		bool sane = a.nla_len >= sizeof(a) && a.nla_len <= n;
		if (d->out->out->len - start > TEXT_MOST / 2) {
			emit_more(d->out);
			break;
		}
		emit_element(d->out);
		emit_open(d->out, '[');
		emit_element(d->out);
		emit_open(d->out, '{');
		emit_field(d->out, "nla_len");
		emit_unum(d->out, a.nla_len);
		emit_field(d->out, "nla_type");
		flags_emit_choice(d->out, f->types, a.nla_type & NLA_TYPE_MASK);
		emit_close(d->out, '}');
		if (sane && a.nla_len > sizeof(a)) {
			emit_element(d->out);
			attribute_value(d, form_of(f, a.nla_type & NLA_TYPE_MASK), at + sizeof(a),
					a.nla_len - sizeof(a));
		}
		emit_close(d->out, ']');
		if (!sane || ALIGNED(a.nla_len) >= n)
			break;
		at += ALIGNED(a.nla_len);
		n -= ALIGNED(a.nla_len);
	}
	emit_close(d->out, ']');
}

/* The structure that a family's messages begin with; a request to list may be its family alone. */
static void route_payload(const struct decode *d, const struct family *f, uint64_t at, uint64_t n)
{
	layout_emit(d, f->head, at, n < f->head->size ? 1 : f->head->size);
	if (n <= ALIGNED(f->head->size))
		return;
	emit_element(d->out);
	attributes(d, f, at + ALIGNED(f->head->size), n - ALIGNED(f->head->size));
}

static const struct flag_table *types_of(int protocol, uint16_t type)
{
	if (type >= NLMSG_MIN_TYPE && protocol == NETLINK_ROUTE)
		return &flags_rtm;
	if (type >= NLMSG_MIN_TYPE && protocol == NETLINK_SOCK_DIAG)
		return &flags_sock_diag;
	return &flags_nlmsg_type;
}

/* The upper byte of the flags means another thing for requests that make, delete or list, and for acknowledgements. */
static const struct flag_table *flags_of(int protocol, uint16_t type)
{
	static const struct flag_table *const by_verb[] = {&flags_nlm_f_new, &flags_nlm_f_delete, &flags_nlm_f_get,
							   &flags_nlm_f};
	if (type == NLMSG_ERROR || type == NLMSG_DONE)
		return &flags_nlm_f_ack;
	if (type >= NLMSG_MIN_TYPE && protocol == NETLINK_ROUTE)
		return by_verb[type % 4];
	return protocol == NETLINK_SOCK_DIAG ? &flags_nlm_f_get : &flags_nlm_f;
}

static void header(const struct decode *d, const struct nlmsghdr *h, int protocol)
{
	emit_open(d->out, '{');
	emit_field(d->out, "nlmsg_len");
	emit_unum(d->out, h->nlmsg_len);
	emit_field(d->out, "nlmsg_type");
	flags_emit_choice(d->out, types_of(protocol, h->nlmsg_type), h->nlmsg_type);
	emit_field(d->out, "nlmsg_flags");
	flags_emit(d->out, flags_of(protocol, h->nlmsg_type), h->nlmsg_flags);
	emit_field(d->out, "nlmsg_seq");
	emit_unum(d->out, h->nlmsg_seq);
	emit_field(d->out, "nlmsg_pid");
	emit_unum(d->out, h->nlmsg_pid);
	emit_close(d->out, '}');
}

static void error(const struct decode *d, int protocol, uint64_t at, uint64_t n)
{
	struct nlmsgerr e;
	int32_t code;
	if (!decode_get(d, at, &code, sizeof(code))) {
		emit_ptr(d->out, at);
		return;
	}
	emit_open(d->out, '{');
	emit_field(d->out, "error");
	show_kind(d, K_NEGATIVE_ERRNO, (uint32_t)code, -1);
	if (n >= sizeof(e) && decode_get(d, at, &e, sizeof(e))) {
		emit_field(d->out, "msg");
		header(d, &e.msg, protocol);
	}
	emit_close(d->out, '}');
}

static void payload(const struct decode *d, const struct nlmsghdr *h, int protocol, uint64_t at, uint64_t n)
{
	uint32_t v;
	if (h->nlmsg_type == NLMSG_ERROR) {
		error(d, protocol, at, n);
		return;
	}
	if (h->nlmsg_type == NLMSG_DONE && n == sizeof(v) && decode_get(d, at, &v, sizeof(v))) {
		show_kind(d, K_NEGATIVE_ERRNO, v, -1);
		return;
	}
	for (size_t i = 0; protocol == NETLINK_ROUTE && i < sizeof(families) / sizeof(*families); i++)
		if (h->nlmsg_type / 4 == families[i].first / 4) {
			route_payload(d, &families[i], at, n);
			return;
		}
	decode_bytes(d, at, n);
}

static void message(const struct decode *d, const struct nlmsghdr *h, int protocol, uint64_t at, uint64_t n)
{
	if (n == sizeof(*h)) {
		header(d, h, protocol);
		return;
	}
	emit_open(d->out, '[');
	emit_element(d->out);
	header(d, h, protocol);
	emit_element(d->out);
	payload(d, h, protocol, at + sizeof(*h), n - sizeof(*h));
	emit_close(d->out, ']');
}

/* The header at `at`, where it is one of a message of at most `n` bytes. */
static bool get_header(const struct decode *d, uint64_t at, uint64_t n, struct nlmsghdr *h)
{
	return n >= sizeof(*h) && decode_get(d, at, h, sizeof(*h)) && h->nlmsg_len >= sizeof(*h) && h->nlmsg_len <= n;
}

bool decode_netlink(const struct decode *d, uint64_t addr, uint64_t n)
{
	struct nlmsghdr h;
	const struct names *names = d->opts->names;
	if (!names || !get_header(d, addr, n, &h))
		return false;
	int protocol = names->netlink(names->ctx, d->pid, (int)d->call->args[0]);
	if (protocol < 0)
		return false;
	bool several = ALIGNED(h.nlmsg_len) < n;
	size_t start = d->out->out->len;
	if (several)
		emit_open(d->out, '[');
	for (;;) {
		if (several)
			emit_element(d->out);
		message(d, &h, protocol, addr, h.nlmsg_len);
		uint64_t step = ALIGNED(h.nlmsg_len);
		if (step >= n)
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
