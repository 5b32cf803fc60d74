/* Text in Markdown. */
#ifndef SCTRACE_OUT_MARKDOWN_H
#define SCTRACE_OUT_MARKDOWN_H

struct buf;

/* Appends text that Markdown shows as it is. */
void markdown_text(struct buf *out, const char *text);
/* Appends each line of the text with this prefix. */
void markdown_lines(struct buf *out, const char *prefix, const char *text);
/* Appends lines that Markdown shows one below the other, in a font with a fixed width. */
void markdown_block(struct buf *out, const char *lines);

#endif
