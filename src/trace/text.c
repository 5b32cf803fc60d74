/* SPDX-License-Identifier: MIT */
#include "trace/text.h"

#include "base/clock.h"
#include "base/escape.h"
#include "syscall/call_table.h"
#include "trace/look.h"
#include "trace/trace_stack.h"
#include "trace/waiting.h"
#include "tracee/names.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define BOLD  "\033[1m"
#define PLAIN "\033[0m"

/* The sink's data for a thread: its current line. */
struct trace_text_task {
	pid_t tid;
	struct trace_line line;
	size_t column;     /* the column at which the next text will be written */
	size_t begin, end; /* where the beginning of the line is in the output's buffer */
	uint64_t last_ns;  /* value of trace_text.last_ns before the line */
	bool open;         /* the beginning of the line was written, but not its newline */
	bool unfinished;   /* a line of another thread has interrupted this line */
};

/* Are these eight characters ASCII, and no beginning of a colour code? */
static bool are_plain(const char *s)
{
	uint64_t v, escapes;
	memcpy(&v, s, sizeof(v));
	escapes = v ^ UINT64_C(0x1b1b1b1b1b1b1b1b); /* a byte of this is 0 where `v` has '\033' */
	return !((v | ((escapes - UINT64_C(0x0101010101010101)) & ~escapes)) & UINT64_C(0x8080808080808080));
}

/* Returns the columns, at most `most`, of the text from `begin` on. Colour codes take none, UTF-8 characters one. */
static size_t columns(const struct buf *b, size_t begin, size_t most)
{
	const char *s = b->s;
	size_t width = 0, n = b->len, i = begin;
	for (; i + 8 <= n && width + 8 <= most && are_plain(s + i); i += 8)
		width += 8;
	for (; i < n && width < most; i++) {
		if (s[i] == '\033')
			while (i < n && s[i] != 'm')
				i++;
		else if (((unsigned char)s[i] & 0xc0) != 0x80)
			width++;
	}
	return width;
}

static void add_clock(struct trace_text *t, struct buf *out, uint64_t monotonic_ns)
{
	const struct trace_times *c = &t->c.times;
	if (c->clock == CLOCK_NONE)
		return;
	uint64_t ns = trace_real_ns(&t->sink, monotonic_ns);
	time_t second = (time_t)(ns / NSEC_PER_SEC);
	if (c->clock == CLOCK_EPOCH) {
		trace_add_seconds(out, ns, c->clock_precision);
		buf_addc(out, ' ');
		return;
	}
	if (second != t->second || !*t->second_text) {
		struct tm tm;
		localtime_r(&second, &tm);
		strftime(t->second_text, sizeof(t->second_text), "%H:%M:%S", &tm);
		t->second = second;
	}
	buf_adds(out, t->second_text);
	trace_add_decimals(out, ns, c->clock_precision);
	buf_addc(out, ' ');
}

/* Appends a number, aligned to the right in a field of at least `width` columns. */
static void add_padded(struct buf *out, uint64_t v, size_t width)
{
	size_t digits = 1;
	for (uint64_t rest = v; rest >= 10; rest /= 10)
		digits++;
	buf_fill(out, ' ', digits < width ? width - digits : 0);
	buf_add_decimal(out, v, 1);
}

/* Appends the time since the previous call. After the time of day, it has the form (+     0.000123). */
static void add_gap(struct trace_text *t, struct buf *out, uint64_t monotonic_ns)
{
	uint64_t gap = t->last_ns && monotonic_ns > t->last_ns ? monotonic_ns - t->last_ns : 0;
	buf_adds(out, t->c.times.clock != CLOCK_NONE ? "(+" : "");
	add_padded(out, gap / NSEC_PER_SEC, 6);
	trace_add_decimals(out, gap, t->c.times.relative);
	buf_adds(out, t->c.times.clock != CLOCK_NONE ? ") " : " ");
	t->last_ns = monotonic_ns;
}

static void add_pid(struct trace_text *t, pid_t tid, struct buf *out)
{
	const struct trace_session *all = t->sink.session;
	const struct names *n = all->names;
	bool bracket = t->c.pids == PIDS_OF_SEVERAL || t->c.pids == PIDS_OF_ALL;
	if (t->c.pids == PIDS_NEVER || (t->c.pids == PIDS_OF_SEVERAL && all->tasks < 2) ||
	    (t->c.pids == PIDS_SINCE_SEVERAL && all->tasks_seen < 2))
		return;
	if (tid != t->pid || !*t->pid_text) {
		snprintf(t->pid_text, sizeof(t->pid_text), bracket ? "[pid %5d" : "%-5d", (int)tid);
		t->pid = tid;
	}
	buf_adds(out, t->pid_text);
	auto_buf name = {0};
	if (t->c.decoding.pid_names && n->comm(n->ctx, tid, &name)) {
		buf_addc(out, '<');
		escape_angled(out, buf_str(&name), name.len, false);
		buf_addc(out, '>');
	}
	buf_adds(out, bracket ? "] " : " ");
}

