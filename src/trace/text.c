/* Calls as lines, in strace's look. */
#include "trace/line.h"

#include "base/clock.h"
#include "base/escape.h"
#include "syscall/table.h"
#include "trace/dump.h"

#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define BOLD  "\033[1m"
#define PLAIN "\033[0m"

/* Columns that `n` bytes of text take on a terminal: colours take none, the tail of an UTF-8 character neither. */
static size_t columns(const char *s, size_t n)
{
	size_t width = 0;
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\033')
			while (i < n && s[i] != 'm')
				i++;
		else if (((unsigned char)s[i] & 0xc0) != 0x80)
			width++;
	}
	return width;
}

static void add_clock(struct trace *t, struct buf *out, uint64_t monotonic_ns)
{
	if (!t->o.clock)
		return;
	struct timespec ts = clock_to_timespec(trace_real_ns(t, monotonic_ns));
	long us = ts.tv_nsec / 1000;
	if (t->o.clock > 2) {
		buf_addf(out, "%lld.%06ld ", (long long)ts.tv_sec, us);
		return;
	}
	struct tm tm;
	char text[32];
	localtime_r(&ts.tv_sec, &tm);
	strftime(text, sizeof(text), "%H:%M:%S", &tm);
	buf_adds(out, text);
	buf_addf(out, t->o.clock > 1 ? ".%06ld " : " ", us);
}

static void add_pid(struct trace *t, const struct trace_task *k, struct buf *out)
{
	bool file = t->o.output != NULL;
	if (t->o.follow > 1 || (file ? !t->o.follow && t->tasks_seen < 2 : t->ntasks < 2))
		return;
	buf_addf(out, file ? "%-5d" : "[pid %5d", (int)k->tid);
	struct buf name = {0};
	if (t->o.pid_names && names_live.comm(names_live.ctx, k->tid, &name)) {
		buf_addc(out, '<');
		escape_angled(out, buf_str(&name), name.len, false);
		buf_addc(out, '>');
	}
	buf_free(&name);
	buf_adds(out, file ? " " : "] ");
}

/* -i. Nobody knows where a thread was that is gone. */
static void add_address(const struct event *ev, struct buf *out)
{
	bool call = ev->kind == EV_ENTER || ev->kind == EV_EXIT || ev->kind == EV_VANISH;
	uint64_t ip = call ? ev->call.ip : ev->ip;
	if (call || ip)
		buf_addf(out, "[%016llx] ", (unsigned long long)ip);
	else
		buf_adds(out, "[????????????????] ");
}

/* What stands before every line. */
static void prefix(struct trace *t, struct trace_task *k, const struct event *ev, struct buf *out)
{
	add_pid(t, k, out);
	if (t->o.relative) {
		uint64_t gap = ev->time_ns > t->last_ns ? ev->time_ns - t->last_ns : 0;
		buf_addf(out, "%6llu.%06llu ", (unsigned long long)(gap / NSEC_PER_SEC),
			 (unsigned long long)(gap % NSEC_PER_SEC / 1000));
		t->last_ns = ev->time_ns;
	}
	add_clock(t, out, ev->time_ns);
	if (t->o.numbers && (ev->kind == EV_ENTER || ev->kind == EV_EXIT))
		buf_addf(out, "[%4lld] ", (long long)syscall_kernel_number(ev->call.arch, ev->call.nr));
	if (t->o.addresses)
		add_address(ev, out);
}

/* Ends whatever line is open, so that another can begin. */
static void break_line(struct trace *t, struct trace_task *k)
{
	struct trace_task *open = t->o.follow > 1 ? k : t->open;
	if (!open || !open->line_open || open->unfinished)
		return;
	buf_adds(&trace_output(t, open)->buf, " <unfinished ...>\n");
	open->unfinished = true;
	if (t->open == open)
		t->open = NULL;
}

void trace_call_name(const struct call *c, struct buf *out)
{
	syscall_name_of(out, c->desc, c->arch, c->nr);
	buf_adds(out, c->foreign ? "#32" : "");
}

static void add_name(struct trace *t, const struct call *c, struct buf *out)
{
	buf_adds(out, t->colour ? BOLD : "");
	trace_call_name(c, out);
	buf_adds(out, t->colour ? PLAIN : "");
}

static bool deferred(const struct trace *t)
{
	return trace_select_needs_exit(&t->o.select);
}

static void text_enter(struct trace *t, struct trace_task *k, const struct event *ev)
{
	struct trace_out *out = trace_output(t, k);
	struct buf *to = deferred(t) ? &k->text : &out->buf;
	if (to == &out->buf)
		break_line(t, k);
	buf_clear(&k->text);
	size_t begin = to->len;
	prefix(t, k, ev, to);
	add_name(t, &ev->call, to);
	buf_addc(to, '(');
	struct emit e;
	struct decode d;
	struct decode_opts opts;
	emit_text_init(&e, to, trace_text_flags(t));
	trace_decoder(t, k, ev, &e, &opts, &d);
	k->given = decode_enter(&d);
	k->more = to->len >= 2 && memcmp(to->s + to->len - 2, ", ", 2) == 0;
	k->column = to->s ? columns(to->s + begin, to->len - begin) : 0;
	k->unfinished = false;
	if (to == &k->text)
		return;
	k->line_open = true;
	t->open = k;
	if (k->out)
		trace_out_event(k->out);
}

