/* SPDX-License-Identifier: MIT */
#include "decode/attr.h"

#include "base/buf.h"
#include "decode/layout.h"

#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdio.h>

/* The limit for nested chains. The policies of the kernel allow fewer levels. */
#define DEPTH_MOST 8
/* The limit for the text of one message's attributes. A program may send any number of attributes. */
#define TEXT_MOST (1u << 17)
/* The greatest length of a hardware address (MAX_ADDR_LEN of linux/netdevice.h). */
#define MAC_MOST 32

const struct attr_table attrs_unknown = {.unknown = NULL};

#define ALIGNED(n) (((uint64_t)(n) + NLA_ALIGNTO - 1) & ~(uint64_t)(NLA_ALIGNTO - 1))

/* Reads the header of the attribute at `at`. Returns false if its length does not fit into the `n` available bytes. */
static bool get_attr(const struct decode *d, uint64_t at, uint64_t n, struct nlattr *a)
{
	return n >= sizeof(*a) && decode_get(d, at, a, sizeof(*a)) && a->nla_len >= sizeof(*a) && a->nla_len <= n;
}

static const struct attr *row_of(const struct attr_table *t, uint16_t type)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->rows[i].type == type)
			return &t->rows[i];
	return NULL;
}

/*
 * Appends the name of an attribute's type, such as NLA_F_NESTED|IFLA_LINKINFO. The two highest bits of a type are
 * flags.
 */
static void type_name(const struct decode *d, const struct attr_table *t, const struct attr *row, uint16_t type)
{
	static const struct flag flags[] = {{"NLA_F_NESTED|", NLA_F_NESTED},
					    {"NLA_F_NET_BYTEORDER|", NLA_F_NET_BYTEORDER}};
	auto_buf text = {0};
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		if (type & flags[i].value)
			buf_adds(&text, flags[i].name);
	if (row)
		buf_adds(&text, row->name);
	else
		buf_addf(&text, type & NLA_TYPE_MASK ? "%#x" : "%x", type & NLA_TYPE_MASK);
	emit_sym(d->out, buf_str(&text), type);
	if (!row && t->unknown)
		emit_comment(d->out, t->unknown);
}

static void header(const struct decode *d, const struct attr_table *t, const struct attr *row, const struct nlattr *a)
{
	emit_open(d->out, '{');
	show_field(d, "nla_len", K_ULONG, a->nla_len);
	emit_field(d->out, "nla_type");
	type_name(d, t, row, a->nla_type);
	emit_close(d->out, '}');
}

/* Shows the value of an attribute as its row says. Returns false if the value does not have the size in the row. */
static bool known_value(const struct decode *d, const struct attr_chain *chain, const struct attr *row, uint64_t at,
			uint64_t n)
{
	uint64_t v;
	if (row->size && row->size != n)
		return false;
	if (row->show)
		return row->show(d, chain, row->about, at, n);
	if (!row->size || !attr_get_number(d, at, n, &v))
		return false;
	show_kind(d, row->kind, v, -1);
	return true;
}

static void value(const struct decode *d, const struct attr_chain *chain, const struct attr_table *t,
		  const struct attr *row, const struct nlattr *a, uint64_t at)
{
	uint64_t n = a->nla_len - sizeof(*a);
	const struct attr_table *inner = t->each ? t->each : &attrs_unknown;
	bool nested = !row && (t->each || a->nla_type & NLA_F_NESTED);
	if (row ? known_value(d, chain, row, at, n) : nested && attr_emit_inner(d, chain, inner, at, n))
		return;
	decode_bytes(d, at, n);
}

/* Shows one attribute as [header, value]. Shows only the header if the attribute has no value or a wrong length. */
static void one(const struct decode *d, const struct attr_chain *chain, const struct attr_table *t,
		const struct nlattr *a, uint64_t at, bool sane)
{
	const struct attr *row = row_of(t, a->nla_type & NLA_TYPE_MASK);
	if (!sane || a->nla_len == sizeof(*a)) {
		header(d, t, row, a);
		return;
	}
	emit_open(d->out, '[');
	emit_element(d->out);
	header(d, t, row, a);
	emit_element(d->out);
	value(d, chain, t, row, a, at + sizeof(*a));
	emit_close(d->out, ']');
}

