/* SPDX-License-Identifier: MIT */
/* The parts below the table of `-c`: the errors of each call, and histograms. */
#include "out/summary_table.h"

#include "base/buf.h"
#include "base/size.h"
#include "base/words.h"
#include "decode/decode.h"
#include "out/html.h"
#include "syscall/call_table.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *word;
	enum summary_format format;
} formats[] = {
	{"text", SUMMARY_TEXT}, {"wide", SUMMARY_WIDE},         {"truss", SUMMARY_TRUSS}, {"strace", SUMMARY_STRACE},
	{"csv", SUMMARY_CSV},   {"markdown", SUMMARY_MARKDOWN}, {"json", SUMMARY_JSON},
};

int summary_format_parse(const char *text, enum summary_format *format, struct buf *why)
{
	struct near near = {.word = text};
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		near_offer(&near, formats[i].word);
		if (strcmp(formats[i].word, text) != 0)
			continue;
		*format = formats[i].format;
		return 0;
	}
	buf_addf(why, "'%s' is not one of %s", text, summary_format_words);
	near_say(&near, "", why);
	return -EINVAL;
}

static int most_frequent(const void *a, const void *b)
{
	const struct call_errno *x = a, *y = b;
	return x->count < y->count ? 1 : x->count > y->count ? -1 : x->err - y->err;
}

static void add_errno(struct buf *out, int err)
{
	const char *name = decode_errno_name(err);
	if (name)
		buf_addf(out, "%-16s %s", name, decode_errno_text(err));
	else
		buf_addf(out, "errno %d", err);
}

/* Adds the errors of all groups to `all`, separately for each call and error number. */
static void collect_errors(const struct summary *s, struct summary_group *all)
{
	for (size_t i = 0; i < s->groups.n; i++) {
		const struct summary_group *g = s->groups.v[i];
		for (size_t k = 0; k < g->errnos.n; k++) {
			const struct call_errno *e = &g->errnos.v[k];
			size_t at = 0;
			while (at < all->errnos.n &&
			       (all->errnos.v[at].nr != e->nr || all->errnos.v[at].err != e->err ||
				all->errnos.v[at].arch != e->arch))
				at++;
			if (at < all->errnos.n)
				all->errnos.v[at].count += e->count;
			else
				vec_push(&all->errnos, *e);
		}
	}
}

void summary_render_errors(const struct summary *s, struct buf *out)
{
	struct summary_group all = {0};
	collect_errors(s, &all);
	if (all.errnos.n)
		qsort(all.errnos.v, all.errnos.n, sizeof(*all.errnos.v), most_frequent);
	buf_addf(out, "%-20s%10s  %s\n", "failed call", "times", "error");
	for (size_t i = 0; i < all.errnos.n; i++) {
		auto_buf name = {0};
		syscall_name(&name, all.errnos.v[i].arch, all.errnos.v[i].nr);
		buf_addf(out, "%-20s%10llu  ", buf_str(&name), (unsigned long long)all.errnos.v[i].count);
		add_errno(out, all.errnos.v[i].err);
		buf_addc(out, '\n');
	}
	if (!all.errnos.n)
		buf_adds(out, "none\n");
	vec_free(&all.errnos);
}

/* Adds the histograms of all calls with this name to `h`. */
static void collect_hist(const struct summary *s, const char *name, struct hist *h)
{
	for (size_t i = 0; i < s->groups.n; i++) {
		const struct summary_group *g = s->groups.v[i];
		for (size_t k = 0; k < g->calls.n; k++) {
			auto_buf own = {0};
			syscall_name(&own, g->calls.v[k]->arch, g->calls.v[k]->nr);
			if (strcmp(buf_str(&own), name) == 0)
				hist_merge(h, &g->calls.v[k]->hist);
		}
	}
}

/*
 * Maximum number of lines of a histogram. A terminal of 24 lines then also has room for a short table, the footer and a
 * prompt.
 */
#define HIST_LINES 12

/*
 * The lines of a histogram. Each line covers `step` buckets. Successive empty lines become one line, so that one slow
 * call does not fill the screen.
 */
