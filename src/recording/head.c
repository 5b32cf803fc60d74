#include "recording/head.h"

#include "base/escape.h"

#include <stdlib.h>
#include <string.h>

#define ROW(member, kind, table)                                                                                       \
	{                                                                                                              \
		.key = #member, .type = (kind), .offset = offsetof(struct recording_about, member), .of = (table)      \
	}

static const struct field rows[] = {ROW(version, FIELD_STRING, NULL),     ROW(engine, FIELD_STRING, NULL),
				    ROW(program, FIELD_STRINGS, NULL),    ROW(selection, FIELD_STRINGS, NULL),
				    ROW(last_calls, FIELD_INTEGER, NULL), ROW(machine, FIELD_OBJECT, &env_fields)};
static const struct fields about_fields = FIELDS(rows, struct recording_about);

enum { FOLLOWS = 1 << 0, STACKS = 1 << 1, LAST = 1 << 2, SEVERAL = 1 << 3 };

void recording_head_init(struct recording_head *h)
{
	*h = (struct recording_head){0};
	fields_init(&about_fields, &h->about);
}

void recording_head_free(struct recording_head *h)
{
	fields_free(&about_fields, &h->about);
}

void recording_head_put(const struct recording_head *h, struct buf *out)
{
	json_t *o = fields_write(&about_fields, &h->about, 0);
	char *text = json_dumps(o, JSON_COMPACT);
	item_put(out, h->start_ns);
	item_put_signed(out, h->real_offset_ns);
	item_put(out, h->string_max);
	item_put(out, (h->follow ? FOLLOWS : 0) | (h->stacks ? STACKS : 0) | (h->last ? LAST : 0) |
			      (h->several ? SEVERAL : 0));
	item_put_text(out, text ? text : "{}", text ? strlen(text) : 2);
	free(text);
	json_decref(o);
}

void recording_head_get(struct recording_head *h, struct item_reader *r)
{
	struct buf why = {0};
	size_t n;
	h->start_ns = item_get(r);
	h->real_offset_ns = item_get_signed(r);
	h->string_max = (uint32_t)item_get(r);
	uint64_t flags = item_get(r);
	h->follow = flags & FOLLOWS;
	h->stacks = flags & STACKS;
	h->last = flags & LAST;
	h->several = flags & SEVERAL;
	const char *text = item_get_text(r, &n);
	json_t *o = json_loadb(text, n, 0, NULL);
	if (!o || fields_read(&about_fields, &h->about, o, 0, &why) < 0)
		r->bad = true;
	json_decref(o);
	buf_free(&why);
}

static void put_time(const struct timeval *t, struct buf *out)
{
	item_put_signed(out, (int64_t)t->tv_sec * 1000000 + t->tv_usec);
}

static void get_time(struct timeval *t, struct item_reader *r)
{
	int64_t us = item_get_signed(r);
	t->tv_sec = us / 1000000;
	t->tv_usec = us % 1000000;
}

void recording_end_put(const struct recording_end *e, struct buf *out)
{
	const struct engine_result *r = e->result;
	item_put(out, (uint32_t)r->status);
	item_put(out, r->wall_ns);
	put_time(&r->usage.ru_utime, out);
	put_time(&r->usage.ru_stime, out);
	item_put(out, r->peak_rss_bytes);
	item_put(out, r->rss_is_largest);
	item_put(out, r->lost);
	item_put(out, r->processes);
	item_put_text(out, e->footer, strlen(e->footer));
}

void recording_end_get(struct engine_result *result, struct buf *footer, struct item_reader *r)
{
	size_t n;
	*result = (struct engine_result){0};
	result->status = (int)item_get(r);
	result->wall_ns = item_get(r);
	get_time(&result->usage.ru_utime, r);
	get_time(&result->usage.ru_stime, r);
	result->peak_rss_bytes = item_get(r);
	result->rss_is_largest = item_get(r) != 0;
	result->lost = item_get(r);
	result->processes = item_get(r);
	const char *text = item_get_text(r, &n);
	/* The file may be damaged, or come from another user, and the text goes to a terminal. */
	while (n) {
		const char *newline = memchr(text, '\n', n);
		size_t len = newline ? (size_t)(newline - text) : n, used = newline ? len + 1 : n;
		escape_line(footer, text, len);
		buf_adds(footer, newline ? "\n" : "");
		text += used;
		n -= used;
	}
}
