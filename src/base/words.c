/* SPDX-License-Identifier: MIT */
#include "base/words.h"

#include "base/buf.h"
#include "base/memory.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

#define WORD_MAX    63
#define ABBREVIATED 3 /* minimum length of a word for which the words that begin with it are suggested */

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static int lower(char c)
{
	return tolower((unsigned char)c);
}

unsigned near_distance(const char *a, const char *b)
{
	unsigned rows[3][WORD_MAX + 1];
	size_t la = strnlen(a, WORD_MAX);
	size_t lb = strnlen(b, WORD_MAX);
	unsigned *before = rows[0], *above = rows[1], *row = rows[2];
	for (unsigned k = 0; k <= lb; k++)
		above[k] = before[k] = k;
	for (size_t i = 1; i <= la; i++) {
		row[0] = (unsigned)i;
		for (size_t k = 1; k <= lb; k++) {
			unsigned differs = lower(a[i - 1]) != lower(b[k - 1]);
			row[k] = least(least(above[k] + 1, row[k - 1] + 1), above[k - 1] + differs);
			if (i > 1 && k > 1 && lower(a[i - 1]) == lower(b[k - 2]) && lower(a[i - 2]) == lower(b[k - 1]))
				row[k] = least(row[k], before[k - 2] + 1);
		}
		unsigned *spare = before;
		before = above;
		above = row;
		row = spare;
	}
	return above[lb];
}

void near_offer(struct near *n, const char *candidate)
{
	size_t len = strlen(n->word);
	unsigned d = near_distance(n->word, candidate);
	bool begins = len >= ABBREVIATED && strncmp(n->word, candidate, len) == 0;
	if (d > (len < 6 ? 1 : len / 3) && !begins)
		return;
	size_t at = 0;
	for (; at < n->n && n->best[at].distance <= d; at++)
		if (strcmp(n->best[at].text, candidate) == 0)
			return;
	if (at == NEAR_MAX)
		return;
	n->n += n->n < NEAR_MAX;
	memmove(&n->best[at + 1], &n->best[at], (n->n - 1 - at) * sizeof(*n->best));
	n->best[at].text = candidate;
	n->best[at].distance = d;
}

void near_say(const struct near *n, const char *prefix, struct buf *out)
{
	for (size_t i = 0; i < n->n; i++) {
		buf_adds(out, i == 0 ? "; did you mean " : i + 1 < n->n ? ", " : " or ");
		buf_adds(out, prefix);
		buf_adds(out, n->best[i].text);
	}
	if (n->n)
		buf_addc(out, '?');
}
