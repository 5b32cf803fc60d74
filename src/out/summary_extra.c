/* What stands below a `-c` table: errors by number, and histograms. */
#include "out/summary_table.h"

#include "base/buf.h"
#include "base/near.h"
#include "base/size.h"
#include "decode/decode.h"
#include "syscall/table.h"

#include <errno.h>
#include <math.h>
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
	struct near near;
	near_init(&near, text);
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		near_offer(&near, formats[i].word);
		if (strcmp(formats[i].word, text) != 0)
			continue;
		*format = formats[i].format;
		return 0;
	}
	buf_addf(why, "'%s' is none of %s", text, summary_format_words);
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

/* All groups' errors of one call and number in one line. */
static bool collect_errors(const struct summary *s, struct summary_group *all)
{
	struct summary sums = {0};
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
			else if (!vec_push(&all->errnos, *e))
				sums.failed = true;
		}
	}
	return !sums.failed;
}

void summary_render_errors(const struct summary *s, struct buf *out)
{
	struct summary_group all = {0};
	if (!collect_errors(s, &all))
		out->failed = true;
	if (all.errnos.n)
		qsort(all.errnos.v, all.errnos.n, sizeof(*all.errnos.v), most_frequent);
	buf_addf(out, "%-20s%10s  %s\n", "failed call", "times", "error");
	for (size_t i = 0; i < all.errnos.n; i++) {
		struct buf name = {0};
		syscall_name(&name, all.errnos.v[i].arch, all.errnos.v[i].nr);
		buf_addf(out, "%-20s%10llu  ", buf_str(&name), (unsigned long long)all.errnos.v[i].count);
		add_errno(out, all.errnos.v[i].err);
		buf_addc(out, '\n');
		buf_free(&name);
	}
	if (!all.errnos.n)
		buf_adds(out, "none\n");
	vec_free(&all.errnos);
}

/* Adds up the histograms of all calls of that name. */
static void collect_hist(const struct summary *s, const char *name, struct hist *h, struct buf *out)
{
	for (size_t i = 0; i < s->groups.n; i++) {
		const struct summary_group *g = s->groups.v[i];
		for (size_t k = 0; k < g->calls.n; k++) {
			struct buf own = {0};
			syscall_name(&own, g->calls.v[k]->arch, g->calls.v[k]->nr);
			if (strcmp(buf_str(&own), name) == 0 && hist_merge(h, &g->calls.v[k]->hist) < 0)
				out->failed = true;
			buf_free(&own);
		}
	}
}

/* A line of the picture takes in four buckets: an eighth of a power of two. */
#define BUCKETS_A_LINE 4

static void hist_line(struct buf *out, uint32_t line, uint64_t count, uint64_t most, uint64_t total, int bar)
{
	struct buf from = {0};
	duration_human(&from, (double)hist_bucket_low(line * BUCKETS_A_LINE));
	buf_addf(out, "%10s %10llu %5.1f %% ", buf_str(&from), (unsigned long long)count,
		 100 * (double)count / (double)total);
	buf_fill(out, '#', (size_t)ceil((double)bar * (double)count / (double)most));
	while (out->s && out->s[out->len - 1] == ' ')
		buf_truncate(out, out->len - 1);
	buf_addc(out, '\n');
	buf_free(&from);
}

bool summary_render_hist(const struct summary *s, const char *name, int width, struct buf *out)
{
	struct hist h = {0};
	collect_hist(s, name, &h, out);
	uint32_t first = h.first / BUCKETS_A_LINE;
	uint32_t last = h.n ? (h.first + h.n - 1) / BUCKETS_A_LINE : 0;
	uint64_t *count = h.total ? calloc(last - first + 1, sizeof(*count)) : NULL;
	uint64_t most = 0;
	for (uint32_t i = 0; count && i < h.n; i++) {
		uint32_t line = (h.first + i) / BUCKETS_A_LINE - first;
		count[line] += h.count[i];
		if (count[line] > most)
			most = count[line];
	}
	bool any = count && most;
	while (any && !count[last - first])
		last--;
	uint32_t begin = first;
	while (any && !count[begin - first])
		begin++;
	if (any)
		buf_addf(out, "%s: time from %10s %10s\n", name, "calls", "share");
	/* Runs of empty lines shrink to one, so that a rare slow call does not cost a screen. */
	for (uint32_t i = begin; any && i <= last; i++) {
		if (count[i - first])
			hist_line(out, i, count[i - first], most, h.total, width > 60 ? width - 32 : 28);
		else if (count[i - first - 1])
			buf_adds(out, "       ...\n");
	}
	free(count);
	hist_free(&h);
	return any;
}
