/* SPDX-License-Identifier: MIT */
#include "run/run.h"

#include "base/buf.h"
#include "base/diag.h"
#include "base/escape.h"
#include "base/memory.h"
#include "base/outfile.h"
#include "base/size.h"
#include "base/words.h"
#include "run/field.h"
#include "run/judge.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCHEMA "sctrace-run"

/* Returns the length of this unit of time in seconds, or 0 if `unit` is not a unit of time. */
static double unit_seconds(const char *unit)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
	for (size_t i = 0; unit && i < sizeof(units) / sizeof(*units); i++)
		if (strcmp(unit, units[i].name) == 0)
			return units[i].seconds;
	return 0;
}

/* Stores the key of the samples of TIME in `key`. */
static void time_key(const struct run_subject *s, char *key, size_t size)
{
	snprintf(key, size, "samples_%.8s", s->unit ? s->unit : "");
}

static void set_real(json_t *o, const char *key, double v)
{
	json_object_set_new(o, key, summary_json_number(v, false));
}

static void set_count(json_t *o, const char *key, size_t n)
{
	json_object_set_new(o, key, json_integer((json_int_t)n));
}

/* Adds the members PREFIXminSUFFIX, PREFIXmedianSUFFIX and so on. Their unit is `scale` seconds. */
static void set_summary(json_t *o, const char *prefix, const char *suffix, const struct sample_summary *d, double scale)
{
	const struct {
		const char *name;
		double value;
	} parts[] = {{"min", d->min}, {"q1", d->q1},   {"median", d->median}, {"mean", d->mean},
		     {"q3", d->q3},   {"max", d->max}, {"stddev", d->stddev}};
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		auto_buf key = {0};
		buf_addf(&key, "%s%s%s", prefix, parts[i].name, suffix);
		set_real(o, buf_str(&key), d->n ? parts[i].value / scale : NAN);
	}
}

static void add_compare(const struct run_subject *s, json_t *o)
{
	const struct sample_summary *wall = &s->judged.of[METRIC_TIME];
	double rss = run_median(s, METRIC_PEAK_RSS);
	set_count(o, "samples", s->samples[METRIC_TIME].n);
	if (s->unable)
		return;
	set_summary(o, "wall_", "_s", wall, 1);
	set_summary(o, "user_", "_s", &s->judged.of[METRIC_USER], 1);
	set_summary(o, "system_", "_s", &s->judged.of[METRIC_SYSTEM], 1);
	set_real(o, "wall_fence_low_s", wall->fence_low);
	set_real(o, "wall_fence_high_s", wall->fence_high);
	set_real(o, "wall_median_low95_s", s->judged.median_ci.low);
	set_real(o, "wall_median_high95_s", s->judged.median_ci.high);
	set_real(o, "wall_cv", wall->cv);
	set_count(o, "wall_outliers", run_outliers(s));
	json_object_set_new(o, "peak_rss_bytes", summary_json_number(rss > 0 ? rss : NAN, true));
	set_real(o, "times_the_fastest", s->judged.slowdown);
	set_real(o, "times_reference", s->judged.relative);
	set_real(o, "times_reference_low95", s->judged.relative_ci.low);
	set_real(o, "times_reference_high95", s->judged.relative_ci.high);
	/* Nothing is known about a difference without an interval. */
	bool known = isfinite(s->judged.relative_ci.low);
	json_object_set_new(o, "difference_seen", known ? json_boolean(!s->judged.same_as_reference) : json_null());
}

/* Adds by how many percent `s` took longer than the subject "none", which was measured without a load. */
static void add_over_none(const struct run *r, const struct run_subject *s, json_t *o)
{
	struct interval ratio = {NAN, NAN};
	double over = run_over_none(r, s, &ratio);
	set_real(o, "over_none_percent", over);
	json_t *pair = json_array();
	json_array_append_new(pair, summary_json_number(100 * (ratio.low - 1), false));
	json_array_append_new(pair, summary_json_number(100 * (ratio.high - 1), false));
	json_object_set_new(o, "over_none_interval_percent", pair);
}

