/* Structs as JSON objects. A table names each member once; reading, writing, showing, comparing and freeing use it. */
#ifndef SCTRACE_RUN_FIELD_H
#define SCTRACE_RUN_FIELD_H

#include "base/vec.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct buf;

/* Yes or no, or unknown (null). */
enum truth { TRUTH_NO, TRUTH_YES, TRUTH_UNKNOWN };

/* A list of strings that it owns; `known` distinguishes an empty list from null. */
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

/* The member's type in C and its form in JSON. */
enum field_type {
	FIELD_STRING,  /* char *; NULL is null */
	FIELD_REAL,    /* double; NAN is null */
	FIELD_INTEGER, /* double, written without a fraction; NAN is null */
	FIELD_TRUTH,   /* enum truth */
	FIELD_STRINGS, /* struct strings */
	FIELD_REALS,   /* struct reals; null if it is empty and FIELD_OPTIONAL */
	FIELD_WHOLE,   /* struct reals, written without fractions */
	FIELD_TEXTS,   /* struct texts */
	FIELD_NUMBERS, /* struct numbers */
	FIELD_TRIPLES, /* VEC() of structs of three doubles, [[a, b, c], ..] */
	FIELD_HIST,    /* struct hist, [[least, count], ..] */
	FIELD_CALLS,   /* struct summary, with rows as in kind "count" (summary_json.c) */
	FIELD_OBJECT,  /* a struct that begins with `bool known`; null if that is false */
	FIELD_LIST,    /* VEC() of structs, an array of objects */
};

#define FIELD_OPTIONAL 1u /* omitted from the object if null or empty */
#define FIELD_DERIVED  2u /* written for other programs, but not read, because it follows from other members */

struct field {
	const char *key;
	enum field_type type;
	size_t offset;
	unsigned kinds; /* bits of the kinds that have it; 0: all */
	unsigned flags;
	const struct fields *of; /* the fields of an object or of the elements of a list */
	const char *words;       /* the name for people; NULL: the same as the key */
};

struct fields {
	const struct field *v;
	size_t n;
	size_t size; /* size of the struct */
};

#define FIELDS(rows, type)                                                                                             \
	{                                                                                                              \
		rows, sizeof(rows) / sizeof(*(rows)), sizeof(type)                                                     \
	}

/* Makes all members unknown. The memory need not be initialised before. */
void fields_init(const struct fields *f, void *object);
/* Frees what the members own. The struct is then as after fields_init(). */
void fields_free(const struct fields *f, void *object);
/* A new object with the members of `kinds`, or NULL if memory ran out. */
json_t *fields_write(const struct fields *f, const void *object, unsigned kinds);
/*
 * Fills in a struct after fields_init(). Members that `o` lacks stay unknown, and unknown keys are ignored. Returns 0,
 * -EINVAL if a member has another type (named in `why`), or -ENOMEM.
 */
int fields_read(const struct fields *f, void *object, const json_t *o, unsigned kinds, struct buf *why);

/* Appends an array of numbers and nulls. Returns 0, -EINVAL if it is not such an array, or -ENOMEM. */
int fields_read_reals(const json_t *array, struct reals *r);

/* The field called `key`, or NULL. */
const struct field *fields_find(const struct fields *f, const char *key);
/* The value of a number member. */
double field_number(const struct field *f, const void *object);
/* True if the member is unknown or empty. */
bool field_is_unknown(const struct field *f, const void *object);
/* True if the members of two structs are equal. For strings, numbers, truths and lists of strings. */
bool field_equal(const struct field *f, const void *a, const void *b);
/* Appends the member in words: "6.1.0", "on", "CONFIG_A, CONFIG_B", "none" for an empty list, "unknown". */
void field_say(const struct field *f, const void *object, struct buf *out);

/* Sets *to to a copy of `text` (NULL: none) and frees the earlier one. Notes a lack of memory (base/memory.h). */
void field_set(char **to, const char *text);
/* Frees all strings. The list is unknown afterwards. */
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
