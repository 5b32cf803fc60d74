/* What could be better: a row for each kind of finding. */
#include "base/buf.h"
#include "base/escape.h"
#include "base/memory.h"
#include "base/size.h"
#include "io/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MANY         64 /* requests; fewer are not worth a sentence */
#define REPEATED     32 /* uses of one path by one process */
#define SYNCED       16
#define SMALL        2048 /* bytes; larger requests are small only if there are VERY_MANY */
#define VERY_MANY    1024
#define STDIO_BUFFER 4096
#define BYTE_NS_MAX  0.5 /* assumed where a run has requests of one size only: copying and page cache, 2 GB/s */
#define UNKNOWN      NAN

/* What a finding costs, and what would be saved at least and at most. */
struct estimate {
	double cost_ns, low_ns, high_ns;
};

/* Where it looks, and what it found. */
struct search {
	const struct io_profile *p;
	const struct io_file *f;   /* NULL for a detector of the whole program */
	const struct io_cost *all; /* of all files, by enum io_direction */
	struct estimate e;
	struct buf text;  /* ends before "saves" */
	const char *unit; /* what is saved: "" for time, " of CPU time" */
};

/* "reads" from "read"; "1 read" and "2 reads". */
static void add_number(struct buf *out, double n, const char *what)
{
	count_human(out, (uint64_t)n);
	buf_addf(out, " %s%s", what, n == 1 ? "" : "s");
}

static void add_bytes(struct buf *out, double bytes)
{
	if (bytes < 1024)
		add_number(out, floor(bytes + 0.5), "byte");
	else
		size_human(out, (uint64_t)bytes);
}

static double mean(const struct io_tally *t)
{
	return t->n > 0 ? t->ns / t->n : 0;
}

/* Calls that need not be made at all. What is not known of each is how exactly the tracing's own cost was taken out. */
static void saves_all(struct search *s, double n, double ns)
{
	double doubt = s->p->calls_in_all > 0 ? n * s->p->spread_ns / s->p->calls_in_all : 0;
	s->e = (struct estimate){ns, fmax(ns - doubt, 0), ns + doubt};
}

/* The least and the largest cost of a byte. The requests of the file show it, or those of all files, or none do. */
struct byte_cost {
	double least_ns, most_ns;
	bool assumed;
};

static struct byte_cost byte_cost(const struct search *s, enum io_direction d, double size, double call_ns)
{
	struct io_fit own = io_cost_fit(&s->f->flow[d].cost);
	struct io_fit any = io_cost_fit(&s->all[d]);
	struct byte_cost c = own.known   ? (struct byte_cost){own.byte_ns * 0.9, own.byte_ns * 1.1, false}
			     : any.known ? (struct byte_cost){any.byte_ns * 0.75, any.byte_ns * 1.25, false}
					 : (struct byte_cost){0, BYTE_NS_MAX, true};
	double most = size > 0 ? call_ns / size : 0; /* then a call would cost nothing */
	c.most_ns = fmin(c.most_ns, most);
	c.least_ns = fmin(c.least_ns, most);
	return c;
}

/* The same bytes in requests of `buffer` bytes: the calls are fewer, and moving the bytes costs what it did. */
static double fewer_calls(struct search *s, enum io_direction d, const struct io_tally *t, double bytes, double buffer)
{
	double needed = ceil(bytes / buffer);
	double size = t->n > 0 ? bytes / t->n : 0;
	struct byte_cost c = byte_cost(s, d, size, mean(t));
	double saved = fmax(t->n - needed, 0);
	s->e = (struct estimate){t->ns, saved * fmax(mean(t) - c.most_ns * size, 0),
				 saved * fmax(mean(t) - c.least_ns * size, 0)};
	return needed;
}

static bool is_small(const struct io_tally *t, double bytes)
{
	return (t->n >= MANY && bytes <= t->n * SMALL) || t->n >= VERY_MANY;
}