/*
 * Adds figures computed from the samples of `s` to its JSON object `o`. They are saved only for other programs (jq,
 * pandas): sctrace does not read them.
 */
static void add_derived(const struct run *r, const struct run_subject *s, json_t *o)
{
	unsigned bits = run_subject_bits(r, s);
	if (bits == RUN_COMPARE)
		add_compare(s, o);
	if (!(bits & RUN_SAMPLED) || bits == RUN_COMPARE)
		return;
	const struct sample_summary *d = &s->judged.of[METRIC_TIME];
	bool ns = bits & (RUN_SYSCALL | RUN_SWITCH);
	set_count(o, "samples", d->n);
	set_summary(o, "", ns ? "_ns" : "_s", d, ns ? 1e-9 : 1);
	set_count(o, "outliers_low", d->outliers_low);
	set_count(o, "outliers_high", d->outliers_high);
	if (bits == RUN_SCHED)
		set_real(o, "throughput_per_s", run_median(s, METRIC_THROUGHPUT));
	if (bits == RUN_LOAD)
		add_over_none(r, s, o);
}

static json_t *subject_json(const struct run *r, const struct run_subject *s)
{
	char key[32];
	double scale = unit_seconds(s->unit);
	const struct reals *time = &s->samples[METRIC_TIME];
	json_t *o = fields_write(&run_subject_fields, s, run_subject_bits(r, s));
	json_t *a = scale > 0 && !s->unable && run_subject_bits(r, s) & RUN_SAMPLED ? json_array() : NULL;
	for (size_t i = 0; a && i < time->n; i++)
		json_array_append_new(a, summary_json_number(time->v[i] / scale, false));
	time_key(s, key, sizeof(key));
	if (a)
		json_object_set_new(o, key, a);
	add_derived(r, s, o);
	return o;
}

static json_t *document(const struct run *r)
{
	json_t *doc = json_pack("{s:s, s:i}", "schema", SCHEMA, "schema_version", RUN_SCHEMA_VERSION);
	json_t *rest = fields_write(&run_fields, r, r->bits);
	json_object_update_missing(doc, rest);
	json_decref(rest);
	if (r->bits == RUN_COUNT)
		return doc;
	json_t *results = json_array();
	for (size_t i = 0; i < r->subjects.n; i++)
		json_array_append_new(results, subject_json(r, &r->subjects.v[i]));
	json_object_set_new(doc, "results", results);
	return doc;
}

/*
 * Appends `x` with the fewest digits that are read back as exactly the same number. A saved run is therefore displayed
 * as it was originally.
 */
static void add_real(struct buf *out, double x)
{
	char text[40];
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, x);
		if (strtod(text, NULL) == x)
			break;
	}
	buf_adds(out, text);
	buf_adds(out, strpbrk(text, ".e") ? "" : ".0"); /* ".0" makes JSON readers treat the number as a real number */
}

/* Appends JSON text in which real numbers are rewritten by add_real(). */
static void add_exact(struct buf *out, const char *text)
{
	bool in_string = false;
	while (*text) {
		size_t len = in_string ? 0 : strspn(text, "-+.0123456789eE");
		bool real = len && strcspn(text, ".eE") < len && strpbrk(text, "0123456789") < text + len;
		if (real && (*text == '-' || (*text >= '0' && *text <= '9'))) {
			add_real(out, strtod(text, NULL));
			text += len;
			continue;
		}
		if (*text == '"')
			in_string = !in_string;
		else if (in_string && *text == '\\')
			buf_addc(out, *text++);
		buf_addc(out, *text++);
	}
}

