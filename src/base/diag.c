#include "base/diag.h"

#include "base/buf.h"
#include "base/escape.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Writes the line with one call, so that lines of several processes do not mix. An error is ignored, because it cannot
 * be reported anywhere.
 */
static void put(const char *line, size_t n)
{
	if (write(STDERR_FILENO, line, n) < 0)
		(void)0;
}

/*
 * Prints a message without allocating memory, because the message may be that memory ran out. Truncates the message to
 * a fixed size, and prints a `?` for each byte that is not printable ASCII.
 */
static void say_plainly(const char *prefix, const char *fmt, va_list ap)
{
	char line[512];
	int n = snprintf(line, sizeof(line), "%s", prefix);
	size_t from = (size_t)n;
	n = vsnprintf(line + from, sizeof(line) - from - 1, fmt, ap);
	if (n <= 0) /* formatting failed too, for lack of memory */
		snprintf(line + from, sizeof(line) - from - 1, "memory ran out");
	size_t end = strlen(line);
	for (size_t i = from; i < end; i++)
		if (line[i] < ' ' || line[i] > '~')
			line[i] = '?';
	line[end] = '\n';
	put(line, end + 1);
}

static void say(const char *prefix, const char *fmt, va_list ap)
{
	struct buf text = {0};
	struct buf line = {0};
	va_list again;
	va_copy(again, ap);
	buf_addv(&text, fmt, ap);
	buf_adds(&line, prefix);
	escape_line(&line, buf_str(&text), text.len);
	buf_addc(&line, '\n');
	if (text.len == 0 || text.failed || line.failed)
		say_plainly(prefix, fmt, again);
	else
		put(buf_str(&line), line.len);
	va_end(again);
	buf_free(&line);
	buf_free(&text);
}

void diag_error(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	say("sctrace: ", fmt, ap);
	va_end(ap);
}

void diag_note(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	say("sctrace: note: ", fmt, ap);
	va_end(ap);
}
