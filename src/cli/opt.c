/* SPDX-License-Identifier: MIT */
#include "cli/opt.h"

#include "base/buf.h"
#include "base/size.h"
#include "base/words.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

const struct opt opt_common[] = {
	{.letter = 'h', .name = "help", .help = "print this help"},
	{.letter = 'V', .name = "version", .help = "print the version"},
	{0},
};

/* The state of parsing argv. */
struct parse {
	const struct opt_command *command;
	void *settings;
	int argc;
	char **argv;
	int next; /* index of the first word that has not been parsed yet */
	struct buf *why;
};

static const struct opt *find_letter(const struct opt *table, char letter)
{
	for (const struct opt *o = table; !opt_is_end(o); o++)
		if (o->letter == letter)
			return o;
	return NULL;
}

/*
 * Returns a row whose long name begins with the `len` bytes at `name`, and adds the number of such rows to *matches. If
 * the name of a row is equal to `name`, returns that row, and *matches is 1.
 */
static const struct opt *find_name(const struct opt *table, const char *name, size_t len, unsigned *matches)
{
	const struct opt *found = NULL;
	for (const struct opt *o = table; !opt_is_end(o); o++) {
		if (!o->name || strncmp(o->name, name, len) != 0)
			continue;
		if (!o->name[len]) {
			*matches = 1;
			return o;
		}
		++*matches;
		found = o;
	}
	return found;
}

/* Calls the parser of row `o`. If it rejects the value, adds the option as typed, and the reason, to p->why. */
static enum opt_outcome apply(struct parse *p, const struct opt *o, const char *typed, const char *value)
{
	if (o == &opt_common[0])
		return OPT_HELP;
	if (o == &opt_common[1])
		return OPT_VERSION;
	auto_buf why = {0};
	int r = o->parse(&(struct opt_use){p->settings, o, value, &why});
	if (r < 0)
		buf_addf(p->why, "option %s: %s", typed, why.len ? buf_str(&why) : strerror(-r));
	return r < 0 ? OPT_ERROR : OPT_OK;
}

/* Sets *value to the next word if the option needs a value and has none yet. Returns false if there is no such word. */
static bool take_value(struct parse *p, const struct opt *o, const char *typed, char before, const char **value)
{
	if (*value || !o->arg || o->arg[0] == '[')
		return true;
	if (p->next >= p->argc) {
		buf_addf(p->why, "option %s needs a value: %s%c%s", typed, typed, before, o->arg);
		return false;
	}
	*value = p->argv[p->next++];
	return true;
}

/*
 * If a word such as "-errors" is the name of a long option with one dash, says so at the end of the first line of the
 * message; a message about a value can have further lines.
 */
static void suggest_long(const struct parse *p, const char *word)
{
	size_t len = strcspn(word + 1, "=");
	for (const struct opt *o = p->command->table; len > 1 && !opt_is_end(o); o++) {
		if (!o->name || strlen(o->name) != len || strncmp(o->name, word + 1, len) != 0)
			continue;
		auto_buf rest = {0};
		size_t line = strcspn(buf_str(p->why), "\n");
		buf_adds(&rest, buf_str(p->why) + line);
		buf_truncate(p->why, line);
		buf_addf(p->why, "; did you mean --%s?%s", o->name, buf_str(&rest));
		return;
	}
}

/* Parses one word that begins with option letters, such as "-tt", "-s32", "-T=ns" or "-fo FILE". */
static enum opt_outcome parse_letters(struct parse *p, const char *word)
{
	for (const char *c = word + 1; *c; c++) {
		char typed[3] = {'-', *c, '\0'};
		const struct opt *o = find_letter(p->command->table, *c);
		if (!o)
			o = find_letter(opt_common, *c);
		if (!o) {
			buf_addf(p->why, "unknown option '-%c'%s%s", *c, c[1] || c > word + 1 ? " in " : "",
				 c[1] || c > word + 1 ? word : "");
			return OPT_ERROR;
		}
		bool may = o->arg && o->arg[0] == '[';
		const char *value = !o->arg || !c[1] || (may && c[1] != '=') ? NULL : c + 1 + may;
		if (!take_value(p, o, typed, ' ', &value))
			return OPT_ERROR;
		enum opt_outcome outcome = apply(p, o, typed, value);
		if (value || (o->arg && !may) || outcome != OPT_OK)
			return outcome;
	}
	return OPT_OK;
}

static enum opt_outcome unknown_name(struct parse *p, const char *name, size_t len)
{
	auto_buf word = {0};
	buf_add(&word, name, len);
	struct near near = {.word = buf_str(&word)};
	for (const struct opt *o = p->command->table; !opt_is_end(o); o++)
		if (o->name)
			near_offer(&near, o->name);
	for (const struct opt *o = opt_common; !opt_is_end(o); o++)
		near_offer(&near, o->name);
	buf_addf(p->why, "unknown option '--%s'", buf_str(&word));
	near_say(&near, "--", p->why);
	return OPT_ERROR;
}

