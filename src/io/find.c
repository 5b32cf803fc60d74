/* SPDX-License-Identifier: MIT */
/* Finds what could be improved. A table has a detector for each kind of finding. */
#include "base/buf.h"
#include "base/escape.h"
#include "base/memory.h"
#include "base/size.h"
#include "io/saving.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MANY         64   /* fewer requests than this are not reported */
#define REPEATED     32   /* minimum number of times that one process uses the same path */
#define SYNCED       16   /* minimum number of syncs, of writes that wait for the disk, or of unaligned requests */
#define SMALL        2048 /* bytes; larger requests count as small only if there are VERY_MANY */
#define VERY_MANY    1024
#define STDIO_BUFFER 4096
#define PROBES       8 /* maximum number of measurements of file systems, each of which takes about 5 ms */
#define NOT_MEASURED                                                                                                   \
	" saves time, but the amount could not be measured, because tracing a call took longer than the call."

/* Appends a number and a noun: "1 read", "2 reads". */
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

/* Appends a number, a noun, the `middle` of a sentence, a duration, and the `end` of the sentence. */
static void say(struct io_search *s, double n, const char *what, const char *middle, double ns, const char *end)
{
	add_number(&s->text, n, what);
	buf_adds(&s->text, middle);
	duration_human(&s->text, ns);
	buf_adds(&s->text, end);
}

/*
 * A filter can use a buffer, but a program that answers requests cannot: the other process waits for the answer. If it
 * is not known which of the two the program is, its user must decide.
 */
static void consider_answers(struct io_search *s)
{
	if (s->f->maybe_turns > 1)
		s->last = " A program that answers the requests of another process cannot use such a buffer.";
}

static bool is_small(const struct io_tally *t, double bytes)
{
	return (t->n >= MANY && bytes <= t->n * SMALL) || t->n >= VERY_MANY;
}

static bool find_small(struct io_search *s, enum io_direction d, const char *what)
{
	const struct io_flow *w = &s->f->flow[d];
	if (!is_small(&w->small, w->small_bytes) || w->small.n < w->requests * 3 / 4)
		return false;
	double needed = io_fewer_calls(s, d, &w->small, w->small_bytes, w->small_starts, IO_BUFFER);
	if (w->small.n < needed * 2)
		return false;
	add_number(&s->text, w->small.n, d == IO_READ ? "sequential read" : "sequential write");
	buf_adds(&s->text, " of ");
	const struct hist *moved = d == IO_READ ? &s->f->row.read_sizes : &s->f->row.write_sizes;
	bool same = hist_quantile(moved, 0) == hist_quantile(moved, 1) && fmod(w->small_bytes, w->small.n) == 0;
	bool alike = same || s->f->row.sizes.n == 1;
	buf_adds(&s->text, alike ? "" : "about ");
	add_bytes(&s->text, w->small_bytes / w->small.n);
	buf_adds(&s->text, " took ");
	duration_human(&s->text, w->small.ns);
	buf_adds(&s->text, ". A 64 KiB buffer needs ");
	add_number(&s->text, needed, what);
	buf_adds(&s->text, " and");
	consider_answers(s);
	return true;
}

static bool writes_lines(const struct io_file *f)
{
	return f->lines.n >= MANY && f->lines.n >= f->flow[IO_WRITE].requests * 0.9;
}

static bool small_reads(struct io_search *s)
{
	return s->f->kind != IO_TERMINAL && find_small(s, IO_READ, "read");
}

static bool small_writes(struct io_search *s)
{
	return s->f->kind != IO_TERMINAL && !writes_lines(s->f) && find_small(s, IO_WRITE, "write");
}

static bool line_writes(struct io_search *s)
{
	if (!writes_lines(s->f))
		return false;
	double needed = io_fewer_calls(s, IO_WRITE, &s->f->lines, s->f->line_bytes, s->f->line_starts, STDIO_BUFFER);
	if (s->f->lines.n < needed * 2)
		return false;
	say(s, s->f->lines.n, "write", " of one line each took ", s->f->lines.ns, "");
	buf_addf(&s->text,
		 "; each line was written separately, because the output is %s. A buffer of 4 KiB (setvbuf in C, bufio "
		 "in Go, buffering= of open in Python) needs ",
		 s->f->kind == IO_TERMINAL ? "a terminal" : "not fully buffered");
	add_number(&s->text, needed, "write");
	buf_adds(&s->text, " and");
	consider_answers(s);
	return true;
}

