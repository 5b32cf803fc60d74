/* SPDX-License-Identifier: MIT */
#include "trace/changes.h"

#include "base/buf.h"
#include "base/memory.h"
#include "base/size.h"
#include "decode/decode.h"
#include "syscall/call_table.h"

#include <ctype.h>
#include <jansson.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>

/* A text emitter that leaves out the parts that are different in each run. */
struct tally_emit {
	struct emit emit; /* must be first */
	const struct emit_ops *text;
	const struct trace_tally *tally;
	const struct call *call;
	int arg;        /* index of the argument that is being shown */
	bool deadline;  /* the argument contains a point in time */
	bool is_period; /* the numbers that follow are those of it_interval, which is a duration in any case */
	bool is_pid;    /* the number that follows is the member `pid` */
};

static bool is_thread(const struct trace_tally *t, uint64_t id)
{
	return map_get(&t->threads, id) != NULL;
}

/* Returns the kind of argument `i`, or K_END if there is none. */
static uint16_t kind_of(const struct call *c, int i)
{
	return c->desc && i >= 0 && i < c->desc->nargs ? c->desc->args[i].kind : K_END;
}

/* Does this argument contain a point in time? Otherwise, a time is a duration. */
static bool is_deadline(const struct call *c, int i)
{
	_Static_assert(TIMER_ABSTIME == TFD_TIMER_ABSTIME, "both kinds of flags use the same bit");
	uint16_t kind = kind_of(c, i), former = kind_of(c, i - 1);
	if (kind == K_FUTEX_TIMEOUT)
		return (c->args[1] & FUTEX_CMD_MASK) != FUTEX_WAIT;
	if (kind != K_TIMESPEC && kind != K_TIMESPEC64 && kind != K_ITIMERSPEC && kind != K_ITIMERSPEC64)
		return false;
	if (former == K_TIMER_FLAGS || former == K_TFD_TIMER_FLAGS)
		return c->args[i - 1] & TIMER_ABSTIME;
	/* futex_waitv(2) and futex_wait(2) have a clock after the time. */
	return strcmp(c->desc->args[i].name, "abs_timeout") == 0 || kind_of(c, i + 1) == K_CLOCK;
}

static void emit_argument(struct emit *e, const char *name, uint64_t raw)
{
	struct tally_emit *t = (struct tally_emit *)e;
	t->arg++;
	t->deadline = is_deadline(t->call, t->arg);
	t->is_period = t->is_pid = false;
	t->text->arg(e, name, raw);
}

static void emit_member(struct emit *e, const char *name, bool bare)
{
	struct tally_emit *t = (struct tally_emit *)e;
	t->is_pid = name && strcmp(name, "pid") == 0;
	if (name && strncmp(name, "it_", 3) == 0)
		t->is_period = strcmp(name, "it_interval") == 0;
	t->text->field(e, name, bare);
}

/* pthread_join() waits until the kernel clears the id of a thread. Such a futex is not private (set_tid_address(2)). */
static bool is_join(const struct call *c, int i)
{
	return kind_of(c, i) == K_FUTEX_VAL && !(c->args[1] & FUTEX_PRIVATE_FLAG);
}

/*
 * A pointer, or a large number that decoders show in hexadecimal, is shown as "ADDRESS", because addresses are
 * different in each run. A thread id of the trace is shown as "PID", and a point in time as "TIME".
 */
static void emit_number(struct emit *e, uint64_t v, enum emit_form form)
{
	const struct tally_emit *t = (struct tally_emit *)e;
	uint16_t kind = kind_of(t->call, t->arg);
	bool task = t->is_pid || is_join(t->call, t->arg) ||
		    (form == FORM_SIGNED && (kind == K_PID || kind == K_WAITID_ID));
	bool group = (int64_t)v < 0;
	if (form == FORM_POINTER || (form == FORM_HEX && v >= 1 << 20))
		buf_adds(e->out, v ? "ADDRESS" : "NULL");
	else if (task && is_thread(t->tally, group ? -v : v))
		buf_adds(e->out, group ? "-PID" : "PID");
	else if (t->deadline && !t->is_period && v)
		buf_adds(e->out, "TIME");
	else
		t->text->number(e, v, form);
}

