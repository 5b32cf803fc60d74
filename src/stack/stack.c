#include "stack/stack.h"

#include "base/buf.h"
#include "base/escape.h"

#include <string.h>

extern const struct stack_ops stack_native_ops; /* defined in libunwind.c or missing.c; the build compiles one of
						 * them */

int stack_open(struct stack **out, struct buf *why)
{
	int err = stack_native_ops.open(out, why);
	if (err == 0)
		(*out)->ops = &stack_native_ops;
	return err;
}

int stack_walk(struct stack *s, const struct event *ev, stack_frame_fn fn, void *ctx)
{
	return s->ops->walk(s, ev, fn, ctx);
}

void stack_forget(struct stack *s, pid_t pid)
{
	s->ops->forget(s, pid);
}

void stack_close(struct stack *s)
{
	if (s)
		s->ops->close(s);
}

void stack_frame_text(struct buf *out, const struct stack_frame *f)
{
	if (f->module)
		escape_line(out, f->module, strlen(f->module));
	else
		buf_adds(out, "?");
	buf_addc(out, '(');
	if (f->function) {
		escape_line(out, f->function, strlen(f->function));
		buf_addf(out, "+0x%llx", (unsigned long long)f->offset);
	}
	buf_addf(out, ") [0x%llx]", (unsigned long long)f->module_addr);
	if (!f->file)
		return;
	buf_addc(out, ' ');
	escape_line(out, f->file, strlen(f->file));
	buf_addf(out, ":%d", f->line);
}
