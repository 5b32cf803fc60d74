/* Structs as JSON objects: a table names each member once, and reads, writes, shows, compares and frees it by that. */
#ifndef SCTRACE_RUN_FIELD_H
#define SCTRACE_RUN_FIELD_H

#include "base/vec.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct buf;

/* A yes or no that may be unknown (null). */
enum truth { TRUTH_NO, TRUTH_YES, TRUTH_UNKNOWN };

/* A list of strings that are its own; `known` tells an empty list from null. */
struct strings {
	char **v;
	size_t n, cap;
	bool known;
};

struct reals {
	double *v; /* NAN: null */
	size_t n, cap;
};

/* {NAME: TEXT} */
struct named_text {
	char *name, *text;
};
struct texts {
	struct named_text *v;
	size_t n, cap;
};

/* {NAME: NUMBER} */
struct named_number {
	char *name;
	double number;
};
struct numbers {
	struct named_number *v;
	size_t n, cap;
};

/* The type of the member in C, and what it is in JSON. */
enum field_type {
	FIELD_STRING,  /* char *; NULL is null */
	FIELD_REAL,    /* double; NAN is null */
	FIELD_INTEGER, /* double, written without a fraction; NAN is null */
	FIELD_TRUTH,   /* enum truth */
	FIELD_STRINGS, /* struct strings */
	FIELD_REALS,   /* struct reals; null where it is empty and FIELD_OPTIONAL */
	FIELD_WHOLE,   /* struct reals, written without fractions */
	FIELD_TEXTS,   /* struct texts */
	FIELD_NUMBERS, /* struct numbers */
	FIELD_TRIPLES, /* VEC() of structs of three doubles, [[a, b, c], ..] */
	FIELD_HIST,    /* struct hist, [[least, count], ..] */
	FIELD_CALLS,   /* struct summary, rows as of kind "count" (summary_json.c) */
	FIELD_OBJECT,  /* a struct that begins with `bool known`; null where that is false */
	FIELD_LIST,    /* VEC() of structs, an array of objects */
};

#define FIELD_OPTIONAL 1u /* left out of the object where it is null or empty */
#define FIELD_DERIVED  2u /* written for other programs; not read, for it follows from the rest */

struct field {
	const char *key;
	enum field_type type;
	size_t offset;
	unsigned kinds; /* bits of what has it; 0: all */
	unsigned flags;
	const struct fields *of; /* the fields of an object or of a list's elements */
	const char *words;       /* what people call it; NULL: the key will do */
};

struct fields {
	const struct field *v;
	size_t n;
	size_t size; /* of the struct */
};

#define FIELDS(rows, type)                                                                                             \
	{                                                                                                              \
		rows, sizeof(rows) / sizeof(*(rows)), sizeof(type)                                                     \
	}

/* Makes all members unknown; the struct's memory need not be initialised. */
void fields_init(const struct fields *f, void *object);
/* Frees what members own; the struct is as after fields_init(). */
void fields_free(const struct fields *f, void *object);
/* A new object of the members that `kinds` have, or NULL: memory ran out. */
json_t *fields_write(const struct fields *f, const void *object, unsigned kinds);
/*
 * Fills a struct on which fields_init() was called; members that `o` lacks stay unknown, what the table lacks is left
 * alone. 0; -EINVAL: a member is of another type, and `why` names it; -ENOMEM.
 */
int fields_read(const struct fields *f, void *object, const json_t *o, unsigned kinds, struct buf *why);

/* Appends an array of numbers and nulls; 0, -EINVAL where it is none, -ENOMEM. */
int fields_read_reals(const json_t *array, struct reals *r);

/* The field called `key`, or NULL. */
const struct field *fields_find(const struct fields *f, const char *key);
/* The member, which is a number. */
double field_number(const struct field *f, const void *object);
/* Is the member unknown or empty? */
bool field_is_unknown(const struct field *f, const void *object);
/* Are the members of two structs equal? For strings, numbers, truths and lists of strings. */
bool field_equal(const struct field *f, const void *a, const void *b);
/* Appends the member in words: "6.1.0", "on", "CONFIG_A, CONFIG_B", "none" of an empty list, "unknown". */
void field_say(const struct field *f, const void *object, struct buf *out);

/* Sets *to a copy of `text` (NULL: none); an earlier one is freed. Where memory runs out it is noted (base/memory.h). */
void field_set(char **to, const char *text);
/* Forgets all; they are not known then. */
void strings_clear(struct strings *s);
/* Appends a copy. */
void strings_add(struct strings *s, const char *text);
void texts_add(struct texts *t, const char *name, const char *text);
void numbers_add(struct numbers *t, const char *name, double number);
void reals_add(struct reals *r, double x);
/* The text of `name`, or NULL. */
const char *texts_find(const struct texts *t, const char *name);
/* Appends each line of `text` as a string. */
void strings_add_lines(struct strings *s, const char *text);

#endif
