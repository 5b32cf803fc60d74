#include "base/words.h"

#include "base/memory.h"

#include <stdlib.h>

void words_add(struct words *w, const char *word)
{
	words_take(w, memory_copy(word));
}

void words_take(struct words *w, char *word)
{
	vec_push(&w->list, word);
}

char **words_done(struct words *w)
{
	vec_push(&w->list, NULL);
	char **list = w->list.v;
	*w = (struct words){0};
	return list;
}

void words_free(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}
