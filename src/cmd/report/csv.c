/* Tidy CSV: one observation a row, so that it loads into any program for tables as it is. */
#include "cmd/report/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 64

/* Where a column's value is in a row of the file. */
enum place {
	PLACE_SAMPLE,    /* an array with an element a sample */
	PLACE_ROW,       /* the same for all samples of the subject */
	PLACE_PARAMETER, /* so, too: what a {NAME} of its command stood for */
};

/* Columns that are found in the rows. */
struct tidy {
	const char *key[COLUMNS_MAX]; /* in the file */
	char *name[COLUMNS_MAX];      /* in the CSV */
	enum place place[COLUMNS_MAX];
	size_t n;
};

enum { T_RUN, T_NAME, T_SAMPLE, T_FIXED };

/* "samples_s" is what was measured ("wall_s" in compare), "user_samples_s" is "user_s". */
static char *observation_name(const char *kind, const char *key)
{
	struct buf name = {0};
	const char *at = strstr(key, "samples_");
	if (at == key)
		buf_addf(&name, "%s_%s", strcmp(kind, "compare") == 0 ? "wall" : "value", key + strlen("samples_"));
	else if (at)
		buf_addf(&name, "%.*s%s", (int)(at - key), key, at + strlen("samples_"));
	else if (strlen(key) > 8 && strcmp(key + strlen(key) - 8, "_samples") == 0)
		buf_add(&name, key, strlen(key) - 8);
	else
		buf_adds(&name, key);
	return buf_take(&name);
}

static bool known(const struct tidy *y, const char *key, enum place place)
{
	for (size_t i = 0; i < y->n; i++)
		if (strcmp(y->key[i], key) == 0 && y->place[i] == place)
			return true;
	return false;
}

static char *column_name(const char *kind, const char *key, enum place place)
{
	struct buf name = {0};
	if (place == PLACE_SAMPLE)
		return observation_name(kind, key);
	buf_addf(&name, "%s%s", place == PLACE_PARAMETER ? "parameter_" : "", key);
	return buf_take(&name);
}

static int add_column(struct tidy *y, const char *kind, const char *key, enum place place)
{
	if (known(y, key, place) || y->n == COLUMNS_MAX)
		return 0;
	y->key[y->n] = key;
	y->name[y->n] = column_name(kind, key, place);
	y->place[y->n] = place;
	return y->name[y->n++] ? 0 : -ENOMEM;
}

/* What is the same for all samples of a subject. */
static int find_constants(const struct report *r, const json_t *row, struct tidy *y)
{
	static const char *const keys[] = {"strategy", "buffer_bytes", "group"};
	const char *key;
	json_t *v;
	int rc = 0;
	for (size_t j = 0; j < sizeof(keys) / sizeof(*keys) && rc == 0; j++)
		if (json_object_get(row, keys[j]))
			rc = add_column(y, r->kind, keys[j], PLACE_ROW);
	json_object_foreach(json_object_get(row, "parameters"), key, v) if (rc == 0) rc =
		add_column(y, r->kind, key, PLACE_PARAMETER);
	return rc;
}

/* Arrays with a number for each sample; others, as the ends of an interval, may be as long by chance. */
static int find_arrays(const struct report *r, const struct report_subject *s, struct tidy *y)
{
	const char *key;
	json_t *v;
	int rc = 0;
	json_object_foreach((json_t *)s->row, key, v)
	{
		bool fits = s->n && strstr(key, "samples") && json_is_array(v) && json_array_size(v) == s->n &&
			    json_is_number(json_array_get(v, 0));
		if (fits && rc == 0)
			rc = add_column(y, r->kind, key, PLACE_SAMPLE);
	}
	return rc;
}

/* Columns of all subjects of all runs, constants first. */
static int find_columns(const struct report *r, struct tidy *y, bool constants)
{
	int rc = 0;
	for (size_t i = 0; i < r->runs.n; i++)
		for (size_t k = 0; k < r->runs.v[i].subjects.n && rc == 0; k++) {
			const struct report_subject *s = &r->runs.v[i].subjects.v[k];
			rc = constants ? find_constants(r, s->row, y) : find_arrays(r, s, y);
		}
	return rc;
}

static const json_t *value_of(const struct tidy *y, size_t k, const json_t *row, size_t sample)
{
	const json_t *from = y->place[k] == PLACE_PARAMETER ? json_object_get(row, "parameters") : row;
	const json_t *v = json_object_get(from, y->key[k]);
	return y->place[k] == PLACE_SAMPLE ? json_array_get(v, sample) : v;
}

static void set_cell(struct table *t, size_t col, const json_t *v)
{
	if (json_is_string(v))
		table_string(t, col, json_string_value(v));
	else if (json_is_integer(v))
		table_integer(t, col, json_integer_value(v), NULL);
	else if (json_is_real(v))
		table_real(t, col, json_real_value(v), NULL);
	else if (json_is_boolean(v))
		table_string(t, col, json_is_true(v) ? "true" : "false");
}

