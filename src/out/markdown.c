#include "out/markdown.h"

#include "base/buf.h"
#include "out/wrap.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* An underscore within a word (copy_file_range) needs no escape. */
void markdown_text(struct buf *out, const char *text)
{
	for (const char *c = text; *c; c++) {
		bool in_word = c > text && isalnum((unsigned char)c[-1]) && isalnum((unsigned char)c[1]);
		if (strchr("\\*`<[]", *c) || (*c == '_' && !in_word))
			buf_addc(out, '\\');
		buf_addc(out, *c);
	}
}

void markdown_lines(struct buf *out, const char *prefix, const char *text)
{
	struct buf shown = {0};
	markdown_text(&shown, text);
	wrap_lines(out, prefix, buf_str(&shown), 0);
	buf_free(&shown);
}

void markdown_block(struct buf *out, const char *lines)
{
	buf_addf(out, "```\n%s```\n", lines);
}
