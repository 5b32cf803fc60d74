/* Calls as JSON: an object a line (sctrace-trace(5)), and the trace-event format that Perfetto loads. */
#include "trace/line.h"

#include "base/escape.h"
#include "syscall/table.h"

#include <string.h>
#include <sys/wait.h>

static void add_time(struct trace *t, const struct event *ev, uint64_t ns, struct buf *out)
{
	uint64_t real = trace_real_ns(t, ns);
	buf_addf(out, "\"time\":%llu.%09llu,\"pid\":%d,\"tid\":%d", (unsigned long long)(real / 1000000000),
		 (unsigned long long)(real % 1000000000), (int)ev->pid, (int)ev->tid);
}

/* The members that decoders write, in the making since the call's entry. */
static void decode_into(struct trace *t, struct trace_task *k, const struct event *ev, bool result, struct buf *out)
{
	struct emit e;
	struct decode d;
	struct decode_opts opts;
	emit_json_init(&e, out);
	trace_decoder(t, k, ev, &e, &opts, &d);
	if (result)
		decode_result(&d);
	else if (ev->kind == EV_ENTER)
		k->given = decode_enter(&d);
	else if (ev->kind == EV_EXIT)
		decode_exit(&d, k->given);
}

static void json_enter(struct trace *t, struct trace_task *k, const struct event *ev)
{
	buf_clear(&k->text);
	decode_into(t, k, ev, false, &k->text);
}

static void add_arch(const struct call *c, struct buf *out)
{
	if (c->arch != syscall_native_arch())
		buf_addf(out, ",\"arch\":%u", c->arch);
}

static void finish_args(struct trace *t, struct trace_task *k, const struct event *ev)
{
	decode_into(t, k, ev, false, &k->text);
	if (k->text.len && k->text.s[k->text.len - 1] == ',')
		buf_truncate(&k->text, k->text.len - 1);
}

static void add_duration(const struct event *ev, struct buf *out)
{
	enum resolved how;
	double own = trace_own_ns(&ev->call, &how);
	if (ev->kind == EV_VANISH)
		return;
	if (how == UNRESOLVED)
		buf_adds(out, ",\"duration_s\":null");
	else
		buf_addf(out, ",\"duration_s\":%.9f", own / 1e9);
	buf_addf(out, ",\"resolved\":%s", how == RESOLVED ? "true" : "false");
}

static void json_leave(struct trace *t, struct trace_task *k, const struct event *ev)
{
	struct trace_out *to = trace_output(t, k);
	struct buf *out = &to->buf;
	finish_args(t, k, ev);
	buf_adds(out, "{\"type\":\"call\",");
	add_time(t, ev, k->enter_ns, out);
	buf_adds(out, ",\"name\":\"");
	syscall_name_of(out, ev->call.desc, ev->call.arch, ev->call.nr);
	buf_addf(out, "\",\"nr\":%lld", (long long)syscall_kernel_number(ev->call.arch, ev->call.nr));
	add_arch(&ev->call, out);
	buf_adds(out, ",\"args\":{");
	buf_add(out, k->text.s, k->text.len);
	buf_adds(out, "},");
	if (ev->kind == EV_EXIT)
		decode_into(t, k, ev, true, out);
	else
		buf_adds(out, "\"result\":null,\"unfinished\":true");
	if (ev->call.restart)
		buf_adds(out, ",\"restarted\":true");
	add_duration(ev, out);
	if (t->o.stacks)
		trace_stack_json(t, k, ev, out);
	buf_adds(out, "}\n");
	buf_clear(&k->text);
	if (k->out)
		trace_out_event(k->out);
}

static void json_signal(const struct event *ev, struct buf *out)
{
	const char *name = decode_signal_name(ev->sig.si_signo);
	struct emit e;
	buf_addf(out, ",\"signal\":\"%s\"", name ? name : "SIG?");
	if (ev->kind != EV_SIGNAL)
		return;
	buf_adds(out, ",\"siginfo\":");
	emit_json_init(&e, out);
	decode_siginfo(&e, &ev->sig);
}

