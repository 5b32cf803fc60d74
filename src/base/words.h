/* Lists of words as execve(2) takes them, built word by word; none can go missing: it is all of them or no list. */
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
/* Appends `word` itself, which is malloc'ed and the list's from here on; NULL, as where it could not be made, fails the list. */
void words_take(struct words *w, char *word);
/* The list with a NULL at its end, the caller's to free with words_free(); NULL where memory ran out. `w` is empty then. */
char **words_done(struct words *w);
/* Frees a list and its words; NULL is none. */
void words_free(char **list);

#endif