/* The program reads more than it needs, and seeks back to the first byte that it has not used. */
static bool reads_back(const struct io_file *f)
{
	return f->back.n >= MANY && f->back.n >= f->sought_reads / 2;
}

/* A thread can lose its CPU during any read, so a few waits among many reads say nothing about the device. */
#define WAITS_SHARE 0.02

/* A program that uses O_DIRECT has decided to wait for the device at each request. */
static bool waiting_reads(struct io_search *s)
{
	const struct io_file *f = s->f;
	const double n = f->row.read_waits, reads = f->row.reads;
	/* `n` is NAN if it is not known. */
	if (f->kind != IO_FILE || f->read_direct || !(n >= SYNCED) || n < reads * WAITS_SHARE ||
	    f->read_waited_ns < f->ns / 2)
		return false;
	s->e = (struct io_estimate){f->read_waited_ns, 0, f->read_waited_ns, {0}};
	count_human(&s->text, (uint64_t)n);
	buf_adds(&s->text, " of ");
	say(s, reads, "read", " waited for the device and took ", f->read_waited_ns, "");
	if (n < reads) {
		buf_adds(&s->text, "; the others took ");
		duration_human(&s->text, fmax(f->reads_ns - f->read_waited_ns, 0));
	}
	buf_adds(&s->text, ". Requesting the data before they are needed (posix_fadvise with POSIX_FADV_WILLNEED, "
			   "threads, io_uring)");
	return true;
}

static bool read_again(struct io_search *s)
{
	const struct io_flow *r = &s->f->flow[IO_READ];
	const struct io_tally *t = io_repeats_most(&r->again);
	if (t->n < MANY || t->n < r->requests / 4 || reads_back(s->f))
		return false;
	io_saves_all(s, t);
	say(s, t->n, "read", " returned bytes that the same process had read before; these reads took ", t->ns,
	    ". Keeping the bytes in memory");
	return true;
}

static bool seek_back(struct io_search *s)
{
	const struct io_file *f = s->f;
	if (!reads_back(f))
		return false;
	double needed = ceil((f->back_bytes - f->back_again_bytes) / (f->back_bytes / f->back.n));
	double seeks = fmin(f->back.n, f->seek.n);
	io_add_calls(s, f->back.n - needed, &f->back);
	io_add_more_calls(s, seeks, &f->seek);
	s->e.cost_ns = f->back.ns + seeks * io_tally_mean(&f->seek);
	add_number(&s->text, f->back.n, "read");
	buf_adds(&s->text, " followed an lseek back to data that the program had read but not used, so ");
	add_bytes(&s->text, f->back_again_bytes);
	buf_adds(&s->text, " were read again; these reads and seeks took ");
	duration_human(&s->text, s->e.cost_ns);
	buf_adds(&s->text, ". Keeping the data in memory");
	return true;
}

static bool mostly_idle_seeks(const struct io_file *f)
{
	return f->row.seeks_without_effect >= MANY && f->row.seeks_without_effect >= f->row.seeks * 2 / 3;
}

static bool idle_seeks(struct io_search *s)
{
	const struct io_file *f = s->f;
	double n = f->row.seeks_without_effect;
	if (!mostly_idle_seeks(f))
		return false;
	s->e.cost_ns = n * io_tally_mean(&f->seek);
	io_add_calls(s, n, &f->seek);
	say(s, n, "lseek", " did not change the offset and took ", s->e.cost_ns, ". Leaving them out");
	return true;
}

