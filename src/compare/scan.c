/* --parameter-scan and --parameter-list: creates all combinations of the values of the parameters {NAME}. */
#include "compare/compare.h"

#include "base/buf.h"
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS_MAX 10000 /* the most values of one --parameter-scan */

/* A parameter and its values. */
struct scan {
	char *name;
	struct strings values;
};

/* Parses FROM:TO[:STEP]. `delta` is the step for a range without STEP (option -D of hyperfine); it may be NULL. */
static int scan_numbers(struct scan *s, const char *range, const char *delta, struct buf *why)
{
	double from;
	double to;
	double step = 1;
	char rest;
	int n = sscanf(range, "%lf:%lf:%lf%c", &from, &to, &step, &rest);
	bool good = n == 3 || (n == 2 && (!delta || sscanf(delta, "%lf%c", &step, &rest) == 1));
	if (!good || !(step > 0) || !(from <= to) || (to - from) / step > NUMBERS_MAX - 1) {
		buf_addf(why,
			 "'%s'%s%s is not a range of at most %d numbers, the smallest first; write for example "
			 "--parameter-scan NAME=1:10 or NAME=1:10:0.5",
			 range, delta ? " by steps of " : "", delta ? delta : "", NUMBERS_MAX);
		return -EINVAL;
	}
	for (int i = 0; from + i * step <= to + step * 1e-9; i++) {
		char value[40];
		snprintf(value, sizeof(value), "%.15g", from + i * step);
		strings_add(&s->values, value);
	}
	return 0;
}

/*
 * Adds the words of a list that are separated by commas as values of `s`. Both as in hyperfine: a word may be empty,
 * and "\," stands for a comma within a word.
 */
static void scan_words(struct scan *s, const char *list)
{
	auto_buf word = {0};
	for (;; list++) {
		if (list[0] == '\\' && (list[1] == ',' || list[1] == '\\')) {
			buf_addc(&word, *++list);
		} else if (*list && *list != ',') {
			buf_addc(&word, *list);
		} else {
			strings_add(&s->values, buf_str(&word));
			buf_clear(&word);
			if (!*list)
				break;
		}
	}
}

static int scan_read(struct scan *s, const char *text, bool range, const char *delta, struct buf *why)
{
	s->name = memory_copy(text);
	char *equals = strchr(s->name, '=');
	if (!equals || equals == s->name)
		buf_addf(why, "'%s' does not name a parameter; write NAME=...", text);
	else if (!equals[1])
		buf_addf(why, "'%s' contains no %s after the =; write for example %s%s", text,
			 range ? "range of numbers" : "words", text, range ? "1:10" : "a,b");
	if (why->len)
		return -EINVAL;
	*equals = '\0';
	if (range)
		return scan_numbers(s, equals + 1, delta, why);
	scan_words(s, equals + 1);
	return 0;
}

static bool is_number(const char *word)
{
	char *end;
	strtod(word, &end);
	return end != word && *end == '\0';
}

/*
 * Appends the option's value to `text` as NAME=FROM:TO or NAME=A,B. With the syntax of hyperfine (`-P NAME FROM TO
 * COMMAND...` and `-L NAME A,B COMMAND...`), the value contains no =, and the numbers or words are the next operands.
 * Returns how many operands were used.
 */
static size_t take_values(const struct compare_scan *given, char *const *words, size_t n, struct buf *text)
{
	buf_adds(text, given->text);
	if (strchr(given->text, '='))
		return 0;
	if (given->range && (n < 3 || !is_number(words[0]) || !is_number(words[1])))
		return 0;
	if (!given->range && n < 2)
		return 0;
	buf_addf(text, "=%s", words[0]);
	if (given->range)
		buf_addf(text, ":%s", words[1]);
	return given->range ? 2 : 1;
}

void compare_copy_texts(struct texts *to, const struct texts *from)
{
	for (size_t i = 0; i < from->n; i++)
		texts_add(to, from->v[i].name, from->v[i].text);
}

void compare_combinations_free(struct combinations *all)
{
	for (size_t i = 0; i < all->n; i++)
		texts_clear(&all->v[i]);
	vec_free(all);
}

/*
 * Replaces each combination in `all` by several: one for each value of the parameter `s`. The parameter that was added
 * last changes fastest.
 */
static void multiply(struct combinations *all, const struct scan *s)
{
	struct combinations next = {0};
	for (size_t i = 0; i < all->n; i++)
		for (size_t k = 0; k < s->values.n; k++) {
			struct texts p = {0};
			compare_copy_texts(&p, &all->v[i]);
			texts_add(&p, s->name, s->values.v[k]);
			vec_push(&next, p);
		}
	compare_combinations_free(all);
	*all = next;
}

int compare_combine(const struct compare_options *o, char *const *operands, size_t n, size_t *taken,
		    struct combinations *all, struct buf *why)
{
	int err = 0;
	vec_push(all, (struct texts){0});
	*taken = 0;
	for (size_t i = 0; i < o->scans.n && !err; i++) {
		const struct compare_scan *given = &o->scans.v[i];
		struct scan s = {0};
		auto_buf text = {0};
		*taken += take_values(given, operands + *taken, n - *taken, &text);
		err = scan_read(&s, buf_str(&text), given->range, o->step, why);
		if (!err)
			multiply(all, &s);
		strings_clear(&s.values);
		free(s.name);
	}
	return err;
}
