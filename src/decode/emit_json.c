/* SPDX-License-Identifier: MIT */
#include "decode/emit.h"

#include "base/buf.h"
#include "base/escape.h"
#include "decode/decode.h"

#include <inttypes.h>
#include <string.h>

static void separate(struct emit *e)
{
	if (!e->first)
		buf_addc(e->out, ',');
	e->first = false;
}

/*
 * Returns the code point of the UTF-8 sequence at `s`, and sets *len to its length. Accepts only sequences that
 * escape_utf8_len() rejects because they are not printable. Returns -1 for all others.
 */
static int32_t unprintable_code(const unsigned char *s, size_t n, size_t *len)
{
	*len = s[0] < 0x80 ? 1 : (s[0] & 0xe0) == 0xc0 ? 2 : 3;
	if (*len > n || (*len == 3 && (s[0] & 0xf0) != 0xe0))
		return -1;
	int32_t code = *len == 1 ? s[0] : s[0] & (0x7f >> *len);
	for (size_t i = 1; i < *len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return -1;
		code = code << 6 | (s[i] & 0x3f);
	}
	if ((*len == 2 && code < 0x80) || (*len == 3 && code < 0x800) || (code >= 0xd800 && code < 0xe000))
		return -1;
	return code;
}

/*
 * Appends `s` with the escapes of JSON. If `s` is not UTF-8, returns false; the caller then removes what was appended.
 */
static bool add_utf8(struct buf *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t len = escape_plain_len(s + i, n - i);
		if (!len)
			len = escape_utf8_len(s + i, n - i);
		if (len == 1 && (s[i] == '"' || s[i] == '\\')) {
			buf_addc(out, '\\');
			buf_addc(out, s[i]);
		} else if (len) {
			buf_add(out, s + i, len);
		} else {
			int32_t code = unprintable_code((const unsigned char *)s + i, n - i, &len);
			if (code < 0)
				return false;
			buf_adds(out, "\\u");
			buf_add_bits(out, (uint32_t)code, 4, 4);
		}
		i += len;
	}
	return true;
}

/* Returns the length of `s` without an incomplete UTF-8 character at its end. */
static size_t whole_characters(const char *s, size_t n)
{
	for (size_t back = 1; back <= 3 && back <= n; back++) {
		unsigned char c = (unsigned char)s[n - back];
		if ((c & 0xc0) == 0x80)
			continue;
		size_t len = (c & 0xe0) == 0xc0 ? 2 : (c & 0xf0) == 0xe0 ? 3 : (c & 0xf8) == 0xf0 ? 4 : 1;
		return len > back ? n - back : n;
	}
	return n;
}

static void add_hex(struct buf *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_add_bits(out, (unsigned char)s[i], 4, 2);
}

static void json_string(struct emit *e, const char *s, size_t n, unsigned flags)
{
	bool cut = flags & STRING_CUT;
	size_t start = e->out->len;
	buf_adds(e->out, cut ? "{\"text\":\"" : "\"");
	if (flags & STRING_ABSTRACT)
		buf_adds(e->out, "\\u0000");
	if (!add_utf8(e->out, s, cut ? whole_characters(s, n) : n)) {
		buf_truncate(e->out, start);
		buf_adds(e->out, flags & STRING_ABSTRACT ? "{\"hex\":\"00" : "{\"hex\":\"");
		add_hex(e->out, s, n);
		buf_adds(e->out, cut ? "\"" : "\"}");
	} else {
		buf_addc(e->out, '"');
	}
	if (cut)
		buf_adds(e->out, ",\"cut\":true}");
}

/*
 * Appends a text of sctrace, or the name of a descriptor. It is always one string: bytes that are not UTF-8 become C
 * escapes.
 */
static void add_text(struct emit *e, const char *s)
{
	size_t start = e->out->len;
	buf_addc(e->out, '"');
	if (!add_utf8(e->out, s, strlen(s))) {
		auto_buf escaped = {0};
		buf_truncate(e->out, start);
		escape_line(&escaped, s, strlen(s));
		buf_addc(e->out, '"');
		add_utf8(e->out, buf_str(&escaped), escaped.len);
	}
	buf_addc(e->out, '"');
}

static void json_arg(struct emit *e, const char *name, uint64_t raw)
{
	buf_addc(e->out, '"');
	buf_adds(e->out, name);
	buf_adds(e->out, "\":{\"raw\":");
	buf_add_decimal(e->out, raw, 1);
	buf_adds(e->out, ",\"value\":");
	e->first = true;
}

static void json_arg_end(struct emit *e, bool last)
{
	buf_adds(e->out, last ? "}" : "},");
}