/* If the text begins with "/proc/TID", for a thread of the trace, returns the length of that; otherwise 0. */
static size_t own_folder(const struct trace_tally *t, const char *s, size_t n)
{
	static const char proc[] = "/proc/";
	size_t begin = sizeof(proc) - 1, end = begin;
	uint64_t id = 0;
	if (n <= begin || memcmp(s, proc, begin) != 0)
		return 0;
	while (end < n && end < begin + 9 && isdigit((unsigned char)s[end]))
		id = 10 * id + (uint64_t)(s[end++] - '0');
	return end > begin && is_thread(t, id) ? end : 0;
}

/* Appends the name of a descriptor without ids: "/proc/PID" for a traced thread, "pipe:[]" for "pipe:[4711]". */
static void add_plain_name(const struct trace_tally *t, struct buf *out, const char *name)
{
	const char *open = strchr(name, '[');
	size_t own = own_folder(t, name, strlen(name));
	if (own)
		buf_addf(out, "/proc/PID%s", name + own);
	else if (*name != '/' && open && isdigit((unsigned char)open[1]))
		buf_addf(out, "%.*s[]", (int)(open - name), name);
	else
		buf_adds(out, name);
}

static void emit_file(struct emit *e, int64_t fd, const char *name, const struct emit_is *is)
{
	const struct tally_emit *t = (struct tally_emit *)e;
	if (name || fd < 0)
		t->text->descriptor(e, fd, name, NULL);
	else if (!is)
		buf_adds(e->out, "FD");
	else {
		buf_addc(e->out, '<');
		add_plain_name(t->tally, e->out, is->name);
		buf_addc(e->out, '>');
	}
}

static void emit_text(struct emit *e, const char *s, size_t n, unsigned flags)
{
	const struct tally_emit *t = (struct tally_emit *)e;
	size_t own = own_folder(t->tally, s, n);
	auto_buf changed = {0};
	if (own) {
		buf_adds(&changed, "/proc/PID");
		buf_add(&changed, s + own, n - own);
	}
	t->text->string(e, own ? buf_str(&changed) : s, own ? changed.len : n, flags);
}

/* Sets t->text to the text of a call at its entry, without the data that the kernel will return. */
static void describe(struct trace_tally *t, const struct event *ev)
{
	struct trace_line line = {0};
	struct trace_decoder d;
	struct tally_emit e = {.tally = t, .call = &ev->call, .arg = -1};
	const struct trace_decoding decoding = {.string_max = t->string_max, .fd_names = FD_PATHS, .look = &t->look};
	buf_clear(&t->text);
	trace_call_name(&ev->call, &t->text);
	buf_addc(&t->text, '(');
	emit_text_init(&e.emit, &t->text, 0);
	e.text = e.emit.ops;
	struct emit_ops ops = *e.text;
	ops.arg = emit_argument;
	ops.field = emit_member;
	ops.number = emit_number;
	ops.descriptor = emit_file;
	ops.string = emit_text;
	e.emit.ops = &ops;
	trace_decoder_init(&d, &decoding, &t->sink, &line, ev, &e.emit);
	int given = decode_enter(&d.decode);
	if (given < decode_count(&d.decode))
		decode_exit(&d.decode, given);
	buf_addc(&t->text, ')');
	trace_line_free(&line);
}

/* Returns the row whose text is t->text, or NULL. Sets *key to its key, or to a key for a new row. */
static struct tally_row *find(const struct trace_tally *t, uint64_t *key)
{
	const char *text = buf_str(&t->text);
	struct tally_row *row;
	for (*key = map_key(text); (row = map_get(&t->index, *key)); ++*key)
		if (strcmp(row->text, text) == 0)
			return row;
	return NULL;
}

