/* SPDX-License-Identifier: MIT */
#include "base/diag.h"

#include "base/buf.h"
#include "base/escape.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

/* Writes the line with one call, so that lines of several processes do not mix. */
static void say(const char *prefix, const char *fmt, va_list ap)
{
	auto_buf text = {0};
	auto_buf line = {0};
	buf_addv(&text, fmt, ap);
	buf_adds(&line, prefix);
	escape_line(&line, buf_str(&text), text.len);
	buf_addc(&line, '\n');
	if (write(STDERR_FILENO, buf_str(&line), line.len) < 0)
		(void)0; /* an error cannot be reported anywhere */
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

const char *diag_error_text(int err)
{
	return err == EMFILE ? "Too many open files; raise the limit with ulimit -n (64 is enough to trace one program)"
			     : strerror(err);
}