/* The line of a call goes on: where it stands, or on a line of its own where another came between. */
static void resume_line(struct trace *t, struct trace_task *k, const struct event *ev, struct buf *to)
{
	if (!k->line_open || k->unfinished) {
		break_line(t, k);
		size_t begin = to->len;
		prefix(t, k, ev, to);
		buf_adds(to, "<... ");
		add_name(t, &ev->call, to);
		buf_adds(to, " resumed>");
		k->column = columns(to->s + begin, to->len - begin);
	}
}

static void add_duration(struct trace *t, const struct event *ev, struct buf *to)
{
	static const char *const marks[] = {[RESOLVED] = "", [DOUBTFUL] = "~", [UNRESOLVED] = "<"};
	if (!t->o.durations || ev->kind == EV_VANISH)
		return;
	enum resolved how;
	double own = trace_own_ns(&ev->call, &how);
	if (how == UNRESOLVED)
		own = 3.0 * (double)(ev->call.spread_ns ? ev->call.spread_ns : 1000);
	buf_addf(to, " <%s%.6f>", marks[how], own / 1e9);
}

static void add_result(struct trace *t, struct trace_task *k, const struct decode *d, const struct event *ev,
		       struct buf *to, size_t begin)
{
	if (ev->kind == EV_VANISH && k->more)
		buf_adds(to, " <unfinished ...>");
	buf_addc(to, ')');
	size_t at = k->column + columns(to->s + begin, to->len - begin);
	size_t want = t->o.column > 0 ? (size_t)t->o.column : 0;
	buf_fill(to, ' ', at + 1 < want ? want - at : 1);
	buf_adds(to, "= ");
	decode_result(d);
	add_duration(t, ev, to);
	buf_addc(to, '\n');
}

static void text_leave(struct trace *t, struct trace_task *k, const struct event *ev)
{
	struct trace_out *out = trace_output(t, k);
	struct buf *to = deferred(t) ? &k->text : &out->buf;
	if (to == &out->buf)
		resume_line(t, k, ev, to);
	size_t begin = to->len;
	struct emit e;
	struct decode d;
	struct decode_opts opts;
	emit_text_init(&e, to, trace_text_flags(t));
	trace_decoder(t, k, ev, &e, &opts, &d);
	if (ev->kind == EV_EXIT)
		decode_exit(&d, k->given);
	add_result(t, k, &d, ev, to, begin);
	if (t->o.stacks)
		trace_stack_lines(t, k, ev, to);
	if (to == &k->text) {
		buf_add(&out->buf, k->text.s, k->text.len);
		buf_clear(&k->text);
	}
	trace_dump(t, ev, out);
	k->line_open = k->unfinished = false;
	if (t->open == k)
		t->open = NULL;
	if (k->out)
		trace_out_event(k->out);
}

static void add_end(const struct event *ev, struct buf *out)
{
	if (WIFSIGNALED(ev->status))
		buf_addf(out, "+++ killed by %s%s +++\n", decode_signal_name(WTERMSIG(ev->status)),
			 WCOREDUMP(ev->status) ? " (core dumped)" : "");
	else
		buf_addf(out, "+++ exited with %d +++\n", WEXITSTATUS(ev->status));
}

static void add_signal(struct trace *t, const struct event *ev, struct buf *out)
{
	const char *name = decode_signal_name(ev->sig.si_signo);
	struct emit e;
	emit_text_init(&e, out, trace_text_flags(t));
	buf_addf(out, "--- %s ", name ? name : "SIG?");
	decode_siginfo(&e, &ev->sig);
	buf_adds(out, " ---\n");
}

static bool is_quiet(const struct trace *t, const struct event *ev)
{
	return ev->kind == EV_BIRTH || ev->kind == EV_CONT || (ev->kind == EV_EXEC && ev->child == ev->tid) ||
	       (ev->kind == EV_DEATH && t->o.look.quiet & QUIET_EXIT) ||
	       (ev->kind == EV_EXEC && t->o.look.quiet & QUIET_EXECVE);
}

static void text_other(struct trace *t, struct trace_task *k, const struct event *ev)
{
	if (is_quiet(t, ev))
		return;
	struct trace_out *to = trace_output(t, k);
	struct buf *out = &to->buf;
	break_line(t, k);
	prefix(t, k, ev, out);
	if (ev->kind == EV_SIGNAL)
		add_signal(t, ev, out);
	else if (ev->kind == EV_STOP)
		buf_addf(out, "--- stopped by %s ---\n", decode_signal_name(ev->sig.si_signo));
	else if (ev->kind == EV_EXEC)
		buf_addf(out, "+++ superseded by execve in pid %d +++\n", (int)ev->child);
	else
		add_end(ev, out);
	if (k->out)
		trace_out_event(k->out);
}

static void text_end(struct trace *t)
{
	size_t i = 0;
	struct trace_task *k;
	while ((k = map_next(&t->tasks, &i, NULL)))
		if (k->line_open && !k->unfinished)
			buf_adds(&trace_output(t, k)->buf, " <detached ...>\n");
}

const struct trace_sink trace_text_sink = {
	.enter = text_enter, .leave = text_leave, .other = text_other, .end = text_end};