static bool is_of_call(const struct event *ev)
{
	return trace_begins(ev) || ev->kind == EV_EXIT || ev->kind == EV_VANISH;
}

/* Appends the instruction pointer for -i. If the thread no longer exists, the pointer is unknown. */
static void add_address(const struct event *ev, struct buf *out)
{
	bool call = is_of_call(ev);
	uint64_t ip = call ? ev->call.ip : ev->ip;
	buf_addc(out, '[');
	if (call || ip)
		buf_add_bits(out, ip, 4, 16);
	else
		buf_adds(out, "????????????????");
	buf_adds(out, "] ");
}

/* Begins a line. A line of EV_CALL has the time at which the call began. */
static void prefix(struct trace_text *t, const struct event *ev, struct buf *out)
{
	uint64_t time_ns = ev->kind == EV_CALL ? ev->call.enter_ns : ev->time_ns;
	add_pid(t, ev->tid, out);
	add_clock(t, out, time_ns);
	if (t->c.times.relative)
		add_gap(t, out, time_ns);
	if (t->c.numbers && is_of_call(ev))
		buf_addf(out, "[%4lld] ", (long long)syscall_kernel_number(ev->call.arch, ev->call.nr));
	if (t->c.addresses)
		add_address(ev, out);
}

/* Ends the open line in the output of `k`, so that another line can begin. */
static void break_line(struct trace_text *t, struct trace_text_task *k)
{
	struct trace_text_task *open = t->c.out->separate ? k : t->open;
	if (!open || !open->open || open->unfinished)
		return;
	buf_adds(&trace_outputs_of(t->c.out, open->tid)->buf, " <unfinished ...>\n");
	open->unfinished = true;
	if (t->open == open)
		t->open = NULL;
}

/* Returns where the line of a call is written: if it must wait for the end of the call, a text of the thread. */
static struct buf *text_of(const struct trace_text *t, struct trace_text_task *k, struct trace_out *out)
{
	return t->c.waits ? &k->line.text : &out->buf;
}

static void add_name(const struct trace_text *t, const struct call *c, struct buf *out)
{
	if (t->c.bold)
		buf_adds(out, BOLD);
	trace_call_name(c, out);
	if (t->c.bold)
		buf_adds(out, PLAIN);
}

/* Begins the line of a call. Returns the thread's output. */
static struct trace_out *begin_call(struct trace_text *t, struct trace_text_task *k, const struct event *ev)
{
	k->tid = ev->tid;
	struct trace_out *out = trace_outputs_begin(t->c.out, ev);
	struct buf *to = text_of(t, k, out);
	if (!t->c.waits)
		break_line(t, k);
	buf_clear(&k->line.text);
	k->begin = to->len;
	k->column = 0;
	k->last_ns = t->last_ns;
	prefix(t, ev, to);
	add_name(t, &ev->call, to);
	buf_addc(to, '(');
	return out;
}

static void text_enter(struct trace_sink *s, struct trace_task *task, const struct event *ev)
{
	struct trace_text *t = (struct trace_text *)s;
	struct trace_text_task *k = trace_own(s, task);
	struct trace_out *out = begin_call(t, k, ev);
	struct buf *to = text_of(t, k, out);
	struct emit e;
	struct trace_decoder d;
	emit_text_init(&e, to, t->c.emit_flags);
	trace_decoder_init(&d, &t->c.decoding, s, &k->line, ev, &e);
	k->line.given = decode_enter(&d.decode);
	k->column = columns(to, k->begin, t->c.column);
	k->unfinished = false;
	if (t->c.stack)
		trace_stack_enter(t->c.stack, ev, trace_stack_line, &k->line.stack);
	k->end = to->len;
	if (t->c.waits)
		return;
	k->open = true;
	t->open = k;
	trace_out_event(out);
}

