/* SPDX-License-Identifier: MIT */
/*
 * Writes the notes on several runs: which runs they are, where their machines and methods differ, and the notes of each
 * run.
 */
#include "base/escape.h"
#include "out/svg.h"
#include "present/page.h"

#include <stdlib.h>
#include <string.h>

/*
 * Returns the `i`-th of the lines that the command printed below its tables: its notes (left out for compare), then its
 * warnings. Returns NULL if there are fewer lines. *advice is set to the second part of a warning, or to NULL.
 */
static const char *told(const struct run *r, size_t i, const char **advice)
{
	*advice = NULL;
	/*
	 * The notes of compare are left out: they only say how compare obtained its figures, and note_method() compares
	 * the methods.
	 */
	size_t notes = r->bits == RUN_COMPARE ? 0 : r->notes.n;
	if (i < notes)
		return r->notes.v[i];
	if (i - notes >= r->warnings.n)
		return NULL;
	*advice = r->warnings.v[i - notes].advice;
	return r->warnings.v[i - notes].what ? r->warnings.v[i - notes].what : "";
}

static bool tells(const struct run *r, const char *text)
{
	const char *advice;
	const char *other;
	for (size_t i = 0; (other = told(r, i, &advice)); i++)
		if (strcmp(other, text) == 0)
			return true;
	return false;
}

/* Appends the notes and warnings of run `k` that no earlier run has, each after the labels of all runs that have it. */
static void repeat_notes(const struct page *p, size_t k, struct buf *out)
{
	const char *advice;
	const char *text;
	for (size_t i = 0; (text = told(p->runs[k].run, i, &advice)); i++) {
		bool before = !*text;
		for (size_t j = 0; j < k && !before; j++)
			before = tells(p->runs[j].run, text);
		if (before)
			continue;
		buf_adds(out, p->runs[k].label);
		for (size_t j = k + 1; j < p->n; j++)
			if (tells(p->runs[j].run, text))
				buf_addf(out, ", %s", p->runs[j].label);
		buf_addf(out, ": %s%s%s\n", text, advice ? "; " : "", advice ? advice : "");
	}
}

/*
 * Appends a note about other load on the machine, the most frequent reason why runs differ. Runs of bench and compare
 * already contain such a note.
 */
static void note_load(const struct page_run *run, struct buf *out)
{
	const struct env *e = &run->run->env;
	if (run->run->notes.known || run->run->warnings.n || !(e->load.one > 0.5 * e->cpu.online))
		return;
	buf_addf(out, "%s was measured on a busy machine: load average %.2f on %.0f CPU%s.\n", run->label, e->load.one,
		 e->cpu.online, e->cpu.online == 1 ? "" : "s");
}

/*
 * Appends a note for each setting of the measurement, such as the policy or the CPUs, that differs between run `k` and
 * the first run. Such runs can be compared nevertheless.
 */
static void note_method(const struct page *p, size_t k, struct buf *out)
{
	/* These options only change how a run is displayed. */
	static const char *const display[] = {"explain", "usage", "columns", "reference"};
	const struct run_method *a = &p->runs[0].run->method;
	const struct run_method *b = &p->runs[k].run->method;
	for (size_t i = 0; i < run_method_fields.n; i++) {
		const struct field *f = &run_method_fields.v[i];
		bool telling = f->type == FIELD_STRING || f->type == FIELD_TRUTH;
		for (size_t d = 0; d < sizeof(display) / sizeof(*display); d++)
			telling &= strcmp(f->key, display[d]) != 0;
		if (!telling || field_is_unknown(f, a) || field_is_unknown(f, b) || field_equal(f, a, b))
			continue;
		const char *quote = f->type == FIELD_STRING ? "\"" : "";
		buf_addf(out, "The runs were measured differently: %s is %s", f->key, quote);
		field_say(f, a, out);
		buf_addf(out, "%s in %s and %s", quote, p->runs[0].label, quote);
		field_say(f, b, out);
		buf_addf(out, "%s in %s.\n", quote, p->runs[k].label);
	}
}

static void note_machines(const struct page *p, size_t k, struct buf *notes, struct buf *differences)
{
	const struct env *a = &p->runs[0].run->env;
	const struct env *b = &p->runs[k].run->env;
	auto_buf lines = {0};
	if (!a->known || !b->known)
		buf_addf(notes, "The machine of %s or of %s is not known, so the machines are not compared.\n",
			 p->runs[0].label, p->runs[k].label);
	else if (env_differences(a, b, &lines) > 0) {
		if (p->n > 2)
			buf_addf(differences, "%s | %s:\n", p->runs[0].label, p->runs[k].label);
		buf_add(differences, lines.s, lines.len);
	}
}