static void add_observations(struct table *t, const struct tidy *y, const struct report_run *run,
			     const struct report_subject *s)
{
	for (size_t i = 0; i < s->n; i++) {
		table_row(t);
		table_string(t, T_RUN, run->label);
		table_string(t, T_NAME, s->name);
		table_integer(t, T_SAMPLE, (long long)i + 1, NULL);
		for (size_t k = 0; k < y->n; k++)
			set_cell(t, T_FIXED + k, value_of(y, k, s->row, i));
	}
}

static struct table *samples_table(const struct report *r, const struct tidy *y)
{
	struct column columns[T_FIXED + COLUMNS_MAX] = {
		[T_RUN] = {"run", "run", 0}, [T_NAME] = {"name", "name", 0}, [T_SAMPLE] = {"sample", "sample", 0}};
	for (size_t k = 0; k < y->n; k++)
		columns[T_FIXED + k] = (struct column){y->name[k], y->name[k], 0};
	struct table *t = table_new(columns, T_FIXED + y->n);
	for (size_t i = 0; t && i < r->runs.n; i++)
		for (size_t k = 0; k < r->runs.v[i].subjects.n; k++)
			add_observations(t, y, &r->runs.v[i], &r->runs.v[i].subjects.v[k]);
	return t;
}

/* Rows without samples: a row each, their plain members as columns. */
static int find_members(const struct report *r, struct tidy *y)
{
	for (size_t i = 0; i < r->runs.n; i++) {
		size_t k;
		json_t *row;
		json_array_foreach(json_object_get(r->runs.v[i].doc, "results"), k, row)
		{
			const char *key;
			json_t *v;
			json_object_foreach(row, key, v)
			{
				bool plain = !json_is_array(v) && !json_is_object(v) && strcmp(key, "name") != 0;
				if (plain && add_column(y, r->kind, key, PLACE_ROW) < 0)
					return -ENOMEM;
			}
		}
	}
	return 0;
}

static struct table *members_table(const struct report *r, const struct tidy *y)
{
	struct column columns[T_FIXED + COLUMNS_MAX] = {{"run", "run", 0}, {"name", "name", 0}};
	for (size_t k = 0; k < y->n; k++)
		columns[2 + k] = (struct column){y->name[k], y->name[k], 0};
	struct table *t = table_new(columns, 2 + y->n);
	for (size_t i = 0; t && i < r->runs.n; i++) {
		size_t n;
		json_t *row;
		json_array_foreach(json_object_get(r->runs.v[i].doc, "results"), n, row)
		{
			table_row(t);
			table_string(t, 0, r->runs.v[i].label);
			set_cell(t, 1, json_object_get(row, "name"));
			for (size_t k = 0; k < y->n; k++)
				set_cell(t, 2 + k, json_object_get(row, y->key[k]));
		}
	}
	return t;
}

/* A histogram's bins: how often a wake-up was that late. */
static struct table *bins_table(const struct report *r)
{
	static const struct column columns[] = {
		{"run", "run", 0}, {"name", "name", 0}, {"least_ns", "least_ns", 0}, {"count", "count", 0}};
	struct table *t = table_new(columns, 4);
	for (size_t i = 0; t && i < r->runs.n; i++)
		for (size_t k = 0; k < r->runs.v[i].subjects.n; k++) {
			const struct report_subject *s = &r->runs.v[i].subjects.v[k];
			size_t n;
			json_t *bin;
			json_array_foreach(json_object_get(s->row, "histogram_ns"), n, bin)
			{
				table_row(t);
				table_string(t, 0, r->runs.v[i].label);
				table_string(t, 1, s->name);
				set_cell(t, 2, json_array_get(bin, 0));
				set_cell(t, 3, json_array_get(bin, 1));
			}
		}
	return t;
}

int report_csv(const struct report *r, struct buf *out)
{
	struct tidy y = {0};
	struct table *t = NULL;
	int rc = find_columns(r, &y, true);
	size_t constants = y.n;
	if (rc == 0)
		rc = find_columns(r, &y, false);
	bool samples = y.n > constants;
	if (rc == 0 && !samples)
		rc = find_members(r, &y);
	if (rc == 0)
		t = samples                                 ? samples_table(r, &y)
		    : strcmp(r->kind, "bench-latency") == 0 ? bins_table(r)
							    : members_table(r, &y);
	if (rc == 0)
		rc = t ? table_render(t, TABLE_CSV, NULL, out) : -ENOMEM;
	table_free(t);
	for (size_t i = 0; i < y.n; i++)
		free(y.name[i]);
	return rc;
}
