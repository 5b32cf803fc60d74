/* SPDX-License-Identifier: MIT */
#include "cmd/display.h"

#include "base/buf.h"
#include "base/diag.h"
#include "base/escape.h"
#include "base/outfile.h"
#include "cli/opt.h"
#include "config.h"
#include "out/chart.h"
#include "out/width.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct table_look display_look(const struct page_options *o)
{
	struct table_look look = width_look(o->output ? -1 : STDOUT_FILENO); /* -1 is not a terminal */
	if (o->colour && strcmp(o->colour, "auto") != 0)
		look.colour = strcmp(o->colour, "always") == 0;
	return look;
}

bool display_is_data(const struct page_options *o)
{
	return !o->output && o->format && strcmp(o->format, "text") != 0;
}

/* An option for an output, and its file; NULL: none. */
struct output {
	const char *option, *path;
};

/* Checks that the output would not overwrite one of the `inputs`, or one of the outputs from `first` to the output. */
static int check_overwriting(const char *command, const struct output *first, const struct output *output,
			     char *const *inputs)
{
	for (; inputs && *inputs; inputs++)
		if (outfile_is_same(output->path, display_input_path(*inputs))) {
			diag_error("%s: %s would overwrite the input '%s'; write to another file", command,
				   output->option, display_input_path(*inputs));
			return EXIT_USAGE;
		}
	for (; first < output; first++)
		if (outfile_is_same(output->path, first->path)) {
			diag_error("%s: %s and %s name the same file; write to different files", command, first->option,
				   output->option);
			return EXIT_USAGE;
		}
	return 0;
}

/* Returns true if `path` could be the name of a further picture (part_path()) of --svg=`svg`: "x-boxes.svg" of "x.svg". */
static bool is_further_picture(const char *svg, const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	const char *first = strrchr(svg, '/') ? strrchr(svg, '/') + 1 : svg;
	size_t stem = strlen(first) - (strlen(first) > 4 ? 4 : 0);
	size_t len = strlen(name);
	if (strncmp(name, first, stem) != 0 || name[stem] != '-' || len < 4 || strcmp(name + len - 4, ".svg") != 0)
		return false;
	auto_buf beside = {0};
	buf_addf(&beside, "%.*s%s", (int)(first - svg), svg, name);
	return outfile_is_same(buf_str(&beside), path);
}

/* The options of the exports. Each ends with the name of its format. */
static const char *const export_options[EXPORTS] = {
	[EXPORT_CSV] = "--export-csv",
	[EXPORT_MARKDOWN] = "--export-markdown",
	[EXPORT_HTML] = "--export-html",
	[EXPORT_JSON] = "--export-json",
};

/* The outputs of a command that are files of their own: -o, --save, --svg, and the exports. */
enum { OUTPUT_FIRST, OUTPUT_SAVE, OUTPUT_SVG, OUTPUT_EXPORTS, OUTPUTS = OUTPUT_EXPORTS + EXPORTS };

static void list_outputs(const struct page_options *o, struct output *outputs)
{
	outputs[OUTPUT_FIRST] = (struct output){"-o", o->output};
	outputs[OUTPUT_SAVE] = (struct output){"--save", o->save};
	outputs[OUTPUT_SVG] = (struct output){"--svg", o->svg};
	for (size_t i = 0; i < EXPORTS; i++)
		outputs[OUTPUT_EXPORTS + i] = (struct output){export_options[i], o->exports[i]};
}

/* Checks that no further picture of --svg can overwrite another output, or an input. */
static int check_pictures(const char *command, const struct output *outputs, char *const *inputs)
{
	const char *svg = outputs[OUTPUT_SVG].path;
	const char *taken = NULL;
	for (size_t i = 0; i < OUTPUTS; i++)
		if (i != OUTPUT_SVG && outputs[i].path && is_further_picture(svg, outputs[i].path))
			taken = outputs[i].path;
	for (; inputs && *inputs && !taken; inputs++)
		if (is_further_picture(svg, *inputs))
			taken = *inputs;
	if (taken)
		diag_error("%s: --svg '%s' can also draw the picture '%s', which would overwrite a file of this "
			   "command; choose another name",
			   command, svg, taken);
	return taken ? EXIT_USAGE : 0;
}

