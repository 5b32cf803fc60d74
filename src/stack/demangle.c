/* SPDX-License-Identifier: MIT */
#include "stack/stack.h"

#include "base/buf.h"
#include "config.h"

#ifdef SCTRACE_DEMANGLE_MISSING
bool demangle(const char *name, struct buf *out)
{
	(void)name;
	(void)out;
	return false;
}
#else
#include <demangle.h>
#include <setjmp.h>
#include <string.h>

#define NAME_MOST 2048

struct demangling {
	struct buf *out;
	size_t end; /* maximum length of `out` */
	jmp_buf too_long;
};

/*
 * A short name can stand for a text of any length. libiberty has no way to stop, but it keeps everything on the stack, so
 * leaving it by longjmp(3) loses no memory.
 */
static void on_text(const char *s, size_t n, void *ctx)
{
	struct demangling *d = ctx;
	if (d->out->len + n > d->end)
		longjmp(d->too_long, 1);
	buf_add(d->out, s, n);
}

bool demangle(const char *name, struct buf *out)
{
	const size_t begin = out->len;
	struct demangling d = {.out = out, .end = begin + DEMANGLED_MOST};
	if (name[0] != '_' || strlen(name) > NAME_MOST)
		return false;
	volatile bool known = false;
	/* Without DMGL_PARAMS, the parameters of C++ functions are left out: they would make lines very long. */
	if (!setjmp(d.too_long))
		known = rust_demangle_callback(name, DMGL_AUTO, on_text, &d) ||
			(strncmp(name, "_Z", 2) == 0 && cplus_demangle_v3_callback(name, DMGL_ANSI, on_text, &d));
	else
		known = false;
	if (!known)
		buf_truncate(out, begin);
	return known;
}
#endif
