/* SPDX-License-Identifier: MIT */
#include "decode/emit.h"

#include "base/buf.h"
#include "base/escape.h"
#include "decode/decode.h"

#include <string.h>

/* Foreground colours of the terminal's palette, which match the terminal's background (ECMA-48, SGR). */
#define COLOUR_STRING "\033[32m"
#define COLOUR_SYMBOL "\033[36m"
#define COLOUR_ERROR  "\033[31m"
#define COLOUR_NOTE   "\033[2m"
#define COLOUR_OFF    "\033[0m"

/* A flag of struct emit beside enum emit_text_flags: the explanation of a result is shown. */
#define EXPLAINS_RESULT (1u << 31)

/* The characters of one or more names joined by |. */
#define NAME_BYTES "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_|<"

static void colour(struct emit *e, const char *sequence)
{
	if (e->flags & EMIT_COLOUR)
		buf_adds(e->out, sequence);
}

static void separate(struct emit *e)
{
	if (!e->first)
		buf_adds(e->out, ", ");
	e->first = false;
}

static void text_arg(struct emit *e, const char *name, uint64_t raw)
{
	(void)raw;
	if (e->flags & EMIT_ARG_NAMES) {
		buf_adds(e->out, name);
		buf_addc(e->out, '=');
	}
	e->first = true;
}

static void text_arg_end(struct emit *e, bool last)
{
	if (!last)
		buf_adds(e->out, ", ");
}

static void text_field(struct emit *e, const char *name, bool bare)
{
	separate(e);
	if (bare)
		return;
	buf_adds(e->out, name);
	buf_addc(e->out, e->depth ? '=' : ' '); /* no brackets are open in "(in [3], left {...})" */
}

static void text_open(struct emit *e, char bracket)
{
	buf_addc(e->out, bracket);
	e->first = true;
	e->depth++;
}

static void text_close(struct emit *e, char bracket)
{
	buf_addc(e->out, bracket);
	e->first = false;
	e->depth--;
}

/* FORM_OCTAL is the form in which strace shows a mode: at least three digits, of which the first is 0. */
static void text_number(struct emit *e, uint64_t v, enum emit_form form)
{
	if (form == FORM_SIGNED)
		buf_add_signed(e->out, (int64_t)v);
	else if (form == FORM_UNSIGNED)
		buf_add_decimal(e->out, v, 1);
	else if (form == FORM_POINTER && !v)
		buf_adds(e->out, "NULL");
	else if (form == FORM_OCTAL) {
		if (v > 077)
			buf_addc(e->out, '0');
		buf_add_bits(e->out, v, 3, 3);
	} else {
		if (v)
			buf_adds(e->out, "0x");
		buf_add_bits(e->out, v, 4, 1);
	}
}

static bool printable(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((unsigned char)s[i] < 0x20 && !(s[i] >= '\t' && s[i] <= '\r')) || (unsigned char)s[i] >= 0x7f)
			return false;
	return true;
}

static void text_string(struct emit *e, const char *s, size_t n, unsigned flags)
{
	bool hex =
		flags & STRING_HEX || e->flags & EMIT_HEX_STRINGS || (e->flags & EMIT_HEX_NONPRINT && !printable(s, n));
	colour(e, COLOUR_STRING);
	if (flags & STRING_ABSTRACT)
		buf_addc(e->out, '@');
	buf_addc(e->out, '"');
	escape_c(e->out, s, n, hex);
	buf_addc(e->out, '"');
	if (flags & STRING_CUT)
		buf_adds(e->out, "...");
	colour(e, COLOUR_OFF);
}

/*
 * Returns true if the text stands for one number: names of constants, the number of a device (makedev(0x1, 0x3)) and a
 * limit (8192*1024). Sets, dates, words ("Timeout") and addresses do not.
 */
static bool is_constants(const char *text)
{
	if (strncmp(text, "makedev(", 8) == 0 || strcmp(text + strspn(text, "0123456789"), "*1024") == 0)
		return true;
	const char *name = text + (strncmp(text, "1<<", 3) == 0 ? 3 : 0);
	name += strspn(name, "(_");
	if (name[0] < 'A' || name[0] > 'Z' || (name[1] >= 'a' && name[1] <= 'z'))
		return false;
	if (strncmp(text, "1<<", 3) == 0)
		return !text[strspn(text, NAME_BYTES "<()-")];
	const char *after = name + strspn(name, NAME_BYTES);
	return !*after || (*after == '(' && text[strlen(text) - 1] == ')');
}

/*
 * Shows a constant as a number in the form of strace: signals and limits in decimal, the type and mode of a file in
 * octal, and all others in hexadecimal.
 */
static void text_number_of(struct emit *e, const char *text, uint64_t raw)
{
	static const struct {
		const char *begins;
		enum emit_form form;
	} forms[] = {{"SIG_", FORM_HEX},        {"SIGEV_", FORM_HEX},
		     {"SIG", FORM_UNSIGNED},    {"RLIM64", FORM_UNSIGNED},
		     {"UTIME_", FORM_UNSIGNED}, {"KEY_SPEC_", FORM_SIGNED},
		     {"S_I", FORM_OCTAL},       {"", FORM_HEX}};
	size_t i = 0;
	while (strncmp(text, forms[i].begins, strlen(forms[i].begins)) != 0)
		i++;
	enum emit_form form = strchr(text, '*') ? FORM_UNSIGNED : forms[i].form;
	text_number(e, form == FORM_SIGNED ? (uint64_t)(int32_t)raw : raw, form);
}

