#include "cmd/display.h"

#include "base/diag.h"
#include "base/error.h"
#include "base/outfile.h"
#include "cmd/input.h"
#include "cmd/put.h"
#include "out/chart.h"
#include "out/term.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct table_look display_look(const struct page_options *o)
{
	struct table_look look = term_look(o->output ? -1 : STDOUT_FILENO); /* -1 is not a terminal */
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
		if (outfile_is_same(output->path, input_path(*inputs))) {
			diag_error("%s: %s would overwrite the input '%s'; write to another file", command,
				   output->option, input_path(*inputs));
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
	struct buf beside = {0};
	buf_addf(&beside, "%.*s%s", (int)(first - svg), svg, name);
	bool same = outfile_is_same(buf_str(&beside), path);
	buf_free(&beside);
	return same;
}

/* Checks that no further picture of --svg can overwrite another output, or an input. */
static int check_pictures(const char *command, const struct page_options *o, char *const *inputs)
{
	const char *taken = o->output && is_further_picture(o->svg, o->output) ? o->output : NULL;
	if (o->save && is_further_picture(o->svg, o->save))
		taken = o->save;
	for (; inputs && *inputs && !taken; inputs++)
		if (is_further_picture(o->svg, *inputs))
			taken = *inputs;
	if (taken)
		diag_error("%s: --svg '%s' can also draw the picture '%s', which would overwrite a file of this "
			   "command; choose another name",
			   command, o->svg, taken);
	return taken ? EXIT_USAGE : 0;
}

int display_check(const char *command, const struct page_options *o, char *const *inputs)
{
	const struct output outputs[] = {{"-o", o->output}, {"--save", o->save}, {"--svg", o->svg}};
	int status = o->svg ? check_pictures(command, o, inputs) : 0;
	for (size_t i = 0; i < sizeof(outputs) / sizeof(*outputs) && !status; i++) {
		const char *path = outputs[i].path;
		if (path && i > 0 && strcmp(path, "-") == 0) {
			diag_error("%s: %s needs the name of a file; '-' is not supported here (write ./- for a file "
				   "of this name)",
				   command, outputs[i].option);
			status = EXIT_USAGE;
		}
		status = status ? status : check_overwriting(command, outputs, &outputs[i], inputs);
		int err = !status && path ? outfile_check(path) : 0;
		if (err) {
			diag_error("%s: cannot write '%s': %s", command, path, error_text(-err));
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
	struct buf told = {0};
	size_t drawn = 0;
	int status = 0;
	for (size_t i = 0; i < p->figures.n && !status; i++) {
		struct buf picture = {0};
		struct buf name = {0};
		int rc = p->figures.v[i].draw(p, CHART_WIDE, &picture);
		part_path(&name, path, drawn ? p->figures.v[i].name : NULL);
		if (rc == 0)
			status = put_text(buf_str(&name), &picture);
		if (rc == 0)
			buf_addf(&told, "%s%s", drawn++ ? ", " : "", buf_str(&name));
		buf_free(&picture);
		buf_free(&name);
	}
	if (!drawn && !status) {
		diag_error("%s: cannot draw '%s': the result has no picture", command, path);
		status = EXIT_OWN;
	} else if (drawn > 1 && !status) {
		diag_note("drawn: %s", buf_str(&told));
	}
	buf_free(&told);
	return status;
}

int display_page(struct page *p, const char *command, const struct page_options *o)
{
	const char *format = o->format ? o->format : "text";
	struct table_look look = display_look(o);
	struct buf text = {0};
	page_render(p, format, &look, &text);
	int status = put_text(o->output, &text);
	int drawn = o->svg ? draw(p, command, o->svg) : 0;
	/* CSV must contain only data for programs, so the warnings are printed to standard error. */
	buf_clear(&text);
	if (strcmp(format, "csv") == 0)
		page_say_warnings(p, "sctrace: warning: ", &text);
	fputs(buf_str(&text), stderr);
	buf_free(&text);
	return status ? status : drawn;
}

static int display_document(const char *text, const char *command, const struct page_options *o)
{
	struct run r;
	struct buf why = {0};
	int status = EXIT_OWN;
	int rc = run_parse(&r, text, "the run", &why);
	struct page_run beside = {&r, "run", "run"};
	struct page p = {0};
	if (rc == 0) {
		page_make(&p, &beside, 1);
		status = display_page(&p, command, o);
	} else
		diag_error("%s: %s", command, buf_str(&why));
	page_free(&p);
	run_free(&r);
	buf_free(&why);
	return status;
}

int display_run(const struct run *r, const char *command, const struct page_options *o)
{
	struct buf text = {0};
	struct buf why = {0};
	int status = 0;
	if (o->save && run_save(r, o->save, &why) < 0) {
		diag_error("%s: %s", command, buf_str(&why));
		status = EXIT_OWN;
	}
	run_dump(r, &text);
	if (o->format && strcmp(o->format, "json") == 0) {
		int put = put_text(o->output, &text);
		struct page_options pictures = {.format = "text", .output = "/dev/null", .svg = o->svg};
		int drawn = o->svg ? display_document(buf_str(&text), command, &pictures) : 0;
		status = status ? status : put ? put : drawn;
	} else {
		int shown = display_document(buf_str(&text), command, o);
		status = status ? status : shown;
	}
	buf_free(&text);
	buf_free(&why);
	return status;
}

void display_run_into(const struct run *r, const char *format, const struct table_look *look, struct buf *out)
{
	struct run again = {0};
	struct buf text = {0};
	struct buf why = {0};
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
	buf_free(&text);
	buf_free(&why);
}