static bool seek_before_read(struct io_search *s)
{
	const struct io_file *f = s->f;
	if (f->sought_reads < MANY || f->sought_reads < f->row.reads / 2 || reads_back(f) || mostly_idle_seeks(f))
		return false;
	double seeks = fmin(f->sought_reads, f->seek.n);
	s->e.cost_ns = seeks * io_tally_mean(&f->seek);
	io_add_calls(s, seeks, &f->seek);
	say(s, f->sought_reads, "read", " followed an lseek; the seeks took ", s->e.cost_ns,
	    ". pread, which takes the offset as an argument,");
	return true;
}

/* Returns the calls with a path that one process repeated, and sets their cost and saving; NULL if there are few. */
static const struct io_tally *repeats(struct io_search *s, const struct io_repeats *r)
{
	const struct io_tally *t = io_repeats_most(r);
	if (t->n < REPEATED)
		return NULL;
	io_saves_all(s, t);
	return t;
}

static bool opened_again(struct io_search *s)
{
	const struct io_tally *t = repeats(s, &s->f->opened_again);
	if (!t)
		return false;
	double closes = fmin(t->n, s->f->close.n);
	s->e.cost_ns += closes * io_tally_mean(&s->f->close);
	io_add_more_calls(s, closes, &s->f->close);
	buf_adds(&s->text, "one process opened it ");
	say(s, t->n + 1, "time", "; opening and closing took ", s->e.cost_ns, ". Opening it once");
	return true;
}

/* The kernel makes the files of /proc and /sys, so the answer can differ each time: the program may be waiting for it. */
static bool may_have_changed(const struct io_file *f)
{
	return f->kind == IO_OTHER;
}

static bool stated_again(struct io_search *s)
{
	/* A program that keeps the list of a directory asks for its status to learn whether the list is still valid. */
	bool needed = s->f->directory || may_have_changed(s->f);
	const struct io_tally *t = needed ? NULL : repeats(s, &s->f->stated_again);
	if (!t)
		return false;
	buf_adds(&s->text, "one process asked for its status ");
	say(s, t->n + 1, "time", ", which took ", t->ns, ". Asking once");
	return true;
}

static bool failed_again(struct io_search *s)
{
	const struct io_tally *t = may_have_changed(s->f) ? NULL : repeats(s, &s->f->failed_again);
	if (!t)
		return false;
	buf_adds(&s->text, "one process looked for it ");
	say(s, t->n + 1, "time", " and did not find it, which took ", t->ns, ". Remembering the answer");
	return true;
}

static bool sync_each_write(struct io_search *s)
{
	const struct io_file *f = s->f;
	bool often = f->row.writes >= SYNCED && f->sync.n >= f->row.writes / 2;
	bool slow = f->sync.ns >= f->ns / 2;
	if (f->sync.n < SYNCED || (!often && !slow))
		return false;
	s->e = (struct io_estimate){
		f->sync.ns, (f->sync.n - 1) * f->least_sync_ns, (f->sync.n - 1) * f->sync.ns / f->sync.n, {0}};
	if (often) {
		add_number(&s->text, f->row.writes, "write");
		buf_adds(&s->text, " were followed by ");
	}
	say(s, f->sync.n, "sync", often ? ", which took " : " took ", f->sync.ns,
	    often ? "" : ", most of the time of the calls on this file");
	buf_adds(&s->text, ". One fsync at the end");
	return true;
}

static bool synced_writes(struct io_search *s)
{
	const struct io_file *f = s->f;
	if (f->synced.n < SYNCED || f->synced.n < f->row.writes / 2)
		return false;
	io_one_sync(s, &f->synced, f->synced_bytes);
	say(s, f->synced.n, "write",
	    f->synced_by_call ? " waited for the disk, because of RWF_SYNC or RWF_DSYNC, and took "
			      : " waited for the disk, because of O_SYNC or O_DSYNC, and took ",
	    f->synced.ns, ". Writing without this flag and one fsync at the end");
	return true;
}

static bool unaligned_direct(struct io_search *s)
{
	const struct io_tally *t = &s->f->unaligned;
	if (t->n < SYNCED)
		return false;
	s->e = (struct io_estimate){t->ns, NAN, NAN, {0}};
	say(s, t->n, "request", " with O_DIRECT were not aligned and took ", t->ns,
	    ". Align the buffer, the offset and the size to the block size of the device (4 KiB is safe). "
	    "The saving depends on the device.");
	return true;
}

