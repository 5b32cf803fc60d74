/* SPDX-License-Identifier: MIT */
/* Plans a comparison: its strategies, its commands, and the combinations of the values of the parameters {NAME}. */
#include "base/buf.h"
#include "base/memory.h"
#include "base/size.h"
#include "base/words.h"
#include "compare/compare.h"
#include "out/table.h"

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

/* Creates the subjects: strategies and commands, each with its buffer sizes and parameters. */
void compare_subject_free(struct subject *s)
{
	if (!s)
		return;
	words_free(s->argv);
	words_free(s->part_argv);
	vec_free(&s->samples);
	for (size_t i = 0; i < s->metrics.n; i++)
		vec_free(&s->metrics.v[i].samples);
	vec_free(&s->metrics);
	if (s->counted)
		count_free(&s->count);
	texts_clear(&s->params);
	free(s->command);
	free(s->name);
	free(s->unable);
	free(s);
}

void compare_label(struct buf *out, const struct subject *s)
{
	buf_adds(out, s->name);
	if (!s->buffer)
		return;
	buf_addc(out, ' ');
	size_format(out, s->buffer);
}

static bool is_taken(const struct compare *c, const char *name, uint64_t buffer)
{
	for (size_t i = 0; i < c->subjects.n; i++)
		if (c->subjects.v[i]->buffer == buffer && strcmp(c->subjects.v[i]->name, name) == 0)
			return true;
	return false;
}

/*
 * Returns a name that no other row has. If the user compares the command "true" with itself, to see how much equal runs
 * differ, the second row is called "true (2)".
 */
static char *own_name(const struct compare *c, const char *name, uint64_t buffer)
{
	struct buf b = {0};
	buf_adds(&b, name);
	for (int i = 2; is_taken(c, buf_str(&b), buffer); i++) {
		buf_clear(&b);
		buf_addf(&b, "%s (%d)", name, i);
	}
	return buf_take(&b);
}

static struct subject *subject_add(struct compare *c, const char *name, uint64_t buffer)
{
	struct subject *s = memory_zeroed(1, sizeof(*s));
	s->name = own_name(c, name, buffer);
	s->buffer = buffer;
	for (size_t i = 0; i < c->opt.metrics.n; i++)
		vec_push(&s->metrics, (struct run_metric){.name = c->opt.metrics.v[i].name});
	vec_push(&c->subjects, s);
	return s;
}

/*
 * Returns the command line of a copier: copy-NAME [-b N] IN OUT. File names are relative to the work directory, so that
 * the command line is short.
 */
static char **copier_argv(const char *path, uint64_t buffer, const char *in)
{
	struct words words = {0};
	words_add(&words, path);
	if (buffer) {
		struct buf size = {0};
		buf_addf(&size, "%llu", (unsigned long long)buffer);
		words_add(&words, "-b");
		words_take(&words, buf_take(&size));
	}
	words_add(&words, in);
	words_add(&words, "out");
	return words_done(&words);
}

static void add_strategy(struct compare *c, const struct strategy *st, uint64_t buffer)
{
	struct subject *s = subject_add(c, st->name, buffer);
	s->strategy = st;
	s->copies = true;
	struct buf path = {0};
	auto_buf why = {0};
	if (strategy_locate(st->program, &path, &why) < 0) {
		s->unable = buf_take(&why);
	} else {
		s->argv = copier_argv(buf_str(&path), buffer, "in");
		s->part_argv = copier_argv(buf_str(&path), buffer, "part");
	}
	buf_clear(&path);
	compare_label(&path, s);
	s->command = buf_take(&path);
}

static int add_with_buffers(struct compare *c, const struct strategy *st, struct buf *why)
{
	if (!(st->flags & STRATEGY_BUFFER)) {
		add_strategy(c, st, 0);
		return 0;
	}
	uint64_t sizes[STRATEGY_BUFFERS_MAX];
	int n = strategy_buffers(c->opt.buffers ? c->opt.buffers : st->buffers, sizes, why);
	for (int i = 0; i < n; i++)
		add_strategy(c, st, sizes[i]);
	return n < 0 ? n : 0;
}

static void say_unknown(const char *name, struct buf *why)
{
	size_t n;
	const struct strategy *all = strategy_all(&n);
	struct near near = {.word = name};
	for (size_t i = 0; i < n; i++)
		near_offer(&near, all[i].name);
	buf_addf(why, "there is no strategy '%s'; sctrace compare --list lists them", name);
	near_say(&near, "", why);
}

