#include "run/run.h"

#include "base/buf.h"
#include "base/escape.h"
#include "base/json.h"
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define SCHEMA "sctrace-run"

json_t *run_string(const char *s)
{
	json_t *exact = json_string(s);
	if (exact)
		return exact;
	struct buf b = {0};
	escape_line(&b, s, strlen(s));
	json_t *escaped = b.failed ? NULL : json_string(buf_str(&b));
	buf_free(&b);
	return escaped;
}

static json_t *date_now(void)
{
	char text[64];
	struct tm tm;
	time_t now = time(NULL);
	size_t len = strftime(text, sizeof(text) - 1, "%Y-%m-%dT%H:%M:%S%z", localtime_r(&now, &tm));
	/* strftime writes +0100, RFC 3339 wants +01:00. */
	memmove(text + len - 1, text + len - 2, 3);
	text[len - 2] = ':';
	return json_string(text);
}

static json_t *command_line(int argc, char *const *argv)
{
	json_t *a = json_array();
	for (int i = 0; a && i < argc; i++)
		if (json_array_append_new(a, run_string(argv[i])) < 0) {
			json_decref(a);
			return NULL;
		}
	return a;
}

json_t *run_new(const char *kind, int argc, char *const *argv, json_t *env)
{
	/* json_pack() takes its references even where it fails. */
	return json_pack("{s:s, s:i, s:s, s:s, s:o, s:o, s:o, s:[]}", "schema", SCHEMA, "schema_version",
			 RUN_SCHEMA_VERSION, "sctrace_version", SCTRACE_VERSION, "kind", kind, "date", date_now(),
			 "command", command_line(argc, argv), "environment", env ? env : json_null(), "results");
}

json_t *run_results(json_t *run)
{
	return json_object_get(run, "results");
}

const char *run_kind(const json_t *run)
{
	const char *kind = json_string_value(json_object_get(run, "kind"));
	return kind ? kind : "";
}

json_t *run_reals(const double *v, size_t n)
{
	json_t *a = json_array();
	for (size_t i = 0; a && i < n; i++)
		if (json_array_append_new(a, isfinite(v[i]) ? json_real(v[i]) : json_null()) < 0) {
			json_decref(a);
			return NULL;
		}
	return a;
}

int run_get_reals(const json_t *array, double **v, size_t *n)
{
	*v = NULL;
	*n = 0;
	if (!json_is_array(array))
		return -EINVAL;
	size_t size = json_array_size(array);
	double *values = calloc(size ? size : 1, sizeof(*values));
	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < size; i++) {
		const json_t *x = json_array_get(array, i);
		if (json_is_number(x)) {
			values[(*n)++] = json_number_value(x);
		} else if (!json_is_null(x)) {
			free(values);
			*n = 0;
			return -EINVAL;
		}
	}
	*v = values;
	return 0;
}

