#include "out/width.h"

#include <string.h>
#include <wchar.h>

locale_t width_begin(void)
{
	locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	/* Old C libraries do not have the locale C.UTF-8, so the user's locale is tried next. */
	if (!utf8)
		utf8 = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	return utf8 ? uselocale(utf8) : (locale_t)0;
}

void width_end(locale_t before)
{
	if (before)
		freelocale(uselocale(before));
}

size_t width_of(const char *s)
{
	size_t width = 0;
	mbstate_t state = {0};
	for (size_t left = strlen(s), len; left; s += len, left -= len) {
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
	return width;
}
