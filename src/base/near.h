/* "Did you mean": finds the known words that a mistyped one is nearest to. */
#ifndef SCTRACE_BASE_NEAR_H
#define SCTRACE_BASE_NEAR_H

#include <stddef.h>

struct buf;

#define NEAR_MAX 3

/* The nearest of the words offered so far; the strings are the caller's. */
struct near {
	const char *word; /* as typed */
	const char *best[NEAR_MAX];
	unsigned distance[NEAR_MAX];
	size_t n;
};

/*
 * Typing distance of `a` and `b`: insertions, deletions, replacements and swaps of neighbours (optimal string
 * alignment; Damerau 1964), each 1, letter case ignored. Words longer than 63 bytes are compared by their first 63.
 */
unsigned near_distance(const char *a, const char *b);

void near_init(struct near *n, const char *word);
/* Keeps `candidate` where it is among the nearest and no farther than a third of the word (at least 1). */
void near_offer(struct near *n, const char *candidate);
/* Appends "; did you mean PREFIXx, PREFIXy or PREFIXz?", or nothing where none is near. */
void near_say(const struct near *n, const char *prefix, struct buf *out);

#endif