static bool find_small(struct search *s, enum io_direction d, const char *what)
{
	const struct io_flow *w = &s->f->flow[d];
	if (!is_small(&w->small, w->small_bytes) || w->small.n < w->asked.n * 3 / 4)
		return false;
	double needed = fewer_calls(s, d, &w->small, w->small_bytes, IO_BUFFER);
	if (w->small.n < needed * 2)
		return false;
	add_number(&s->text, w->small.n, d == IO_READ ? "sequential read" : "sequential write");
	buf_adds(&s->text, " of ");
	bool alike = s->f->row.sizes.n == 1;
	buf_adds(&s->text, alike ? "" : "about ");
	add_bytes(&s->text, w->small_bytes / w->small.n);
	buf_adds(&s->text, " took ");
	duration_human(&s->text, w->small.ns);
	buf_adds(&s->text, ". A 64 KiB buffer needs ");
	add_number(&s->text, needed, what);
	buf_adds(&s->text, " and");
	return true;
}

static bool writes_lines(const struct io_file *f)
{
	return f->lines.n >= MANY && f->lines.n >= f->flow[IO_WRITE].asked.n * 0.9;
}

static bool small_reads(struct search *s)
{
	return s->f->kind != IO_TERMINAL && find_small(s, IO_READ, "read");
}

static bool small_writes(struct search *s)
{
	return s->f->kind != IO_TERMINAL && !writes_lines(s->f) && find_small(s, IO_WRITE, "write");
}

static bool line_writes(struct search *s)
{
	if (!writes_lines(s->f))
		return false;
	double needed = fewer_calls(s, IO_WRITE, &s->f->lines, s->f->line_bytes, STDIO_BUFFER);
	add_number(&s->text, s->f->lines.n, "write");
	buf_adds(&s->text, " of one line each took ");
	duration_human(&s->text, s->f->lines.ns);
	buf_addf(&s->text, ", because the output is %s. A buffer of 4 KiB (setvbuf) needs ",
		 s->f->kind == IO_TERMINAL ? "a terminal" : "not buffered");
	add_number(&s->text, needed, "write");
	buf_adds(&s->text, " and");
	return true;
}

static bool read_again(struct search *s)
{
	const struct io_flow *r = &s->f->flow[IO_READ];
	if (r->again.n < MANY || r->again.n < r->asked.n / 4)
		return false;
	saves_all(s, r->again.n, r->again.ns);
	add_number(&s->text, r->again.n, "read");
	buf_adds(&s->text, " brought bytes (");
	add_bytes(&s->text, r->again_bytes);
	buf_adds(&s->text, ") that had been read before, which took ");
	duration_human(&s->text, r->again.ns);
	buf_adds(&s->text, ". Keeping them in memory");
	return true;
}

static bool seek_before_read(struct search *s)
{
	const struct io_file *f = s->f;
	if (f->sought_reads < MANY || f->sought_reads < f->row.reads / 2)
		return false;
	saves_all(s, f->sought_reads, fmin(f->sought_reads, f->seek.n) * mean(&f->seek));
	add_number(&s->text, f->sought_reads, "read");
	buf_adds(&s->text, " had an lseek before it; the seeks took ");
	duration_human(&s->text, s->e.cost_ns);
	buf_adds(&s->text, ". pread, which names the offset itself,");
	return true;
}

static bool opened_again(struct search *s)
{
	const struct io_tally *t = &s->f->opened_again;
	if (t->n < REPEATED)
		return false;
	saves_all(s, 2 * t->n, t->ns + fmin(t->n, s->f->close.n) * mean(&s->f->close));
	buf_adds(&s->text, "one process opened it ");
	add_number(&s->text, t->n + 1, "time");
	buf_adds(&s->text, "; opening and closing took ");
	duration_human(&s->text, s->e.cost_ns);
	buf_adds(&s->text, ". Opening it once");
	return true;
}

static bool stated_again(struct search *s)
{
	const struct io_tally *t = &s->f->stated_again;
	if (t->n < REPEATED)
		return false;
	saves_all(s, t->n, t->ns);
	buf_adds(&s->text, "one process asked for its status ");
	add_number(&s->text, t->n + 1, "time");
	buf_adds(&s->text, ", which took ");
	duration_human(&s->text, t->ns);
	buf_adds(&s->text, ". Asking once");
	return true;
}