/* Appends one JSON value. Real numbers are written by add_real(), and unprintable characters are escaped. */
static void dump_value(struct buf *out, const json_t *value, size_t flags)
{
	auto_free char *text = json_dumps(value, flags | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
	auto_buf shown = {0};
	escape_json(&shown, text);
	add_exact(out, buf_str(&shown));
}

static void dump_rows(struct buf *out, const json_t *rows)
{
	size_t i;
	json_t *row;
	buf_addc(out, '[');
	json_array_foreach(rows, i, row)
	{
		buf_adds(out, i ? ",\n    " : "\n    ");
		dump_value(out, row, JSON_COMPACT);
	}
	buf_adds(out, json_array_size(rows) ? "\n  ]" : "]");
}

void run_dump(const struct run *r, struct buf *out)
{
	const char *key;
	json_t *value;
	const char *sep = "{\n";
	json_t *doc = document(r);
	json_object_foreach(doc, key, value)
	{
		buf_addf(out, "%s  \"%s\": ", sep, key); /* keys need no escaping: they are constants of sctrace */
		if (strcmp(key, "results") == 0)
			dump_rows(out, value);
		else
			dump_value(out, value, json_is_object(value) ? JSON_INDENT(2) : 0);
		sep = ",\n";
	}
	buf_adds(out, "\n}\n");
	json_decref(doc);
}

/*
 * Appends one sentence that explains why jansson could not parse a text of `size` bytes. `first` is the first byte of
 * the text, or EOF.
 */
static void parse_why(struct buf *why, const char *path, const json_error_t *e, size_t size, int first)
{
	/* If the text ends within a word ("nul" instead of "null"), jansson reports an invalid word at the end. */
	bool at_end = first == '{' && size && e->position >= 0 && (size_t)e->position >= size;
	bool early = json_error_code(e) == json_error_premature_end_of_input && first == '{';
	if (first == EOF)
		buf_addf(why, "'%s' is incomplete: the file is empty", path);
	else if (early || at_end)
		buf_addf(why, "'%s' is incomplete: the JSON text ends at line %d", path, e->line);
	else
		buf_addf(why, "'%s' is not a saved run: it is not valid JSON (line %d, column %d)%s", path, e->line,
			 e->column, first == '{' ? "" : "; sctrace show displays recordings");
}

const char *run_file_name(const char *path)
{
	return strcmp(path, "-") == 0 ? "standard input" : path;
}

static json_t *read_json(const char *path, struct buf *why)
{
	bool input = strcmp(path, "-") == 0;
	FILE *f = input ? fdopen(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0), "r") : fopen(path, "re");
	struct stat st;
	path = run_file_name(path);
	if (!f || fstat(fileno(f), &st) < 0) {
		buf_addf(why, "cannot open '%s': %s", path, diag_error_text(errno));
		if (f)
			fclose(f);
		return NULL;
	}
	json_t *doc = NULL;
	json_error_t e;
	if (S_ISDIR(st.st_mode))
		buf_addf(why, "'%s' is a directory, not a saved run", path);
	int first = S_ISDIR(st.st_mode) ? EOF : ungetc(getc(f), f);
	if (!why->len && !(doc = json_loadf(f, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &e)))
		ferror(f) ? buf_addf(why, "cannot read '%s'", path)
			  : parse_why(why, path, &e, (size_t)st.st_size, first);
	fclose(f);
	return doc;
}

/* Checks the members that all kinds of runs have. Returns 0, or -EINVAL with a sentence in `why`. */
static int check(const json_t *doc, const char *path, struct buf *why)
{
	const char *schema = json_string_value(json_object_get(doc, "schema"));
	const json_t *version = json_object_get(doc, "schema_version");
	const char *writer = json_string_value(json_object_get(doc, "sctrace_version"));
	if (!schema || strcmp(schema, SCHEMA) != 0)
		buf_addf(why, "'%s' is not a saved run: it is JSON, but was not written by sctrace with --save", path);
	else if (!json_is_integer(version) || json_integer_value(version) < 1)
		buf_addf(why, "'%s' is damaged: it has no schema version", path);
	else if (json_integer_value(version) > RUN_SCHEMA_VERSION)
		buf_addf(why,
			 "'%s' was saved by sctrace %s with schema version %lld, but this sctrace reads versions up to "
			 "%d only; use a newer sctrace",
			 path, writer ? writer : "(unknown)", (long long)json_integer_value(version),
			 RUN_SCHEMA_VERSION);
	else if (!json_is_string(json_object_get(doc, "kind")))
		buf_addf(why, "'%s' is damaged: it does not contain the kind of the run", path);
	else if (!json_is_array(json_object_get(doc, "results")))
		buf_addf(why, "'%s' is damaged: it has no results", path);
	else
		return 0;
	return -EINVAL;
}

