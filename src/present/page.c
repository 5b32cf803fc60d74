#include "present/page.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void page_add_part(struct page *p, const char *key, const char *heading, struct table *t, const char *note)
{
	struct page_part part = {key, heading ? memory_copy(heading) : NULL, t, note};
	vec_push(&p->parts, part);
}

struct page_section *page_section(struct page *p, enum section_kind kind, const char *heading, const char *prefix)
{
	for (size_t i = 0; i < p->sections.n; i++)
		if (p->sections.v[i].kind == kind && strcmp(p->sections.v[i].heading, heading) == 0)
			return &p->sections.v[i];
	vec_push(&p->sections, (struct page_section){.heading = heading, .prefix = prefix, .kind = kind});
	return &p->sections.v[p->sections.n - 1];
}

void page_add_section(struct page *p, enum section_kind kind, const char *heading, const char *prefix,
		      const struct strings *lines)
{
	struct page_section *s = lines->n ? page_section(p, kind, heading, prefix) : NULL;
	for (size_t i = 0; i < lines->n; i++)
		buf_addf(&s->text, "%s\n", lines->v[i]);
}

void page_add_figure(struct page *p, const char *name, int (*draw)(void *page, int width, struct buf *out))
{
	vec_push(&p->figures, (struct page_figure){name, draw});
}

const char *page_keep(struct page *p, struct buf *text)
{
	char *s = buf_take(text);
	vec_push(&p->strings, s);
	return s;
}

void page_use_unit(struct page *p, const char *unit)
{
	for (size_t i = 0; i < p->parts.n; i++)
		table_use_unit(p->parts.v[i].table, unit);
}

void page_free(struct page *p)
{
	for (size_t i = 0; i < p->parts.n; i++) {
		table_free(p->parts.v[i].table);
		free(p->parts.v[i].heading);
	}
	for (size_t i = 0; i < p->sections.n; i++)
		buf_free(&p->sections.v[i].text);
	for (size_t i = 0; i < p->strings.n; i++)
		free(p->strings.v[i]);
	vec_free(&p->parts);
	vec_free(&p->sections);
	vec_free(&p->figures);
	vec_free(&p->strings);
	buf_free(&p->title);
	buf_free(&p->subtitle);
	buf_free(&p->above);
	buf_free(&p->alarm);
	buf_free(&p->head);
}
