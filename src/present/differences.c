#include "present/differences.h"

#include "base/escape.h"
#include "base/memory.h"
#include "present/machine.h"
#include "present/page.h"
#include "run/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Writes the notes on several runs: which runs they are, where their machines and methods differ, and the notes of each
 * run.
 */
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

int beside_load(struct beside *b, char *const *paths, size_t n, struct buf *why)
{
	int rc = 0;
	b->runs = memory_zeroed(n, sizeof(*b->runs));
	b->list = memory_zeroed(n, sizeof(*b->list));
	for (size_t i = 0; i < n && rc == 0; i++) {
		b->list[i] = (struct page_run){.run = &b->runs[i], .path = run_file_name(paths[i])};
		b->n = i + 1;
		rc = run_load(&b->runs[i], paths[i], why);
		if (rc == 0 && i > 0)
			rc = run_comparable(&b->runs[0], b->list[0].path, &b->runs[i], b->list[i].path, why);
	}
	return rc;
}

/* Returns the name of a file without its folder and without ".json". */
static char *label_of(const char *path)
{
	const char *base = strrchr(path, '/');
	base = base ? base + 1 : path;
	size_t len = strlen(base);
	if (len > 5 && strcmp(base + len - 5, ".json") == 0)
		len -= 5;
	return len ? memory_copy_part(base, len) : memory_copy(path);
}

/* Sets the label of run `i` to a printable copy of `label`, and frees `label`. */
static void set_label(struct beside *b, size_t i, char *label)
{
	struct buf shown = {0};
	escape_line(&shown, label, strlen(label));
	free((char *)b->list[i].label);
	free(label);
	b->list[i].label = buf_take(&shown);
}

static bool label_is_taken(const struct beside *b, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(b->list[i].label, b->list[k].label) == 0)
			return true;
	return false;
}

/* Makes labels from the names of the files. If another file has the same name, uses the whole path instead. */
static void name_from_files(struct beside *b)
{
	for (size_t i = 0; i < b->n; i++) {
		set_label(b, i, label_of(b->list[i].path));
		if (label_is_taken(b, i))
			set_label(b, i, memory_copy(b->list[i].path));
	}
}

int beside_name(struct beside *b, const char *names, struct buf *why)
{
	size_t i = 0;
	if (!names) {
		name_from_files(b);
		return 0;
	}
	for (; i < b->n && *names; i++) {
		size_t len = strcspn(names, ",");
		if (!len)
			break;
		set_label(b, i, memory_copy_part(names, len));
		if (label_is_taken(b, i)) {
			buf_addf(why, "--names gives the name '%s' to two runs", b->list[i].label);
			return -ERANGE;
		}
		names += len + (names[len] == ',');
	}
	if (i == b->n && *names == '\0')
		return 0;
	buf_addf(why, "--names must give one name for each run, separated by commas; %zu run%s given", b->n,
		 b->n == 1 ? " is" : "s are");
	return -ERANGE;
}

/*
 * Writes the note "Merged from a.json, b.json; ..." and the label "a+b". For counts, the lines that each run had below
 * its table follow the note.
 */
static void name_merged(struct beside *b, struct buf *note)
{
	struct buf label = {0};
	buf_adds(note, "Merged from");
	for (size_t i = 0; i < b->n; i++) {
		buf_addf(note, "%s%s", i ? ", " : " ", b->list[i].path);
		buf_addf(&label, "%s%s", i ? "+" : "", b->list[i].label);
	}
	if (b->runs[0].bits == RUN_COUNT)
		buf_adds(note, "; the numbers of calls and the times are sums.");
	else
		buf_adds(note, "; the differences between the runs are part of the spread of the merged run.");
	for (size_t i = 0; i < b->n; i++)
		for (size_t k = 0; k < b->runs[i].footer.n; k++)
			buf_addf(note, "\n%s: %s", b->list[i].label, b->runs[i].footer.v[k]);
	set_label(b, 0, buf_take(&label));
}

static void forget(struct beside *b, size_t from)
{
	for (size_t i = from; i < b->n; i++) {
		run_free(&b->runs[i]);
		free((char *)b->list[i].label);
	}
	b->n = from;
}

int beside_merge(struct beside *b, struct buf *note, struct buf *why)
{
	int rc = 0;
	for (size_t i = 0; i < b->n && rc == 0; i++)
		for (size_t k = 0; k < i && rc == 0; k++)
			rc = run_poolable(&b->runs[k], b->list[k].path, &b->runs[i], b->list[i].path, why);
	if (rc < 0)
		return rc;
	name_merged(b, note);
	for (size_t i = 1; i < b->n; i++)
		run_merge(&b->runs[0], &b->runs[i]);
	forget(b, 1);
	return 0;
}

void beside_free(struct beside *b)
{
	forget(b, 0);
	free(b->runs);
	free(b->list);
}
