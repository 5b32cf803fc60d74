/* For messages that end with "did you mean ...?": finds the known words that are most similar to a mistyped word. */
#ifndef SCTRACE_BASE_NEAR_H
#define SCTRACE_BASE_NEAR_H

#include <stddef.h>

struct buf;

#define NEAR_MAX 3

/* The candidates offered so far that are most similar to `word`, best first. The strings belong to the caller. */
struct near {
	const char *word; /* what the user typed */
	struct {
		const char *text;
		unsigned distance;
	} best[NEAR_MAX];
	size_t n;
};

/*
 * Returns the edit distance of `a` and `b`: each insertion, deletion, replacement or swap of two neighbouring letters
 * counts 1 (optimal string alignment; Damerau 1964). Ignores letter case, and compares only the first 63 bytes.
 */
unsigned near_distance(const char *a, const char *b);

void near_init(struct near *n, const char *word);
/*
 * Adds `candidate` if its edit distance from the word is at most a third of the word's length (or 1, for words of fewer
 * than six letters), or if it begins with the word, which must then have at least three letters. Only the NEAR_MAX
 * nearest candidates are kept.
 */
void near_offer(struct near *n, const char *candidate);
/* Appends "; did you mean PREFIXa, PREFIXb or PREFIXc?", or nothing if there are no candidates. */
void near_say(const struct near *n, const char *prefix, struct buf *out);

#endif
