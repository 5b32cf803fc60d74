/* SPDX-License-Identifier: MIT */
/*
 * Appends the word at *p to `word` without its quotes. As in the shell, characters are quoted by '...', by "..." (in
 * which \ quotes " \ $ and `), and by \. Moves *p to the end of the word. Returns false if a quote is not closed.
 */
#include "base/buf.h"
#include "base/memory.h"
#include "base/size.h"
#include "base/words.h"
#include "compare/compare.h"
#include "decode/decode.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static bool take_word(const char **p, struct buf *word)
{
	char quote = 0;
	for (; **p; ++*p) {
		char c = **p;
		if (!quote && strchr(" \t\n", c))
			return true;
		if (!quote && (c == '\'' || c == '"'))
			quote = c;
		else if (quote && c == quote)
			quote = 0;
		else if (c == '\\' && quote != '\'' && (*p)[1] && (!quote || strchr("\"\\$`", (*p)[1])))
			buf_addc(word, *++*p);
		else
			buf_addc(word, c);
	}
	return !quote;
}

char **compare_split(const char *text, struct buf *why)
{
	struct words words = {0};
	bool closed = true;
	for (const char *p = text; closed && *(p += strspn(p, " \t\n"));) {
		struct buf word = {0};
		closed = take_word(&p, &word);
		words_take(&words, buf_take(&word));
	}
	char **list = words_done(&words);
	if (closed)
		return list;
	buf_addf(why, "a quote in '%s' is not closed", text);
	words_free(list);
	return NULL;
}

/* The quotes around a place of a command for the shell, the innermost one last: ' " or ( for a command in $(...). */
struct quoting {
	char stack[32];
	size_t n;
};

static char innermost(const struct quoting *q)
{
	return q->n ? q->stack[q->n - 1] : 0;
}

/* Takes note of the character `c`, which is not quoted by a backslash. `before` is the character before it, or 0. */
static void quoting_pass(struct quoting *q, char before, char c)
{
	char in = innermost(q);
	bool closes = in == '(' ? c == ')' : c == in;
	bool opens = in == '"' ? c == '(' && before == '$' : in != '\'' && strchr("'\"(", c);
	if (closes)
		q->n--;
	else if (opens && q->n < sizeof(q->stack))
		q->stack[q->n++] = c;
}

/* Appends `s` so that the shell reads it unchanged within the quotes that `quote` (' or ") opened, or without quotes. */
static void add_quoted(struct buf *out, const char *s, char quote)
{
	bool plain =
		s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:=@%")] == '\0' && *s;
	bool own = !plain && quote != '\'' && quote != '"';
	buf_adds(out, own ? "'" : "");
	for (; *s; s++) {
		if (*s == '\'' && quote != '"')
			buf_adds(out, "'\\''");
		else if (quote == '"' && strchr("\"\\$`", *s))
			buf_addf(out, "\\%c", *s);
		else
			buf_addc(out, *s);
	}
	buf_adds(out, own ? "'" : "");
}

/*
 * Returns `text` with each {NAME} of `places` replaced by its text, which is quoted for the shell if `quote` is true.
 * Other words in braces remain unchanged.
 */
static char *fill(const char *text, const struct texts *places, bool quote)
{
	struct buf out = {0};
	struct quoting q = {0};
	for (const char *start = text; *text;) {
		bool found = false;
		for (size_t i = 0; !found && *text == '{' && i < places->n; i++) {
			const struct named_text *place = &places->v[i];
			size_t len = strlen(place->name);
			found = len && strncmp(text + 1, place->name, len) == 0 && text[1 + len] == '}';
			if (found && quote)
				add_quoted(&out, place->text, innermost(&q));
			else if (found)
				buf_adds(&out, place->text);
			text += found ? len + 2 : 0;
		}
		if (found)
			continue;
		if (*text == '\\' && innermost(&q) != '\'' && text[1] && text[1] != '{')
			buf_addc(&out, *text++);
		else
			quoting_pass(&q, text > start ? text[-1] : 0, *text);
		buf_addc(&out, *text++);
	}
	return buf_take(&out);
}

