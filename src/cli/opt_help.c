/* Prints --help: each row of the table, wrapped and aligned. */
#include "cli/opt.h"

#include "base/buf.h"

#include <string.h>

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
		struct buf s = {0};
		if (!is_heading(o))
			spelling(o, &s);
		if ((int)s.len > widest && s.len <= COLUMN_MAX - 4)
			widest = (int)s.len;
		buf_free(&s);
	}
	return widest + 4 < 16 ? 16 : widest + 4;
}

static void help_row(const struct opt *o, struct buf *out, int column, int width)
{
	struct buf s = {0};
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
	buf_free(&s);
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
	help_row(&(struct opt){.letter = 'h', .name = "help", .help = "print this help"}, out, column, width);
	help_row(&(struct opt){.letter = 'V', .name = "version", .help = "print the version"}, out, column, width);
	if (c->epilog) {
		buf_addc(out, '\n');
		buf_add_wrapped(out, c->epilog, 0, 0, width);
	}
}