/* Runs with different selections are not compared, so those of the first run are those of all. */
static void note_selection(const struct page *p, struct buf *out)
{
	const struct strings *selection = &p->runs[0].run->selection;
	for (size_t i = 0; i < selection->n; i++)
		buf_addf(out, "%s %s", i ? "" : "Only these calls were counted:", selection->v[i]);
	buf_adds(out, selection->n ? ".\n" : "");
}

/* Moves the text into a section, unless it is empty. */
static void add_found(struct page *p, enum section_kind kind, const char *heading, struct buf *text)
{
	if (text->len)
		buf_add(&page_section(p, kind, heading, "")->text, text->s, text->len);
	buf_free(text);
}

static const char *or_unknown(const char *s)
{
	return s ? s : "unknown";
}

void machine_line(const struct env *e, struct buf *out)
{
	buf_addf(out, "Linux %s, %s, %.0f x %s", or_unknown(e->kernel.release), or_unknown(e->kernel.preemption),
		 e->cpu.online > 0 ? e->cpu.online : 1, or_unknown(e->cpu.model));
	if (e->hypervisor)
		buf_addf(out, ", in a virtual machine (%s)", e->hypervisor);
}

void machine_alarm(const struct env *e, struct buf *out)
{
	const struct strings *debug = &e->kernel.debug_options;
	if (!debug->n)
		return;
	buf_adds(out, "WARNING: this kernel was built with ");
	for (size_t i = 0; i < debug->n; i++)
		buf_addf(out, "%s%s", i ? ", " : "", debug->v[i]);
	buf_adds(out, ", which make it slower\n");
}

/* Appends, also without a newline, a line about a run: "kvm: bench-syscall of 2026-..., Linux 6.1.0, AMD ...". */
static void machine_run_line(const struct page_run *r, struct buf *out)
{
	const struct env *e = &r->run->env;
	buf_addf(out, "%s: %s of %s, Linux %s, %s", r->label, r->run->kind, or_unknown(r->run->date),
		 or_unknown(e->kernel.release), or_unknown(e->cpu.model));
	if (e->hypervisor)
		buf_addf(out, " in %s", e->hypervisor);
	buf_addf(out, ", sctrace %s", or_unknown(r->run->version));
}

void differences_fill(struct page *p)
{
	const char *version = p->runs[0].run->version;
	struct buf notes = {0};
	struct buf differences = {0};
	buf_addf(&p->title, "%s: ", p->runs[0].run->kind);
	note_selection(p, &notes);
	for (size_t i = 0; i < p->n; i++) {
		const struct page_run *run = &p->runs[i];
		const char *other = run->run->version;
		machine_run_line(run, &p->above);
		buf_addc(&p->above, '\n');
		machine_run_line(run, &p->subtitle);
		buf_adds(&p->subtitle, i + 1 < p->n ? "; " : "");
		buf_addf(&p->title, "%s%s", i ? " and " : "", run->label);
		if (run->run->bits != RUN_COUNT && !run->run->subjects.n)
			buf_addf(&notes, "%s is empty: no subject was measured.\n", run->label);
		if (run->run->interrupted == TRUTH_YES)
			buf_addf(
				&notes,
				"%s was interrupted: it contains only the measurements made before the interruption.\n",
				run->label);
		if (version && other && strcmp(version, other) != 0)
			buf_addf(&notes, "%s was saved by sctrace %s, %s by %s.\n", p->runs[0].label, version,
				 run->label, other);
		repeat_notes(p, i, &notes);
		note_load(run, &notes);
		if (i == 0)
			continue;
		note_method(p, i, &notes);
		note_machines(p, i, &notes, &differences);
	}
	add_found(p, SECTION_BEWARE, "Where the machines differ", &differences);
	if (p->n == 1)
		page_add_section(p, SECTION_FINDINGS, "Findings", "", &p->runs[0].run->lessons);
	else
		page_section(p, SECTION_FINDINGS, "Findings", "");
	add_found(p, SECTION_NOTES, "Notes", &notes);
}

static bool same_machine(const struct run *a, const struct run *b)
{
	return strcmp(or_unknown(a->env.kernel.release), or_unknown(b->env.kernel.release)) == 0 &&
	       strcmp(or_unknown(a->env.cpu.model), or_unknown(b->env.cpu.model)) == 0;
}

const char *machine_subtitle(struct page *p)
{
	struct buf text = {0};
	if (p->n == 1)
		machine_line(&p->runs[0].run->env, &text);
	for (size_t i = 0; i < p->n && p->n > 1; i++) {
		const struct run *run = p->runs[i].run;
		bool told = false;
		for (size_t k = 0; k < i && !told; k++)
			told = same_machine(p->runs[k].run, run);
		if (told)
			continue;
		buf_addf(&text, "%s%s", text.len ? "; " : "", p->runs[i].label);
		for (size_t k = i + 1; k < p->n; k++)
			if (same_machine(p->runs[k].run, run))
				buf_addf(&text, ", %s", p->runs[k].label);
		buf_addf(&text, ": Linux %s, %s", or_unknown(run->env.kernel.release), or_unknown(run->env.cpu.model));
	}
	return page_keep(p, &text);
}

