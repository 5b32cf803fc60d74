#include "compare/compare.h"

#include "base/buf.h"
#include "base/memory.h"
#include "base/size.h"
#include "base/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Appends the word at *p to `word` without its quotes. As in the shell, characters are quoted by '...', by "..." (in
 * which \ quotes " \ $ and `), and by \. Moves *p to the end of the word. Returns false if a quote is not closed.
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

/*
 * Appends the words of `text`, split as the shell does. Returns false with the reason in `why` if a quote is not
 * closed.
 */
static bool split(struct words *words, const char *text, struct buf *why)
{
	for (const char *p = text; *(p += strspn(p, " \t\n"));) {
		struct buf word = {0};
		buf_adds(&word, "");
		bool ok = take_word(&p, &word);
		words_take(words, buf_take(&word));
		if (!ok) {
			buf_addf(why, "a quote in '%s' is not closed", text);
			return false;
		}
	}
	return true;
}

/* Returns the finished list, or NULL if `good` is false: the caller has then described an error. */
static char **done(struct words *words, bool good)
{
	char **argv = words_done(words);
	if (good)
		return argv;
	words_free(argv);
	return NULL;
}

char **compare_split(const char *text, struct buf *why)
{
	struct words words = {0};
	bool good = split(&words, text, why);
	return done(&words, good);
}

/* Appends `s` in quotes for the shell, so that a path with spaces remains one word. */
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

/*
 * Appends `text` with each {NAME} of `places` replaced by its value, which is quoted for the shell if `quote` is true.
 * Other words in braces remain unchanged.
 */
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

/* The option --shell may be a command with arguments: "bash --norc". */
static char **shell_argv(const struct compare *c, const char *line, struct buf *why)
{
	struct words words = {0};
	bool good = split(&words, c->opt.shell ? c->opt.shell : "sh", why);
	if (good && !words.list.n) {
		buf_adds(why, "--shell needs the name of a program");
		good = false;
	}
	words_add(&words, "-c");
	words_add(&words, line);
	return done(&words, good);
}

/*
 * Splits the command into words before {in}, {out} and so on are replaced, so that a path with spaces remains one word.
 */
static char **plain_argv(const char *text, const struct placeholder *places, size_t n, struct buf *why)
{
	struct words words = {0};
	char **split_text = compare_split(text, why);
	bool good = split_text != NULL;
	for (size_t i = 0; good && split_text[i]; i++) {
		struct buf word = {0};
		buf_adds(&word, "");
		fill(&word, split_text[i], places, n, false);
		words_take(&words, buf_take(&word));
	}
	if (good && !split_text[0]) {
		buf_adds(why, "an empty command cannot be run without a shell");
		good = false;
	}
	words_free(split_text);
	return done(&words, good);
}

char **compare_command_argv(const struct compare *c, const char *text, uint64_t buffer, const struct parameters *params,
			    const char *in, struct buf *why)
{
	enum { OWN = 3 };
	size_t n = OWN + (params ? params->n : 0);
	struct placeholder *places = memory_zeroed(n, sizeof(*places));
	struct buf size = {0};
	/* The size is written in bytes, because every program understands that. */
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
