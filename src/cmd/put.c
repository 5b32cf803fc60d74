#include "cmd/put.h"

#include "base/buf.h"
#include "base/diag.h"
#include "base/outfile.h"
#include "config.h"

#include <string.h>

int put_text(const char *path, const struct buf *text)
{
	struct buf why = {0};
	int err = outfile_put(path, text, &why);
	if (err)
		diag_error("%s", buf_str(&why));
	buf_free(&why);
	return err ? EXIT_OWN : 0;
}

int put_version(void)
{
	static const char line[] = "sctrace " SCTRACE_VERSION "\n";
	return put_text(NULL, &(struct buf){.s = (char *)line, .len = sizeof(line) - 1});
}

void put_wrapped(struct buf *out, const char *prefix, const char *line, size_t len, size_t width)
{
	size_t indent = strlen(prefix);
	size_t room = width > indent + 20 ? width - indent : 20;
	buf_adds(out, prefix);
	while (width && len > room) {
		size_t end = room;
		while (end && line[end] != ' ')
			end--;
		/* A word that is too long stays whole. */
		for (end = end ? end : room; end < len && line[end] != ' ';)
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

void put_lines(struct buf *out, const char *prefix, const char *text, size_t width)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		put_wrapped(out, prefix, text, len, width);
		text += len + (text[len] == '\n');
	}
}