static bool failed_again(struct search *s)
{
	const struct io_tally *t = &s->f->failed_again;
	if (t->n < REPEATED)
		return false;
	saves_all(s, t->n, t->ns);
	buf_adds(&s->text, "one process looked for it ");
	add_number(&s->text, t->n + 1, "time");
	buf_adds(&s->text, " and did not find it, which took ");
	duration_human(&s->text, t->ns);
	buf_adds(&s->text, ". Remembering the answer");
	return true;
}

static bool sync_each_write(struct search *s)
{
	const struct io_file *f = s->f;
	if (f->sync.n < SYNCED || f->row.writes < SYNCED || f->sync.n < f->row.writes / 2)
		return false;
	s->e = (struct estimate){f->sync.ns, (f->sync.n - 1) * f->least_sync_ns, (f->sync.n - 1) * mean(&f->sync)};
	add_number(&s->text, f->row.writes, "write");
	buf_adds(&s->text, " were followed by ");
	add_number(&s->text, f->sync.n, "sync");
	buf_adds(&s->text, ", which took ");
	duration_human(&s->text, f->sync.ns);
	buf_adds(&s->text, ". One fsync at the end");
	return true;
}

static bool unaligned_direct(struct search *s)
{
	const struct io_tally *t = &s->f->unaligned;
	if (t->n < SYNCED)
		return false;
	s->e = (struct estimate){t->ns, UNKNOWN, UNKNOWN};
	add_number(&s->text, t->n, "request");
	buf_adds(&s->text, " with O_DIRECT were not aligned and took ");
	duration_human(&s->text, t->ns);
	buf_adds(&s->text, ". Align buffer, offset and size to the block of the device (4 KiB is safe).");
	return true;
}

static bool polled_in_vain(struct search *s)
{
	const struct io_tally *t = s->f ? &s->f->again_later : &s->p->polls;
	double all = s->f ? s->f->row.reads + s->f->row.writes + t->n : s->p->polls_in_all;
	if (t->n < MANY || t->n < all * 0.9)
		return false;
	saves_all(s, t->n, t->ns);
	add_number(&s->text, t->n, s->f ? "request" : "poll");
	buf_addf(&s->text, " found nothing to do (%s) and took ", s->f ? "EAGAIN" : "they did not wait");
	duration_human(&s->text, t->ns);
	buf_addf(&s->text, ". %s", s->f ? "Waiting with poll(2)" : "A timeout that lets the kernel wait");
	s->unit = " of CPU time";
	return true;
}

static bool copied_by_hand(struct search *s)
{
	const struct io_file *f = s->f;
	if (f->copied.n < MANY)
		return false;
	double size = f->copied_bytes / f->copied.n;
	struct byte_cost w = byte_cost(s, IO_WRITE, size, mean(&f->copied));
	s->e = (struct estimate){f->copied.ns, f->copied.n * fmax(mean(&f->copied) - size * 2 * w.most_ns, 0),
				 f->copied.n * fmax(mean(&f->copied) - size * w.least_ns, 0)};
	add_number(&s->text, f->copied.n, "write");
	buf_adds(&s->text, " only passed on what was read from ");
	escape_line(&s->text, f->copied_from->row.name, strlen(f->copied_from->row.name));
	buf_adds(&s->text, "; both took ");
	duration_human(&s->text, f->copied.ns);
	buf_adds(&s->text, ". copy_file_range or sendfile");
	return true;
}

static bool never_closed(struct search *s)
{
	double n = 0;
	const struct io_file *worst = NULL;
	for (size_t i = 0; i < s->p->files.n; i++) {
		const struct io_file *f = s->p->files.v[i];
		n += f->row.unclosed;
		worst = !worst || f->row.unclosed > worst->row.unclosed ? f : worst;
	}
	if (n < MANY)
		return false;
	s->e = (struct estimate){UNKNOWN, UNKNOWN, UNKNOWN};
	add_number(&s->text, n, "descriptor");
	buf_adds(&s->text, " that the program opened were never closed, ");
	count_human(&s->text, (uint64_t)worst->row.unclosed);
	buf_adds(&s->text, " of them of ");
	escape_line(&s->text, worst->row.name, strlen(worst->row.name));
	buf_adds(&s->text, ". A process may have 1,024 at a time (ulimit -n). Close each after its last use.");
	return true;
}