struct hist_lines {
	uint64_t count[HIST_LINES]; /* 0: this line stands for several empty ones */
	uint32_t line[HIST_LINES];  /* the line's first bucket divided by `step` */
	uint32_t step;
	size_t n;
};

/* Fills in *l with lines of `step` buckets. Returns false if there would be more than HIST_LINES lines. */
static bool group_lines(const struct hist *h, uint32_t step, struct hist_lines *l)
{
	*l = (struct hist_lines){.step = step};
	for (uint32_t i = 0; i < h->n; i++) {
		uint32_t line = (h->first + i) / step;
		if (!h->count[i])
			continue;
		bool same = l->n && l->line[l->n - 1] == line;
		bool gap = l->n && line > l->line[l->n - 1] + 1;
		if (l->n + gap + !same > HIST_LINES)
			return false;
		l->n += gap;
		l->n += !same;
		l->line[l->n - 1] = line;
		l->count[l->n - 1] += h->count[i];
	}
	return true;
}

static void hist_line(struct buf *out, uint64_t low_ns, uint64_t count, uint64_t most, uint64_t total, int bar)
{
	auto_buf from = {0};
	duration_human(&from, (double)low_ns);
	buf_addf(out, "%10s %10llu %5.1f %% ", buf_str(&from), (unsigned long long)count,
		 100 * (double)count / (double)total);
	buf_fill(out, '#', (size_t)ceil((double)bar * (double)count / (double)most));
	buf_addc(out, '\n');
}

bool summary_render_hist(const struct summary *s, const char *name, int width, struct buf *out)
{
	struct hist h = {0};
	struct hist_lines l;
	uint64_t most = 0;
	collect_hist(s, name, &h);
	/*
	 * At first, a line covers 4 buckets, an eighth of a power of two. This number is doubled until there are few
	 * enough lines. A histogram of 64-bit values has at most 2,000 buckets, so the loop ends.
	 */
	for (uint32_t step = 4; !group_lines(&h, step, &l); step *= 2)
		;
	for (size_t i = 0; i < l.n; i++)
		most = l.count[i] > most ? l.count[i] : most;
	if (most)
		buf_addf(out, "%s: time from %10s %10s\n", name, "calls", "share");
	for (size_t i = 0; most && i < l.n; i++)
		if (l.count[i])
			hist_line(out, hist_bucket_low(l.line[i] * l.step), l.count[i], most, h.total,
				  width > 60 ? width - 32 : 28);
		else
			buf_adds(out, "       ...\n");
	hist_free(&h);
	return most;
}

bool summary_next_hist(const char **list, char *name, size_t size)
{
	size_t n = strcspn(*list, ",");
	if (!n && !**list)
		return false;
	snprintf(name, size, "%.*s", (int)n, *list);
	*list += n + ((*list)[n] == ',');
	return true;
}

/* Appends the lines of `text`. Lines longer than `width` are broken between words; a width of 0 means no limit. */
static void add_lines(struct buf *out, const char *text, int width)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		auto_buf line = {0};
		buf_add(&line, text, len);
		buf_add_wrapped(out, buf_str(&line), 0, 2, width ? width : INT_MAX);
		text += len + (text[len] == '\n');
	}
}

/* Appends a part of several lines after a blank line, and empties `part`. */
static void add_part(struct buf *out, enum summary_format format, struct buf *part)
{
	bool markdown = format == SUMMARY_MARKDOWN;
	if (!markdown || part->len)
		buf_addc(out, '\n');
	if (markdown && part->len)
		markdown_block(out, buf_str(part));
	else
		buf_adds(out, buf_str(part));
	buf_clear(part);
}

void summary_render_below(const struct summary *s, const struct summary_below *b, const char *lines, struct buf *out)
{
	auto_buf part = {0};
	if (b->errors) {
		summary_render_errors(s, &part);
		add_part(out, b->format, &part);
	}
	char name[64];
	for (const char *rest = b->hist; rest && summary_next_hist(&rest, name, sizeof(name));) {
		summary_render_hist(s, name, b->width ? b->width : 80, &part);
		add_part(out, b->format, &part);
	}
	if (b->format == SUMMARY_MARKDOWN) {
		buf_addc(out, '\n');
		markdown_lines(out, "- ", lines);
	} else {
		add_lines(out, lines, b->width);
	}
}
