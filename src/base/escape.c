/* SPDX-License-Identifier: MIT */
#include "base/escape.h"

#include "base/buf.h"

#include <stdint.h>
#include <string.h>

static bool forbidden(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff ||
	       (c >= 0x200e && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ||
	       c == 0xfeff;
}

/* Returns the length of the UTF-8 character at `s`, and its code point in *at; 0 if the bytes are not valid UTF-8. */
static size_t decode(const char *s, size_t n, uint32_t *at)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	if (!n)
		return 0;
	unsigned char c = (unsigned char)s[0];
	size_t len = c < 0x80 ? 1 : (c & 0xe0) == 0xc0 ? 2 : (c & 0xf0) == 0xe0 ? 3 : (c & 0xf8) == 0xf0 ? 4 : 0;
	if (!len || len > n)
		return 0;
	uint32_t code = len == 1 ? c : c & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if (((unsigned char)s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | ((unsigned char)s[i] & 0x3f);
	}
	*at = code;
	return code < least[len] ? 0 : len;
}

size_t escape_utf8_len(const char *s, size_t n)
{
	uint32_t code;
	size_t len = decode(s, n, &code);
	return len && !forbidden(code) ? len : 0;
}

/* Returns true if the byte needs no escape in a C string literal. */
static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Sets the highest bit of at least one byte if a byte of `v` is `c`, and of none otherwise. */
static uint64_t equal_bytes(uint64_t v, unsigned char c)
{
	uint64_t zeros = v ^ EACH(c);
	return (zeros - EACH(1)) & ~zeros & EACH(0x80);
}

/* is_plain() for eight bytes at once. */
static bool are_plain(const char *s)
{
	uint64_t v;
	memcpy(&v, s, sizeof(v));
	uint64_t control = (v - EACH(0x20)) & ~v;
	return !(((v | control) & EACH(0x80)) | equal_bytes(v, 0x7f) | equal_bytes(v, '"') | equal_bytes(v, '\\'));
}

size_t escape_plain_len(const char *s, size_t n)
{
	size_t i = 0;
	while (i + 8 <= n && are_plain(s + i))
		i += 8;
	while (i < n && is_plain((unsigned char)s[i]))
		i++;
	return i;
}

/* Returns the letter of C's escape sequence for `c` ('n' for a newline), or 0 if there is none. */
static char short_escape(char c)
{
	static const char from[] = "\a\b\t\n\v\f\r";
	static const char to[] = "abtnvfr";
	const char *p = c ? strchr(from, c) : NULL;
	return p ? to[p - from] : 0;
}

void escape_line(struct buf *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t len = escape_plain_len(s + i, n - i);
		if (!len)
			len = escape_utf8_len(s + i, n - i);
		if (len)
			buf_add(out, s + i, len);
		else if (short_escape(s[i]))
			buf_addf(out, "\\%c", short_escape(s[i]));
		else
			buf_addf(out, "\\x%02x", (unsigned char)s[i]);
		i += len ? len : 1;
	}
}

#define C_ESCAPE_MOST 4 /* the largest number of characters that a byte takes in a C string */

/*
 * Stores the octal escape of `c` with as few digits as possible, as strace does. It has three digits if a digit
 * follows, which would otherwise be read as part of the escape. Returns the address after the last character, as do the
 * next two functions.
 */
static char *octal(char *to, unsigned char c, bool digit_follows)
{
	*to++ = '\\';
	for (int shift = 6; shift >= 0; shift -= 3)
		if (c >> shift || shift == 0 || digit_follows)
			*to++ = (char)('0' + (c >> shift & 7));
	return to;
}

static char *hexadecimal(char *to, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";
	*to++ = '\\';
	*to++ = 'x';
	*to++ = digits[c >> 4];
	*to++ = digits[c & 15];
	return to;
}

static char *escape_c_byte(char *to, unsigned char c, bool digit_follows)
{
	static const char letters[] = {
		['\t'] = 't', ['\n'] = 'n', ['\v'] = 'v', ['\f'] = 'f', ['\r'] = 'r', ['"'] = '"', ['\\'] = '\\'};
	if (c >= sizeof(letters) || !letters[c])
		return octal(to, c, digit_follows);
	*to++ = '\\';
	*to++ = letters[c];
	return to;
}

void escape_c(struct buf *out, const char *s, size_t n, bool hex)
{
	char *to = buf_room(out, C_ESCAPE_MOST * n);
	size_t i = 0;
	for (; !hex && i + 8 <= n && are_plain(s + i); i += 8, to += 8)
		memcpy(to, s + i, 8);
	for (; i < n; i++) {
		unsigned char c = (unsigned char)s[i];
		if (hex)
			to = hexadecimal(to, c);
		else if (is_plain(c))
			*to++ = s[i];
		else
			to = escape_c_byte(to, c, i + 1 < n && s[i + 1] >= '0' && s[i + 1] <= '7');
	}
	buf_end_at(out, to);
}

void escape_angled(struct buf *out, const char *s, size_t n, bool hex)
{
	for (size_t len; n; s += len, n -= len) {
		const char *end = hex ? NULL : memchr(s, '>', n);
		len = end ? (size_t)(end - s) : n;
		escape_c(out, s, len, hex);
		if (!end)
			break;
		buf_adds(out, "\\76");
		len++;
	}
}

void escape_json(struct buf *out, const char *text)
{
	size_t n = strlen(text);
	for (size_t i = 0; i < n;) {
		uint32_t code = 0xfffd;
		size_t len = decode(text + i, n - i, &code);
		if (text[i] == '\n' || text[i] == '\t' || (len && !forbidden(code)))
			buf_add(out, text + i, len);
		else
			buf_addf(out, "\\u%04x", len ? code : 0xfffd);
		i += len ? len : 1;
	}
}

void escape_shell(struct buf *out, const char *word, size_t n)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:=@%,^";
	size_t i = 0;
	while (i < n && word[i] && strchr(plain, word[i]))
		i++;
	if (n && i == n) {
		buf_add(out, word, n);
		return;
	}
	buf_addc(out, '\'');
	for (i = 0; i < n; i++)
		word[i] == '\'' ? buf_adds(out, "'\\''") : buf_addc(out, word[i]);
	buf_addc(out, '\'');
}

void escape_csv_quoted(struct buf *out, const char *s, size_t n)
{
	char *to = buf_room(out, 2 * n);
	/* A branch would be slow here, because quotes are as frequent in JSON as other characters, without a pattern. */
	for (size_t i = 0; i < n; i++) {
		*to++ = s[i];
		*to = '"';
		to += s[i] == '"';
	}
	buf_end_at(out, to);
}

void escape_csv(struct buf *out, const char *s)
{
	auto_buf text = {0};
	/* Only a formula that calls a function or starts a program is dangerous, unlike "-O2" and "+1". */
	bool formula = (*s && strchr("=@", *s) && s[1]) || (*s && strchr("+-", *s) && strpbrk(s, "(|!"));
	if (formula) {
		buf_addf(&text, "\\x%02x%s", (unsigned char)*s, s + 1);
		s = text.s;
	}
	bool quoted = strpbrk(s, ",\"\r\n");
	buf_adds(out, quoted ? "\"" : "");
	escape_csv_quoted(out, s, strlen(s));
	buf_adds(out, quoted ? "\"" : "");
}