static json_t *escaped(const json_t *string)
{
	auto_buf b = {0};
	escape_line(&b, json_string_value(string), json_string_length(string));
	return json_string(buf_str(&b));
}

/*
 * Returns a copy of the value in which all strings are escaped, because a file that someone else wrote may contain
 * control characters. The caller owns the reference.
 */
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
	json_array_foreach(value, i, v) json_array_append_new(copy, harmless(v));
	json_object_foreach((json_t *)value, key, v)
	{
		auto_buf name = {0};
		escape_line(&name, key, strlen(key));
		json_object_set_new(copy, buf_str(&name), harmless(v));
	}
	return copy;
}

/* Returns the name without the buffer size at its end. Subjects with equal base names form one scan. */
static char *base_of(const struct run_subject *s)
{
	size_t len = strlen(s->name);
	auto_buf size = {0};
	if (s->buffer_bytes > 0) {
		buf_addc(&size, ' ');
		size_format(&size, (uint64_t)s->buffer_bytes);
	}
	if (size.len < len && strcmp(s->name + len - size.len, buf_str(&size)) == 0)
		len -= size.len;
	return memory_copy_part(s->name, len);
}

static int read_subject(struct run *r, const json_t *row, struct buf *why)
{
	char key[32];
	struct run_subject *s = run_add_subject(r, NULL, NULL);
	unsigned bits = r->bits == RUN_BENCH ? RUN_TESTS : r->bits ? r->bits : RUN_SAMPLED;
	int rc = fields_read(&run_subject_fields, s, row, bits, why);
	time_key(s, key, sizeof(key));
	const json_t *samples = unit_seconds(s->unit) > 0 ? json_object_get(row, key) : NULL;
	if (rc == 0 && samples)
		rc = fields_read_reals(samples, &s->samples[METRIC_TIME]);
	for (size_t i = 0; i < s->samples[METRIC_TIME].n; i++)
		s->samples[METRIC_TIME].v[i] *= unit_seconds(s->unit);
	if (rc == 0 && (!s->name || run_find(r, s->name) != s)) /* names are unique */
		rc = -EINVAL;
	if (rc == 0)
		s->base = base_of(s);
	return rc;
}

static int read_subjects(struct run *r, const json_t *rows, const char *name, struct buf *why)
{
	size_t i;
	json_t *row;
	int rc = 0;
	json_array_foreach(rows, i, row)
	{
		auto_buf inner = {0};
		rc = read_subject(r, row, &inner);
		if (rc < 0)
			buf_addf(why, "'%s' is damaged: row %zu of its results cannot be read%s%s", name, i + 1,
				 inner.len ? ": " : "", buf_str(&inner));
		if (rc < 0)
			break;
	}
	return rc;
}

/* Fills in `r` from the document, and frees `doc`. */
static int from_document(struct run *r, json_t *doc, const char *name, struct buf *why)
{
	fields_init(&run_fields, r);
	json_t *run = doc && check(doc, name, why) == 0 ? harmless(doc) : NULL;
	auto_buf inner = {0};
	const char *kind = json_string_value(json_object_get(run, "kind"));
	r->bits = kind ? run_kind_bits(kind) : 0;
	int rc = run ? fields_read(&run_fields, r, run, r->bits, &inner) : -EINVAL;
	if (run && rc < 0)
		buf_addf(why, r->bits == RUN_COUNT ? "'%s': %s" : "'%s' is damaged: %s", name, buf_str(&inner));
	if (rc == 0 && r->bits != RUN_COUNT)
		rc = read_subjects(r, json_object_get(run, "results"), name, why);
	json_decref(doc);
	json_decref(run);
	if (rc == 0)
		run_judge(r);
	return rc;
}

int run_load(struct run *r, const char *path, struct buf *why)
{
	json_t *doc = read_json(path, why);
	return from_document(r, doc, run_file_name(path), why);
}

