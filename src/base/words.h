/* Builds argument lists for execve(2). */
#ifndef SCTRACE_BASE_WORDS_H
#define SCTRACE_BASE_WORDS_H

#include "base/vec.h"

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

#endif
