#include "out/wrap.h"

#include "base/buf.h"

#include <stdbool.h>
#include <string.h>

/* Returns true if a line may end before this character: a blank, but not that of "7 %". */
static bool is_break(const char *c)
{
	return *c == ' ' && c[1] != '%';
}

static void wrap_line(struct buf *out, const char *prefix, const char *line, size_t len, size_t width)
{
	size_t indent = strlen(prefix);
	size_t room = width > indent + 20 ? width - indent : 20;
	buf_adds(out, prefix);
	while (width && len > room) {
		size_t end = room;
		while (end && !is_break(line + end))
			end--;
		/* A word that is longer than the line is not split. */
		for (end = end ? end : room; end < len && !is_break(line + end);)
			end++;
		if (end == len)
			break;
		buf_add(out, line, end);
		buf_addc(out, '\n');
		buf_fill(out, ' ', indent);
		line += end + 1;
		len -= end + 1;
	}
	buf_add(out, line, len);
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
