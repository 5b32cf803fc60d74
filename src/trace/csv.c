/* SPDX-License-Identifier: MIT */
/* The sink that writes calls as CSV (RFC 4180): one row for each call. The arguments are one column of JSON. */
#include "base/escape.h"
#include "syscall/call_table.h"
#include "syscall/restart.h"
#include "trace/json.h"
#include "trace/trace_stack.h"
#include "tracee/names.h"

#include <string.h>

/* The columns of CSV, in their order. Later versions add columns only at the end (sctrace-trace(5)). */
static const char csv_columns[] = "host,recording,command,time_ns,pid,tid,process,name,nr,arch,args,path,result,errno,"
				  "duration_ns,resolved,waited,unfinished,restarted,injected,delayed,stack\n";

/* The data of the CSV sink for a thread. */
struct csv_task {
	struct trace_line line; /* must be first, as trace_json_enter() requires */
	struct buf process;     /* the name of the process as a field */
	uint64_t named_ns;      /* when the name was last read; 0: never */
	struct buf path;        /* the file of the call in progress as a field */
};

/* Appends text that may come from the program as a field. Bytes that are not printable UTF-8 become C escapes. */
static void csv_text(struct trace_csv *v, const char *s, size_t n, struct buf *out)
{
	buf_clear(&v->line);
	escape_line(&v->line, s, n);
	escape_csv(out, buf_str(&v->line));
}

static void csv_begin(struct trace_sink *s)
{
	struct trace_csv *v = (struct trace_csv *)s;
	const char *const known[] = {v->json.c.host, v->json.c.recording};
	auto_buf command = {0};
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (known[i])
			csv_text(v, known[i], strlen(known[i]), &v->common);
		buf_addc(&v->common, ',');
	}
	for (char *const *word = v->json.c.program; word && *word; word++) {
		buf_adds(&command, command.len ? " " : "");
		escape_shell(&command, *word, strlen(*word));
	}
	csv_text(v, buf_str(&command), command.len, &v->common);
	buf_addc(&v->common, ',');
}

/* Finds the file of the call: that of its descriptor, or else its first path, which is made absolute. */
static void csv_file(struct trace_csv *v, struct csv_task *own, struct trace_task *k)
{
	struct trace_ref *r = trace_subject_fd(&k->subject);
	const struct buf *text = r ? trace_ref_text(&k->subject, r) : NULL;
	if (!r && (r = trace_subject_path(&k->subject))) {
		text = trace_ref_full(&k->subject, r);
		text = text->len ? text : trace_ref_text(&k->subject, r);
	}
	buf_clear(&own->path);
	if (text)
		csv_text(v, buf_str(text), text->len, &own->path);
}

static void csv_enter(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	trace_json_enter(s, k, ev);
	csv_file((struct trace_csv *)s, trace_own(s, k), k);
}

/* Returns the file of the call that has ended. A path may be a symbolic link; a new descriptor shows what it leads to. */
static const struct buf *csv_path(struct trace_csv *v, struct csv_task *own, const struct event *ev)
{
	const struct call *c = &ev->call;
	const struct names *names = v->json.sink.session->names;
	buf_clear(&v->text);
	if (trace_returns(ev) && c->desc && c->desc->result == R_FD && !c->error &&
	    names->fd(names->ctx, ev->tid, (int)c->result, &v->text)) {
		buf_clear(&own->path);
		csv_text(v, buf_str(&v->text), v->text.len, &own->path);
	}
	return &own->path;
}

static const struct buf *csv_process(struct trace_csv *v, struct csv_task *own, const struct event *ev)
{
	const struct names *names = v->json.sink.session->names;
	buf_clear(&v->text);
	if (own->named_ns && ev->time_ns < own->named_ns + TRACE_NAME_AGE_NS)
		return &own->process;
	own->named_ns = ev->time_ns;
	if (names->comm(names->ctx, ev->pid, &v->text)) {
		buf_clear(&own->process);
		csv_text(v, buf_str(&v->text), v->text.len, &own->process);
	}
	return &own->process;
}

static void csv_number(struct buf *out, int64_t v)
{
	buf_add_signed(out, v);
	buf_addc(out, ',');
}

static void csv_field(struct buf *out, const struct buf *field)
{
	buf_add(out, field->s, field->len);
	buf_addc(out, ',');
}

static void csv_bool(struct buf *out, bool v)
{
	buf_adds(out, v ? "true," : "false,");
}