static void json_death(const struct event *ev, struct buf *out)
{
	if (WIFSIGNALED(ev->status))
		buf_addf(out, ",\"killed_by\":\"%s\",\"core_dumped\":%s", decode_signal_name(WTERMSIG(ev->status)),
			 WCOREDUMP(ev->status) ? "true" : "false");
	else
		buf_addf(out, ",\"status\":%d", WEXITSTATUS(ev->status));
	buf_addf(out, ",\"process\":%s", ev->is_process ? "true" : "false");
}

static void json_other(struct trace *t, struct trace_task *k, const struct event *ev)
{
	static const char *const types[] = {[EV_SIGNAL] = "signal", [EV_STOP] = "stop", [EV_CONT] = "continue",
					    [EV_BIRTH] = "birth",   [EV_EXEC] = "exec", [EV_DEATH] = "exit"};
	struct trace_out *to = trace_output(t, k);
	struct buf *out = &to->buf;
	buf_addf(out, "{\"type\":\"%s\",", types[ev->kind]);
	add_time(t, ev, ev->time_ns, out);
	if (ev->kind == EV_BIRTH)
		buf_addf(out, ",\"child\":%d,\"thread\":%s", (int)ev->child, ev->is_thread ? "true" : "false");
	else if (ev->kind == EV_EXEC)
		buf_addf(out, ",\"former_tid\":%d", (int)ev->child);
	else if (ev->kind == EV_DEATH)
		json_death(ev, out);
	else
		json_signal(ev, out);
	buf_adds(out, "}\n");
	if (k->out)
		trace_out_event(k->out);
}

const struct trace_sink trace_json_sink = {.enter = json_enter, .leave = json_leave, .other = json_other};

/* Perfetto: one JSON document, times in microseconds since the start. */
static double micros(const struct trace *t, uint64_t ns)
{
	return ns > t->start_ns ? (double)(ns - t->start_ns) / 1e3 : 0;
}

static void perfetto_head(struct trace *t, const char *phase, const struct event *ev, uint64_t ns, struct buf *out)
{
	buf_adds(out, t->any ? ",\n" : "\n");
	t->any = true;
	buf_addf(out, "{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"name\":\"", phase, (int)ev->pid, (int)ev->tid,
		 micros(t, ns));
}

static void perfetto_begin(struct trace *t)
{
	buf_adds(&t->out.buf, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

static void perfetto_leave(struct trace *t, struct trace_task *k, const struct event *ev)
{
	struct buf *out = &t->out.buf;
	finish_args(t, k, ev);
	uint64_t ns = ev->time_ns > k->enter_ns ? ev->time_ns - k->enter_ns : 0;
	perfetto_head(t, "X", ev, k->enter_ns, out);
	trace_call_name(&ev->call, out);
	buf_addf(out, "\",\"cat\":\"syscall\",\"dur\":%.3f,\"args\":{", (double)ns / 1e3);
	if (ev->kind == EV_EXIT) {
		decode_into(t, k, ev, true, out);
		add_duration(ev, out);
	} else
		buf_adds(out, "\"unfinished\":true");
	buf_adds(out, ",\"arguments\":{");
	buf_add(out, k->text.s, k->text.len);
	buf_adds(out, "}}}");
	buf_clear(&k->text);
}

static void perfetto_other(struct trace *t, struct trace_task *k, const struct event *ev)
{
	struct buf *out = &t->out.buf;
	const char *name = decode_signal_name(ev->sig.si_signo);
	(void)k;
	if (ev->kind == EV_CONT || ev->kind == EV_BIRTH)
		return;
	perfetto_head(t, "i", ev, ev->time_ns, out);
	if (ev->kind == EV_SIGNAL || ev->kind == EV_STOP)
		buf_addf(out, "%s%s", ev->kind == EV_STOP ? "stopped by " : "", name ? name : "SIG?");
	else
		buf_adds(out, ev->kind == EV_EXEC ? "exec" : WIFSIGNALED(ev->status) ? "killed" : "exited");
	buf_adds(out, "\",\"s\":\"t\"}");
}

static void perfetto_end(struct trace *t)
{
	buf_adds(&t->out.buf, "\n]}\n");
}

const struct trace_sink trace_perfetto_sink = {.begin = perfetto_begin,
					       .enter = json_enter,
					       .leave = perfetto_leave,
					       .other = perfetto_other,
					       .end = perfetto_end};
