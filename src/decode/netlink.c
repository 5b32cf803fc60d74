#include "decode/netlink.h"

#include "base/buf.h"
#include "decode/attr.h"
#include "decode/layout.h"
#include "decode/rtnetlink.h"
#include "decode/show.h"
#include "decode/sock_diag.h"
#include "tracee/names.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>

#define ALIGNED(n) (((uint64_t)(n) + 3) & ~3ull)
/* The limit for the text of one call's messages. A program may send any number of messages. */
#define TEXT_MOST (1u << 18)

/* Emits the part of a message after its header. Returns false if this part must be shown as bytes. */
typedef bool payload_fn(const struct decode *d, const struct nlmsghdr *h, uint64_t at, uint64_t n);

static bool payload_route(const struct decode *d, const struct nlmsghdr *h, uint64_t at, uint64_t n)
{
	return decode_rtnetlink(d, h->nlmsg_type, at, n);
}

static bool payload_sock_diag(const struct decode *d, const struct nlmsghdr *h, uint64_t at, uint64_t n)
{
	return decode_sock_diag(d, h->nlmsg_flags & NLM_F_REQUEST, at, n);
}

/* Shows an audit record. It is text, which need not end with a NUL byte. */
static bool payload_audit(const struct decode *d, const struct nlmsghdr *h, uint64_t at, uint64_t n)
{
	(void)h;
	decode_bytes(d, at, n);
	return true;
}

struct generic {
	uint8_t cmd, version;
	uint16_t reserved;
};
static LAYOUT_SAME(genlmsghdr, struct generic, (cmd, UINT), (version, UINT));
static LAYOUT_SAME(genlmsghdr_ctrl, struct generic, (cmd, CTRL_CMD), (version, UINT));

/*
 * Shows a generic netlink message. The kernel assigns the numbers of families when they are registered, except for the
 * controller, which reports these numbers.
 */
static bool payload_generic(const struct decode *d, const struct nlmsghdr *h, uint64_t at, uint64_t n)
{
	bool ctrl = h->nlmsg_type == GENL_ID_CTRL;
	if (n < sizeof(struct generic))
		return false;
	attr_emit_message(d, ctrl ? &layout_genlmsghdr_ctrl : &layout_genlmsghdr, ctrl ? &attrs_ctrl : &attrs_unknown,
			  at, n);
	return true;
}

struct netfilter {
	uint8_t nfgen_family, version;
	uint16_t res_id;
};
static LAYOUT_SAME(nfgenmsg, struct netfilter, (nfgen_family, SOCK_DOMAIN), (version, UINT), (res_id, BE16));

static bool payload_netfilter(const struct decode *d, const struct nlmsghdr *h, uint64_t at, uint64_t n)
{
	(void)h;
	if (n < sizeof(struct netfilter))
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
	if (!names || !names->netlink || !get_header(d, addr, n, &h))
		return false;
	int protocol = names->netlink(names->ctx, d->pid, (int)d->call->args[0]);
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
