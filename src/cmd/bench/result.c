/* How a result of `sctrace bench` leaves: printed, saved, drawn. */
#include "cmd/bench/bench.h"

#include "base/diag.h"
#include "bench/stop.h"
#include "cmd/put.h"
#include "out/term.h"
#include "run/run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Steal and foreign load while we measured, where they matter. */
static void note_activity(struct bench_session *s)
{
	struct env_activity now;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (s->load > 0.5 * (double)cpus)
		bench_note(s, "the machine was busy when this began: load average %.2f on %ld CPUs", s->load, cpus);
	if (env_activity_read(&now) < 0)
		return;
	double steal = now.steal_s - s->before.steal_s;
	double all = steal + now.busy_s - s->before.busy_s + now.idle_s - s->before.idle_s;
	if (all > 0 && steal / all > 0.01)
		bench_note(s, "the hypervisor took %.1f %% of the CPUs' time for others meanwhile (steal)",
			   100 * steal / all);
}

static void add_notes(struct bench_session *s, const char *prefix, size_t width, struct buf *out)
{
	if (s->notes.len)
		buf_addc(out, '\n');
	put_lines(out, prefix, buf_str(&s->notes), width);
}

static void add_markdown(struct bench_session *s, struct buf *out)
{
	const struct buf *paragraphs[] = {&s->machine, &s->banner, &s->head};
	for (size_t i = 0; i < sizeof(paragraphs) / sizeof(*paragraphs); i++)
		if (paragraphs[i]->len)
			buf_addf(out, "%s%s", out->len ? "\n" : "", buf_str(paragraphs[i]));
	for (size_t i = 0; i < s->parts.n; i++) {
		buf_addc(out, '\n');
		if (s->parts.v[i].title)
			buf_addf(out, "## %s\n\n", s->parts.v[i].title);
		table_render(s->parts.v[i].table, TABLE_MARKDOWN, NULL, out);
	}
	add_notes(s, "- ", 0, out);
}

/* The machine, and in red what makes its figures worthless. */
static void add_machine(struct bench_session *s, const struct table_look *look, struct buf *out)
{
	size_t width = (size_t)look->width;
	put_lines(out, "", buf_str(&s->machine), width);
	if (!s->banner.len)
		return;
	buf_adds(out, look->colour ? "\033[1;31m" : "");
	put_lines(out, "", buf_str(&s->banner), width);
	buf_adds(out, look->colour ? "\033[0m" : "");
}

static void add_text(struct bench_session *s, const struct table_look *look, struct buf *out)
{
	size_t width = (size_t)look->width;
	add_machine(s, look, out);
	put_lines(out, "", buf_str(&s->head), width);
	for (size_t i = 0; i < s->parts.n; i++) {
		buf_addc(out, '\n');
		if (s->parts.v[i].title)
			put_lines(out, "", s->parts.v[i].title, width);
		table_render(s->parts.v[i].table, TABLE_TEXT, look, out);
	}
	add_notes(s, "note: ", width, out);
}

static void render(struct bench_session *s, int fd, struct buf *out)
{
	const char *format = s->o->format ? s->o->format : "text";
	struct table_look look = term_look(fd);
	if (strcmp(format, "json") == 0)
		run_dump(s->run, out);
	else if (strcmp(format, "markdown") == 0)
		add_markdown(s, out);
	else if (strcmp(format, "csv") == 0 && s->parts.n)
		table_render(s->parts.v[0].table, TABLE_CSV, NULL, out);
	else if (strcmp(format, "csv") != 0)
		add_text(s, &look, out);
}

static int print(struct bench_session *s)
{
	struct buf text = {0};
	int status = 0;
	render(s, s->o->out ? -1 : STDOUT_FILENO, &text);
	if (text.failed) {
		diag_error("out of memory");
		status = EXIT_OWN;
	} else {
		status = put_text(s->o->out, &text);
	}
	buf_free(&text);
	return status;
}

static int draw(struct bench_session *s)
{
	if (!s->o->svg)
		return 0;
	if (!s->svg) {
		diag_error("there is nothing to draw in '%s'", s->o->svg);
		return EXIT_OWN;
	}
	struct buf text = {.s = s->svg, .len = strlen(s->svg)};
	return put_text(s->o->svg, &text);
}

static int save(struct bench_session *s)
{
	struct buf why = {0};
	int err = s->o->save ? run_save(s->run, s->o->save, &why) : 0;
	if (err)
		diag_error("%s", buf_str(&why));
	buf_free(&why);
	return err ? EXIT_OWN : 0;
}

/* What the saved run has beside the results. */
static void complete_run(struct bench_session *s)
{
	json_t *notes = json_array();
	for (const char *at = buf_str(&s->notes); *at;) {
		size_t len = strcspn(at, "\n");
		json_array_append_new(notes, json_stringn(at, len));
		at += len + (at[len] == '\n');
	}
	json_object_set_new(s->run, "notes", notes);
	json_object_set_new(s->run, "interrupted", json_boolean(stop_signal()));
}

static void free_session(struct bench_session *s)
{
	for (size_t i = 0; i < s->parts.n; i++) {
		free(s->parts.v[i].title);
		table_free(s->parts.v[i].table);
	}
	vec_free(&s->parts);
	json_decref(s->run);
	buf_free(&s->machine);
	buf_free(&s->banner);
	buf_free(&s->head);
	buf_free(&s->notes);
	free(s->svg);
	if (s->o)
		vec_free(&s->o->cpus);
	free(s->o);
}

int bench_quit(struct bench_session *s, int status)
{
	if (s->progress)
		fputs("\r\033[K", stderr);
	free_session(s);
	return status;
}

int bench_end(struct bench_session *s)
{
	int status = 0;
	if (s->progress)
		fputs("\r\033[K", stderr);
	if (s->err) {
		diag_error("the measurement failed: %s", strerror(-s->err));
		status = EXIT_OWN;
	} else {
		note_activity(s);
		if (stop_signal())
			bench_note(s, s->parts.n ? "interrupted: this is what was measured until then"
						 : "interrupted before anything was measured");
		complete_run(s);
		int outcomes[] = {print(s), save(s), draw(s)};
		for (size_t i = 0; i < sizeof(outcomes) / sizeof(*outcomes); i++)
			status = status ? status : outcomes[i];
	}
	free_session(s);
	int sig = stop_signal();
	if (sig) {
		/* Whoever started us sees that we ended by the signal. */
		stop_release();
		raise(sig);
	}
	return status;
}