void machine_command(const struct run *r, struct buf *out)
{
	for (size_t i = 0; i < r->command.n; i++) {
		buf_adds(out, i ? " " : "");
		escape_shell(out, r->command.v[i], strlen(r->command.v[i]));
	}
}

void page_footer(const struct page *p, struct buf *out)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct run *r = p->runs[i].run;
		if (p->n > 1)
			buf_addf(out, "%s%s: ", i ? "; " : "", p->runs[i].label);
		buf_addf(out, "sctrace %s, %s:", or_unknown(r->version), or_unknown(r->date));
		buf_adds(out, r->command.n ? " " : "");
		machine_command(r, out);
	}
}

/* Returns true if member `key` of the description, such as the date, differs even between two runs on one machine. */
static bool is_volatile(const char *key)
{
	static const char *const keys[] = {"date", "uptime_s", "mhz",   "available_bytes", "free_bytes",
					   "1min", "5min",     "15min", "directory"};
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return false;
}

/* Appends a row of the table of machines. `values` contains the value for each machine, or "" if it is unknown. */
static void sheet_row(const char *group, const char *key, char *const *values, size_t n, struct buf *out)
{
	bool differ = false;
	bool any = false;
	for (size_t i = 0; i < n; i++) {
		any |= values[i] && *values[i];
		differ |= values[i] && *values[i] && values[0] && *values[0] && strcmp(values[i], values[0]) != 0;
	}
	if (!any)
		return;
	buf_adds(out, differ && !is_volatile(key) ? "<tr class=\"diff\"><td class=\"dim\">" : "<tr><td class=\"dim\">");
	if (group) {
		svg_escape(out, group);
		buf_adds(out, ": ");
	}
	svg_escape(out, key);
	buf_adds(out, "</td>");
	for (size_t i = 0; i < n; i++) {
		buf_adds(out, "<td>");
		svg_escape(out, values[i] ? values[i] : "");
		buf_adds(out, "</td>");
	}
	buf_adds(out, "</tr>\n");
}

#define RUNS_SHOWN 16 /* the largest number of machines in the table */

static void sheet(const struct fields *f, const char *group, const void *const *objects, size_t n, struct buf *out);

/* Appends the rows for one member of the description of a machine, with the values that the machines have for it. */
static void sheet_field(const struct field *f, const char *group, const void *const *objects, size_t n, struct buf *out)
{
	const void *inner[RUNS_SHOWN];
	char *values[RUNS_SHOWN] = {0};
	for (size_t i = 0; i < n; i++)
		inner[i] = (const char *)objects[i] + f->offset;
	if (f->type == FIELD_OBJECT) {
		sheet(f->of, f->key, inner, n, out);
		return;
	}
	/* There is at least one machine. NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign) */
	const struct texts *first = inner[0];
	for (size_t k = 0; f->type == FIELD_TEXTS && k < first->n; k++) {
		for (size_t i = 0; i < n; i++)
			values[i] = (char *)texts_find(inner[i], first->v[k].name);
		sheet_row(f->key, first->v[k].name, values, n, out);
	}
	if (f->type == FIELD_TEXTS)
		return;
	struct buf text[RUNS_SHOWN] = {0};
	for (size_t i = 0; i < n; i++) {
		if (!field_is_unknown(f, objects[i]))
			field_say(f, objects[i], &text[i]);
		values[i] = text[i].s;
	}
	sheet_row(group, f->key, values, n, out);
	for (size_t i = 0; i < n; i++)
		buf_free(&text[i]);
}

static void sheet(const struct fields *f, const char *group, const void *const *objects, size_t n, struct buf *out)
{
	for (size_t i = 0; i < f->n; i++)
		sheet_field(&f->v[i], group, objects, n, out);
}

void machine_html(const struct page_run *runs, size_t n, struct buf *out)
{
	const void *machines[RUNS_SHOWN];
	n = n < RUNS_SHOWN ? n : RUNS_SHOWN;
	if (!runs[0].run->env.known)
		return;
	buf_adds(out, "<details><summary>The machine</summary>\n<div class=\"scroll\"><table class=\"env\">\n");
	buf_adds(out, n > 1 ? "<thead><tr><th></th>" : "");
	for (size_t i = 0; i < n; i++) {
		machines[i] = &runs[i].run->env;
		if (n == 1)
			continue;
		buf_adds(out, "<th>");
		svg_escape(out, runs[i].label);
		buf_adds(out, "</th>");
	}
	buf_adds(out, n > 1 ? "</tr></thead>\n" : "");
	sheet(&env_fields, NULL, machines, n, out);
	buf_adds(out, "</table></div></details>\n");
}