/* Appends one value: results one a line, so that a file of a thousand samples stays readable; all else indented. */
static int dump_value(struct buf *out, const json_t *value, size_t flags)
{
	char *text = json_dumps(value, flags | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
	if (!text)
		return -ENOMEM;
	escape_json(out, text);
	free(text);
	return 0;
}

static int dump_rows(struct buf *out, const json_t *rows)
{
	size_t i;
	json_t *row;
	buf_addc(out, '[');
	json_array_foreach(rows, i, row)
	{
		buf_adds(out, i ? ",\n    " : "\n    ");
		if (dump_value(out, row, JSON_COMPACT) < 0)
			return -ENOMEM;
	}
	buf_adds(out, json_array_size(rows) ? "\n  ]" : "]");
	return 0;
}

int run_dump(const json_t *run, struct buf *out)
{
	const char *key;
	json_t *value;
	const char *sep = "{\n";
	json_object_foreach((json_t *)run, key, value)
	{
		buf_addf(out, "%s  \"%s\": ", sep, key); /* keys are our own words */
		int rc = strcmp(key, "results") == 0
				 ? dump_rows(out, value)
				 : dump_value(out, value, json_is_object(value) ? JSON_INDENT(2) : 0);
		if (rc < 0)
			return rc;
		sep = ",\n";
	}
	buf_adds(out, "\n}\n");
	return out->failed ? -ENOMEM : 0;
}

/* Says in one sentence what jansson could not read. */
static void parse_why(struct buf *why, const char *path, const json_error_t *e)
{
	if (json_error_code(e) == json_error_premature_end_of_input)
		buf_addf(why, "'%s' is cut short: the JSON text breaks off at line %d", path, e->line);
	else if (json_error_code(e) == json_error_out_of_memory)
		buf_addf(why, "'%s' does not fit in memory", path);
	else
		buf_addf(why, "'%s' is no saved run: it is not JSON (line %d, column %d)", path, e->line, e->column);
}

static json_t *read_json(const char *path, struct buf *why)
{
	FILE *f = fopen(path, "re");
	struct stat st;
	if (!f || fstat(fileno(f), &st) < 0) {
		buf_addf(why, "cannot open '%s': %s", path, strerror(errno));
		if (f)
			fclose(f);
		return NULL;
	}
	json_t *doc = NULL;
	json_error_t e;
	if (S_ISDIR(st.st_mode))
		buf_addf(why, "'%s' is a folder, not a saved run", path);
	else if (!(doc = json_read(f, JSON_REJECT_DUPLICATES, &e)))
		ferror(f) ? buf_addf(why, "cannot read '%s'", path) : parse_why(why, path, &e);
	fclose(f);
	return doc;
}

/* Checks what every kind of run has; 0, or -EINVAL and a sentence. */
static int check(const json_t *doc, const char *path, struct buf *why)
{
	const char *schema = json_string_value(json_object_get(doc, "schema"));
	const json_t *version = json_object_get(doc, "schema_version");
	const char *writer = json_string_value(json_object_get(doc, "sctrace_version"));
	if (!schema || strcmp(schema, SCHEMA) != 0)
		buf_addf(why, "'%s' is JSON, but no run that sctrace saved", path);
	else if (!json_is_integer(version) || json_integer_value(version) < 1)
		buf_addf(why, "'%s' has no schema version: it is damaged", path);
	else if (json_integer_value(version) > RUN_SCHEMA_VERSION)
		buf_addf(why,
			 "'%s' was saved by sctrace %s with schema version %lld; this one reads up to %d, so a newer "
			 "sctrace is needed",
			 path, writer ? writer : "(unknown)", (long long)json_integer_value(version),
			 RUN_SCHEMA_VERSION);
	else if (!*run_kind(doc))
		buf_addf(why, "'%s' does not say what kind of run it is: it is damaged", path);
	else if (!json_is_array(json_object_get(doc, "results")))
		buf_addf(why, "'%s' has no results: it is damaged", path);
	else
		return 0;
	return -EINVAL;
}

static json_t *escaped(const json_t *string)
{
	struct buf b = {0};
	escape_line(&b, json_string_value(string), json_string_length(string));
	json_t *s = json_string(buf_str(&b));
	buf_free(&b);
	return s;
}

/* The value with all its strings fit for printing: a run may come from anywhere. A new reference; NULL: no memory. */
static json_t *harmless(const json_t *value)
{
	const char *key;
	json_t *v;
	size_t i;
	if (json_is_string(value))
		return escaped(value);
	if (!json_is_object(value) && !json_is_array(value))
		return json_incref((json_t *)value);
	json_t *copy = json_is_array(value) ? json_array() : json_object();
	int err = copy ? 0 : -1;
	json_array_foreach(value, i, v) err = err ? err : json_array_append_new(copy, harmless(v));
	json_object_foreach((json_t *)value, key, v)
	{
		struct buf name = {0};
		escape_line(&name, key, strlen(key));
		err = err ? err : json_object_set_new(copy, buf_str(&name), harmless(v));
		buf_free(&name);
	}
	if (!err)
		return copy;
	json_decref(copy);
	return NULL;
}

json_t *run_load(const char *path, struct buf *why)
{
	json_t *doc = read_json(path, why);
	json_t *run = doc && check(doc, path, why) == 0 ? harmless(doc) : NULL;
	if (doc && !run && !why->len)
		buf_addf(why, "'%s' does not fit in memory", path);
	json_decref(doc);
	return run;
}