bool attr_is_full(const struct decode *d, const struct attr_chain *chain)
{
	return d->out->out->len - chain->begin > TEXT_MOST;
}

static void chain_emit(const struct decode *d, const struct attr_table *t, const struct attr_chain *chain)
{
	uint64_t at = chain->at, n = chain->n;
	struct nlattr a;
	if (n < sizeof(a) || !decode_get(d, at, &a, sizeof(a))) {
		decode_bytes(d, at, n);
		return;
	}
	bool several = get_attr(d, at, n, &a) && ALIGNED(a.nla_len) < n;
	if (several)
		emit_open(d->out, '[');
	for (;;) {
		bool sane = get_attr(d, at, n, &a);
		if (several)
			emit_element(d->out);
		one(d, chain, t, &a, at, sane);
		if (!sane || ALIGNED(a.nla_len) >= n)
			break;
		at += ALIGNED(a.nla_len);
		n -= ALIGNED(a.nla_len);
		if (attr_is_full(d, chain)) {
			emit_more(d->out);
			break;
		}
		if (n < sizeof(a) || !decode_get(d, at, &a, sizeof(a))) {
			emit_element(d->out);
			decode_bytes(d, at, n);
			break;
		}
	}
	if (several)
		emit_close(d->out, ']');
}

void attr_emit(const struct decode *d, const struct attr_table *t, uint64_t head, uint64_t at, uint64_t n)
{
	struct attr_chain chain = {.head = head, .at = at, .n = n, .begin = d->out->out->len};
	chain_emit(d, t, &chain);
}

void attr_emit_message(const struct decode *d, const struct layout *head, const struct attr_table *t, uint64_t at,
		       uint64_t n)
{
	uint64_t size = ALIGNED(head->size);
	layout_emit(d, head, at, n < head->size ? 1 : head->size);
	if (n <= size)
		return;
	emit_element(d->out);
	attr_emit(d, t, at, at + size, n - size);
}

bool attr_emit_inner(const struct decode *d, const struct attr_chain *chain, const struct attr_table *t, uint64_t at,
		     uint64_t n)
{
	struct attr_chain inner = {
		.head = chain->head, .at = at, .n = n, .depth = chain->depth + 1, .begin = chain->begin};
	struct nlattr first;
	if (inner.depth > DEPTH_MOST || !get_attr(d, at, n, &first))
		return false;
	chain_emit(d, t, &inner);
	return true;
}

bool attr_find(const struct decode *d, const struct attr_chain *chain, uint16_t type, uint64_t *at, uint64_t *n)
{
	uint64_t here = chain->at, left = chain->n;
	struct nlattr a;
	while (get_attr(d, here, left, &a)) {
		if ((a.nla_type & NLA_TYPE_MASK) == type) {
			*at = here + sizeof(a);
			*n = a.nla_len - sizeof(a);
			return true;
		}
		if (ALIGNED(a.nla_len) >= left)
			return false;
		here += ALIGNED(a.nla_len);
		left -= ALIGNED(a.nla_len);
	}
	return false;
}

bool attr_nest(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at, uint64_t n)
{
	return attr_emit_inner(d, chain, about, at, n);
}

/*
 * Shows a list of attributes. Their types are only index numbers, and each value is a chain that table `about`
 * describes.
 */
bool attr_list(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at, uint64_t n)
{
	const struct attr_table numbered = {.each = about};
	return attr_emit_inner(d, chain, &numbered, at, n);
}

bool attr_get_number(const struct decode *d, uint64_t at, uint64_t n, uint64_t *v)
{
	uint8_t v1;
	uint16_t v2;
	uint32_t v4;
	if (n == sizeof(v1) && decode_get(d, at, &v1, sizeof(v1)))
		*v = v1;
	else if (n == sizeof(v2) && decode_get(d, at, &v2, sizeof(v2)))
		*v = v2;
	else if (n == sizeof(v4) && decode_get(d, at, &v4, sizeof(v4)))
		*v = v4;
	else
		return n == sizeof(*v) && decode_get(d, at, v, sizeof(*v));
	return true;
}

