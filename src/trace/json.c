/* SPDX-License-Identifier: MIT */
#include "trace/json.h"

#include "base/escape.h"
#include "syscall/call_table.h"
#include "trace/trace_stack.h"
#include "tracee/names.h"

#include <string.h>
#include <sys/wait.h>

/* Appends text from the program as a string of JSON. Bytes that are not printable UTF-8 become C escapes. */
static void add_text(struct buf *out, const char *s, size_t n)
{
	auto_buf line = {0};
	escape_line(&line, s, n);
	buf_addc(out, '"');
	for (const char *p = buf_str(&line); *p; p++) {
		buf_adds(out, *p == '"' || *p == '\\' ? "\\" : "");
		buf_addc(out, *p);
	}
	buf_addc(out, '"');
}

/* Appends the members that all objects have. The number of ns is exact even for a reader that has only `double`. */
static void add_time(const struct trace_sink *s, const struct event *ev, uint64_t ns, struct buf *out)
{
	const struct buf *host = &((const struct trace_json *)s)->host;
	uint64_t real_ns = trace_real_ns(s, ns);
	buf_adds(out, "\"time\":");
	trace_add_seconds(out, real_ns, PRECISION_NS);
	buf_adds(out, ",\"time_ns\":");
	buf_add_decimal(out, real_ns, 1);
	buf_add(out, host->s, host->len);
	buf_adds(out, ",\"pid\":");
	buf_add_signed(out, ev->pid);
	buf_adds(out, ",\"tid\":");
	buf_add_signed(out, ev->tid);
}

/* Decodes the call into a JSON object. Appends to the members that were written at the call's entry. */
static void decode_into(struct trace_json *j, struct trace_line *l, const struct event *ev, bool result,
			struct buf *out)
{
	struct emit e;
	struct trace_decoder d;
	emit_json_init(&e, out);
	trace_decoder_init(&d, &j->c.decoding, &j->sink, l, ev, &e);
	if (result)
		decode_result(&d.decode);
	else if (ev->kind == EV_ENTER)
		l->given = decode_enter(&d.decode);
	else if (ev->kind == EV_VANISH)
		decode_vanish(&d.decode, l->given);
	else
		trace_decode_ended(&d, l, ev);
}

void trace_json_enter(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	struct trace_json *j = (struct trace_json *)s;
	struct trace_line *l = trace_own(s, k);
	trace_outputs_begin(j->c.out, ev);
	buf_clear(&l->text);
	decode_into(j, l, ev, false, &l->text);
	if (j->c.stack)
		trace_stack_enter(j->c.stack, ev, trace_stack_string, &l->stack);
}

void trace_json_arguments(struct trace_json *j, struct trace_line *l, const struct event *ev)
{
	decode_into(j, l, ev, false, &l->text);
	if (l->text.len && l->text.s[l->text.len - 1] == ',')
		buf_truncate(&l->text, l->text.len - 1);
}

static void add_duration(const struct event *ev, struct buf *out)
{
	enum resolved how;
	double own = trace_own_ns(&ev->call, &how);
	if (ev->kind == EV_VANISH)
		return;
	if (how == UNRESOLVED)
		buf_adds(out, ",\"duration_s\":null,\"duration_ns\":null");
	else {
		buf_adds(out, ",\"duration_s\":");
		trace_add_seconds(out, (uint64_t)own, PRECISION_NS);
		buf_adds(out, ",\"duration_ns\":");
		buf_add_decimal(out, (uint64_t)own, 1);
	}
	buf_adds(out, how == RESOLVED ? ",\"resolved\":true" : ",\"resolved\":false");
	if (ev->call.wait != WAIT_UNKNOWN)
		buf_adds(out, ev->call.wait == WAIT_YES ? ",\"waited\":true" : ",\"waited\":false");
}

static void add_stack(const struct trace_json *j, struct trace_line *l, const struct event *ev, struct buf *out)
{
	if (!j->c.stack)
		return;
	buf_adds(out, ",\"stack\":[");
	trace_stack_leave(j->c.stack, ev, trace_stack_string, &l->stack, out);
	buf_addc(out, ']');
}

struct trace_out *trace_json_output(struct trace_json *j, const struct event *ev)
{
	return ev->kind == EV_CALL ? trace_outputs_begin(j->c.out, ev) : trace_outputs_of(j->c.out, ev->tid);
}

