#include "out/width.h"

#include "base/escape.h"

#include <stdbool.h>
#include <string.h>
#include <wchar.h>

/* Returns a UTF-8 locale, or 0 if there is none. Loading it takes longer than printing a table, so it is kept. */
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

locale_t width_begin(void)
{
	return utf8() ? uselocale(utf8()) : (locale_t)0;
}

void width_end(locale_t before)
{
	if (before)
		uselocale(before);
}

static size_t printable(const char *s, size_t n)
{
	size_t i = 0;
	while (i < n && s[i] >= ' ' && s[i] <= '~')
		i++;
	return i;
}

size_t width_of(const char *s)
{
	return width_of_part(s, strlen(s));
}

size_t width_of_part(const char *s, size_t n)
{
	size_t width = printable(s, n);
	mbstate_t state = {0};
	s += width;
	if (width == n)
		return width;
	locale_t before = width_begin();
	for (size_t left = n - width, len; left; s += len, left -= len) {
		wchar_t wc;
		len = mbrtowc(&wc, s, left, &state);
		if (len == (size_t)-1 || len == (size_t)-2) {
			memset(&state, 0, sizeof(state));
			len = 1;
			wc = L'?';
		}
		int w = wcwidth(wc);
		width += w > 0 ? (size_t)w : 0;
	}
	width_end(before);
	return width;
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