int display_check(const char *command, const struct page_options *o, char *const *inputs)
{
	struct output outputs[OUTPUTS];
	list_outputs(o, outputs);
	int status = o->svg ? check_pictures(command, outputs, inputs) : 0;
	for (size_t i = 0; i < OUTPUTS && !status; i++) {
		const char *path = outputs[i].path;
		if (path && i > 0 && strcmp(path, "-") == 0) {
			diag_error("%s: %s needs the name of a file; '-' is not supported here (write ./- for a file "
				   "of this name)",
				   command, outputs[i].option);
			return EXIT_USAGE;
		}
		status = path ? check_overwriting(command, outputs, &outputs[i], inputs) : 0;
		int err = !status && path ? outfile_check(path) : 0;
		if (err) {
			diag_error("%s: cannot write '%s': %s", command, path, diag_error_text(-err));
			status = EXIT_OWN;
		}
	}
	return status;
}

/* Appends the path of a picture: "x-boxes.svg" if `path` is "x.svg" and `part` "boxes"; `path` if `part` is NULL. */
static void part_path(struct buf *out, const char *path, const char *part)
{
	size_t n = strlen(path);
	bool suffix = n > 4 && strcmp(path + n - 4, ".svg") == 0;
	buf_add(out, path, suffix && part ? n - 4 : n);
	if (part)
		buf_addf(out, "-%s%s", part, suffix ? ".svg" : "");
}

static int draw(struct page *p, const char *command, const char *path)
{
	auto_buf told = {0};
	size_t drawn = 0;
	int status = 0;
	for (size_t i = 0; i < p->figures.n && !status; i++) {
		auto_buf picture = {0};
		auto_buf name = {0};
		int rc = p->figures.v[i].draw(p, CHART_WIDE, &picture);
		part_path(&name, path, drawn ? p->figures.v[i].name : NULL);
		if (rc == 0)
			status = display_text(buf_str(&name), &picture);
		if (rc == 0)
			buf_addf(&told, "%s%s", drawn++ ? ", " : "", buf_str(&name));
	}
	if (!drawn && !status) {
		diag_error("%s: cannot draw '%s': the result has no picture", command, path);
		status = EXIT_OWN;
	} else if (drawn > 1 && !status) {
		diag_note("drawn: %s", buf_str(&told));
	}
	return status;
}

/* Writes all exports. `json` is the text of --export-json; NULL: the tables of the page as JSON. */
static int export(struct page *p, const struct page_options *o, const struct buf *json)
{
	static const struct table_look plain = {0};
	int status = 0;
	for (size_t i = 0; i < EXPORTS; i++) {
		auto_buf text = {0};
		if (!o->exports[i])
			continue;
		if (i == EXPORT_JSON && json)
			buf_add(&text, json->s, json->len);
		else
			page_render(p, export_options[i] + strlen("--export-"), &plain, &text);
		int put = display_text(o->exports[i], &text);
		status = status ? status : put;
	}
	return status;
}

/* `json` is the text of the format json; NULL: the tables of the page as JSON. */
static int display(struct page *p, const char *command, const struct page_options *o, const struct buf *json)
{
	const char *format = o->format ? o->format : "text";
	struct table_look look = display_look(o);
	auto_buf text = {0};
	if (o->time_unit)
		page_use_unit(p, o->time_unit);
	if (json && strcmp(format, "json") == 0)
		buf_add(&text, json->s, json->len);
	else
		page_render(p, format, &look, &text);
	int status = display_text(o->output, &text);
	int exported = export(p, o, json);
	int drawn = o->svg ? draw(p, command, o->svg) : 0;
	/* CSV must contain only data for programs, so the warnings are printed to standard error. */
	buf_clear(&text);
	if (strcmp(format, "csv") == 0)
		page_say_warnings(p, "sctrace: warning: ", &text);
	fputs(buf_str(&text), stderr);
	return status ? status : exported ? exported : drawn;
}

int display_page(struct page *p, const char *command, const struct page_options *o)
{
	return display(p, command, o, NULL);
}

