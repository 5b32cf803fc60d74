#include "trace/fail.h"

#include <stdarg.h>

void trace_fail(struct trace_failure *f, int err, const char *fmt, ...)
{
	if (f->err)
		return;
	va_list ap;
	va_start(ap, fmt);
	buf_addv(&f->why, fmt, ap);
	va_end(ap);
	f->err = err;
}