static int add_named(struct compare *c, struct buf *why)
{
	char *list = memory_copy(c->opt.strategies);
	char *save = NULL;
	int err = 0;
	for (char *name = strtok_r(list, ",", &save); name && !err; name = strtok_r(NULL, ",", &save)) {
		const struct strategy *st = strategy_find(name);
		if (!st) {
			say_unknown(name, why);
			err = -EINVAL;
		} else {
			err = add_with_buffers(c, st, why);
		}
	}
	free(list);
	if (!err && !c->subjects.n) {
		buf_adds(why, "--strategy needs the name of a strategy; sctrace compare --list prints the names");
		err = -EINVAL;
	}
	return err;
}

static int add_set(struct compare *c, struct buf *why)
{
	size_t n;
	const struct strategy *all = strategy_all(&n);
	for (size_t i = 0; i < n; i++) {
		if (!c->opt.all && !(all[i].flags & STRATEGY_DEFAULT))
			continue;
		int err = add_with_buffers(c, &all[i], why);
		if (err < 0)
			return err;
	}
	return 0;
}

/* Appends the name of a command's row: the command as typed, followed by its parameters: "make {n} (n=1, cc=gcc)". */
static void name_command(struct buf *out, const char *text, const struct texts *params)
{
	buf_adds(out, text);
	for (size_t i = 0; i < params->n; i++)
		buf_addf(out, "%s%s=%s", i ? ", " : " (", params->v[i].name, params->v[i].text);
	if (params->n)
		buf_addc(out, ')');
}

static int add_command(struct compare *c, const char *text, size_t index, uint64_t buffer, const struct texts *params,
		       struct buf *why)
{
	auto_buf name = {0};
	const struct compare_texts *names = &c->opt.names;
	auto_free char *given = index < names->n ? compare_fill_name(names->v[index], params) : NULL;
	/* A name that contains a parameter tells the rows apart. */
	bool tells = given && strcmp(given, names->v[index]) != 0;
	name_command(&name, given ? given : text, tells ? &(struct texts){0} : params);
	struct subject *s = subject_add(c, buf_str(&name), buffer);
	compare_copy_texts(&s->params, params);
	s->index = index;
	s->command = memory_copy(text);
	s->copies = strstr(text, "{in}") && strstr(text, "{out}");
	s->argv = compare_command_argv(c, text, buffer, params, why);
	return s->argv ? 0 : -EINVAL;
}

/*
 * Adds the rows of one command: one for each combination of its parameters and, if it contains {buffer}, for each
 * buffer size.
 */
static int add_command_set(struct compare *c, const char *text, size_t index, const struct combinations *all,
			   struct buf *why)
{
	uint64_t sizes[STRATEGY_BUFFERS_MAX] = {0};
	int n = 1;
	if (strstr(text, "{buffer}"))
		n = strategy_buffers(c->opt.buffers ? c->opt.buffers : "1K,4K,64K,1M", sizes, why);
	if (n < 0)
		return n;
	for (size_t v = 0; v < all->n; v++)
		for (int i = 0; i < n; i++) {
			int err = add_command(c, text, index, sizes[i], &all->v[v], why);
			if (err < 0)
				return err;
		}
	return 0;
}

/*
 * Checks the options such as --prepare: each must be given once, for all commands, or once for each command. Returns 0,
 * or -EINVAL with the reason in `why`.
 */
static int check_beside(const struct compare *c, size_t commands, struct buf *why)
{
	for (int i = 0; i < BESIDES && !why->len; i++) {
		size_t n = c->opt.beside[i].n;
		if (n > 1 && n != commands)
			buf_addf(why,
				 "%s is given %zu times for %zu command%s; give it once for all commands, or once for "
				 "each",
				 compare_companions[i], n, commands, commands == 1 ? "" : "s");
	}
	return why->len ? -EINVAL : 0;
}

/* Returns true if one of these texts contains {NAME}. */
static bool contain(const char *const *texts, size_t n, const char *name)
{
	auto_buf place = {0};
	bool found = false;
	buf_addf(&place, "{%s}", name);
	for (size_t i = 0; i < n && !found; i++)
		found = strstr(texts[i], buf_str(&place));
	return found;
}

/* Returns true if a command beside the measured ones contains {NAME}. */
static bool beside_contain(const struct compare *c, const char *name)
{
	bool found = false;
	for (int i = 0; i < BESIDES; i++)
		found |= contain(c->opt.beside[i].v, c->opt.beside[i].n, name);
	return found;
}

bool compare_names_input(const struct compare *c)
{
	bool found = beside_contain(c, "in");
	for (size_t i = 0; i < c->subjects.n; i++)
		found |= strstr(c->subjects.v[i]->command, "{in}") != NULL;
	return found;
}