static enum opt_outcome ambiguous_name(struct parse *p, const char *name, size_t len)
{
	buf_addf(p->why, "option '--%.*s' could be", (int)len, name);
	const char *between = " ";
	for (const struct opt *o = p->command->table; !opt_is_end(o); o++) {
		if (!o->name || strncmp(o->name, name, len) != 0)
			continue;
		buf_addf(p->why, "%s--%s", between, o->name);
		between = ", ";
	}
	return OPT_ERROR;
}

static enum opt_outcome parse_name(struct parse *p, const char *word)
{
	const char *name = word + 2;
	size_t len = strcspn(name, "=");
	const char *value = name[len] ? name + len + 1 : NULL;
	unsigned matches = 0;
	const struct opt *o = find_name(p->command->table, name, len, &matches);
	if (!len)
		return unknown_name(p, name, len);
	if (matches > 1)
		return ambiguous_name(p, name, len);
	if (!o)
		o = find_name(opt_common, name, len, &matches);
	if (!o)
		return unknown_name(p, name, len);
	char typed[64] = "--";
	strncat(typed, o->name, sizeof(typed) - 3);
	if (!o->arg && value) {
		buf_addf(p->why, "option %s takes no value", typed);
		return OPT_ERROR;
	}
	if (!take_value(p, o, typed, '=', &value))
		return OPT_ERROR;
	return apply(p, o, typed, value);
}

/* Moves the words argv[from] to argv[to - 1] in front of the operands, which are argv[operands] to argv[from - 1]. */
static void move_words(char **argv, int operands, int from, int to)
{
	for (; from < to && operands < from; operands++, from++) {
		char *word = argv[from];
		memmove(argv + operands + 1, argv + operands, (size_t)(from - operands) * sizeof(*argv));
		argv[operands] = word;
	}
}

enum opt_outcome opt_parse(const struct opt_command *c, void *settings, int argc, char **argv, int *first,
			   struct buf *why)
{
	struct parse p = {.command = c, .settings = settings, .argc = argc, .argv = argv, .next = 1, .why = why};
	int operands = 1; /* index of the first operand found so far; the operands end before the current word */
	while (p.next < argc) {
		int at = p.next;
		char *word = argv[p.next++];
		if (strcmp(word, "--") == 0) {
			move_words(argv, operands, at, at + 1);
			operands++;
			break;
		}
		if (word[0] != '-' || !word[1]) {
			if (!c->stop_at_operand)
				continue;
			break;
		}
		enum opt_outcome outcome = word[1] == '-' ? parse_name(&p, word) : parse_letters(&p, word);
		if (outcome == OPT_ERROR && word[1] != '-')
			suggest_long(&p, word);
		if (outcome != OPT_OK)
			return outcome;
		move_words(argv, operands, at, p.next);
		operands += p.next - at;
	}
	*first = operands;
	return OPT_OK;
}

/* Prints --help: each row of the table, wrapped and aligned. */
#define BOLD       "\033[1m"
#define PLAIN      "\033[0m"
#define COLUMN_MAX 30 /* if the spellings of an option take more columns, its help text begins on the next line */

static bool is_heading(const struct opt *o)
{
	return !o->letter && !o->name;
}

/* Appends the spellings of an option, such as "-s, --string-limit=N", "    --slower=DURATION" or "-e EXPR". */
static void spelling(const struct opt *o, struct buf *out)
{
	if (o->letter)
		buf_addf(out, "-%c", o->letter);
	else
		buf_adds(out, "   ");
	if (o->name)
		buf_addf(out, "%s--%s", o->letter ? ", " : " ", o->name);
	if (!o->arg)
		return;
	if (o->arg[0] == '[')
		buf_addf(out, "[=%s", o->arg + 1);
	else
		buf_addf(out, "%c%s", o->name ? '=' : ' ', o->arg);
}

static int help_column(const struct opt *table)
{
	int widest = 0;
	for (const struct opt *o = table; !opt_is_end(o); o++) {
		auto_buf s = {0};
		if (!is_heading(o))
			spelling(o, &s);
		if ((int)s.len > widest && s.len <= COLUMN_MAX - 4)
			widest = (int)s.len;
	}
	return widest + 4 < 16 ? 16 : widest + 4;
}

static void help_row(const struct opt *o, struct buf *out, int column, int width)
{
	auto_buf s = {0};
	buf_adds(&s, "  ");
	spelling(o, &s);
	if ((int)s.len + 2 <= column) {
		buf_fill(&s, ' ', (size_t)column - s.len);
	} else {
		buf_addc(&s, '\n');
		buf_fill(&s, ' ', (size_t)column);
	}
	buf_adds(out, buf_str(&s));
	buf_add_wrapped(out, o->help ? o->help : "", column, column, width);
}

static void heading(struct buf *out, const char *text, bool colour)
{
	buf_addf(out, "\n%s%s%s\n", colour ? BOLD : "", text, colour ? PLAIN : "");
}

