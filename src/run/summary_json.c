/* SPDX-License-Identifier: MIT */
#include "run/field.h"

#include "base/buf.h"
#include "base/escape.h"
#include "decode/decode.h"
#include "stats/summary.h"
#include "syscall/call_table.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#define ERRNO_LIMIT 4096 /* the kernel's MAX_ERRNO (include/linux/err.h) is 4095 */

/* The members of struct call_stats that are single numbers, and their names in the file. */
static const struct {
	const char *key;
	size_t offset;
	bool is_count; /* true: the type is uint64_t; false: it is double */
	bool is_new;   /* files of earlier versions do not have it */
} fields[] = {
	{"entered", offsetof(struct call_stats, entered), true},
	{"returned", offsetof(struct call_stats, returned), true},
	{"errors", offsetof(struct call_stats, errors), true},
	{"restarted", offsetof(struct call_stats, restarted), true},
	{"bytes", offsetof(struct call_stats, bytes), true},
	{"total_ns", offsetof(struct call_stats, ns), false},
	{"total_squared_ns2", offsetof(struct call_stats, ns_squared), false},
	{"cost_ns", offsetof(struct call_stats, cost_ns), false},
	{"spread_ns", offsetof(struct call_stats, spread_ns), false},
	{"min_ns", offsetof(struct call_stats, min_ns), false},
	{"max_ns", offsetof(struct call_stats, max_ns), false},
	{"judged", offsetof(struct call_stats, judged), true, true},
	{"waits", offsetof(struct call_stats, waits), true, true},
	{"waited_ns", offsetof(struct call_stats, waited_ns), false, true},
};
#define NFIELDS (sizeof(fields) / sizeof(*fields))

json_t *summary_json_text(const char *s)
{
	json_t *exact = json_string(s);
	if (exact)
		return exact;
	auto_buf b = {0};
	escape_line(&b, s, strlen(s));
	return json_string(buf_str(&b));
}

json_t *summary_json_number(double x, bool whole)
{
	if (!isfinite(x))
		return json_null();
	return whole ? json_integer((json_int_t)fmax(fmin(x, 9e18), -9e18)) : json_real(x);
}

static json_t *count_value(uint64_t v)
{
	return json_integer(v > INT64_MAX ? INT64_MAX : (json_int_t)v);
}

static json_t *call_name(uint32_t arch, int64_t nr)
{
	auto_buf b = {0};
	syscall_name(&b, arch, nr);
	return json_string(buf_str(&b));
}

json_t *summary_hist_json(const struct hist *h)
{
	json_t *a = json_array();
	for (uint32_t i = 0; i < h->n; i++)
		if (h->count[i])
			json_array_append_new(a, json_pack("[o, o]", count_value(hist_bucket_low(h->first + i)),
							   count_value(h->count[i])));
	return a;
}

static void errno_key(struct buf *out, int err)
{
	const char *name = decode_errno_name(err);
	name ? buf_adds(out, name) : buf_addf(out, "errno_%d", err);
}

static json_t *errnos(const struct summary_group *g, const struct call_stats *c)
{
	json_t *o = json_object();
	for (size_t i = 0; i < g->errnos.n; i++) {
		const struct call_errno *e = &g->errnos.v[i];
		if (e->arch != c->arch || e->nr != c->nr)
			continue;
		auto_buf key = {0};
		errno_key(&key, e->err);
		json_object_set_new(o, buf_str(&key), count_value(e->count));
	}
	return o;
}

/* Adds figures computed from the other members, for programs that read the file. */
static void add_derived(json_t *row, const struct call_stats *c)
{
	static const char *const resolved[] = {[RESOLVED] = "yes", [DOUBTFUL] = "doubtful", [UNRESOLVED] = "no"};
	static const struct {
		const char *key;
		double q;
	} quantiles[] = {{"p50_ns", 0.5}, {"p90_ns", 0.9}, {"p99_ns", 0.99}, {"p999_ns", 0.999}};
	json_object_set_new(row, "calls", count_value(call_stats_calls(c)));
	json_object_set_new(row, "unfinished", count_value(call_stats_unfinished(c)));
	json_object_set_new(row, "mean_ns", c->returned ? summary_json_number(call_stats_mean(c), false) : json_null());
	json_object_set_new(row, "stddev_ns", summary_json_number(call_stats_stddev(c), false));
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++)
		json_object_set_new(row, quantiles[i].key,
				    c->returned ? summary_json_number(call_stats_quantile(c, quantiles[i].q), false)
						: json_null());
	json_object_set_new(row, "resolved", json_string(resolved[call_stats_resolved(c)]));
}