/* Checks that each parameter has a name of its own, and that a command contains it. */
static int check_parameters(const struct compare *c, const struct texts *params, const char *const *commands, size_t n,
			    struct buf *why)
{
	static const char *const reserved[] = {"{in}", "{out}", "{buffer}"};
	for (size_t i = 0; i < params->n && !why->len; i++) {
		const char *name = params->v[i].name;
		for (size_t k = 0; k < i && !why->len; k++)
			if (strcmp(params->v[k].name, name) == 0)
				buf_addf(why, "the parameter '%s' is given twice", name);
		if (contain(reserved, sizeof(reserved) / sizeof(*reserved), name))
			buf_addf(why, "'%s' cannot be the name of a parameter, because {%s} already has a meaning",
				 name, name);
		else if (!why->len && !contain(commands, n, name) && !beside_contain(c, name))
			buf_addf(why, "no command contains {%s}, the parameter of -P or -L", name);
	}
	return why->len ? -EINVAL : 0;
}

/* Checks the names that --command-name gives to `n` commands. */
static int check_names(const struct compare_texts *names, size_t n, struct buf *why)
{
	if (names->n > n)
		buf_addf(why, "--command-name is given %zu times for %zu command%s", names->n, n, n == 1 ? "" : "s");
	for (size_t i = 0; i < names->n && !why->len; i++)
		if (!*names->v[i])
			buf_adds(why, "--command-name needs a name, because tables and saved runs identify rows by it");
	return why->len ? -EINVAL : 0;
}

static int add_commands(struct compare *c, char *const *operands, size_t n, struct buf *why)
{
	struct combinations all = {0};
	size_t first = 0;
	int err = compare_combine(&c->opt, operands, n, &first, &all, why);
	if (!err && all.n)
		err = check_parameters(c, &all.v[0], (const char *const *)operands + first, n - first, why);
	if (!err)
		err = check_beside(c, n - first, why);
	if (!err)
		err = check_names(&c->opt.names, n - first, why);
	for (size_t i = first; i < n && !err; i++)
		err = add_command_set(c, operands[i], i - first, &all, why);
	compare_combinations_free(&all);
	return err;
}

static int add_strategies(struct compare *c, struct buf *why)
{
	int err = check_beside(c, 1, why);
	if (err)
		return err;
	return c->opt.strategies ? add_named(c, why) : add_set(c, why);
}

/*
 * Checks that a program takes the buffer sizes of --buffers, that one writes the copy that --fsync is about, and that a
 * command reads the file of --input. (hyperfine's option --input names the standard input of commands.)
 */
static int check_effects(const struct compare *c, struct buf *why)
{
	bool buffers = false;
	bool copies = false;
	for (size_t i = 0; i < c->subjects.n; i++) {
		const struct subject *s = c->subjects.v[i];
		buffers |= s->buffer > 0;
		copies |= s->strategy || strstr(s->command, "{out}");
	}
	if (c->opt.buffers && !buffers)
		buf_adds(why,
			 "--buffers has no effect: no strategy takes a buffer size, and no command contains {buffer}");
	else if (c->opt.fsync && !copies)
		buf_adds(why, "--fsync has no effect: no command contains {out}, the copy that would be written to the "
			      "device");
	else if (c->opt.input && !c->subjects.v[0]->strategy && !compare_names_input(c))
		buf_adds(why, "--input has no effect: no command contains {in}; for the standard input of a command, "
			      "write for example 'wc -l < {in}'");
	return why->len ? -EINVAL : 0;
}

int compare_plan(struct compare *c, char *const *commands, size_t ncommands, struct buf *why)
{
	int err = ncommands ? add_commands(c, commands, ncommands, why) : add_strategies(c, why);
	return err < 0 ? err : check_effects(c, why);
}

void compare_list(struct buf *out, const struct table_look *look)
{
	static const struct column columns[] = {
		{"strategy", "strategy", 0}, {"buffers", "buffers", 0}, {"what", "description", COL_WRAP}};
	struct table *t = table_new(columns, 3);
	size_t n;
	const struct strategy *all = strategy_all(&n);
	for (size_t i = 0; i < n; i++) {
		auto_buf none = {0};
		bool there = strategy_locate(all[i].program, &none, &none) == 0;
		table_row(t);
		table_string(t, 0, all[i].name);
		if (all[i].buffers)
			table_string(t, 1, all[i].buffers);
		buf_clear(&none);
		buf_addf(&none, "%s%s", all[i].what, there ? "" : " (not built)");
		table_string(t, 2, buf_str(&none));
		if (!there)
			table_mark_row(t, MARK_DIM);
	}
	table_render(t, TABLE_TEXT, look, out);
	table_free(t);
}
