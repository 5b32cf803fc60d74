#include "present/machine.h"

#include "base/escape.h"
#include "out/svg.h"

#include <string.h>

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

void machine_run_line(const struct page_run *r, struct buf *out)
{
	const struct env *e = &r->run->env;
	buf_addf(out, "%s: %s of %s, Linux %s, %s", r->label, r->run->kind, or_unknown(r->run->date),
		 or_unknown(e->kernel.release), or_unknown(e->cpu.model));
	if (e->hypervisor)
		buf_addf(out, " in %s", e->hypervisor);
	buf_addf(out, ", sctrace %s", or_unknown(r->run->version));
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