/* Continues the line of a call. If another line was written in between, writes a new line. */
static void resume_line(struct trace_text *t, struct trace_text_task *k, const struct event *ev, struct buf *to)
{
	if (!k->open || k->unfinished) {
		break_line(t, k);
		size_t begin = to->len;
		prefix(t, ev, to);
		buf_adds(to, "<... ");
		add_name(t, &ev->call, to);
		buf_adds(to, " resumed>");
		k->column = columns(to, begin, t->c.column);
	}
}

static void add_duration(const struct trace_text *t, const struct event *ev, struct buf *to)
{
	const enum trace_precision p = t->c.times.durations;
	if (!p || ev->kind == EV_VANISH || !ev->call.duration_ns)
		return;
	enum resolved how;
	double own = trace_own_ns(&ev->call, &how);
	buf_adds(to, " <");
	trace_add_seconds(to, trace_round(own, p), p);
	buf_addc(to, '>');
}

static void add_result(struct trace_text *t, const struct trace_text_task *k, const struct decode *d,
		       const struct event *ev, struct buf *to, size_t begin)
{
	if (ev->kind == EV_VANISH && k->line.given < decode_count(d))
		buf_adds(to, " <unfinished ...>");
	buf_addc(to, ')');
	size_t at = k->column;
	at += columns(to, begin, t->c.column > at ? t->c.column - at : 0);
	buf_fill(to, ' ', at + 1 < t->c.column ? t->c.column - at : 1);
	buf_adds(to, "= ");
	decode_result(d);
	if (ev->call.injected)
		buf_adds(to, " (INJECTED)");
	if (ev->call.delayed)
		buf_adds(to, " (DELAYED)");
	if (t->c.times.waits && ev->kind != EV_VANISH) {
		buf_adds(to, ev->call.wait == WAIT_YES ? " (WAITED)" : "");
		t->unjudged += ev->call.wait == WAIT_UNKNOWN;
	}
	add_duration(t, ev, to);
	buf_addc(to, '\n');
}

/*
 * Removes the beginning of the line of a call that was not made. Returns false if the reader may have seen it already,
 * or if it has a stack.
 */
static bool withdraw(struct trace_text *t, struct trace_text_task *k, struct buf *to)
{
	if (t->c.stack || (!t->c.waits && (!k->open || k->unfinished || to->len != k->end)))
		return false;
	buf_truncate(to, k->begin);
	t->last_ns = k->last_ns;
	k->open = false;
	if (t->open == k)
		t->open = NULL;
	return true;
}

static void text_leave(struct trace_sink *s, struct trace_task *task, const struct event *ev)
{
	struct trace_text *t = (struct trace_text *)s;
	struct trace_text_task *k = trace_own(s, task);
	const bool whole = ev->kind == EV_CALL;
	struct trace_out *out = whole ? begin_call(t, k, ev) : trace_outputs_of(t->c.out, k->tid);
	struct buf *to = text_of(t, k, out);
	if (ev->call.withdrawn && withdraw(t, k, to))
		return;
	if (!whole && !t->c.waits)
		resume_line(t, k, ev, to);
	const size_t begin = whole ? k->begin : to->len;
	struct emit e;
	struct trace_decoder d;
	emit_text_init(&e, to, t->c.emit_flags);
	trace_decoder_init(&d, &t->c.decoding, s, &k->line, ev, &e);
	trace_decode_ended(&d, &k->line, ev);
	add_result(t, k, &d.decode, ev, to, begin);
	if (t->c.stack)
		trace_stack_leave(t->c.stack, ev, trace_stack_line, &k->line.stack, to);
	if (t->c.waits) {
		buf_add(&out->buf, to->s, to->len);
		buf_clear(to);
	}
	trace_dump(t->c.decoding.look, ev, out);
	k->open = k->unfinished = false;
	if (t->open == k)
		t->open = NULL;
	trace_out_event(out);
}

/* The time since the previous call (-r) is counted from a call that is hidden because of its result, too. */
static void text_unwanted(struct trace_sink *s, struct trace_task *task, const struct event *ev)
{
	if (ev->kind == EV_CALL && task->selected)
		((struct trace_text *)s)->last_ns = ev->call.enter_ns;
}

static void add_end(const struct event *ev, struct buf *out)
{
	if (WIFSIGNALED(ev->status))
		buf_addf(out, "+++ killed by %s%s +++\n", decode_signal_name(WTERMSIG(ev->status)),
			 WCOREDUMP(ev->status) ? " (core dumped)" : "");
	else
		buf_addf(out, "+++ exited with %d +++\n", WEXITSTATUS(ev->status));
}