/* Returns the command as a list of words that runs it without a shell, or by the shell of --shell (sh by default). */
static char **command_words(const struct compare *c, const char *text, const struct texts *places, struct buf *why)
{
	/* The option --shell may be a command with arguments: "bash --norc". */
	char **split = compare_split(c->opt.no_shell ? text : c->opt.shell ? c->opt.shell : "sh", why);
	if (!split || !split[0]) {
		if (split)
			buf_adds(why, c->opt.no_shell ? "an empty command cannot be run without a shell"
						      : "--shell needs the name of a program");
		words_free(split);
		return NULL;
	}
	struct words argv = {0};
	/* {in} and the like are replaced after the command was split, so that a path with spaces remains one word. */
	for (size_t i = 0; split[i]; i++)
		words_take(&argv, c->opt.no_shell ? fill(split[i], places, false) : memory_copy(split[i]));
	if (!c->opt.no_shell) {
		words_add(&argv, "-c");
		words_take(&argv, fill(text, places, true));
	}
	words_free(split);
	return words_done(&argv);
}

char *compare_fill_name(const char *name, const struct texts *params)
{
	return fill(name, params, false);
}

char **compare_command_argv(const struct compare *c, const char *text, uint64_t buffer, const struct texts *params,
			    struct buf *why)
{
	struct texts places = {0};
	auto_buf size = {0};
	/* The size is written in bytes, because every program understands that. */
	buf_addf(&size, "%llu", (unsigned long long)buffer);
	texts_add(&places, "in", c->work.in);
	texts_add(&places, "out", c->work.out);
	texts_add(&places, "buffer", buf_str(&size));
	/* A parameter may be several words of the command, or none, as for hyperfine(1). */
	auto_free char *command = fill(text, params, false);
	char **argv = command_words(c, command, &places, why);
	texts_clear(&places);
	return argv;
}

/* Runs that fail, and the commands beside a run: --setup, --prepare, --conclude and --cleanup. */
const char *const compare_companions[BESIDES] = {"--setup", "--prepare", "--conclude", "--cleanup"};

/* The variable is kept in one buffer, because setenv(3) of glibc keeps a copy of each value that a variable ever had. */
void compare_begin_run(struct compare *c, int round)
{
	c->round = round;
	if (round >= 0)
		snprintf(c->variable, sizeof(c->variable), "SCTRACE_RUN=%d", round + 1);
	else
		snprintf(c->variable, sizeof(c->variable), "SCTRACE_RUN=%s",
			 round == ROUND_WARMUP ? "warmup" : "count");
	putenv(c->variable);
}

/* Appends "in timed run 3", or which other run of a command it is. */
static void say_run(const struct compare *c, const struct subject *s, struct buf *out)
{
	if (s->strategy)
		return;
	if (c->round >= 0)
		buf_addf(out, " in timed run %d", c->round + 1);
	else if (c->round == ROUND_WARMUP)
		buf_adds(out, " in the warm-up run");
	else if (c->round == ROUND_COUNT)
		buf_adds(out, " in the run that counts calls");
}

static void say_end(int status, struct buf *out)
{
	const char *signal = WIFSIGNALED(status) ? decode_signal_name(WTERMSIG(status)) : NULL;
	if (WIFSIGNALED(status))
		buf_addf(out, "killed by %s", signal ? signal : "SIG?");
	else
		buf_addf(out, "exited with status %d", WEXITSTATUS(status));
}

/* Appends the message of a copier. In place of 'in', the input in the work directory, it names the file of the user. */
static void add_complaint(const struct compare *c, const char *message, struct buf *out)
{
	const char *in = strstr(message, "'in'");
	bool is_file = c->opt.input && !work_makes_input(c->opt.input);
	if (in) {
		buf_add(out, message, (size_t)(in - message));
		if (is_file)
			buf_addf(out, "'%s'", c->opt.input);
		else
			buf_adds(out, "the input");
		message = in + strlen("'in'");
	}
	buf_adds(out, message);
}

