/* Figures about how a program used its files. Each figure has a word, which the user types in `compare --columns`. */
#ifndef SCTRACE_RUN_USE_H
#define SCTRACE_RUN_USE_H

#include "run/run.h"

struct buf;

enum use {
#define USE(member, word, title, unit) USE_##member,
#include "run/uses.def"
#undef USE
	USES
};

struct use_row {
	const char *key, *word, *title;
	enum run_unit unit;
	size_t offset; /* offset of the figure in struct run_use */
};
extern const struct use_row use_rows[USES];

/* Returns the value of a figure, or NAN if it is unknown. */
double run_use(const struct run_use *u, enum use which);
/* Returns true if the comma-separated list contains the word of `which`, or "all". `list` may be NULL. */
bool run_use_listed(const char *list, enum use which);
/*
 * Checks a list for run_use_listed(). Returns 0, or -EINVAL with a sentence in `why` that names the unknown word and
 * similar ones.
 */
int run_use_check(const char *list, struct buf *why);

#endif