static bool polled_in_vain(struct io_search *s)
{
	const struct io_tally *t = s->f ? &s->f->again_later : &s->p->polls;
	double all = s->f ? s->f->row.reads + s->f->row.writes + t->n : s->p->polls_in_all;
	if (t->n < MANY || t->n < all * 0.9)
		return false;
	io_saves_all(s, t);
	if (s->f)
		say(s, t->n, "request", " failed with EAGAIN and took ", t->ns, ". Waiting with poll(2)");
	else
		say(s, t->n, "poll", " with a timeout of 0 found nothing to do and took ", t->ns,
		    ". A timeout that lets the kernel wait");
	s->unit = " of CPU time";
	return true;
}

static bool copied_by_hand(struct io_search *s)
{
	const struct io_file *f = s->f;
	if (f->copied.n < MANY)
		return false;
	/* The bytes would be moved once instead of twice, or not at all if the file system shares the blocks. */
	io_saves_all(s, &f->copied);
	s->e.low_ns /= 2;
	add_number(&s->text, f->copied.n, "write");
	buf_adds(&s->text, " only copied what had been read from ");
	escape_line(&s->text, f->copied_from->row.name, strlen(f->copied_from->row.name));
	buf_adds(&s->text, "; the reads and writes together took ");
	duration_human(&s->text, f->copied.ns);
	buf_adds(&s->text, ". copy_file_range or sendfile");
	return true;
}

static bool never_closed(struct io_search *s)
{
	double n = 0;
	const struct io_file *worst = NULL;
	for (size_t i = 0; i < s->p->files.n; i++) {
		const struct io_file *f = s->p->files.v[i];
		n += f->unclosed_of_many;
		worst = !worst || f->unclosed_of_many > worst->unclosed_of_many ? f : worst;
	}
	if (!worst || n < IO_UNCLOSED_MANY)
		return false;
	s->e = (struct io_estimate){NAN, NAN, NAN, {0}};
	add_number(&s->text, n, "descriptor");
	buf_adds(&s->text, " that the program opened were never closed; ");
	count_human(&s->text, (uint64_t)worst->unclosed_of_many);
	buf_adds(&s->text, " of them refer to ");
	escape_line(&s->text, worst->row.name, strlen(worst->row.name));
	buf_adds(&s->text, ". By default, a process may have 1,024 open at a time (ulimit -n). Close each after its "
			   "last use. This saves no time.");
	return true;
}

static const struct detector {
	const char *kind;
	bool whole; /* examines the program as a whole, and not each file */
	bool (*find)(struct io_search *s);
} detectors[] = {
	{"small-reads", false, small_reads},       {"small-writes", false, small_writes},
	{"line-writes", false, line_writes},       {"waiting-reads", false, waiting_reads},
	{"read-again", false, read_again},         {"seek-back", false, seek_back},
	{"idle-seeks", false, idle_seeks},         {"seek-before-read", false, seek_before_read},
	{"opened-again", false, opened_again},     {"status-again", false, stated_again},
	{"failed-again", false, failed_again},     {"sync-each-write", false, sync_each_write},
	{"sync-each-write", false, synced_writes}, {"unaligned-direct", false, unaligned_direct},
	{"no-result", false, polled_in_vain},      {"no-result", true, polled_in_vain},
	{"copied-by-hand", false, copied_by_hand}, {"never-closed", true, never_closed},
};