int compare_exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool compare_permits(const struct compare *c, const struct subject *s, int status)
{
	int code = compare_exit_status(status);
	bool permitted = code == 0 || (c->opt.ignore_failure && !s->strategy);
	for (size_t i = 0; i < c->opt.ignored.n && !s->strategy; i++)
		permitted |= c->opt.ignored.v[i] == code;
	return permitted;
}

int compare_give_up(struct compare *c, struct subject *s, const char *reason, const char *advice)
{
	struct buf what = {0};
	auto_buf all = {0};
	buf_adds(&what, reason);
	if (!s->strategy) {
		buf_addf(&all, "'%s' failed: %s%s", s->name, buf_str(&what), advice);
		work_errors(&c->work, &all);
		strings_add(&c->failures, buf_str(&all));
	}
	free(s->unable);
	s->unable = buf_take(&what);
	return 1;
}

int compare_check_status(struct compare *c, struct subject *s, int status)
{
	auto_buf reason = {0}, message = {0};
	char advice[80];
	if (compare_permits(c, s, status))
		return 0;
	if (s->strategy)
		work_complaint(&c->work, s->strategy->program, &message);
	add_complaint(c, buf_str(&message), &reason);
	if (reason.len == 0)
		say_end(status, &reason);
	say_run(c, s, &reason);
	snprintf(advice, sizeof(advice), "; use --ignore-failure=%d to continue nevertheless",
		 compare_exit_status(status));
	compare_give_up(c, s, buf_str(&reason), advice);
	return 1;
}

int compare_settle(struct compare *c, struct subject *s, int err, struct buf *why)
{
	if (err >= 0 || err == -EINTR || (c->round == ROUND_COUNT && (err == -ENOTSUP || err == -EPERM)))
		return err;
	if (err == -ETIMEDOUT) {
		buf_clear(why);
		buf_adds(why, "did not end within ");
		duration_human(why, (double)c->opt.timeout);
	}
	if (err == -ETIMEDOUT || err == -ECANCELED) /* otherwise the command did not begin */
		say_run(c, s, why);
	compare_give_up(c, s, buf_str(why), err == -ETIMEDOUT ? "; use a longer --timeout" : "");
	buf_clear(why);
	return 1;
}

int compare_beside(struct compare *c, const struct subject *s, enum companion which, struct buf *why)
{
	const struct compare_texts *given = &c->opt.beside[which];
	if (!given->n)
		return 0;
	const char *command = given->v[given->n == 1 ? 0 : s->index];
	char **argv = compare_command_argv(c, command, s->buffer, &s->params, why);
	if (!argv)
		return -EINVAL;
	struct sample sample;
	int err = sample_take(&(struct sample_spec){.argv = argv,
						    .stdin_fd = c->null_fd,
						    .stdout_fd = c->opt.show_output ? -1 : c->null_fd,
						    .stderr_fd = -1,
						    .stop = which == BESIDE_CLEANUP ? NULL : c->stop},
			      &sample, why);
	words_free(argv);
	if (err == 0 && compare_exit_status(sample.status) != 0) {
		buf_addf(why, "%s: '%s' failed: ", compare_companions[which], command);
		say_end(sample.status, why);
		err = -ECANCELED;
	}
	return err;
}

int compare_setup(struct compare *c, struct buf *why)
{
	int err = 0;
	for (size_t i = 0; i < c->subjects.n && err >= 0; i++) {
		struct subject *s = c->subjects.v[i];
		compare_begin_run(c, ROUND_NONE);
		err = s->unable ? 0 : compare_settle(c, s, compare_beside(c, s, BESIDE_SETUP, why), why);
		s->set_up = err == 0;
	}
	return err < 0 ? err : 0;
}