static struct tally_row *row_of(struct trace_tally *t, const struct event *ev)
{
	uint64_t key;
	struct tally_row *row = find(t, &key);
	/*
	 * Calls of the second trace find the rows of the first one, because rows are never removed. If there are too
	 * many rows, a call that has no row yet is counted in a common row for all calls with its name.
	 */
	if (!row && t->rows.n >= TALLY_ROWS) {
		t->crowded = true;
		buf_clear(&t->text);
		trace_call_name(&ev->call, &t->text);
		buf_adds(&t->text, "(...)");
		row = find(t, &key);
	}
	if (row)
		return row;
	row = memory_zeroed(1, sizeof(*row));
	row->text = memory_copy(buf_str(&t->text));
	map_put(&t->index, key, row);
	vec_push(&t->rows, row);
	row->desc = ev->call.desc;
	return row;
}

static void tally_enter(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	struct trace_tally *t = (struct trace_tally *)s;
	struct tally_row **row = trace_own(s, k); /* the row of the call in progress */
	map_put(&t->threads, (uint64_t)ev->tid, t);
	map_put(&t->threads, (uint64_t)ev->pid, t);
	*row = NULL;
	/* A restart is not another call. rt_sigreturn(2) does not count: each run may get another number of signals. */
	if (ev->call.restart || (ev->call.desc && ev->call.desc->nargs && ev->call.desc->args[0].kind == K_SIGRETURN))
		return;
	describe(t, ev);
	*row = row_of(t, ev);
	(*row)->calls[t->which]++;
}

static void tally_leave(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	const struct trace_tally *t = (struct trace_tally *)s;
	struct tally_row *row = *(struct tally_row **)trace_own(s, k);
	enum resolved how;
	if (!row || ev->kind != EV_EXIT)
		return;
	if (ev->call.error) {
		row->errors[t->which]++;
		row->err[t->which] = ev->call.err;
	}
	hist_add(&row->ns[t->which], (uint64_t)trace_own_ns(&ev->call, &how), 1);
}

/* Remembers the id of a new child now, because the parent may pass it to wait4(2) before the child makes a call. */
static void tally_other(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	struct trace_tally *t = (struct trace_tally *)s;
	(void)k;
	if (ev->kind == EV_NEW_TASK)
		map_put(&t->threads, (uint64_t)ev->child, t);
}

static const struct trace_sink_ops tally_ops = {
	.task_size = sizeof(struct tally_row *), .enter = tally_enter, .leave = tally_leave, .other = tally_other};

void trace_tally_begin(struct trace_tally *t, unsigned which)
{
	t->sink = (struct trace_sink){.ops = &tally_ops};
	t->which = which;
	map_free(&t->threads);
}

void trace_tally_free(struct trace_tally *t)
{
	for (size_t i = 0; i < t->rows.n; i++) {
		struct tally_row *row = t->rows.v[i];
		hist_free(&row->ns[0]);
		hist_free(&row->ns[1]);
		free(row->text);
		free(row);
	}
	vec_free(&t->rows);
	map_free(&t->index);
	map_free(&t->threads);
	buf_free(&t->text);
}

/*
 * A call is reported as slower if each recording contains it at least SLOWER_CALLS times, and its median duration in
 * the second recording is at least SLOWER_RATIO times as long, and at least SLOWER_NS ns longer, than in the first. A
 * few preemptions do not change a median that much.
 */
#define SLOWER_CALLS 10
#define SLOWER_RATIO 2.0
#define SLOWER_NS    100000.0

#define WIDTH_LEAST 40 /* a line has at least this width, so that a part of the call is shown */

enum change { NONE, REMOVED, ADDED, FAILS, SUCCEEDS, SLOWER };
static const char *const words[] = {
	[REMOVED] = "removed", [ADDED] = "added", [FAILS] = "fails", [SUCCEEDS] = "succeeds", [SLOWER] = "slower"};

static double median(const struct tally_row *r, unsigned which)
{
	return hist_quantile(&r->ns[which], 0.5);
}

static enum change change_of(const struct tally_row *r)
{
	if (r->calls[0] != r->calls[1])
		return r->calls[0] > r->calls[1] ? REMOVED : ADDED;
	if (r->errors[0] != r->errors[1])
		return r->errors[0] < r->errors[1] ? FAILS : SUCCEEDS;
	if (r->errors[0] && r->err[0] != r->err[1])
		return FAILS;
	bool enough = r->ns[0].total >= SLOWER_CALLS && r->ns[1].total >= SLOWER_CALLS;
	double before = median(r, 0), now = median(r, 1);
	return enough && now >= SLOWER_RATIO * before && now >= before + SLOWER_NS ? SLOWER : NONE;
}