void opt_help(const struct opt_command *c, struct buf *out, int width, bool colour)
{
	if (width <= 0 || width > 110)
		width = width <= 0 ? 80 : 110;
	if (width < 50)
		width = 50;
	for (size_t i = 0; c->usage[i]; i++)
		buf_addf(out, "%s%s %s\n", i ? "       " : "Usage: ", c->name, c->usage[i]);
	buf_addc(out, '\n');
	buf_add_wrapped(out, c->about, 0, 0, width);
	if (c->examples)
		heading(out, "Examples:", colour);
	for (size_t i = 0; c->examples && c->examples[i]; i += 2) {
		buf_addf(out, "  %-32s", c->examples[i]);
		buf_add_wrapped(out, c->examples[i + 1], 34, 34, width);
	}
	int column = help_column(c->table);
	if (!is_heading(c->table))
		heading(out, "Options:", colour);
	for (const struct opt *o = c->table; !opt_is_end(o); o++) {
		if (is_heading(o))
			heading(out, o->help, colour);
		else if (o->help)
			help_row(o, out, column, width);
	}
	buf_addc(out, '\n');
	for (const struct opt *o = opt_common; !opt_is_end(o); o++)
		help_row(o, out, column, width);
	if (c->epilog) {
		buf_addc(out, '\n');
		buf_add_wrapped(out, c->epilog, 0, 0, width);
	}
}

/* The ready-made value parsers. */
static void *target(const struct opt_use *u)
{
	return (char *)u->settings + u->row->offset;
}

int opt_flag(const struct opt_use *u)
{
	*(bool *)target(u) = true;
	return 0;
}

int opt_count(const struct opt_use *u)
{
	int *n = target(u);
	if (*n < 100)
		++*n;
	return 0;
}

int opt_string(const struct opt_use *u)
{
	*(const char **)target(u) = u->value;
	return 0;
}

int opt_svg(const struct opt_use *u)
{
	static const char *const others[] = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf", ".eps", ".ps"};
	size_t n = strlen(u->value);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		size_t len = strlen(others[i]);
		if (n <= len || strcasecmp(u->value + n - len, others[i]) != 0)
			continue;
		return opt_refuse(u,
				  "pictures are written as SVG only, so '%s' must end in .svg; write %.*s.svg "
				  "(rsvg-convert converts it to other formats)",
				  u->value, (int)(n - len), u->value);
	}
	return opt_string(u);
}

int opt_int(const struct opt_use *u)
{
	int64_t value;
	int r = number_parse(u->value, u->row->min, u->row->max, &value);
	if (r == -EINVAL)
		return opt_refuse(u, "'%s' is not a whole number", u->value);
	if (r < 0)
		return opt_refuse(u, "%s is out of range; write a number from %ld to %ld", u->value, u->row->min,
				  u->row->max);
	*(int *)target(u) = (int)value;
	return 0;
}

int opt_size(const struct opt_use *u)
{
	int r = size_parse(u->value, target(u));
	if (r == -EINVAL)
		return opt_refuse(u, "'%s' is not a size; write for example 4096, 4K or 1M", u->value);
	return r < 0 ? opt_refuse(u, "%s is too large", u->value) : 0;
}

int opt_duration(const struct opt_use *u)
{
	int r = duration_parse(u->value, target(u));
	if (r == -EINVAL)
		return opt_refuse(u, "'%s' is not a duration; write for example 250ms, 1.5s or 10us", u->value);
	if (r < 0)
		return opt_refuse(u, "%s is too long", u->value);
	if (*(uint64_t *)target(u) >= (uint64_t)u->row->min)
		return 0;
	buf_addf(u->why, "%s is too short; the shortest %s is ", u->value, u->row->name);
	duration_human(u->why, (double)u->row->min);
	if (!u->value[strspn(u->value, "0123456789.")])
		buf_adds(u->why, "; a number without a unit means microseconds, so write for example 2s or 250ms");
	return -EINVAL;
}

/* Copies the next of the space-separated `words` into `word`. Returns false if no word is left. */
static bool next_word(const char **words, char *word, size_t size)
{
	const char *w = *words + strspn(*words, " ");
	size_t len = strcspn(w, " ");
	if (!len || len >= size)
		return false;
	memcpy(word, w, len);
	word[len] = '\0';
	*words = w + len;
	return true;
}

int opt_refuse(const struct opt_use *u, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	buf_addv(u->why, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

int opt_refuse_word(const struct opt_use *u)
{
	char words[16][32];
	const char *at = u->row->words;
	struct near near = {.word = u->value};
	buf_addf(u->why, "'%s' is not one of", u->value);
	for (size_t i = 0; i < 16 && next_word(&at, words[i], sizeof(words[i])); i++) {
		buf_addf(u->why, "%s %s", i ? "," : "", words[i]);
		near_offer(&near, words[i]);
	}
	near_say(&near, "", u->why);
	return -EINVAL;
}

int opt_word(const struct opt_use *u)
{
	char word[32];
	bool known = !u->value; /* the value of "[WHEN]" was omitted */
	for (const char *at = u->row->words; !known && next_word(&at, word, sizeof(word));)
		known = strcmp(word, u->value) == 0;
	if (known)
		*(const char **)target(u) = u->value ? u->value : "";
	return known ? 0 : opt_refuse_word(u);
}
