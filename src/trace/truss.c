/* Calls as lines, in FreeBSD truss's look: name(args) tabs = 3 (0x3). */
#include "trace/line.h"

#include "base/clock.h"
#include "decode/decode.h"
#include "syscall/restart.h"
#include "syscall/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static void add_span(struct buf *out, uint64_t from, uint64_t to)
{
	uint64_t ns = to > from ? to - from : 0;
	buf_addf(out, "%llu.%09llu ", (unsigned long long)(ns / NSEC_PER_SEC), (unsigned long long)(ns % NSEC_PER_SEC));
}

static void prefix(struct trace *t, const struct trace_task *k, uint64_t time_ns, uint64_t since_ns, struct buf *out)
{
	if (t->o.follow)
		buf_addf(out, "%5d: ", (int)k->pid);
	if (t->o.truss_thread_ids)
		buf_addf(out, "%6d: ", (int)k->tid);
	if (t->o.clock)
		add_span(out, t->start_ns, time_ns);
	if (t->o.relative)
		add_span(out, since_ns, time_ns);
}

static void truss_enter(struct trace *t, struct trace_task *k, const struct event *ev)
{
	struct emit e;
	struct decode d;
	struct decode_opts opts;
	buf_clear(&k->text);
	trace_call_name(&ev->call, &k->text);
	buf_addc(&k->text, '(');
	emit_text_init(&e, &k->text, 0);
	trace_decoder(t, k, ev, &e, &opts, &d);
	k->given = decode_enter(&d);
}

/* truss joins arguments by commas alone: drops the space after each comma that is outside of strings and brackets. */
static void tighten(struct buf *b)
{
	size_t to = 0;
	int depth = 0;
	bool quoted = false;
	for (size_t i = 0; i < b->len; i++) {
		char c = b->s[i];
		if (quoted && c == '\\' && i + 1 < b->len) {
			b->s[to++] = c;
			c = b->s[++i];
		} else if (c == '"')
			quoted = !quoted;
		else if (!quoted && strchr("{[", c))
			depth++;
		else if (!quoted && strchr("}]", c))
			depth--;
		b->s[to++] = c;
		if (c == ',' && !quoted && !depth && i + 1 < b->len && b->s[i + 1] == ' ')
			i++;
	}
	buf_truncate(b, to);
}

static void add_result(const struct event *ev, struct buf *out)
{
	if (ev->kind == EV_VANISH)
		buf_adds(out, "\n");
	else if (ev->call.error && IS_RESTART_ERROR(ev->call.err))
		buf_adds(out, " ERESTART\n");
	else if (ev->call.error)
		buf_addf(out, " ERR#%d '%s'\n", ev->call.err, decode_errno_text(ev->call.err));
	else
		buf_addf(out, " = %lld (0x%llx)\n", (long long)ev->call.result, (unsigned long long)ev->call.result);
}

static void truss_leave(struct trace *t, struct trace_task *k, const struct event *ev)
{
	struct emit e;
	struct decode d;
	struct decode_opts opts;
	emit_text_init(&e, &k->text, 0);
	trace_decoder(t, k, ev, &e, &opts, &d);
	if (ev->kind == EV_EXIT)
		decode_exit(&d, k->given);
	else if (k->text.len > 1 && memcmp(k->text.s + k->text.len - 2, ", ", 2) == 0)
		buf_truncate(&k->text, k->text.len - 2);
	buf_addc(&k->text, ')');
	tighten(&k->text);
	for (size_t i = k->text.len / 8; i < 6; i++)
		buf_addc(&k->text, '\t');
	prefix(t, k, ev->time_ns, k->enter_ns, &t->out.buf);
	buf_add(&t->out.buf, k->text.s, k->text.len);
	add_result(ev, &t->out.buf);
	buf_clear(&k->text);
	t->last_ns = ev->time_ns;
}

static void truss_other(struct trace *t, struct trace_task *k, const struct event *ev)
{
	struct buf *out = &t->out.buf;
	bool dead = ev->kind == EV_DEATH && ev->is_process;
	bool born = ev->kind == EV_BIRTH && !ev->is_thread;
	if (ev->kind != EV_SIGNAL && !dead && !born)
		return;
	prefix(t, k, ev->time_ns, t->last_ns, out);
	t->last_ns = ev->time_ns;
	if (ev->kind == EV_SIGNAL) {
		const char *name = decode_signal_name(ev->sig.si_signo);
		buf_addf(out, "SIGNAL %d (%s)\n", ev->sig.si_signo, name ? name : "?");
	} else if (born)
		buf_addf(out, "<new process>\n");
	else if (WIFSIGNALED(ev->status))
		buf_addf(out, "process killed, signal = %d%s\n", WTERMSIG(ev->status),
			 WCOREDUMP(ev->status) ? " (core dumped)" : "");
	else
		buf_addf(out, "process exit, rval = %d\n", WEXITSTATUS(ev->status));
}

const struct trace_sink trace_truss_sink = {.enter = truss_enter, .leave = truss_leave, .other = truss_other};
