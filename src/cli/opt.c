#include "cli/opt.h"

#include "base/buf.h"
#include "base/near.h"

#include <string.h>

static const struct opt common[] = {
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

/*
 * Calls the parser of row `o`. If the parser rejects the value, adds to p->why the option as the user typed it, and the
 * reason.
 */
static enum opt_outcome apply(struct parse *p, const struct opt *o, const char *typed, const char *value)
{
	if (o == &common[0])
		return OPT_HELP;
	if (o == &common[1])
		return OPT_VERSION;
	struct buf why = {0};
	int r = o->parse(p->settings, o, value, &why);
	if (r < 0)
		buf_addf(p->why, "option %s: %s", typed, why.len ? buf_str(&why) : strerror(-r));
	buf_free(&why);
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
		struct buf rest = {0};
		size_t line = strcspn(buf_str(p->why), "\n");
		buf_adds(&rest, buf_str(p->why) + line);
		buf_truncate(p->why, line);
		buf_addf(p->why, "; did you mean --%s?%s", o->name, buf_str(&rest));
		buf_free(&rest);
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
			o = find_letter(common, *c);
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
	struct buf word = {0};
	struct near near;
	buf_add(&word, name, len);
	near_init(&near, buf_str(&word));
	for (const struct opt *o = p->command->table; !opt_is_end(o); o++)
		if (o->name)
			near_offer(&near, o->name);
	near_offer(&near, "help");
	near_offer(&near, "version");
	buf_addf(p->why, "unknown option '--%s'", buf_str(&word));
	near_say(&near, "--", p->why);
	buf_free(&word);
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
		o = find_name(common, name, len, &matches);
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