bool attr_choice(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at, uint64_t n)
{
	uint64_t v;
	(void)chain;
	if (!attr_get_number(d, at, n, &v))
		return false;
	flags_emit_choice(d->out, about, v);
	return true;
}

bool attr_bits(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at, uint64_t n)
{
	uint64_t v;
	(void)chain;
	if (!attr_get_number(d, at, n, &v))
		return false;
	flags_emit(d->out, about, v);
	return true;
}

bool attr_string(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at, uint64_t n)
{
	(void)chain, (void)about;
	decode_string(d, at, n < d->opts->string_max ? (size_t)n : d->opts->string_max);
	return true;
}

/* Shows a hardware address of any length: 02:fc:00:00:00:01. */
bool attr_mac(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at, uint64_t n)
{
	uint8_t bytes[MAC_MOST];
	char text[3 * MAC_MOST + 1];
	(void)chain, (void)about;
	if (!n || n > sizeof(bytes) || !decode_get(d, at, bytes, (size_t)n))
		return false;
	for (size_t i = 0; i < n; i++)
		snprintf(text + 3 * i, 4, i + 1 < n ? "%02x:" : "%02x", bytes[i]);
	emit_sym(d->out, text, 0);
	return true;
}

bool attr_address(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at, uint64_t n)
{
	uint32_t v4;
	(void)chain, (void)about;
	if (n == sizeof(v4) && decode_get(d, at, &v4, sizeof(v4)))
		show_kind(d, K_IN_ADDR, v4, -1);
	else if (n == sizeof(struct in6_addr))
		show_kind(d, K_IN6_ADDR, at, -1);
	else
		return false;
	return true;
}

/* Shows a structure. It may be longer than the layout, because newer kernels add members. */
bool attr_struct(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at, uint64_t n)
{
	const struct layout *l = about;
	(void)chain;
	if (n < l->size)
		return false;
	layout_emit(d, l, at, n);
	return true;
}

/*
 * Shows a structure whose members have the same type. It may be shorter than the layout, because older kernels have
 * fewer members.
 */
bool attr_struct_grows(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at,
		       uint64_t n)
{
	const struct layout *l = about;
	(void)chain;
	if (n % l->members[0].size)
		return false;
	layout_emit(d, l, at, n);
	return true;
}

bool attr_numbers(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at, uint64_t n)
{
	const struct pointee *each = about;
	(void)chain;
	if (n % each->size)
		return false;
	decode_numbers(d, at, n / each->size, each->size, each->kind);
	return true;
}

struct named_walk {
	const struct attr_names *names;
	uint64_t next; /* the value whose name is that of the next element */
};

static void one_named(const struct decode *d, uint64_t addr, void *ctx)
{
	struct named_walk *w = ctx;
	const char *name = flags_find(w->names->names, w->next);
	uint64_t v;
	char text[80];
	if (!name)
		snprintf(text, sizeof(text), "[%u]=", (unsigned)(w->next - w->names->first));
	else if (!w->names->first)
		snprintf(text, sizeof(text), "[%s]=", name);
	else
		snprintf(text, sizeof(text), "[%s-%u]=", name, (unsigned)w->names->first);
	emit_wrap(d->out, text);
	w->next++;
	if (attr_get_number(d, addr, w->names->size, &v))
		show_kind(d, w->names->kind, v, -1);
	else
		emit_ptr(d->out, addr);
}

/*
 * Shows an array whose elements have names: [[DEVCONF_FORWARDING]=0, [DEVCONF_HOPLIMIT]=64]. JSON has no names here,
 * because the position identifies an element.
 */
bool attr_named(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at, uint64_t n)
{
	struct named_walk w = {.names = about, .next = ((const struct attr_names *)about)->first};
	(void)chain;
	if (n % w.names->size)
		return false;
	decode_array(d, at, n / w.names->size, w.names->size, one_named, &w);
	return true;
}