int run_parse(struct run *r, const char *text, const char *name, struct buf *why)
{
	json_error_t e;
	json_t *doc = json_loads(text, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &e);
	if (!doc)
		parse_why(why, name, &e, strlen(text), text[0]);
	return from_document(r, doc, name, why);
}

/* Writes a saved run so that no partial file is left, and so that no symbolic link of another user is followed. */
/* Writes to an existing file that is not regular: a terminal, a pipe, /dev/null. */
static int write_special(const char *path, const struct buf *text)
{
	int fd = outfile_open_special(path);
	if (fd < 0)
		return fd;
	int rc = outfile_write(fd, text->s, text->len, NULL);
	return close(fd) < 0 && rc == 0 ? -errno : rc;
}

static int write_beside(const char *path, const struct buf *text)
{
	auto_buf temp = {0};
	buf_addf(&temp, "%s.XXXXXX", path);
	int fd = mkostemp(temp.s, O_CLOEXEC); /* mkostemp(3) creates the file with O_EXCL and mode 0600 */
	int rc = fd < 0 ? -errno : outfile_write(fd, text->s, text->len, NULL);
	if (fd >= 0) {
		if (rc == 0 && fsync(fd) < 0 && errno != EINVAL)
			rc = -errno;
		if (close(fd) < 0 && rc == 0)
			rc = -errno;
		if (rc == 0 && rename(temp.s, path) < 0)
			rc = -errno;
		if (rc < 0)
			unlink(temp.s);
	}
	return rc;
}

static int write_text(const char *path, const struct buf *text)
{
	struct stat st;
	bool is_link = lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
	if (is_link && outfile_folder_is_shared(path))
		return -ELOOP;
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : write_special(path, text);
	char *target = is_link ? realpath(path, NULL) : NULL;
	if (is_link && !target)
		return -errno;
	int rc = write_beside(target ? target : path, text);
	free(target);
	return rc;
}

int run_save(const struct run *run, const char *path, struct buf *why)
{
	auto_buf text = {0};
	run_dump(run, &text);
	int rc = write_text(path, &text);
	if (rc < 0)
		buf_addf(why, "cannot save the run as '%s': %s", path, outfile_why(rc));
	return rc;
}

const struct use_row use_rows[USES] = {
#define USE(member, word, title, unit) [USE_##member] = {#member, word, title, unit, offsetof(struct run_use, member)},
#include "run/uses.def"
#undef USE
};

static const char everything[] = "all";

double run_use(const struct run_use *u, enum use which)
{
	return u->known ? *(const double *)(const void *)((const char *)u + use_rows[which].offset) : NAN;
}

static bool is_word(const char *at, size_t n, const char *word)
{
	return strlen(word) == n && memcmp(at, word, n) == 0;
}

bool run_use_listed(const char *list, enum use which)
{
	for (size_t n; list; list = list[n] ? list + n + 1 : NULL) {
		n = strcspn(list, ",");
		if (is_word(list, n, use_rows[which].word) || is_word(list, n, everything))
			return true;
	}
	return false;
}

static int unknown(const char *at, size_t n, struct buf *why)
{
	auto_buf word = {0};
	buf_add(&word, at, n);
	struct near near = {.word = buf_str(&word)};
	buf_addf(why, "'%s' is not a column; the columns are", buf_str(&word));
	for (int i = 0; i < USES; i++) {
		near_offer(&near, use_rows[i].word);
		buf_addf(why, " %s,", use_rows[i].word);
	}
	buf_addf(why, " and '%s', which selects all of them", everything);
	near_say(&near, "", why);
	return -EINVAL;
}

int run_use_check(const char *list, struct buf *why)
{
	for (size_t n; list; list = list[n] ? list + n + 1 : NULL) {
		bool known = false;
		n = strcspn(list, ",");
		for (int i = 0; i < USES && !known; i++)
			known = is_word(list, n, use_rows[i].word) || is_word(list, n, everything);
		if (!known)
			return unknown(list, n, why);
	}
	return 0;
}
