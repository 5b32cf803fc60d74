/* Builds word lists for execve(2). If memory runs out, the result is NULL and never a list with words missing. */
#ifndef SCTRACE_BASE_WORDS_H
#define SCTRACE_BASE_WORDS_H

#include "base/vec.h"

/* Zero-initialised is empty. */
struct words {
	VEC(char *) list;
	bool failed; /* memory ran out */
};

/* Appends a copy of `word`. */
void words_add(struct words *w, const char *word);
/*
 * Appends `word` itself, which must be malloc'ed and which the list then owns. If `word` is NULL, because it could not
 * be allocated, the whole list fails.
 */
void words_take(struct words *w, char *word);
/*
 * Returns the list with a NULL at its end, or NULL if memory ran out. The caller frees it with words_free(). `w` is
 * empty afterwards.
 */
char **words_done(struct words *w);
/* Frees a list and its words. Accepts NULL. */
void words_free(char **list);

#endif