static void text_comment(struct emit *e, const char *text)
{
	colour(e, COLOUR_NOTE);
	buf_addf(e->out, " /* %s */", text);
	colour(e, COLOUR_OFF);
}

/*
 * Shows a comment. If constants are shown as numbers, the comment that a constant has no name ("CAP_???") is left out.
 */
static void text_explain(struct emit *e, const char *text)
{
	if (!(e->flags & EMIT_RAW_NAMES && strstr(text, "???")))
		text_comment(e, text);
}

/* The explanation of a result, such as " (SIGTERM)", is a name in any case, because the number precedes it. */
static void text_symbols(struct emit *e, const char *text, uint64_t raw)
{
	bool explains = e->flags & EXPLAINS_RESULT && !e->depth;
	bool number = e->flags & (EMIT_RAW_NAMES | EMIT_BOTH_NAMES) && is_constants(text) && !explains;
	if (number)
		text_number_of(e, text, raw);
	if (number && e->flags & EMIT_BOTH_NAMES)
		text_comment(e, text);
	if (number)
		return;
	colour(e, COLOUR_SYMBOL);
	buf_adds(e->out, text);
	colour(e, COLOUR_OFF);
}

/*
 * A path is escaped here. In other names (TCP:[...->...], UNIX:[...,"..."], names of processes), the parts that the
 * program chose are already escaped.
 */
static void text_result_is(struct emit *e, const struct emit_is *is)
{
	const char *name = is->name;
	colour(e, COLOUR_NOTE);
	buf_addc(e->out, '<');
	if (name[0] == '/' || name[0] == '(')
		escape_angled(e->out, name, strlen(name), e->flags & EMIT_HEX_STRINGS);
	else
		escape_line(e->out, name, strlen(name));
	if (is->device) {
		buf_addc(e->out, '<');
		buf_adds(e->out, is->device);
		buf_addc(e->out, '>');
	}
	buf_adds(e->out, is->deleted ? ">(deleted)" : ">");
	colour(e, COLOUR_OFF);
}

static void text_signals(struct emit *e, uint64_t set)
{
	auto_buf text = {0};
	decode_signal_set(&text, set, !(e->flags & EMIT_RAW_NAMES), e->flags & (EMIT_RAW_NAMES | EMIT_BOTH_NAMES));
	text_symbols(e, buf_str(&text), set);
}

static void text_descriptor(struct emit *e, int64_t fd, const char *name, const struct emit_is *is)
{
	if (name && !(e->flags & (EMIT_RAW_NAMES | EMIT_BOTH_NAMES)))
		text_symbols(e, name, 0);
	else
		text_number(e, (uint64_t)fd, FORM_SIGNED);
	if (name && e->flags & EMIT_BOTH_NAMES)
		text_comment(e, name);
	if (is)
		text_result_is(e, is);
}

static void text_index(struct emit *e, uint64_t v, const char *name)
{
	auto_buf text = {0};
	buf_adds(&text, "if_nametoindex(\"");
	escape_c(&text, name, strlen(name), e->flags & EMIT_HEX_STRINGS);
	buf_adds(&text, "\")");
	if (e->flags & (EMIT_RAW_NAMES | EMIT_BOTH_NAMES))
		text_number(e, v, FORM_UNSIGNED);
	else
		buf_add(e->out, text.s, text.len);
	if (e->flags & EMIT_BOTH_NAMES)
		text_comment(e, buf_str(&text));
}

static void text_more(struct emit *e)
{
	separate(e);
	buf_adds(e->out, "...");
}

static void text_after(struct emit *e)
{
	buf_adds(e->out, " => ");
}

static void text_wrap(struct emit *e, const char *text)
{
	buf_adds(e->out, text);
}

static void text_result(struct emit *e, int64_t v, const char *error, const char *text)
{
	if (!error) {
		buf_add_signed(e->out, v);
		return;
	}
	colour(e, COLOUR_ERROR);
	buf_adds(e->out, v == -1 ? "-1 " : "?");
	if (v != -1 && text)
		buf_addc(e->out, ' ');
	if (text) {
		buf_adds(e->out, error);
		buf_adds(e->out, " (");
		buf_adds(e->out, text);
		buf_addc(e->out, ')');
	}
	colour(e, COLOUR_OFF);
}

static void text_returned(struct emit *e, enum emit_returned part)
{
	static const char *const parts[] = {
		[RETURNED_END] = ")", [RETURNED_BEGIN] = " (", [RETURNED_FLAGS] = " (flags ", [RETURNED_FIELDS] = " ("};
	buf_adds(e->out, parts[part]);
	e->first = true;
	e->flags = part == RETURNED_END ? e->flags & ~EXPLAINS_RESULT : e->flags | EXPLAINS_RESULT;
}

static const struct emit_ops text_ops = {
	.arg = text_arg,
	.arg_end = text_arg_end,
	.field = text_field,
	.open = text_open,
	.close = text_close,
	.number = text_number,
	.string = text_string,
	.symbols = text_symbols,
	.signals = text_signals,
	.descriptor = text_descriptor,
	.index = text_index,
	.more = text_more,
	.after = text_after,
	.comment = text_explain,
	.wrap = text_wrap,
	.result = text_result,
	.result_as = text_number,
	.result_is = text_result_is,
	.returned = text_returned,
};

void emit_text_init(struct emit *e, struct buf *out, unsigned flags)
{
	*e = (struct emit){.ops = &text_ops, .out = out, .first = true, .flags = flags};
}
