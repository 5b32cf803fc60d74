/* SPDX-License-Identifier: MIT */
/*
 * Converts C structs to JSON objects and back. A table describes each member once. Functions that read, write, display,
 * compare or free a struct use this table.
 */
#ifndef SCTRACE_RUN_FIELD_H
#define SCTRACE_RUN_FIELD_H

#include "base/memory.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct buf;
struct hist;
struct summary;

/* A boolean that can also be unknown. TRUTH_UNKNOWN is null in JSON. */
enum truth { TRUTH_NO, TRUTH_YES, TRUTH_UNKNOWN };

/* A list of strings. It owns the strings. `known` is false if the list is null in JSON; an empty list is known. */
struct strings {
	char **v;
	size_t n, cap;
	bool known;
};

struct reals {
	double *v; /* NAN is null in JSON */
	size_t n, cap;
};

/* In JSON: {NAME: TEXT} */
struct named_text {
	char *name, *text;
};
struct texts {
	struct named_text *v;
	size_t n, cap;
};

/* In JSON: {NAME: NUMBER} */
struct named_number {
	char *name;
	double number;
};
struct numbers {
	struct named_number *v;
	size_t n, cap;
};

/* The C type of a member, and its form in JSON. */
enum field_type {
	FIELD_STRING,  /* char *; NULL is null */
	FIELD_REAL,    /* double; NAN is null */
	FIELD_INTEGER, /* double, written without a fraction; NAN is null */
	FIELD_TRUTH,   /* enum truth */
	FIELD_STRINGS, /* struct strings */
	FIELD_REALS,   /* struct reals; an array of numbers */
	FIELD_WHOLE,   /* struct reals; an array of integers */
	FIELD_TEXTS,   /* struct texts */
	FIELD_NUMBERS, /* struct numbers */
	FIELD_TRIPLES, /* VEC() of structs of three doubles; [[a, b, c], ..] */
	FIELD_HIST,    /* struct hist; [[lowest value of the bin, count], ..] */
	FIELD_CALLS,   /* struct summary; an array with a row for each call (summary_json.c) */
	FIELD_OBJECT,  /* a struct whose first member is `bool known`; an object; null if `known` is false */
	FIELD_LIST,    /* VEC() of structs; an array of objects */
};

#define FIELD_OPTIONAL 1u /* a member that is unknown or empty is not written at all */

struct field {
	const char *key;
	enum field_type type;
	size_t offset;
	unsigned kinds; /* the kinds of run that have this member, as bits (enum run_kind); 0: all kinds */
	unsigned flags;
	const struct fields *of; /* for FIELD_OBJECT and FIELD_LIST: the members of the object, or of each element */
	const char *words;       /* what env_differences() calls the field; NULL: the field is not compared */
};

struct fields {
	const struct field *v;
	size_t n;
	size_t size; /* the size of the C struct */
};

#define FIELDS(rows, type)                                                                                             \
	{                                                                                                              \
		rows, sizeof(rows) / sizeof(*(rows)), sizeof(type)                                                     \
	}

/* Makes all members unknown. The object may be uninitialised memory. */
void fields_init(const struct fields *f, void *object);
/* Frees everything that the members own. Afterwards all members are unknown. */
void fields_free(const struct fields *f, void *object);
/* Returns a new JSON object with the members that runs of `kinds` have. */
json_t *fields_write(const struct fields *f, const void *object, unsigned kinds);
/*
 * Fills in a struct that fields_init() has initialised. Members that are missing in `o` stay unknown; unknown keys are
 * ignored. Returns 0, or -EINVAL if a member has the wrong type; `why` then names the member.
 */
int fields_read(const struct fields *f, void *object, const json_t *o, unsigned kinds, struct buf *why);

/* Appends the elements of a JSON array of numbers and nulls to `r`. Returns 0, or -EINVAL for anything else. */
int fields_read_reals(const json_t *array, struct reals *r);

/* Returns the field with this key, or NULL. */
const struct field *fields_find(const struct fields *f, const char *key);
/* Returns the value of a member that is a number. */
double field_number(const struct field *f, const void *object);
/* Returns true if the member is unknown or empty. */
bool field_is_unknown(const struct field *f, const void *object);
/* Returns true if the member is equal in `a` and `b`. It must be a string, number, boolean or list of strings. */
bool field_equal(const struct field *f, const void *a, const void *b);
/* Appends the value as words: "6.1.0", "on", "CONFIG_A, CONFIG_B", "none" for an empty list, "unknown". */
void field_say(const struct field *f, const void *object, struct buf *out);

/* Sets *to to a copy of `text` (NULL if `text` is NULL), and frees the previous string. */
void field_set(char **to, const char *text);
/* Frees all strings. Afterwards the list is unknown. */
void strings_clear(struct strings *s);
/* Appends a copy of `text`. */
void strings_add(struct strings *s, const char *text);
/* Frees all names and texts. Afterwards the list is empty. */
void texts_clear(struct texts *t);
void texts_add(struct texts *t, const char *name, const char *text);
void numbers_add(struct numbers *t, const char *name, double number);
void reals_add(struct reals *r, double x);
/* Returns the text for `name`, or NULL. */
const char *texts_find(const struct texts *t, const char *name);
/* Appends each line of `text` to the list as a separate string. */
void strings_add_lines(struct strings *s, const char *text);

/* Converts a summary of calls to the rows of a saved run of kind "count" (sctrace-run(5)), and back (summary_json.c). */

/*
 * Returns a new array with an object for each call: counts, sums and extremes in ns, quantiles, the number of each
 * error, the histogram.
 */
json_t *summary_json(const struct summary *s);
/*
 * Fills in `s`, which must be zeroed. Returns 0, or -EINVAL with the reason in `why` if the figures of a row
 * contradict each other.
 */
int summary_read(const json_t *rows, struct summary *s, struct buf *why);

/*
 * Returns a new JSON string. JSON requires UTF-8, but the name of a program or file can contain any bytes, so a text
 * that is not valid UTF-8 is escaped.
 */
json_t *summary_json_text(const char *s);
/* Returns a new JSON number, which is an integer if `whole` is set, or null if `x` is not finite. */
json_t *summary_json_number(double x, bool whole);
/*
 * summary_hist_json() returns the histogram as [[lowest value in ns, count], ..] without empty bins;
 * summary_hist_read() reads that form. The latter returns 0 or -EINVAL.
 */
json_t *summary_hist_json(const struct hist *h);
int summary_hist_read(const json_t *a, struct hist *h);

#endif