static void json_leave(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	struct trace_json *j = (struct trace_json *)s;
	struct trace_line *l = trace_own(s, k);
	struct trace_out *to = trace_json_output(j, ev);
	struct buf *out = &to->buf;
	if (ev->call.withdrawn && !j->c.stack)
		return;
	if (ev->kind == EV_CALL)
		trace_outputs_begin(j->c.out, ev);
	trace_json_arguments(j, l, ev);
	buf_adds(out, "{\"type\":\"call\",");
	add_time(s, ev, ev->call.enter_ns, out);
	buf_adds(out, ",\"name\":\"");
	syscall_name_of(out, ev->call.desc, ev->call.arch, ev->call.nr);
	buf_adds(out, "\",\"nr\":");
	buf_add_signed(out, syscall_kernel_number(ev->call.arch, ev->call.nr));
	if (ev->call.arch != syscall_native_arch())
		buf_addf(out, ",\"arch\":%u", ev->call.arch);
	buf_adds(out, ",\"args\":{");
	buf_add(out, l->text.s, l->text.len);
	buf_adds(out, "},");
	if (ev->kind != EV_VANISH)
		decode_into(j, l, ev, true, out);
	else
		buf_adds(out, "\"result\":null,\"unfinished\":true");
	buf_adds(out, ev->call.restart ? ",\"restarted\":true" : "");
	buf_adds(out, ev->call.injected ? ",\"injected\":true" : "");
	buf_adds(out, ev->call.delayed ? ",\"delayed\":true" : "");
	add_duration(ev, out);
	add_stack(j, l, ev, out);
	buf_adds(out, "}\n");
	buf_clear(&l->text);
	trace_out_event(to);
}

static void add_crash(const struct trace_json *j, const struct event *ev, struct buf *out)
{
	auto_buf frames = {0};
	if (j->c.crashes && trace_stack_signal(j->c.crashes, ev, trace_stack_string, &frames) > 0)
		buf_addf(out, ",\"stack\":[%s]", buf_str(&frames));
}

