/* The words of `compare --columns`: how a program used its files. */
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
	size_t offset; /* of the figure in struct run_use */
};
extern const struct use_row use_rows[USES];

/* The figure; NAN if it is unknown. */
double run_use(const struct run_use *u, enum use which);
/* True if the comma-separated list has the word of `which`, or "all". `list` may be NULL. */
bool run_use_listed(const char *list, enum use which);
/* Checks a list. Returns 0, or -EINVAL with the unknown word, and those that are near, in `why`. */
int run_use_check(const char *list, struct buf *why);

#endif
