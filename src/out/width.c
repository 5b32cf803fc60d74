/* SPDX-License-Identifier: MIT */
#include "out/width.h"

#include "base/buf.h"
#include "base/escape.h"
#include "base/size.h"

#include <fcntl.h>
#include <locale.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

/* Returns a locale in which wcwidth(3) knows many characters, or 0. Loading it takes long, so it is kept. */
static locale_t utf8(void)
{
	static locale_t kept;
	static bool tried;
	if (!tried)
		kept = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	/* Old C libraries do not have the locale C.UTF-8, so the user's locale is tried next. */
	if (!tried && !kept)
		kept = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	tried = true;
	return kept;
}

/* Returns the width of a character that no locale knows, because minimal systems have no locale of UTF-8. */
static int usual_width(wchar_t c)
{
	static const struct {
		wchar_t from, to;
		int width;
	} ranges[] = {
		{0, 0x9f, 0},          /* control characters */
		{0x300, 0x36f, 0},     /* combining marks */
		{0x1100, 0x115f, 2},   /* Hangul */
		{0x200b, 0x200f, 0},   /* joiners and marks of direction */
		{0x2e80, 0xa4cf, 2},   /* scripts of East Asia */
		{0xac00, 0xd7a3, 2},   /* Hangul */
		{0xf900, 0xfaff, 2},   /* scripts of East Asia */
		{0xfe00, 0xfe0f, 0},   /* variants */
		{0xfe30, 0xfe6f, 2},   /* scripts of East Asia */
		{0xff00, 0xff60, 2},   /* full width */
		{0xffe0, 0xffe6, 2},   /* full width */
		{0x1f300, 0x1f64f, 2}, /* emoji */
		{0x1f900, 0x1f9ff, 2}, /* emoji */
		{0x20000, 0x3fffd, 2}, /* scripts of East Asia */
	};
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		if (c >= ranges[i].from && c <= ranges[i].to)
			return ranges[i].width;
	return 1;
}

static size_t printable(const char *s, size_t n)
{
	size_t i = 0;
	while (i < n && s[i] >= ' ' && s[i] <= '~')
		i++;
	return i;
}

/* Returns the character of `len` bytes at `s`, or '?' if `len` is 0, because the byte is not part of a character. */
static wchar_t character(const char *s, size_t len)
{
	unsigned char first = (unsigned char)*s;
	wchar_t c = len > 1 ? first & (0x7f >> len) : len ? first : '?';
	for (size_t i = 1; i < len; i++)
		c = c << 6 | (s[i] & 0x3f);
	return c;
}

/* The same for the first `n` bytes of `s`. */
static size_t width_of_part(const char *s, size_t n)
{
	size_t width = printable(s, n);
	s += width;
	if (width == n)
		return width;
	locale_t before = utf8() ? uselocale(utf8()) : (locale_t)0;
	for (size_t left = n - width, len; left; s += len, left -= len) {
		len = escape_utf8_len(s, left);
		wchar_t c = character(s, len);
		int w = wcwidth(c);
		width += (size_t)(w >= 0 ? w : usual_width(c));
		len = len ? len : 1;
	}
	if (before)
		uselocale(before);
	return width;
}

size_t width_of(const char *s)
{
	return width_of_part(s, strlen(s));
}

/* Returns the length in bytes of the character at `s`. */
static size_t character_len(const char *s)
{
	size_t len = escape_utf8_len(s, strnlen(s, 4));
	return len ? len : 1;
}

size_t width_head(const char *s, size_t columns)
{
	size_t n = 0, used = 0;
	while (s[n]) {
		size_t len = character_len(s + n);
		used += width_of_part(s + n, len);
		if (used > columns)
			break;
		n += len;
	}
	return n;
}

const char *width_tail(const char *s, size_t columns)
{
	while (*s && width_of(s) > columns)
		s += character_len(s);
	return s;
}

/* Returns true if a line may end before this character: a blank, but not that of "7 %". */
static bool is_break(const char *c)
{
	return *c == ' ' && c[1] != '%';
}

static void wrap_line(struct buf *out, const char *prefix, const char *line, size_t len, size_t width)
{
	size_t indent = width_of(prefix), column = 0;
	size_t room = width > indent + 20 ? width - indent : 20;
	buf_adds(out, prefix);
	for (size_t start = 0, end; start <= len; start = end + 1) {
		/* A word that is longer than the line is not split. */
		for (end = start; end < len && !is_break(line + end);)
			end++;
		size_t word = width_of_part(line + start, end - start);
		if (start && width && column + 1 + word > room) {
			buf_addc(out, '\n');
			buf_fill(out, ' ', indent);
			column = 0;
		} else if (start) {
			buf_addc(out, ' ');
			column++;
		}
		buf_add(out, line + start, end - start);
		column += word;
	}
	buf_addc(out, '\n');
}

void width_wrap(struct buf *out, const char *prefix, const char *text, size_t width)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		wrap_line(out, prefix, text, len, width);
		text += len + (text[len] == '\n');
	}
}

/* Returns the width of a terminal, or 0 if it is unknown. */
static int width_of_terminal(int fd)
{
	struct winsize ws;
	return ioctl(fd, TIOCGWINSZ, &ws) == 0 ? ws.ws_col : 0;
}

/* Returns the width of the terminal on which the command was typed, if `fd` is a pipe (`| less`), or else 0. */
static int width_behind_pipe(int fd)
{
	struct stat st;
	if (fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode))
		return 0;
	int terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	int width = terminal < 0 ? 0 : width_of_terminal(terminal);
	if (terminal >= 0)
		close(terminal);
	return width;
}

int width_cut(int fd)
{
	if (isatty(fd)) {
		int width = width_of_terminal(fd);
		return width ? width : 80;
	}
	const char *columns = getenv("COLUMNS");
	int64_t width;
	return columns && number_parse(columns, 1, 10000, &width) == 0 ? (int)width : 0;
}

struct table_look width_look(int fd)
{
	struct table_look look = {.width = width_cut(fd)};
	if (!look.width)
		look.width = width_behind_pipe(fd);
	if (!isatty(fd))
		return look;
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");
	look.colour = !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
	return look;
}