/* Appends "saves 38 to 41 ms". If the saving is unknown, the detector has already ended the sentence. */
static void add_saving(struct io_search *s)
{
	auto_buf low = {0};
	auto_buf high = {0};
	size_t n = s->text.len;
	if (!isfinite(s->e.high_ns)) {
		buf_adds(&s->text, n && buf_str(&s->text)[n - 1] == '.' ? "" : NOT_MEASURED);
		return;
	}
	duration_human(&low, s->e.low_ns);
	duration_human(&high, s->e.high_ns);
	bool same = strcmp(buf_str(&low), buf_str(&high)) == 0;
	/* Without these words, a saving above the cost would look like a mistake. */
	const char *more = s->e.high_ns > s->e.cost_ns ? " (returning from the calls took time, too)" : "";
	if (s->e.low_ns <= 0)
		buf_addf(&s->text, " saves up to %s%s%s.", buf_str(&high), s->unit, more);
	else
		buf_addf(&s->text, " saves %s%s%s%s%s%s.", same ? "about " : "", buf_str(&low), same ? "" : " to ",
			 same ? "" : buf_str(&high), s->unit, more);
}

/*
 * Says which part of the cost the saving leaves out because of delays. Without this sentence, the figures of a busy
 * machine would not add up. A small part is not mentioned.
 */
static void add_delays(struct io_search *s)
{
	const struct io_delays *d = &s->e.delays;
	if (!isfinite(s->e.high_ns) || d->n < 0.5 || d->ns < s->e.cost_ns / 10)
		return;
	buf_addc(&s->text, ' ');
	double n = floor(d->n + 0.5);
	say(s, n, "call",
	    n == 1 ? " waited or was interrupted, which took " : " waited or were interrupted, which took ", d->ns,
	    "; the saving does not include this.");
}

static void look(const struct detector *d, const struct io_profile *p, const struct io_file *f,
		 const struct io_cost *all, unsigned *probes, struct run_io *out)
{
	struct io_search s = {.p = p, .f = f, .all = all, .probes = probes, .unit = "", .last = ""};
	if (f) {
		escape_line(&s.text, f->row.name, strlen(f->row.name));
		buf_adds(&s.text, ": ");
	}
	if (d->find(&s)) {
		struct run_io_finding found = {.cost_s = s.e.cost_ns / 1e9,
					       .saving_low_s = s.e.low_ns / 1e9,
					       .saving_high_s = s.e.high_ns / 1e9,
					       .delays_s = s.e.delays.ns / 1e9};
		add_saving(&s);
		add_delays(&s);
		buf_adds(&s.text, s.last);
		field_set(&found.kind, d->kind);
		field_set(&found.file, f ? f->row.name : NULL);
		field_set(&found.text, buf_str(&s.text));
		vec_push(&out->findings, found);
	}
	buf_free(&s.text);
}

/* Sorts by saving, the largest first and unknown ones last. */
static int worse(const void *a, const void *b)
{
	const struct run_io_finding *x = a;
	const struct run_io_finding *y = b;
	double u = isfinite(x->saving_high_s) ? x->saving_high_s : -1;
	double v = isfinite(y->saving_high_s) ? y->saving_high_s : -1;
	if (u != v)
		return u < v ? 1 : -1;
	if (isfinite(x->cost_s) && isfinite(y->cost_s) && x->cost_s != y->cost_s)
		return x->cost_s < y->cost_s ? 1 : -1;
	return strcmp(x->text, y->text);
}

void io_find(const struct io_profile *p, struct run_io *out)
{
	struct io_cost all[2] = {0};
	unsigned probes = p->here ? PROBES : 0;
	for (size_t i = 0; i < p->files.n; i++)
		for (unsigned d = 0; d < 2; d++)
			/* The cost of a synchronous write says nothing about other writes. */
			if (p->files.v[i]->kind == IO_FILE && p->files.v[i]->synced.n <= 0)
				io_cost_merge(&all[d], &p->files.v[i]->flow[d].cost);
	for (size_t k = 0; k < sizeof(detectors) / sizeof(*detectors); k++) {
		if (detectors[k].whole)
			look(&detectors[k], p, NULL, all, &probes, out);
		/* The calls of several files are not repetitions. */
		for (size_t i = 0; i < p->files.n && !detectors[k].whole; i++)
			if (!p->files.v[i]->several)
				look(&detectors[k], p, p->files.v[i], all, &probes, out);
	}
	for (unsigned d = 0; d < 2; d++)
		io_cost_free(&all[d]);
	if (out->findings.n > 1)
		qsort(out->findings.v, out->findings.n, sizeof(*out->findings.v), worse);
}
