/*
 * Writes the notes on several runs: which runs they are, where their machines and methods differ, and the notes of each
 * run.
 */
#include "present/kinds.h"
#include "present/machine.h"

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
	struct buf lines = {0};
	if (!a->known || !b->known)
		buf_addf(notes, "The machine of %s or of %s is not known, so the machines are not compared.\n",
			 p->runs[0].label, p->runs[k].label);
	else if (env_differences(a, b, &lines) > 0) {
		if (p->n > 2)
			buf_addf(differences, "%s | %s:\n", p->runs[0].label, p->runs[k].label);
		buf_add(differences, lines.s, lines.len);
	}
	buf_free(&lines);
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