static const struct detector {
	const char *kind;
	bool whole; /* looks at the program, not at each file */
	bool (*find)(struct search *s);
} detectors[] = {
	{"small-reads", false, small_reads},           {"small-writes", false, small_writes},
	{"line-writes", false, line_writes},           {"read-again", false, read_again},
	{"seek-before-read", false, seek_before_read}, {"opened-again", false, opened_again},
	{"status-again", false, stated_again},         {"failed-again", false, failed_again},
	{"sync-each-write", false, sync_each_write},   {"unaligned-direct", false, unaligned_direct},
	{"no-result", false, polled_in_vain},          {"no-result", true, polled_in_vain},
	{"copied-by-hand", false, copied_by_hand},     {"never-closed", true, never_closed},
};

/* "saves 38 to 41 ms". */
static void add_saving(struct search *s)
{
	struct buf low = {0};
	struct buf high = {0};
	if (!isfinite(s->e.high_ns))
		return;
	duration_human(&low, s->e.low_ns);
	duration_human(&high, s->e.high_ns);
	bool same = strcmp(buf_str(&low), buf_str(&high)) == 0;
	if (s->e.low_ns <= 0)
		buf_addf(&s->text, " saves up to %s%s.", buf_str(&high), s->unit);
	else
		buf_addf(&s->text, " saves %s%s%s%s%s.", same ? "about " : "", buf_str(&low), same ? "" : " to ",
			 same ? "" : buf_str(&high), s->unit);
	buf_free(&low);
	buf_free(&high);
}

static void look(const struct detector *d, const struct io_profile *p, const struct io_file *f,
		 const struct io_cost *all, struct run_io *out)
{
	struct search s = {.p = p, .f = f, .all = all, .unit = ""};
	if (f) {
		escape_line(&s.text, f->row.name, strlen(f->row.name));
		buf_adds(&s.text, ": ");
	}
	if (d->find(&s)) {
		struct run_io_finding found = {.cost_s = s.e.cost_ns / 1e9,
					       .saving_low_s = s.e.low_ns / 1e9,
					       .saving_high_s = s.e.high_ns / 1e9};
		add_saving(&s);
		field_set(&found.kind, d->kind);
		field_set(&found.file, f ? f->row.name : NULL);
		field_set(&found.text, buf_str(&s.text));
		if (!vec_push(&out->findings, found))
			fields_free(&run_io_finding_fields, &found);
	}
	buf_free(&s.text);
}

/* What saves most first; what cannot be known last. */
static int worse(const void *a, const void *b)
{
	const struct run_io_finding *x = a;
	const struct run_io_finding *y = b;
	double u = isfinite(x->saving_high_s) ? x->saving_high_s : -1;
	double v = isfinite(y->saving_high_s) ? y->saving_high_s : -1;
	if (u != v)
		return u < v ? 1 : -1;
	return strcmp(x->text, y->text);
}

void io_find(const struct io_profile *p, struct run_io *out)
{
	struct io_cost all[2] = {0};
	for (size_t i = 0; i < p->files.n; i++)
		for (unsigned d = 0; d < 2; d++)
			if (p->files.v[i]->kind == IO_FILE)
				io_cost_merge(&all[d], &p->files.v[i]->flow[d].cost);
	for (size_t k = 0; k < sizeof(detectors) / sizeof(*detectors); k++) {
		if (detectors[k].whole)
			look(&detectors[k], p, NULL, all, out);
		for (size_t i = 0; i < p->files.n && !detectors[k].whole; i++)
			look(&detectors[k], p, p->files.v[i], all, out);
	}
	if (out->findings.n > 1)
		qsort(out->findings.v, out->findings.n, sizeof(*out->findings.v), worse);
}
