#include "cmd/show/diff.h"

#include "base/diag.h"
#include "base/size.h"
#include "cmd/put.h"
#include "cmd/show/progress.h"
#include "decode/decode.h"
#include "recording/read.h"
#include "syscall/table.h"
#include "trace/pipeline.h"
#include "trace/tally.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { SAME = 0, DIFFERENT = 1, TROUBLE = 2 };

#define STRING_MOST 256 /* compare at most this many bytes of a string, because each call is kept in memory */
#define WIDTH       80

/*
 * A call is reported as slower if each recording contains it at least SLOWER_CALLS times, and its median duration in
 * the second recording is at least SLOWER_RATIO times as long, and at least SLOWER_NS ns longer, than in the first. A
 * few preemptions do not change a median that much.
 */
#define SLOWER_CALLS 10
#define SLOWER_RATIO 2.0
#define SLOWER_NS    100000.0

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

/* Adds the calls of a recording, which is number `which` (0 or 1), to `t`. Returns 0, or TROUBLE after a message. */
static int add(struct trace_tally *t, const struct trace_opts *o, struct recording *r, const char *path, unsigned which)
{
	struct trace_pipeline p = {.select = &o->select, .session = {.names = recording_names(r)}};
	struct engine *e = recording_engine(r);
	struct event ev;
	struct buf why = {0};
	trace_tally_begin(t, which);
	trace_pipeline_add(&p, &t->sink);
	trace_pipeline_begin(&p);
	struct show_progress progress = {.recording = r, .output = -1};
	while (e->ops->next(e, &ev) == 1) {
		trace_pipeline_event(&p, &ev);
		show_progress(&progress);
	}
	show_progress_end(&progress);
	trace_pipeline_end(&p);
	bool complete = recording_is_complete(r, &why);
	if (!complete)
		diag_error("show: '%s': %s", path, buf_str(&why));
	buf_free(&why);
	return complete ? 0 : TROUBLE;
}

/* Appends what is compared for recording `which`: a median ("12.0 us"), an error, or a number of calls. */
static void add_figure(const struct tally_row *r, enum change c, unsigned which, struct buf *out)
{
	struct buf figure = {0};
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
	buf_free(&figure);
}

static void add_row(const struct tally_row *r, enum change c, struct buf *out)
{
	size_t begin = out->len;
	buf_addf(out, "%-9s", words[c]);
	add_figure(r, c, 0, out);
	add_figure(r, c, 1, out);
	buf_addf(out, " %s", r->text);
	if (out->len - begin > WIDTH) {
		/*
		 * A UTF-8 character must not be split. Strings are escaped, but the paths of descriptors may contain
		 * such characters.
		 */
		size_t end = begin + WIDTH - 3;
		while (end > begin && ((unsigned char)out->s[end] & 0xc0) == 0x80)
			end--;
		buf_truncate(out, end);
		buf_adds(out, "...");
	}
	buf_addc(out, '\n');
}

static void add_text(const struct trace_tally *t, struct buf *out)
{
	size_t n = 0;
	for (unsigned c = REMOVED; c <= SLOWER; c++)
		for (size_t i = 0; i < t->rows.n; i++)
			if (change_of(t->rows.v[i]) == c) {
				if (!n++)
					buf_addf(out, "%-9s%10s %10s  %s\n", "", "first", "second", "call");
				add_row(t->rows.v[i], (enum change)c, out);
			}
}

static json_t *row_json(const struct tally_row *r, enum change c)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:[I, I], s:[I, I], s:[f, f]}", "change", words[c], "name",
			      r->desc ? r->desc->name : "", "call", r->text, "calls", (json_int_t)r->calls[0],
			      (json_int_t)r->calls[1], "errors", (json_int_t)r->errors[0], (json_int_t)r->errors[1],
			      "median_s", median(r, 0) / 1e9, median(r, 1) / 1e9);
	const char *error = r->errors[1] ? decode_errno_name(r->err[1]) : NULL;
	json_object_set_new(o, "error", error ? json_string(error) : json_null());
	return o;
}

static void add_json(const struct trace_tally *t, struct buf *out)
{
	json_t *rows = json_array();
	for (unsigned c = REMOVED; c <= SLOWER; c++)
		for (size_t i = 0; i < t->rows.n; i++)
			if (change_of(t->rows.v[i]) == c)
				json_array_append_new(rows, row_json(t->rows.v[i], (enum change)c));
	json_t *o = json_pack("{s:o}", "differences", rows);
	char *text = json_dumps(o, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
	buf_addf(out, "%s\n", text ? text : "{}");
	free(text);
	json_decref(o);
}

static int print(const struct trace_tally *t, const struct trace_opts *o)
{
	struct buf out = {0};
	int status = SAME;
	for (size_t i = 0; i < t->rows.n; i++)
		if (change_of(t->rows.v[i]) != NONE)
			status = DIFFERENT;
	if (o->format == TRACE_JSON)
		add_json(t, &out);
	else
		add_text(t, &out);
	if (put_text(o->output, &out))
		status = TROUBLE;
	buf_free(&out);
	return status;
}

int show_diff(const struct trace_opts *o, char *const *paths)
{
	struct trace_tally t = {.string_max = STRING_MOST};
	struct recording *r[2] = {NULL, NULL};
	int status = 0;
	for (unsigned i = 0; i < 2 && !status; i++) {
		struct buf why = {0};
		if (recording_open(&r[i], paths[i], &why) < 0) {
			diag_error("show: %s", buf_str(&why));
			status = TROUBLE;
		} else if (recording_head_of(r[i])->string_max < t.string_max) {
			t.string_max = recording_head_of(r[i])->string_max;
		}
		buf_free(&why);
	}
	for (unsigned i = 0; i < 2 && !status; i++)
		status = add(&t, o, r[i], paths[i], i);
	if (t.crowded)
		diag_note(
			"the recordings have more than %d different calls; the others are compared only by their names",
			TALLY_ROWS);
	if (!status)
		status = print(&t, o);
	for (unsigned i = 0; i < 2; i++)
		if (r[i])
			recording_close_read(r[i]);
	trace_tally_free(&t);
	return status;
}
