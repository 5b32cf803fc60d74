#include "cmd/compare.h"

#include "base/buf.h"
#include "base/size.h"

#include <stdlib.h>
#include <string.h>

void compare_argv_free(char **argv)
{
	for (size_t i = 0; argv && argv[i]; i++)
		free(argv[i]);
	free(argv);
}

/*
 * Copies one word at *p into `word`, its quotes taken off: 'as it is', "with \" and \\", \x. False: a quote without its
 * end.
 */
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
	VEC(char *) words = {0};
	const char *p = text;
	bool ok = true;
	while (ok && *(p += strspn(p, " \t\n"))) {
		struct buf word = {0};
		buf_adds(&word, "");
		ok = take_word(&p, &word);
		char *s = ok ? buf_take(&word) : NULL;
		if (!s || !vec_push(&words, s))
			ok = false;
		buf_free(&word);
	}
	if (!ok || !vec_push(&words, NULL)) {
		buf_addf(why, "a quote in '%s' has no end", text);
		for (size_t i = 0; i < words.n; i++)
			free(words.v[i]);
		vec_free(&words);
		return NULL;
	}
	return words.v;
}

/* 'quoted' for the shell, so that a path with spaces stays one word. */
static void add_quoted(struct buf *out, const char *s)
{
	if (s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:=@%")] == '\0' && *s) {
		buf_adds(out, s);
		return;
	}
	buf_addc(out, '\'');
	for (; *s; s++)
		buf_adds(out, *s == '\'' ? "'\\''" : (char[]){*s, '\0'});
	buf_addc(out, '\'');
}

struct placeholder {
	const char *name;
	const char *value;
};

/* Appends `text` with each {NAME} replaced; what is no placeholder stays as it is. */
static void fill(struct buf *out, const char *text, const struct placeholder *places, size_t n, bool quote)
{
	while (*text) {
		bool found = false;
		for (size_t i = 0; !found && *text == '{' && i < n; i++) {
			size_t len = places[i].name ? strlen(places[i].name) : 0;
			found = len && strncmp(text + 1, places[i].name, len) == 0 && text[1 + len] == '}';
			if (found && quote)
				add_quoted(out, places[i].value);
			else if (found)
				buf_adds(out, places[i].value);
			text += found ? len + 2 : 0;
		}
		if (!found)
			buf_addc(out, *text++);
	}
}

/* The shell may be a command line of its own: "bash --norc". */
static char **shell_argv(const struct compare *c, const char *line, struct buf *why)
{
	char **shell = compare_split(c->opt.shell ? c->opt.shell : "sh", why);
	size_t n = 0;
	while (shell && shell[n])
		n++;
	char **argv = n ? reallocarray(shell, n + 3, sizeof(*argv)) : NULL;
	if (!argv) {
		if (!why->len)
			buf_adds(why, "--shell names no program");
		compare_argv_free(shell);
		return NULL;
	}
	argv[n] = strdup("-c");
	argv[n + 1] = strdup(line);
	argv[n + 2] = NULL;
	return argv;
}

/* Splits first and fills in afterwards: no path can become two words. */
static char **plain_argv(const char *text, const struct placeholder *places, size_t n, struct buf *why)
{
	char **argv = compare_split(text, why);
	for (size_t i = 0; argv && argv[i]; i++) {
		struct buf word = {0};
		buf_adds(&word, "");
		fill(&word, argv[i], places, n, false);
		free(argv[i]);
		argv[i] = buf_take(&word);
	}
	if (argv && !argv[0]) {
		buf_adds(why, "an empty command cannot be run without a shell");
		compare_argv_free(argv);
		return NULL;
	}
	return argv;
}

char **compare_command_argv(const struct compare *c, const char *text, uint64_t buffer, const struct parameters *params,
			    const char *in, struct buf *why)
{
	enum { OWN = 3 };
	size_t n = OWN + (params ? params->n : 0);
	struct placeholder *places = calloc(n, sizeof(*places));
	if (!places)
		return NULL;
	struct buf size = {0};
	/* In bytes: a number every program understands. */
	buf_addf(&size, "%llu", (unsigned long long)buffer);
	places[0] = (struct placeholder){"in", in};
	places[1] = (struct placeholder){"out", c->work.out};
	places[2] = (struct placeholder){"buffer", buf_str(&size)};
	for (size_t i = OWN; i < n; i++)
		places[i] = (struct placeholder){params->v[i - OWN].name, params->v[i - OWN].value};
	char **argv;
	if (c->opt.no_shell) {
		argv = plain_argv(text, places, n, why);
	} else {
		struct buf line = {0};
		buf_adds(&line, "");
		fill(&line, text, places, n, true);
		argv = shell_argv(c, buf_str(&line), why);
		buf_free(&line);
	}
	buf_free(&size);
	free(places);
	return argv;
}
