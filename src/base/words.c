#include "base/words.h"

#include <stdlib.h>
#include <string.h>

void words_add(struct words *w, const char *word)
{
	words_take(w, strdup(word));
}

void words_take(struct words *w, char *word)
{
	if (word && !w->failed && vec_push(&w->list, word))
		return;
	free(word);
	w->failed = true;
}

char **words_done(struct words *w)
{
	char **list = !w->failed && vec_push(&w->list, NULL) ? w->list.v : NULL;
	for (size_t i = 0; !list && i < w->list.n; i++)
		free(w->list.v[i]);
	if (!list)
		free(w->list.v);
	*w = (struct words){0};
	return list;
}

void words_free(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}
