#include "trace/folded.h"

#include "base/buf.h"
#include "trace/line.h"
#include "trace/stack.h"
#include "tracee/names.h"

/* Appends the name of the event's process, followed by the stack of its thread. */
static void fold(struct trace_folded *f, const struct event *ev, bool walk, struct buf *out)
{
	struct buf name = {0};
	const struct names *n = f->sink.session->names;
	n->comm(n->ctx, ev->pid, &name);
	stack_folded_begin(&f->folded, name.len ? buf_str(&name) : "?");
	if (walk)
		stack_walk(f->walker, ev, stack_folded_frame, &f->folded);
	stack_folded_take(&f->folded, out);
	buf_free(&name);
}

static void folded_enter(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	struct buf *kept = trace_own(s, k);
	buf_clear(kept);
	if (trace_stack_is_lost(ev))
		fold((struct trace_folded *)s, ev, true, kept);
}

static void folded_leave(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	struct trace_folded *f = (struct trace_folded *)s;
	struct buf *kept = trace_own(s, k);
	struct buf leaf = {0};
	enum resolved how;
	if (!kept->len)
		fold(f, ev, ev->kind == EV_EXIT, kept);
	trace_call_name(&ev->call, &leaf);
	stack_folded_add(&f->folded, buf_str(kept), buf_str(&leaf),
			 f->by_time ? (uint64_t)trace_own_ns(&ev->call, &how) : 1);
	buf_free(&leaf);
	buf_clear(kept);
}

static void folded_gone(struct trace_sink *s, struct trace_task *k)
{
	buf_free(trace_own(s, k));
}

/* The sink's data for a thread is a struct buf: the frames of its stack, if the call in progress will remove the stack. */
static const struct trace_sink_ops folded_ops = {
	.task_size = sizeof(struct buf), .enter = folded_enter, .leave = folded_leave, .gone = folded_gone};

void trace_folded_init(struct trace_folded *f, struct stack *walker, bool by_time)
{
	*f = (struct trace_folded){.sink.ops = &folded_ops, .walker = walker, .by_time = by_time};
}

void trace_folded_text(struct trace_folded *f, struct buf *out)
{
	stack_folded_text(out, &f->folded);
}

void trace_folded_free(struct trace_folded *f)
{
	stack_folded_free(&f->folded);
}