/* Appends what is compared for recording `which`: a median ("12.0 us"), an error, or a number of calls. */
static void add_figure(const struct tally_row *r, enum change c, unsigned which, struct buf *out)
{
	auto_buf figure = {0};
	if (c == SLOWER)
		duration_human(&figure, median(r, which));
	else if (c == FAILS && r->errors[which])
		buf_adds(&figure, decode_errno_name(r->err[which]) ? decode_errno_name(r->err[which]) : "error");
	else if (c == SUCCEEDS && r->errors[which])
		buf_addf(&figure, "%llu failed", (unsigned long long)r->errors[which]);
	else if (c == FAILS || c == SUCCEEDS)
		buf_adds(&figure, "ok");
	else
		buf_addf(&figure, "%llu", (unsigned long long)r->calls[which]);
	buf_addf(out, "%10s ", buf_str(&figure));
}

/* Appends a line, cut to `width` columns; 0: no limit. */
static void add_row(const struct tally_row *r, enum change c, size_t width, struct buf *out)
{
	size_t begin = out->len;
	buf_addf(out, "%-9s", words[c]);
	add_figure(r, c, 0, out);
	add_figure(r, c, 1, out);
	buf_addf(out, " %s", r->text);
	if (width && out->len - begin > width) {
		/* The path of a descriptor may contain UTF-8 characters, which must not be split. */
		size_t end = begin + width - 3;
		while (end > begin && ((unsigned char)out->s[end] & 0xc0) == 0x80)
			end--;
		buf_truncate(out, end);
		buf_adds(out, "...");
	}
	buf_addc(out, '\n');
}

bool trace_changes_exist(const struct trace_tally *t)
{
	for (size_t i = 0; i < t->rows.n; i++)
		if (change_of(t->rows.v[i]) != NONE)
			return true;
	return false;
}

void trace_changes_text(const struct trace_tally *t, int width, struct buf *out)
{
	size_t n = 0, columns = width <= 0 ? 0 : width < WIDTH_LEAST ? WIDTH_LEAST : (size_t)width;
	for (unsigned c = REMOVED; c <= SLOWER; c++)
		for (size_t i = 0; i < t->rows.n; i++)
			if (change_of(t->rows.v[i]) == c) {
				if (!n++)
					buf_addf(out, "%-9s%10s %10s  %s\n", "", "first", "second", "call");
				add_row(t->rows.v[i], (enum change)c, columns, out);
			}
}

/* Returns null if the recording does not contain the call. */
static json_t *median_json(const struct tally_row *r, unsigned which)
{
	return r->calls[which] ? json_real(median(r, which) / 1e9) : json_null();
}

static json_t *row_json(const struct tally_row *r, enum change c)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:[I, I], s:[I, I], s:[o, o]}", "change", words[c], "name",
			      r->desc ? r->desc->name : "", "call", r->text, "calls", (json_int_t)r->calls[0],
			      (json_int_t)r->calls[1], "errors", (json_int_t)r->errors[0], (json_int_t)r->errors[1],
			      "median_s", median_json(r, 0), median_json(r, 1));
	const char *error = r->errors[1] ? decode_errno_name(r->err[1]) : NULL;
	json_object_set_new(o, "error", error ? json_string(error) : json_null());
	return o;
}

void trace_changes_json(const struct trace_tally *t, struct buf *out)
{
	json_t *rows = json_array();
	for (unsigned c = REMOVED; c <= SLOWER; c++)
		for (size_t i = 0; i < t->rows.n; i++)
			if (change_of(t->rows.v[i]) == c)
				json_array_append_new(rows, row_json(t->rows.v[i], (enum change)c));
	json_t *o = json_pack("{s:o}", "differences", rows);
	auto_free char *text = json_dumps(o, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
	buf_addf(out, "%s\n", text ? text : "{}");
	json_decref(o);
}
