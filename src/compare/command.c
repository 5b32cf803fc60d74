#include "compare/compare.h"

#include "base/buf.h"
#include "base/memory.h"
#include "base/words.h"

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
	struct buf size = {0};
	/* The size is written in bytes, because every program understands that. */
	buf_addf(&size, "%llu", (unsigned long long)buffer);
	texts_add(&places, "in", c->work.in);
	texts_add(&places, "out", c->work.out);
	texts_add(&places, "buffer", buf_str(&size));
	/* A parameter may be several words of the command, or none, as for hyperfine(1). */
	char *command = fill(text, params, false);
	char **argv = command_words(c, command, &places, why);
	free(command);
	texts_clear(&places);
	buf_free(&size);
	return argv;
}
