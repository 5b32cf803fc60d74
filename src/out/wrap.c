#include "out/wrap.h"

#include "base/buf.h"
#include "out/width.h"

#include <stdbool.h>
#include <string.h>

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

void wrap_lines(struct buf *out, const char *prefix, const char *text, size_t width)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		wrap_line(out, prefix, text, len, width);
		text += len + (text[len] == '\n');
	}
}