int display_run(const struct run *r, const char *command, const struct page_options *o)
{
	struct run again = {0};
	auto_buf text = {0};
	auto_buf why = {0};
	struct page p = {0};
	struct page_run beside = {&again, "run", "run"};
	int status = 0;
	if (o->save && run_save(r, o->save, &why) < 0) {
		diag_error("%s: %s", command, buf_str(&why));
		status = EXIT_OWN;
	}
	run_dump(r, &text);
	if (run_parse(&again, buf_str(&text), "the run", &why) == 0) {
		page_make(&p, &beside, 1);
		int shown = display(&p, command, o, &text);
		status = status ? status : shown;
	} else {
		diag_error("%s: %s", command, buf_str(&why));
		status = EXIT_OWN;
	}
	page_free(&p);
	run_free(&again);
	return status;
}

void display_run_into(const struct run *r, const char *format, const struct table_look *look, struct buf *out)
{
	struct run again = {0};
	auto_buf text = {0};
	auto_buf why = {0};
	struct page p = {0};
	struct page_run beside = {&again, "run", "run"};
	run_dump(r, &text);
	if (strcmp(format, "json") == 0)
		buf_add(out, text.s, text.len);
	else if (run_parse(&again, buf_str(&text), "the run", &why) == 0) {
		page_make(&p, &beside, 1);
		page_render(&p, format, look, out);
	}
	page_free(&p);
	run_free(&again);
}

static bool is_standard_input(const char *path)
{
	return strcmp(path, "-") == 0;
}

const char *display_input_refused(char *const *paths)
{
	size_t n = 0;
	for (; *paths; paths++)
		n += is_standard_input(*paths);
	if (n > 1)
		return "'-' was given more than once, but standard input can be read only once; name a file";
	if (n && isatty(STDIN_FILENO))
		return "'-' stands for standard input, which is a terminal; redirect a file or a pipe to it";
	return NULL;
}

const char *display_input_path(const char *path)
{
	return is_standard_input(path) ? "/dev/stdin" : path;
}

int display_text(const char *path, const struct buf *text)
{
	auto_buf why = {0};
	int err = outfile_put(path, text, &why);
	if (err)
		diag_error("%s", buf_str(&why));
	return err ? EXIT_OWN : 0;
}

void display_errors(const char *prefix, const struct buf *text)
{
	for (const char *p = buf_str(text); *p;) {
		size_t len = strcspn(p, "\n");
		diag_error("%s%.*s", prefix, (int)len, p);
		p += len + (p[len] == '\n');
	}
}

void display_usage_error(const char *prefix, const char *text)
{
	size_t len = strcspn(text, "\n");
	diag_error("%s%.*s", prefix, (int)len, text);
	auto_buf rest = {0};
	for (const char *p = text + len; *p;) {
		size_t n = strcspn(++p, "\n");
		escape_line(&rest, p, n);
		buf_addc(&rest, '\n');
		p += n;
	}
	if (rest.len && write(STDERR_FILENO, rest.s, rest.len) < 0)
		(void)0; /* an error cannot be reported anywhere */
}

static int put_help(const struct opt_command *c)
{
	auto_buf help = {0};
	struct table_look look = width_look(STDOUT_FILENO);
	opt_help(c, &help, look.width, look.colour);
	return display_text(NULL, &help);
}

static int put_version(void)
{
	static const char line[] = "sctrace " SCTRACE_VERSION "\n";
	return display_text(NULL, &(struct buf){.s = (char *)line, .len = sizeof(line) - 1});
}

int display_outcome(const struct opt_command *c, enum opt_outcome outcome, const char *prefix, const struct buf *why)
{
	if (outcome == OPT_HELP)
		return put_help(c);
	if (outcome == OPT_VERSION)
		return put_version();
	if (outcome == OPT_OK)
		return 0;
	auto_buf text = {0};
	buf_adds(&text, buf_str(why));
	if (!strchr(buf_str(why), '\n'))
		buf_addf(&text, " (see %s --help)", c->name);
	display_usage_error(prefix, buf_str(&text));
	return EXIT_USAGE;
}
