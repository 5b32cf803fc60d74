/* SPDX-License-Identifier: MIT */
#include "trace/trace_stack.h"

#include "base/buf.h"
#include "syscall/call_table.h"
#include "trace/line.h"
#include "tracee/names.h"
#include "tracee/proc.h"

#include <signal.h>
#include <string.h>

bool trace_stack_line(void *buf, const struct stack_frame *f)
{
	struct buf *out = buf;
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

bool trace_stack_string(void *buf, const struct stack_frame *f)
{
	struct buf *out = buf, text = {0};
	stack_frame_text(&text, f);
	buf_adds(out, f->index ? "," : "");
	add_json(out, buf_str(&text));
	buf_free(&text);
	return true;
}

bool trace_stack_is_lost(const struct event *enter)
{
	static const char *const names[] = {"execve", "execveat", "exit", "exit_group"};
	const struct syscall_desc *d = enter->call.desc;
	for (size_t i = 0; d && !enter->launch && i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(d->name, names[i]) == 0)
			return true;
	return false;
}

bool trace_is_crash(int sig)
{
	return sig == SIGSEGV || sig == SIGBUS || sig == SIGILL || sig == SIGFPE || sig == SIGABRT || sig == SIGTRAP ||
	       sig == SIGSYS;
}

/* Returns true if the signal of EV_SIGNAL tells of a crash, or ends the process because it neither catches nor ignores it. */
static bool trace_is_fatal(const struct event *ev)
{
	static const int harmless[] = {SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};
	const int sig = ev->sig.si_signo;
	struct proc_status s;
	for (size_t i = 0; i < sizeof(harmless) / sizeof(*harmless); i++)
		if (sig == harmless[i])
			return false;
	return trace_is_crash(sig) ||
	       (sig > 0 && sig <= 64 && proc_status(ev->pid, &s) == 0 && !((s.caught | s.ignored) >> (sig - 1) & 1));
}

int trace_stack_signal(struct stack *s, const struct event *ev, stack_frame_fn fn, void *ctx)
{
	return !ev->mem || trace_is_fatal(ev) ? stack_walk(s, ev, fn, ctx) : 0;
}

void trace_stack_enter(struct stack *s, const struct event *ev, stack_frame_fn fn, struct buf *kept)
{
	buf_clear(kept);
	if (trace_stack_is_lost(ev))
		stack_walk(s, ev, fn, kept);
}

void trace_stack_leave(struct stack *s, const struct event *ev, stack_frame_fn fn, struct buf *kept, struct buf *out)
{
	if (!kept->len && ev->kind == EV_EXIT)
		stack_walk(s, ev, fn, kept);
	buf_add(out, buf_str(kept), kept->len);
	buf_clear(kept);
}

/* Appends the name of the event's process, followed by the stack of its thread. */
static void fold(struct trace_folded *f, const struct event *ev, bool walk, struct buf *out)
{
	auto_buf name = {0};
	const struct names *n = f->sink.session->names;
	n->comm(n->ctx, ev->pid, &name);
	stack_folded_begin(&f->folded, name.len ? buf_str(&name) : "?");
	if (walk)
		stack_walk(f->walker, ev, stack_folded_frame, &f->folded);
	stack_folded_take(&f->folded, out);
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
	auto_buf leaf = {0};
	enum resolved how;
	if (!kept->len)
		fold(f, ev, ev->kind == EV_EXIT, kept);
	trace_call_name(&ev->call, &leaf);
	stack_folded_add(&f->folded, buf_str(kept), buf_str(&leaf),
			 f->by_time ? (uint64_t)trace_own_ns(&ev->call, &how) : 1);
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