void compare_cleanup(struct compare *c)
{
	for (size_t i = 0; i < c->subjects.n; i++) {
		auto_buf why = {0};
		const struct subject *s = c->subjects.v[i];
		if (s->set_up && compare_beside(c, s, BESIDE_CLEANUP, &why) < 0)
			strings_add(&c->failures, buf_str(&why));
	}
}

/* Metrics that commands print (--metric). */

int compare_metric_parse(struct compare_options *o, const char *text, struct buf *why)
{
	const char *equals = strchr(text, '=');
	size_t len = strlen(text);
	struct compare_metric m = {0};
	if (!equals || equals == text || equals[1] != '/' || text + len - 1 <= equals + 2 || text[len - 1] != '/') {
		buf_addf(why, "'%s' is not a metric; write NAME=/REGEX/, for example 'ops/s=/([0-9.]+) ops/'", text);
		return -EINVAL;
	}
	for (size_t i = 0; i < o->metrics.n; i++)
		if (strlen(o->metrics.v[i].name) == (size_t)(equals - text) &&
		    strncmp(o->metrics.v[i].name, text, (size_t)(equals - text)) == 0) {
			buf_addf(why, "the metric '%s' is given twice", o->metrics.v[i].name);
			return -EINVAL;
		}
	auto_free char *regex = memory_copy_part(equals + 2, (size_t)(text + len - 1 - (equals + 2)));
	int failed = regcomp(&m.pattern, regex, REG_EXTENDED | REG_NEWLINE);
	if (failed) {
		char reason[128];
		regerror(failed, &m.pattern, reason, sizeof(reason));
		buf_addf(why, "'%s' is not an extended regular expression (regex(7)): %s", regex, reason);
	} else if (strstr(regex, "\\d")) {
		/* glibc would take it for the letter d, without a message. */
		buf_addf(why, "'%s': extended regular expressions (regex(7)) do not have \\d; write [0-9]", regex);
		regfree(&m.pattern);
		failed = -1;
	} else {
		m.name = memory_copy_part(text, (size_t)(equals - text));
		vec_push(&o->metrics, m);
	}
	return failed ? -EINVAL : 0;
}

/* Reads the beginning of a file as text. */
static void read_text(const char *path, struct buf *text)
{
	enum { TEXT_MAX = 64 << 20 };
	char part[4096];
	FILE *f = fopen(path, "re");
	size_t n;
	while (f && text->len < TEXT_MAX && (n = fread(part, 1, sizeof(part), f)) > 0) {
		for (size_t i = 0; i < n; i++)
			part[i] = part[i] ? part[i] : '\n'; /* regexec(3) ends at a NUL */
		buf_add(text, part, n);
	}
	if (f)
		fclose(f);
}

/*
 * Converts a number, also with commas between thousands. Returns NAN if the text is not a number. A comma elsewhere is
 * perhaps a decimal comma, so such a text is not a number.
 */
static double number(const char *text, size_t len)
{
	auto_buf digits = {0};
	char *end;
	bool thousands = true;
	for (size_t i = 0; i < len; i++)
		if (text[i] != ',')
			buf_addc(&digits, text[i]);
		else
			thousands &= i > 0 && len - i > 3 && strspn(text + i + 1, "0123456789") == 3;
	double v = strtod(buf_str(&digits), &end);
	bool all = thousands && end != buf_str(&digits) && end[strspn(end, " \t")] == '\0';
	return all && isfinite(v) ? v : NAN;
}

double compare_metric_read(const struct compare_metric *m, const char *const *paths, size_t n)
{
	double found = NAN;
	for (size_t i = 0; i < n && isnan(found); i++) {
		auto_buf text = {0};
		regmatch_t at[2];
		read_text(paths[i], &text);
		if (regexec(&m->pattern, buf_str(&text), 2, at, 0) == 0) {
			const regmatch_t *part = at[1].rm_so >= 0 ? &at[1] : &at[0];
			found = number(buf_str(&text) + part->rm_so, (size_t)(part->rm_eo - part->rm_so));
		}
	}
	return found;
}