/* Appends the columns result to waited. Those of a call that has not returned are empty. */
static void csv_outcome(const struct event *ev, struct buf *out)
{
	static const char *const waits[] = {[WAIT_UNKNOWN] = ",", [WAIT_NO] = "false,", [WAIT_YES] = "true,"};
	const struct call *c = &ev->call;
	enum resolved how;
	double own = trace_own_ns(c, &how);
	if (ev->kind == EV_VANISH) {
		buf_adds(out, ",,,,,");
		return;
	}
	const char *name = c->error ? decode_errno_name(c->err) : "";
	csv_number(out, !c->error                                                  ? c->result
			: c->err >= ERESTARTSYS && c->err <= ERESTART_RESTARTBLOCK ? -c->err
										   : -1);
	if (name)
		buf_adds(out, name);
	else
		buf_addf(out, "E%d", c->err);
	buf_addc(out, ',');
	if (how == UNRESOLVED)
		buf_addc(out, ',');
	else
		csv_number(out, (int64_t)own);
	csv_bool(out, how == RESOLVED);
	buf_adds(out, waits[c->wait]);
}

/* Writes the names of the columns if nothing is in the file yet. */
static void csv_head(struct trace_out *to)
{
	if (to->empty)
		buf_adds(&to->buf, csv_columns);
	to->empty = false;
}

static void csv_stack(struct trace_csv *v, struct trace_line *l, const struct event *ev, struct buf *out)
{
	if (!v->json.c.stack)
		return;
	buf_clear(&v->line);
	trace_stack_leave(v->json.c.stack, ev, trace_stack_string, &l->stack, &v->line);
	buf_adds(out, "\"[");
	escape_csv_quoted(out, v->line.s, v->line.len);
	buf_adds(out, "]\"");
}

static void csv_leave(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	struct trace_csv *v = (struct trace_csv *)s;
	struct csv_task *own = trace_own(s, k);
	struct trace_line *l = &own->line;
	struct trace_out *to = trace_json_output(&v->json, ev);
	struct buf *out = &to->buf;
	if (ev->call.withdrawn && !v->json.c.stack)
		return;
	if (ev->kind == EV_CALL)
		csv_file(v, own, k);
	trace_json_arguments(&v->json, l, ev);
	csv_head(to);
	buf_add(out, v->common.s, v->common.len);
	csv_number(out, (int64_t)trace_real_ns(s, ev->call.enter_ns));
	csv_number(out, ev->pid);
	csv_number(out, ev->tid);
	csv_field(out, csv_process(v, own, ev));
	syscall_name_of(out, ev->call.desc, ev->call.arch, ev->call.nr);
	buf_addc(out, ',');
	csv_number(out, syscall_kernel_number(ev->call.arch, ev->call.nr));
	csv_number(out, ev->call.arch);
	buf_adds(out, "\"{");
	escape_csv_quoted(out, l->text.s, l->text.len);
	buf_adds(out, "}\",");
	csv_field(out, csv_path(v, own, ev));
	csv_outcome(ev, out);
	csv_bool(out, ev->kind == EV_VANISH);
	csv_bool(out, ev->call.restart);
	csv_bool(out, ev->call.injected);
	csv_bool(out, ev->call.delayed);
	csv_stack(v, l, ev, out);
	buf_addc(out, '\n');
	buf_clear(&l->text);
	trace_out_event(to);
}

static void csv_other(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	if (ev->kind == EV_EXEC)
		((struct csv_task *)trace_own(s, k))->named_ns = 0;
}

static void csv_gone(struct trace_sink *s, struct trace_task *k)
{
	struct csv_task *own = trace_own(s, k);
	trace_outputs_gone(((struct trace_csv *)s)->json.c.out, k->tid);
	trace_line_free(&own->line);
	buf_free(&own->process);
	buf_free(&own->path);
}

/* If there was no call, the table is empty, but it has its columns. */
static void csv_end(struct trace_sink *s)
{
	struct trace_csv *v = (struct trace_csv *)s;
	if (!v->json.c.out->separate)
		csv_head(&v->json.c.out->common);
	buf_free(&v->common);
	buf_free(&v->text);
	buf_free(&v->line);
}

static const struct trace_sink_ops csv_ops = {.task_size = sizeof(struct csv_task),
					      .begin = csv_begin,
					      .enter = csv_enter,
					      .leave = csv_leave,
					      .takes_calls = true,
					      .other = csv_other,
					      .gone = csv_gone,
					      .end = csv_end};

void trace_csv_init(struct trace_csv *v, const struct trace_json_config *c)
{
	*v = (struct trace_csv){.json = {.sink.ops = &csv_ops, .c = *c}};
}