static void json_signal(const struct trace_json *j, const struct event *ev, struct buf *out)
{
	const char *name = decode_signal_name(ev->sig.si_signo);
	struct emit e;
	struct trace_decoder d;
	buf_addf(out, ",\"signal\":\"%s\"", name ? name : "SIG?");
	if (ev->kind != EV_SIGNAL)
		return;
	buf_adds(out, ",\"siginfo\":");
	emit_json_init(&e, out);
	trace_decoder_init_signal(&d, &j->c.decoding, &j->sink, ev, &e);
	decode_siginfo(&d.decode, &ev->sig);
	add_crash(j, ev, out);
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

static void json_other(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	static const char *const types[] = {[EV_SIGNAL] = "signal",  [EV_STOP] = "stop", [EV_CONT] = "continue",
					    [EV_NEW_TASK] = "birth", [EV_EXEC] = "exec", [EV_DEATH] = "exit"};
	struct trace_outputs *all = ((struct trace_json *)s)->c.out;
	(void)k;
	struct trace_out *to = trace_outputs_begin(all, ev);
	if (ev->kind == EV_NEW_TASK)
		trace_outputs_created(all, ev->tid, ev->child);
	if (ev->kind == EV_EXEC)
		trace_outputs_exec(all, ev->tid);
	struct buf *out = &to->buf;
	buf_addf(out, "{\"type\":\"%s\",", types[ev->kind]);
	add_time(s, ev, ev->time_ns, out);
	if (ev->kind == EV_NEW_TASK)
		buf_addf(out, ",\"child\":%d,\"thread\":%s", (int)ev->child, ev->is_thread ? "true" : "false");
	else if (ev->kind == EV_EXEC)
		buf_addf(out, ",\"former_tid\":%d", (int)ev->child);
	else if (ev->kind == EV_DEATH)
		json_death(ev, out);
	else if (ev->kind != EV_CONT)
		json_signal((struct trace_json *)s, ev, out);
	buf_adds(out, "}\n");
	trace_out_event(to);
}

static void json_begin(struct trace_sink *s)
{
	struct trace_json *j = (struct trace_json *)s;
	if (!j->c.host)
		return;
	buf_adds(&j->host, ",\"host\":");
	add_text(&j->host, j->c.host, strlen(j->c.host));
}

static void json_end(struct trace_sink *s)
{
	struct trace_json *j = (struct trace_json *)s;
	buf_free(&j->host);
}

static void json_gone(struct trace_sink *s, struct trace_task *k)
{
	trace_outputs_gone(((struct trace_json *)s)->c.out, k->tid);
	trace_line_free(trace_own(s, k));
}

static const struct trace_sink_ops json_ops = {.task_size = sizeof(struct trace_line),
					       .begin = json_begin,
					       .enter = trace_json_enter,
					       .leave = json_leave,
					       .takes_calls = true,
					       .other = json_other,
					       .gone = json_gone,
					       .end = json_end};

void trace_json_init(struct trace_json *j, const struct trace_json_config *c)
{
	*j = (struct trace_json){.sink.ops = &json_ops, .c = *c};
}

static void perfetto_head(struct trace_json *j, const char *phase, const struct event *ev, uint64_t ns)
{
	struct buf *out = &j->c.out->common.buf;
	uint64_t start = j->sink.session->start_ns; /* `ts` is in microseconds since the start */
	buf_adds(out, j->any ? ",\n" : "\n");
	j->any = true;
	buf_addf(out, "{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"name\":\"", phase, (int)ev->pid, (int)ev->tid,
		 ns > start ? (double)(ns - start) / 1e3 : 0);
}

/* The data of the Perfetto sink for a thread. */
struct perfetto_task {
	struct trace_line line; /* must be first, as trace_json_enter() requires */
	struct buf name;        /* the name that was last written */
	uint64_t named_ns;      /* when the name was last read; 0: never */
};

/* Writes a metadata event, whose value is `text`, which comes from the program, or `number` if `text` is NULL. */
static void perfetto_about(struct trace_json *j, const struct event *ev, const char *what, const struct buf *text,
			   int number)
{
	struct buf *out = &j->c.out->common.buf;
	perfetto_head(j, "M", ev, ev->time_ns);
	buf_addf(out, "%s\",\"args\":{", what);
	if (text) {
		buf_adds(out, "\"name\":");
		add_text(out, buf_str(text), text->len);
	} else
		buf_addf(out, "\"sort_index\":%d", number);
	buf_adds(out, "}}");
}

/* Writes the names of thread and process if they have changed. Perfetto sorts both by their ids. */
static void perfetto_names(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	struct perfetto_task *own = trace_own(s, k);
	const struct names *names = s->session->names;
	auto_buf thread = {0}, process = {0};
	bool first = !own->named_ns;
	if (!first && ev->kind != EV_EXEC && ev->time_ns < own->named_ns + TRACE_NAME_AGE_NS)
		return;
	own->named_ns = ev->time_ns;
	bool known = names->comm(names->ctx, k->tid, &thread) && names->comm(names->ctx, k->pid, &process);
	if (known && (first || strcmp(buf_str(&thread), buf_str(&own->name)) != 0)) {
		perfetto_about((struct trace_json *)s, ev, "thread_name", &thread, 0);
		perfetto_about((struct trace_json *)s, ev, "process_name", &process, 0);
		buf_clear(&own->name);
		buf_adds(&own->name, buf_str(&thread));
	}
	if (first) {
		perfetto_about((struct trace_json *)s, ev, "thread_sort_index", NULL, k->tid);
		perfetto_about((struct trace_json *)s, ev, "process_sort_index", NULL, k->pid);
	}
}

static void perfetto_begin(struct trace_sink *s)
{
	buf_adds(&((struct trace_json *)s)->c.out->common.buf, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

static void perfetto_leave(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	struct trace_json *j = (struct trace_json *)s;
	struct trace_line *l = trace_own(s, k);
	struct buf *out = &j->c.out->common.buf;
	trace_json_arguments(j, l, ev);
	perfetto_names(s, k, ev);
	uint64_t begin = ev->call.enter_ns;
	perfetto_head(j, "X", ev, begin);
	trace_call_name(&ev->call, out);
	buf_addf(out, "\",\"cat\":\"syscall\",\"dur\":%.3f,\"args\":{",
		 ev->time_ns > begin ? (double)(ev->time_ns - begin) / 1e3 : 0);
	if (ev->kind == EV_EXIT) {
		decode_into(j, l, ev, true, out);
		add_duration(ev, out);
	} else
		buf_adds(out, "\"unfinished\":true");
	buf_adds(out, ",\"arguments\":{");
	buf_add(out, l->text.s, l->text.len);
	buf_adds(out, "}}}");
	buf_clear(&l->text);
	trace_out_event(&j->c.out->common);
}

static void perfetto_other(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	struct trace_out *to = &((struct trace_json *)s)->c.out->common;
	const char *name = decode_signal_name(ev->sig.si_signo);
	if (ev->kind == EV_CONT || ev->kind == EV_NEW_TASK)
		return;
	if (ev->kind != EV_DEATH)
		perfetto_names(s, k, ev);
	perfetto_head((struct trace_json *)s, "i", ev, ev->time_ns);
	if (ev->kind == EV_SIGNAL || ev->kind == EV_STOP)
		buf_addf(&to->buf, "%s%s", ev->kind == EV_STOP ? "stopped by " : "", name ? name : "SIG?");
	else
		buf_adds(&to->buf, ev->kind == EV_EXEC ? "exec" : WIFSIGNALED(ev->status) ? "killed" : "exited");
	buf_adds(&to->buf, "\",\"s\":\"t\"}");
	trace_out_event(to);
}

static void perfetto_gone(struct trace_sink *s, struct trace_task *k)
{
	struct perfetto_task *own = trace_own(s, k);
	trace_line_free(&own->line);
	buf_free(&own->name);
}

static void perfetto_end(struct trace_sink *s)
{
	buf_adds(&((struct trace_json *)s)->c.out->common.buf, "\n]}\n");
}

static const struct trace_sink_ops perfetto_ops = {.task_size = sizeof(struct perfetto_task),
						   .begin = perfetto_begin,
						   .enter = trace_json_enter,
						   .leave = perfetto_leave,
						   .other = perfetto_other,
						   .gone = perfetto_gone,
						   .end = perfetto_end};

void trace_perfetto_init(struct trace_json *j, const struct trace_json_config *c)
{
	*j = (struct trace_json){.sink.ops = &perfetto_ops, .c = *c};
	j->c.stack = NULL;
}