static json_t *row_new(const struct summary_group *g, const struct call_stats *c)
{
	json_t *row = json_pack("{s:o, s:o, s:I, s:I, s:I}", "name", call_name(c->arch, c->nr), "group",
				summary_json_text(g->name), "group_id", (json_int_t)g->id, "arch", (json_int_t)c->arch,
				"nr", (json_int_t)c->nr);
	add_derived(row, c);
	for (size_t i = 0; i < NFIELDS; i++) {
		const void *at = (const char *)c + fields[i].offset;
		json_object_set_new(row, fields[i].key,
				    fields[i].is_count ? count_value(*(const uint64_t *)at)
						       : summary_json_number(*(const double *)at, false));
	}
	json_object_set_new(row, "errnos", errnos(g, c));
	json_object_set_new(row, "histogram_ns", summary_hist_json(&c->hist));
	return row;
}

json_t *summary_json(const struct summary *s)
{
	json_t *a = json_array();
	for (size_t i = 0; i < s->groups.n; i++)
		for (size_t k = 0; k < s->groups.v[i]->calls.n; k++)
			json_array_append_new(a, row_new(s->groups.v[i], s->groups.v[i]->calls.v[k]));
	return a;
}

static int get_count(const json_t *v, uint64_t *count)
{
	if (!json_is_integer(v) || json_integer_value(v) < 0)
		return -EINVAL;
	*count = (uint64_t)json_integer_value(v);
	return 0;
}

static int get_fields(const json_t *row, struct call_stats *c)
{
	for (size_t i = 0; i < NFIELDS; i++) {
		const json_t *v = json_object_get(row, fields[i].key);
		void *at = (char *)c + fields[i].offset;
		if (!v && fields[i].is_new)
			continue;
		if (fields[i].is_count ? get_count(v, at) < 0 : !json_is_number(v) && !json_is_null(v))
			return -EINVAL;
		if (!fields[i].is_count)
			*(double *)at = json_is_number(v) ? json_number_value(v) : NAN;
	}
	return 0;
}

int summary_hist_read(const json_t *a, struct hist *h)
{
	size_t i;
	json_t *pair;
	if (!json_is_array(a))
		return -EINVAL;
	json_array_foreach(a, i, pair)
	{
		uint64_t low;
		uint64_t count;
		if (get_count(json_array_get(pair, 0), &low) < 0 || get_count(json_array_get(pair, 1), &count) < 0)
			return -EINVAL;
		hist_add(h, low, count);
	}
	return 0;
}

/* Returns the error number for a key of "errnos", or 0 if the key is unknown. */
static int errno_number(const char *key)
{
	int number = 0;
	if (sscanf(key, "errno_%d", &number) != 1)
		number = decode_errno_number(key);
	return number > 0 && number < ERRNO_LIMIT ? number : 0;
}

static int get_errnos(const json_t *o, struct summary_group *g, const struct call_stats *c)
{
	const char *key;
	json_t *v;
	json_object_foreach((json_t *)o, key, v)
	{
		struct call_errno e = {.arch = c->arch, .nr = c->nr, .err = errno_number(key)};
		if (get_count(v, &e.count) < 0 || !e.err)
			return -EINVAL;
		vec_push(&g->errnos, e);
	}
	return 0;
}

static int get_row(const json_t *row, struct summary *s)
{
	const char *group = json_string_value(json_object_get(row, "group"));
	const json_t *id = json_object_get(row, "group_id");
	const json_t *arch = json_object_get(row, "arch");
	const json_t *nr = json_object_get(row, "nr");
	if (!json_is_integer(arch) || !json_is_integer(nr))
		return -EINVAL;
	struct summary_group *g =
		summary_group(s, group ? group : "", json_is_integer(id) ? json_integer_value(id) : -1);
	struct call_stats *c = summary_call(s, g, (uint32_t)json_integer_value(arch), json_integer_value(nr));
	if (c->entered)
		return -EINVAL; /* two rows are about the same call */
	int rc = get_fields(row, c);
	if (rc == 0)
		rc = summary_hist_read(json_object_get(row, "histogram_ns"), &c->hist);
	if (rc == 0)
		rc = get_errnos(json_object_get(row, "errnos"), g, c);
	return rc < 0 ? rc : call_stats_consistent(c) ? 0 : -EINVAL;
}

int summary_read(const json_t *rows, struct summary *s, struct buf *why)
{
	size_t i;
	json_t *row;
	if (!json_is_array(rows))
		return -EINVAL;
	json_array_foreach(rows, i, row)
	{
		int rc = get_row(row, s);
		if (rc == -EINVAL)
			buf_addf(why, "row %zu of its results is inconsistent: the file was damaged or changed", i + 1);
		if (rc < 0)
			return rc;
	}
	return 0;
}