static void add_signal(const struct trace_text *t, const struct event *ev, struct buf *out)
{
	const char *name = decode_signal_name(ev->sig.si_signo);
	struct emit e;
	struct trace_decoder d;
	emit_text_init(&e, out, t->c.emit_flags);
	trace_decoder_init_signal(&d, &t->c.decoding, &t->sink, ev, &e);
	buf_addf(out, "--- %s ", name ? name : "SIG?");
	decode_siginfo(&d.decode, &ev->sig);
	buf_adds(out, " ---\n");
	if (t->c.crashes)
		trace_stack_signal(t->c.crashes, ev, trace_stack_line, out);
}

/* Appends the call in which a thread waits that sctrace has attached to, for how long, why, and its stack. */
static void add_wait(struct trace_text *t, struct trace_text_task *k, const struct event *ev, struct buf *out)
{
	bool in_call = ev->call.nr >= 0;
	auto_buf state = {0};
	trace_waiting_say(t->c.waiting, ev, &state);
	if (in_call) {
		struct emit e;
		struct trace_decoder d;
		add_name(t, &ev->call, out);
		buf_addc(out, '(');
		emit_text_init(&e, out, t->c.emit_flags);
		trace_decoder_init(&d, &t->c.decoding, &t->sink, &k->line, ev, &e);
		if (decode_enter(&d.decode) < decode_count(&d.decode))
			buf_adds(out, "...");
		buf_adds(out, ") ");
	}
	buf_addf(out, "<%s%s%s>\n", in_call ? "in progress" : "not in a call", state.len ? ", " : "", buf_str(&state));
	if (in_call)
		trace_waiting_explain(t->c.waiting, ev, out);
	if (t->c.stack)
		stack_walk(t->c.stack, ev, trace_stack_line, out);
}

static bool is_quiet(unsigned quiet, const struct event *ev)
{
	return ev->kind == EV_NEW_TASK || ev->kind == EV_CONT || ev->kind == EV_NOTE ||
	       (ev->kind == EV_EXEC && ev->child == ev->tid) || (ev->kind == EV_DEATH && quiet & QUIET_EXIT) ||
	       (ev->kind == EV_EXEC && quiet & QUIET_EXECVE);
}

static void text_other(struct trace_sink *s, struct trace_task *task, const struct event *ev)
{
	struct trace_text *t = (struct trace_text *)s;
	struct trace_text_task *own = trace_own(s, task);
	/* execve(2) has given the thread the id of the leader, whose output may be another one. */
	if (own->open && own->tid != ev->tid) {
		break_line(t, own);
		own->tid = ev->tid;
	}
	if (ev->kind == EV_NEW_TASK)
		trace_outputs_created(t->c.out, ev->tid, ev->child);
	if (ev->kind == EV_EXEC)
		trace_outputs_exec(t->c.out, ev->tid);
	if (is_quiet(t->c.decoding.look->quiet, ev))
		return;
	struct trace_out *to = trace_outputs_begin(t->c.out, ev);
	struct buf *out = &to->buf;
	break_line(t, own);
	prefix(t, ev, out);
	if (ev->kind == EV_SIGNAL)
		add_signal(t, ev, out);
	else if (ev->kind == EV_ATTACH)
		add_wait(t, own, ev, out);
	else if (ev->kind == EV_STOP)
		buf_addf(out, "--- stopped by %s ---\n", decode_signal_name(ev->sig.si_signo));
	else if (ev->kind == EV_EXEC)
		buf_addf(out, "+++ superseded by execve in pid %d +++\n", (int)ev->child);
	else
		add_end(ev, out);
	trace_out_event(to);
}

static void text_gone(struct trace_sink *s, struct trace_task *task)
{
	struct trace_text *t = (struct trace_text *)s;
	struct trace_text_task *k = trace_own(s, task);
	if (s->session->ending && k->open && !k->unfinished)
		buf_adds(&trace_outputs_of(t->c.out, k->tid)->buf,
			 s->session->cut ? " <unfinished ...>\n" : " <detached ...>\n");
	if (t->open == k)
		t->open = NULL;
	trace_outputs_gone(t->c.out, task->tid);
	trace_line_free(&k->line);
}

static const struct trace_sink_ops text_ops = {.task_size = sizeof(struct trace_text_task),
					       .enter = text_enter,
					       .leave = text_leave,
					       .takes_calls = true,
					       .other = text_other,
					       .unwanted = text_unwanted,
					       .gone = text_gone};

void trace_text_init(struct trace_text *t, const struct trace_text_config *c)
{
	*t = (struct trace_text){.sink.ops = &text_ops, .c = *c};
}
