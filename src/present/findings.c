/* Displays the findings of a profile of files (--io). */
#include "present/kinds.h"

#include <string.h>

/* sctrace has fewer kinds of findings. A saved run that was edited may have more; the further kinds are not limited. */
#define KINDS_MAX 32
#define SHOWN_MAX 10 /* maximum number of findings of one kind in text, Markdown and HTML */

/* How many findings of each kind have been seen. */
struct seen {
	const char *kind[KINDS_MAX];
	size_t times[KINDS_MAX], n;
};

static bool are_equal(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Counts the finding. Returns false if SHOWN_MAX findings of its kind have been seen before. */
static bool is_shown(struct seen *s, const struct run_io_finding *f)
{
	size_t k = 0;
	while (k < s->n && !are_equal(s->kind[k], f->kind))
		k++;
	if (k == KINDS_MAX)
		return true;
	s->n += k == s->n;
	s->kind[k] = f->kind;
	return s->times[k]++ < SHOWN_MAX;
}

void page_add_io_findings(struct page *p)
{
	const struct run_io *io = &p->runs[0].run->io;
	struct buf *out = &page_section(p, SECTION_FINDINGS, "Findings", "")->text;
	struct seen seen = {0};
	size_t left = 0;
	for (size_t i = 0; i < io->findings.n; i++) {
		const struct run_io_finding *f = &io->findings.v[i];
		if (is_shown(&seen, f))
			buf_addf(out, "%s\n", f->text ? f->text : "");
		else
			left++;
	}
	if (left)
		buf_addf(out,
			 "%zu more finding%s not shown. Of each kind, only the %d with the largest saving are shown. "
			 "--format=json contains all of them.\n",
			 left, left == 1 ? " is" : "s are", SHOWN_MAX);
	if (!io->findings.n)
		buf_adds(out, "Nothing was found that could be improved.\n");
	else if (io->findings.n > 1)
		buf_adds(
			out,
			"Several findings may concern the same calls, so the total saving may be less than the sum.\n");
}

static bool has_finding(const struct run_io *io, const struct run_io_finding *f)
{
	for (size_t i = 0; i < io->findings.n; i++) {
		const struct run_io_finding *g = &io->findings.v[i];
		if (f->kind && are_equal(g->kind, f->kind) && are_equal(g->file, f->file))
			return true;
	}
	return false;
}

/* Appends the findings that the first of two runs has and the second one does not have, at most SHOWN_MAX of a kind. */
static void say_only(const struct page_run *has, const struct page_run *lacks, struct buf *out)
{
	struct seen seen = {0};
	size_t n = 0, left = 0;
	for (size_t i = 0; i < has->run->io.findings.n; i++) {
		const struct run_io_finding *f = &has->run->io.findings.v[i];
		if (has_finding(&lacks->run->io, f))
			continue;
		if (!is_shown(&seen, f)) {
			left++;
			continue;
		}
		if (!n++)
			buf_addf(out, "Only %s has these findings: ", has->label);
		else
			buf_adds(out, ", ");
		buf_adds(out, f->kind ? f->kind : "");
		if (f->file)
			buf_addf(out, " (%s)", f->file);
	}
	if (left)
		buf_addf(out, " and %zu more", left);
	buf_adds(out, n ? ".\n" : "");
}

void page_add_several_io_findings(struct page *p)
{
	struct page_section *s = page_section(p, SECTION_FINDINGS, "Findings", "");
	for (size_t k = 1; k < p->n; k++) {
		say_only(&p->runs[0], &p->runs[k], &s->text);
		say_only(&p->runs[k], &p->runs[0], &s->text);
	}
}
