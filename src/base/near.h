/* "Did you mean": finds the known words that are nearest to a mistyped word. */
#ifndef SCTRACE_BASE_NEAR_H
#define SCTRACE_BASE_NEAR_H

#include <stddef.h>

struct buf;

#define NEAR_MAX 3

/* The nearest of the words offered so far. The caller owns the strings. */
struct near {
	const char *word; /* as typed */
	const char *best[NEAR_MAX];
	unsigned distance[NEAR_MAX];
	size_t n;
};

/*
 * Edit distance of `a` and `b`: insertions, deletions, replacements and swaps of neighbours each count 1 (optimal
 * string alignment; Damerau 1964). Ignores letter case, and compares only the first 63 bytes.
 */
unsigned near_distance(const char *a, const char *b);

void near_init(struct near *n, const char *word);
/*
 * Keeps `candidate` if it is among the nearest and its distance is at most a third of the word's length (at least 1).
 */
void near_offer(struct near *n, const char *candidate);
/* Appends "; did you mean PREFIXx, PREFIXy or PREFIXz?", or nothing if no word is near. */
void near_say(const struct near *n, const char *prefix, struct buf *out);

#endif
