/* SPDX-License-Identifier: MIT */
/* Builds argument lists for execve(2). */
#ifndef SCTRACE_BASE_WORDS_H
#define SCTRACE_BASE_WORDS_H

#include "base/memory.h"

#include <stddef.h>

/* A zeroed struct is an empty list. */
struct words {
	VEC(char *) list;
};

/* Appends a copy of `word`. */
void words_add(struct words *w, const char *word);
/* Appends `word` itself. It must have been allocated by malloc(3), and belongs to the list afterwards. */
void words_take(struct words *w, char *word);
/* Returns the list, which ends with NULL. The caller frees it with words_free(). `w` is empty afterwards. */
char **words_done(struct words *w);
/* Frees a list and its words. `list` may be NULL. */
void words_free(char **list);

/* For messages that end with "did you mean ...?": finds the known words that are most similar to a mistyped word. */

struct buf;

#define NEAR_MAX 3

/* The offered candidates most similar to `word`, best first. Initialise with {.word = TEXT}. */
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

/*
 * Adds `candidate` if its edit distance from the word is at most a third of the word's length (or 1, for words of fewer
 * than six letters), or if it begins with the word, which must then have at least three letters. Only the NEAR_MAX
 * nearest candidates are kept.
 */
void near_offer(struct near *n, const char *candidate);
/* Appends "; did you mean PREFIXa, PREFIXb or PREFIXc?", or nothing if there are no candidates. */
void near_say(const struct near *n, const char *prefix, struct buf *out);

#endif
