/* Which subjects there are: strategies with their buffers, or commands with theirs. */
#include "cmd/compare.h"

#include "base/buf.h"
#include "base/size.h"
#include "out/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void compare_subject_free(struct subject *s)
{
	if (!s)
		return;
	compare_argv_free(s->argv);
	compare_argv_free(s->part_argv);
	vec_free(&s->samples);
	if (s->counted)
		count_free(&s->count);
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

static struct subject *subject_add(struct compare *c, const char *name, uint64_t buffer)
{
	struct subject *s = calloc(1, sizeof(*s));
	if (s)
		s->name = strdup(name);
	if (!s || !s->name || !vec_push(&c->subjects, s)) {
		compare_subject_free(s);
		return NULL;
	}
	s->buffer = buffer;
	return s;
}

/* copy-x [-b N] IN OUT, with names as in the lesson: they are relative to the work directory. */
static char **copier_argv(const char *path, uint64_t buffer, const char *in)
{
	char **argv = calloc(6, sizeof(*argv));
	if (!argv)
		return NULL;
	size_t n = 0;
	argv[n++] = strdup(path);
	if (buffer) {
		struct buf size = {0};
		buf_addf(&size, "%llu", (unsigned long long)buffer);
		argv[n++] = strdup("-b");
		argv[n++] = buf_take(&size);
	}
	argv[n++] = strdup(in);
	argv[n] = strdup("out");
	return argv;
}

static int add_strategy(struct compare *c, const struct strategy *st, uint64_t buffer)
{
	struct subject *s = subject_add(c, st->name, buffer);
	if (!s)
		return -ENOMEM;
	s->strategy = st;
	struct buf path = {0};
	struct buf why = {0};
	if (strategy_locate(st->program, &path, &why) < 0) {
		s->unable = buf_take(&why);
	} else {
		s->argv = copier_argv(buf_str(&path), buffer, "in");
		s->part_argv = copier_argv(buf_str(&path), buffer, "part");
	}
	buf_clear(&path);
	compare_label(&path, s);
	s->command = buf_take(&path);
	buf_free(&why);
	return 0;
}

static int add_with_buffers(struct compare *c, const struct strategy *st, struct buf *why)
{
	if (!(st->flags & STRATEGY_BUFFER))
		return add_strategy(c, st, 0);
	uint64_t sizes[STRATEGY_BUFFERS_MAX];
	int n = strategy_buffers(c->opt.buffers ? c->opt.buffers : st->buffers, sizes, why);
	for (int i = 0; i < n; i++) {
		int err = add_strategy(c, st, sizes[i]);
		if (err < 0)
			return err;
	}
	return n < 0 ? n : 0;
}

static int add_named(struct compare *c, struct buf *why)
{
	char *list = strdup(c->opt.strategies);
	char *save = NULL;
	int err = list ? 0 : -ENOMEM;
	for (char *name = list ? strtok_r(list, ",", &save) : NULL; name && !err; name = strtok_r(NULL, ",", &save)) {
		const struct strategy *st = strategy_find(name);
		if (!st) {
			buf_addf(why, "no strategy is called '%s'; see sctrace compare --list", name);
			err = -EINVAL;
		} else {
			err = add_with_buffers(c, st, why);
		}
	}
	free(list);
	if (!err && !c->subjects.n) {
		buf_adds(why, "no strategy is given");
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

/* The values of a scanned parameter. */
struct scan {
	char *name;
	VEC(char *) values;
};

static void scan_free(struct scan *s)
{
	for (size_t i = 0; i < s->values.n; i++)
		free(s->values.v[i]);
	vec_free(&s->values);
	free(s->name);
}

static int scan_add(struct scan *s, const char *value)
{
	char *copy = strdup(value);
	if (copy && vec_push(&s->values, copy))
		return 0;
	free(copy);
	return -ENOMEM;
}

/* NAME=FROM:TO[:STEP] */
static int scan_numbers(struct scan *s, const char *range, struct buf *why)
{
	double from;
	double to;
	double step = 1;
	char rest;
	int n = sscanf(range, "%lf:%lf:%lf%c", &from, &to, &step, &rest);
	if ((n != 2 && n != 3) || !(step > 0) || !(from <= to) || (to - from) / step > 10000) {
		buf_addf(why, "'%s' is no range; write --parameter-scan NAME=1:10 or NAME=1:10:0.5", range);
		return -EINVAL;
	}
	int err = 0;
	for (int i = 0; !err && from + i * step <= to + step * 1e-9; i++) {
		struct buf value = {0};
		buf_addf(&value, "%g", from + i * step);
		err = scan_add(s, buf_str(&value));
		buf_free(&value);
	}
	return err;
}

static int scan_words(struct scan *s, char *list)
{
	char *save = NULL;
	int err = 0;
	for (char *word = strtok_r(list, ",", &save); word && !err; word = strtok_r(NULL, ",", &save))
		err = scan_add(s, word);
	return err;
}

/* The first `n` of the operands, which hyperfine takes as values of its option, joined to NAME=A:B or NAME=LIST. */
static char *joined(const char *name, char *const *words, size_t n)
{
	struct buf b = {0};
	buf_addf(&b, "%s=%s", name, words[0]);
	if (n > 1)
		buf_addf(&b, ":%s", words[1]);
	return buf_take(&b);
}

static bool is_number(const char *word)
{
	char *end;
	strtod(word, &end);
	return end != word && *end == '\0';
}

/*
 * hyperfine writes `-P NAME FROM TO COMMAND...` and `-L NAME A,B COMMAND...`: taken so where the option has no = and the
 * words that follow can be meant. How many of the commands are values; *text is the caller's to free, or NULL.
 */
static size_t take_values(const struct compare_options *o, char *const *commands, size_t n, char **text)
{
	const char *given = o->scan ? o->scan : o->scan_list;
	*text = NULL;
	if (!given || strchr(given, '='))
		return 0;
	if (o->scan && (n < 3 || !is_number(commands[0]) || !is_number(commands[1])))
		return 0;
	if (o->scan_list && n < 2)
		return 0;
	size_t values = o->scan ? 2 : 1;
	*text = joined(given, commands, values);
	return *text ? values : 0;
}

static int scan_read(const struct compare_options *o, struct scan *s, const char *taken, struct buf *why)
{
	const char *text = taken ? taken : o->scan ? o->scan : o->scan_list;
	if (!text)
		return scan_add(s, "");
	s->name = strdup(text);
	char *equals = s->name ? strchr(s->name, '=') : NULL;
	if (!equals || equals == s->name || !equals[1]) {
		buf_addf(why, "'%s' has no parameter; write NAME=...", text);
		return -EINVAL;
	}
	*equals = '\0';
	return o->scan ? scan_numbers(s, equals + 1, why) : scan_words(s, equals + 1);
}

static int add_command(struct compare *c, const char *text, uint64_t buffer, const struct scan *scan, const char *value,
		       struct buf *why)
{
	struct buf name = {0};
	buf_adds(&name, text);
	if (scan->name)
		buf_addf(&name, " (%s=%s)", scan->name, value);
	struct subject *s = subject_add(c, buf_str(&name), buffer);
	buf_free(&name);
	if (!s)
		return -ENOMEM;
	s->command = strdup(s->name);
	s->argv = compare_command_argv(c, text, buffer, scan->name, value, c->work.in, why);
	return !s->command ? -ENOMEM : s->argv ? 0 : -EINVAL;
}

/* One command with each buffer where it names {buffer}, and each value of the parameter. */
static int add_command_set(struct compare *c, const char *text, const struct scan *scan, struct buf *why)
{
	uint64_t sizes[STRATEGY_BUFFERS_MAX] = {0};
	int n = 1;
	if (strstr(text, "{buffer}"))
		n = strategy_buffers(c->opt.buffers ? c->opt.buffers : "1K,4K,64K,1M", sizes, why);
	if (n < 0)
		return n;
	for (size_t v = 0; v < scan->values.n; v++)
		for (int i = 0; i < n; i++) {
			int err = add_command(c, text, sizes[i], scan, scan->values.v[v], why);
			if (err < 0)
				return err;
		}
	return 0;
}

static int add_commands(struct compare *c, char *const *commands, size_t n, struct buf *why)
{
	struct scan scan = {0};
	char *taken;
	size_t first = take_values(&c->opt, commands, n, &taken);
	int err = scan_read(&c->opt, &scan, taken, why);
	free(taken);
	for (size_t i = first; i < n && !err; i++)
		err = add_command_set(c, commands[i], &scan, why);
	scan_free(&scan);
	return err;
}

int compare_plan(struct compare *c, char *const *commands, size_t ncommands, struct buf *why)
{
	if (ncommands)
		return add_commands(c, commands, ncommands, why);
	return c->opt.strategies ? add_named(c, why) : add_set(c, why);
}

void compare_list(struct buf *out, const struct table_look *look)
{
	static const struct column columns[] = {
		{"strategy", "strategy", 0}, {"buffers", "buffers", 0}, {"what", "what it does", 0}};
	struct table *t = table_new(columns, 3);
	size_t n;
	const struct strategy *all = strategy_all(&n);
	for (size_t i = 0; t && i < n; i++) {
		struct buf none = {0};
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
		buf_free(&none);
	}
	if (t)
		table_render(t, TABLE_TEXT, look, out);
	table_free(t);
}
