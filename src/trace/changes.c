#include "trace/changes.h"

#include "base/buf.h"
#include "base/size.h"
#include "decode/decode.h"
#include "syscall/table.h"

#include <jansson.h>
#include <stdlib.h>

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
	char *text = json_dumps(o, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
	buf_addf(out, "%s\n", text ? text : "{}");
	free(text);
	json_decref(o);
}
