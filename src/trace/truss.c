/* SPDX-License-Identifier: MIT */
#include "trace/truss.h"

#include "base/clock.h"
#include "decode/decode.h"
#include "syscall/call_table.h"
#include "syscall/restart.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static void add_span(struct buf *out, uint64_t from, uint64_t to)
{
	uint64_t ns = to > from ? to - from : 0;
	buf_addf(out, "%llu.%09llu ", (unsigned long long)(ns / NSEC_PER_SEC), (unsigned long long)(ns % NSEC_PER_SEC));
}

static void prefix(const struct trace_truss *t, const struct event *ev, uint64_t since_ns)
{
	struct buf *out = &t->c.out->buf;
	if (t->c.pids)
		buf_addf(out, "%5d: ", (int)ev->pid);
	if (t->c.tids)
		buf_addf(out, "%6d: ", (int)ev->tid);
	if (t->c.clock)
		add_span(out, t->sink.session->start_ns, ev->time_ns);
	if (t->c.relative)
		add_span(out, since_ns, ev->time_ns);
}

static void truss_begin(struct trace_sink *s)
{
	((struct trace_truss *)s)->last_ns = s->session->start_ns;
}

static void truss_enter(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	struct trace_line *l = trace_own(s, k);
	struct emit e;
	struct trace_decoder d;
	buf_clear(&l->text);
	trace_call_name(&ev->call, &l->text);
	buf_addc(&l->text, '(');
	emit_text_init(&e, &l->text, 0);
	trace_decoder_init(&d, &((struct trace_truss *)s)->c.decoding, s, l, ev, &e);
	l->given = decode_enter(&d.decode);
}

/* Removes the space after each comma outside of strings and brackets, as truss has none there. */
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

/* Writes the line of a call that has ended, in the form of truss: the call, tabs, and the result, as in "= 3 (0x3)". */
static void truss_leave(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	struct trace_truss *t = (struct trace_truss *)s;
	struct trace_line *l = trace_own(s, k);
	struct buf *text = &l->text;
	struct emit e;
	struct trace_decoder d;
	emit_text_init(&e, text, 0);
	trace_decoder_init(&d, &t->c.decoding, s, l, ev, &e);
	if (ev->kind == EV_EXIT)
		decode_exit(&d.decode, l->given);
	else if (text->len > 1 && memcmp(text->s + text->len - 2, ", ", 2) == 0)
		buf_truncate(text, text->len - 2);
	buf_addc(text, ')');
	tighten(text);
	for (size_t i = text->len / 8; i < 6; i++)
		buf_addc(text, '\t');
	prefix(t, ev, ev->call.enter_ns);
	buf_add(&t->c.out->buf, text->s, text->len);
	add_result(ev, &t->c.out->buf);
	buf_clear(text);
	t->last_ns = ev->time_ns;
	trace_out_event(t->c.out);
}

static void truss_other(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	struct trace_truss *t = (struct trace_truss *)s;
	struct buf *out = &t->c.out->buf;
	bool dead = ev->kind == EV_DEATH && ev->is_process;
	bool new_process = ev->kind == EV_NEW_TASK && !ev->is_thread;
	(void)k;
	if (ev->kind != EV_SIGNAL && !dead && !new_process)
		return;
	prefix(t, ev, t->last_ns);
	t->last_ns = ev->time_ns;
	if (ev->kind == EV_SIGNAL) {
		const char *name = decode_signal_name(ev->sig.si_signo);
		buf_addf(out, "SIGNAL %d (%s)\n", ev->sig.si_signo, name ? name : "?");
	} else if (new_process)
		buf_addf(out, "<new process>\n");
	else if (WIFSIGNALED(ev->status))
		buf_addf(out, "process killed, signal = %d%s\n", WTERMSIG(ev->status),
			 WCOREDUMP(ev->status) ? " (core dumped)" : "");
	else
		buf_addf(out, "process exit, rval = %d\n", WEXITSTATUS(ev->status));
	trace_out_event(t->c.out);
}

static void truss_gone(struct trace_sink *s, struct trace_task *k)
{
	trace_line_free(trace_own(s, k));
}

static const struct trace_sink_ops truss_ops = {.task_size = sizeof(struct trace_line),
						.begin = truss_begin,
						.enter = truss_enter,
						.leave = truss_leave,
						.other = truss_other,
						.gone = truss_gone};

void trace_truss_init(struct trace_truss *t, const struct trace_truss_config *c)
{
	*t = (struct trace_truss){.sink.ops = &truss_ops, .c = *c};
}
