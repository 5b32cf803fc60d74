/* Stacks of calls: -k and --stacks. */
#include "trace/trace.h"

#include "base/escape.h"
#include "syscall/table.h"
#include "tracee/proc.h"

#include <errno.h>
#include <string.h>

int trace_stack_open(struct trace *t, struct buf *why)
{
	return t->o.stacks || t->o.folded ? stack_open(&t->stack, why) : 0;
}

static bool add_line(void *ctx, const struct stack_frame *f)
{
	struct buf *out = ctx;
	buf_adds(out, " > ");
	stack_frame_text(out, f);
	buf_addc(out, '\n');
	return true;
}

static void add_json(struct buf *out, const char *s)
{
	buf_addc(out, '"');
	for (; *s; s++)
		if (*s == '"' || *s == '\\')
			buf_addf(out, "\\%c", *s);
		else
			buf_addc(out, *s);
	buf_addc(out, '"');
}

static bool add_object(void *ctx, const struct stack_frame *f)
{
	struct buf *out = ctx, text = {0};
	stack_frame_text(&text, f);
	buf_adds(out, f->index ? "," : "");
	add_json(out, buf_str(&text));
	buf_free(&text);
	return true;
}

/* Calls behind which there is another stack, or none. */
static bool takes_stack_away(const struct call *c)
{
	static const char *const names[] = {"execve", "execveat", "exit", "exit_group"};
	for (size_t i = 0; c->desc && i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(c->desc->name, names[i]) == 0)
			return true;
	return false;
}

/* Appends the stack of the event's thread as --stacks adds them up. */
static void fold(struct trace *t, const struct event *ev, bool walk, struct buf *out)
{
	char name[64];
	proc_comm(ev->pid, name, sizeof(name));
	stack_folded_begin(&t->folded, *name ? name : "?");
	if (walk)
		stack_walk(t->stack, ev->pid, ev->tid, stack_folded_frame, &t->folded);
	stack_folded_take(&t->folded, out);
}

void trace_stack_enter(struct trace *t, struct trace_task *k, const struct event *ev)
{
	buf_clear(&k->stack);
	if (!t->stack || ev->launch || !takes_stack_away(&ev->call))
		return;
	if (t->o.folded)
		fold(t, ev, true, &k->stack);
	else
		stack_walk(t->stack, ev->pid, ev->tid, t->o.format == TRACE_JSON ? add_object : add_line, &k->stack);
}

/* The stack of a call that ended: as it was kept, or as it is. */
static void add_stack(struct trace *t, struct trace_task *k, const struct event *ev, stack_frame_fn fn, struct buf *out)
{
	struct buf now = {0};
	if (!k->stack.len && ev->kind == EV_EXIT)
		stack_walk(t->stack, ev->pid, ev->tid, fn, &now);
	const struct buf *stack = k->stack.len ? &k->stack : &now;
	buf_add(out, buf_str(stack), stack->len);
	buf_clear(&k->stack);
	buf_free(&now);
}

void trace_stack_lines(struct trace *t, struct trace_task *k, const struct event *ev, struct buf *out)
{
	if (t->stack)
		add_stack(t, k, ev, add_line, out);
}

void trace_stack_json(struct trace *t, struct trace_task *k, const struct event *ev, struct buf *out)
{
	if (!t->stack)
		return;
	buf_adds(out, ",\"stack\":[");
	add_stack(t, k, ev, add_object, out);
	buf_addc(out, ']');
}

void trace_stack_fold(struct trace *t, struct trace_task *k, const struct event *ev)
{
	struct buf leaf = {0};
	if (!t->stack)
		return;
	if (!k->stack.len)
		fold(t, ev, ev->kind == EV_EXIT, &k->stack);
	trace_call_name(&ev->call, &leaf);
	bool time = strcmp(t->o.folded, "folded,time") == 0;
	uint64_t own = ev->call.duration_ns > ev->call.cost_ns ? ev->call.duration_ns - ev->call.cost_ns : 0;
	stack_folded_add(&t->folded, buf_str(&k->stack), buf_str(&leaf), time ? own : 1);
	t->folded.failed |= leaf.failed || k->stack.failed;
	buf_free(&leaf);
	buf_clear(&k->stack);
}

void trace_stack_end(struct trace *t)
{
	if (t->o.folded) {
		stack_folded_text(&t->out.buf, &t->folded);
		if (t->folded.failed)
			trace_fail(t, -ENOMEM, "no memory is left: stacks are missing");
	}
	stack_folded_free(&t->folded);
	stack_close(t->stack);
	t->stack = NULL;
}