static void json_field(struct emit *e, const char *name, bool bare)
{
	(void)bare;
	separate(e);
	if (!name)
		return;
	buf_addc(e->out, '"');
	buf_adds(e->out, name);
	buf_adds(e->out, "\":");
}

static void json_open(struct emit *e, char bracket)
{
	uint64_t bit = 1ull << (e->depth++ & 63);
	e->objects = bracket == '{' ? e->objects | bit : e->objects & ~bit;
	buf_addc(e->out, bracket);
	e->first = true;
}

static void json_close(struct emit *e, char bracket)
{
	e->depth--;
	buf_addc(e->out, bracket);
	e->first = false;
}

static void json_number(struct emit *e, uint64_t v, enum emit_form form)
{
	if (form == FORM_SIGNED)
		buf_add_signed(e->out, (int64_t)v);
	else if (form == FORM_UNSIGNED)
		buf_add_decimal(e->out, v, 1);
	else if (form == FORM_POINTER && !v)
		buf_adds(e->out, "null");
	else if (form == FORM_OCTAL)
		buf_addf(e->out, "\"0%" PRIo64 "\"", v);
	else {
		buf_adds(e->out, "\"0x");
		buf_add_bits(e->out, v, 4, 1);
		buf_addc(e->out, '"');
	}
}

static void json_symbols(struct emit *e, const char *text, uint64_t raw)
{
	(void)raw;
	add_text(e, text);
}

static void json_signals(struct emit *e, uint64_t set)
{
	auto_buf text = {0};
	decode_signal_set(&text, set, true, false);
	add_text(e, buf_str(&text));
}

static void add_is(struct emit *e, const struct emit_is *is)
{
	buf_adds(e->out, ",\"is\":");
	add_text(e, is->name);
	if (is->device)
		buf_addf(e->out, ",\"device\":\"%s\"", is->device);
	if (is->deleted)
		buf_adds(e->out, ",\"deleted\":true");
}

static void json_descriptor(struct emit *e, int64_t fd, const char *name, const struct emit_is *is)
{
	if (is)
		buf_adds(e->out, "{\"fd\":");
	if (name)
		add_text(e, name);
	else
		buf_add_signed(e->out, fd);
	if (!is)
		return;
	add_is(e, is);
	buf_addc(e->out, '}');
}

static void json_index(struct emit *e, uint64_t v, const char *name)
{
	buf_addf(e->out, "{\"index\":%" PRIu64 ",\"name\":", v);
	add_text(e, name);
	buf_addc(e->out, '}');
}

static void json_more(struct emit *e)
{
	bool object = e->depth && e->objects >> ((e->depth - 1) & 63) & 1;
	separate(e);
	buf_adds(e->out, object ? "\"more\":true" : "\"...\"");
}

static void json_after(struct emit *e)
{
	buf_adds(e->out, ",\"after\":");
}

static void json_nothing(struct emit *e, const char *text)
{
	(void)e, (void)text;
}

static void json_result(struct emit *e, int64_t v, const char *error, const char *text)
{
	buf_adds(e->out, error && !text ? "\"result\":null" : "\"result\":");
	if (!error || text)
		buf_add_signed(e->out, v);
	if (!error || !text)
		return;
	buf_addf(e->out, ",\"errno\":\"%s\",\"error\":", error);
	add_text(e, text);
}

static void json_result_as(struct emit *e, uint64_t v, enum emit_form form)
{
	(void)form;
	buf_adds(e->out, "\"result\":");
	buf_add_signed(e->out, (int64_t)v);
}

/* A bit of emit.flags. It is set while the explanation of a result is an object. */
#define IN_FIELDS 1u

static void json_returned(struct emit *e, enum emit_returned part)
{
	if (part == RETURNED_END && e->flags & IN_FIELDS)
		buf_addc(e->out, '}');
	else if (part != RETURNED_END)
		buf_adds(e->out, part == RETURNED_FIELDS ? ",\"returned\":{" : ",\"returned\":");
	e->flags = part == RETURNED_FIELDS ? IN_FIELDS : 0;
	e->first = true;
}

static const struct emit_ops json_ops = {
	.arg = json_arg,
	.arg_end = json_arg_end,
	.field = json_field,
	.open = json_open,
	.close = json_close,
	.number = json_number,
	.string = json_string,
	.symbols = json_symbols,
	.signals = json_signals,
	.descriptor = json_descriptor,
	.index = json_index,
	.more = json_more,
	.after = json_after,
	.comment = json_nothing,
	.wrap = json_nothing,
	.result = json_result,
	.result_as = json_result_as,
	.result_is = add_is,
	.returned = json_returned,
};

void emit_json_init(struct emit *e, struct buf *out)
{
	*e = (struct emit){.ops = &json_ops, .out = out, .first = true};
}
