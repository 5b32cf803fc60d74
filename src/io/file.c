/* SPDX-License-Identifier: MIT */
#include "io/file.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIZES_MAX   4096 /* maximum number of different sizes that are counted */
#define SIZES_SHOWN 3

const char *io_kind_name(enum io_kind kind)
{
	static const char *const names[] = {
		[IO_FILE] = "file",         [IO_PIPE] = "pipe",     [IO_SOCKET] = "socket",
		[IO_TERMINAL] = "terminal", [IO_DEVICE] = "device", [IO_OTHER] = "other",
	};
	return names[kind];
}

struct io_file *io_file_new(const char *id, const char *name, enum io_kind kind)
{
	struct io_file *f = memory_zeroed(1, sizeof(*f));
	field_set(&f->id, id);
	field_set(&f->row.name, name);
	field_set(&f->row.kind, io_kind_name(kind));
	f->kind = kind;
	f->messages = kind == IO_OTHER && *name != '/'; /* such as eventfd(2), whose reads have a fixed size */
	return f;
}

void io_file_free(struct io_file *f)
{
	fields_free(&run_io_file_fields, &f->row);
	map_free(&f->sizes);
	free(f->id);
	struct io_repeats *const repeats[] = {&f->opened_again, &f->stated_again, &f->failed_again,
					      &f->flow[IO_READ].again};
	struct io_tally *const tallies[] = {&f->close, &f->seek,      &f->sync,        &f->lines, &f->synced,
					    &f->back,  &f->unaligned, &f->again_later, &f->copied};
	for (size_t i = 0; i < sizeof(repeats) / sizeof(*repeats); i++) {
		io_tally_free(&repeats[i]->now);
		io_tally_free(&repeats[i]->most);
	}
	for (size_t i = 0; i < sizeof(tallies) / sizeof(*tallies); i++)
		io_tally_free(tallies[i]);
	for (unsigned i = 0; i < 2; i++) {
		vec_free(&f->flow[i].seen);
		io_cost_free(&f->flow[i].cost);
		vec_free(&f->flow[i].own);
		io_tally_free(&f->flow[i].small);
	}
	free(f);
}

/* A linear congruential generator (Knuth's MMIX), so that the same requests always give the same picture. */
static uint64_t next_random(struct io_marks *m)
{
	m->random = m->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return m->random >> 33;
}

/* Returns true if the request is selected: at random one of each `every` successive requests. */
static bool is_chosen(struct io_marks *m)
{
	uint64_t place = m->every ? m->seen % m->every : 0;
	if (!m->every)
		m->every = 1;
	if (place == 0)
		m->chosen = next_random(m) % m->every;
	m->seen++;
	return place == m->chosen;
}

/* Keeps one of each two marks, and doubles `every`. */
static void thin_out(struct io_marks *m, struct run_io_mark *v, size_t *n)
{
	for (size_t i = 0; i < *n / 2; i++)
		v[i] = v[2 * i + (next_random(m) & 1)];
	*n /= 2;
	m->every *= 2;
	m->seen = (m->seen + m->every - 1) / m->every * m->every;
}

static void add_mark(struct io_file *f, const struct io_request *r, uint64_t offset)
{
	struct run_io_mark mark = {r->time_s, (double)offset, (double)r->bytes};
	struct io_marks *m = &f->flow[r->direction].marks;
	if (!is_chosen(m))
		return;
	if (r->direction == IO_READ) {
		vec_push(&f->row.read_marks, mark);
		if (f->row.read_marks.n >= IO_MARKS_MAX)
			thin_out(m, f->row.read_marks.v, &f->row.read_marks.n);
	} else {
		vec_push(&f->row.write_marks, mark);
		if (f->row.write_marks.n >= IO_MARKS_MAX)
			thin_out(m, f->row.write_marks.v, &f->row.write_marks.n);
	}
}

static void add_size(struct io_file *f, const struct io_request *r)
{
	uintptr_t n = (uintptr_t)map_get(&f->sizes, r->asked);
	if (n || f->sizes.n < SIZES_MAX)
		map_put(&f->sizes, r->asked, (void *)(n + 1));
	hist_add(r->direction == IO_READ ? &f->row.read_sizes : &f->row.write_sizes, r->bytes, 1);
}

/* Bytes that were written since they were read do not count as read. */
static void remove_read(struct io_file *f, uint64_t from, uint64_t to)
{
	ranges_remove(&f->flow[IO_READ].seen, from, to);
	ranges_remove(&f->flow[IO_READ].own, from, to);
}

/* Returns true if at least half of the bytes of the request are in `seen`. */
static bool is_mostly_in(const struct ranges *seen, const struct io_request *r, uint64_t from)
{
	return ranges_common(seen, from, from + r->bytes) >= r->bytes - r->bytes / 2;
}

/* Returns true if at least half of the bytes were read (or written) before. Only IO_FILE has offsets. */
static bool is_repeated(struct io_file *f, const struct io_request *r, uint64_t from)
{
	bool repeated = f->kind == IO_FILE && is_mostly_in(&f->flow[r->direction].seen, r, from);
	if (f->kind != IO_FILE)
		return false;
	ranges_add(&f->flow[r->direction].seen, from, from + r->bytes);
	if (r->direction == IO_WRITE)
		remove_read(f, from, from + r->bytes);
	return repeated;
}

bool io_file_turns(const struct io_open *o, enum io_direction d)
{
	return o->file->kind != IO_FILE && o->used[!d] && o->last != d;
}

/* Returns true if the kernel treats each request as a unit: a message, or a command to a file of /proc or /sys. */
static bool is_message(const struct io_file *f, enum io_direction d)
{
	return f->messages || (f->kind == IO_OTHER && d == IO_WRITE);
}

/*
 * Returns true if a larger buffer would join this request to the previous one. If the program seeks back to what it has
 * not used of the previous read, it would do so with a larger buffer as well.
 */
static bool is_small(const struct io_open *o, const struct io_request *r, bool sequential)
{
	bool returns = o->back && r->direction == IO_READ && !r->positioned;
	return sequential && r->joins && r->bytes < IO_BUFFER && !is_message(o->file, r->direction) && !r->turns &&
	       !returns;
}

/* Returns the number of pages that the request touches and the previous request did not touch. */
static double further_pages(struct io_flow *w, uint64_t from, uint64_t bytes)
{
	uint64_t first = from / IO_PAGE, last = (from + bytes - 1) / IO_PAGE;
	bool known = w->page == first + 1;
	w->page = last + 1;
	return (double)(last - first + !known);
}

const struct io_tally *io_repeats_most(const struct io_repeats *r)
{
	return r->now.n > r->most.n ? &r->now : &r->most;
}

/* Ends the series of repetitions, and keeps it in `most` if it is the longest so far. `pid` begins a new one. */
static void begin_repeats(struct io_repeats *r, pid_t pid)
{
	if (r->now.n > r->most.n) {
		io_tally_free(&r->most);
		r->most = r->now;
		r->now = (struct io_tally){0};
	}
	io_tally_free(&r->now);
	r->pid = pid;
}

void io_repeats_add(struct io_repeats *r, bool same, pid_t pid, double ns, double spread_ns)
{
	if (same && r->pid == pid)
		io_tally_add(&r->now, ns, spread_ns);
	else
		begin_repeats(r, pid);
}

static void count_again(struct io_flow *w, const struct io_request *r, uint64_t from)
{
	if (w->again.pid != r->pid) {
		begin_repeats(&w->again, r->pid);
		w->own.n = 0;
	}
	if (is_mostly_in(&w->own, r, from))
		io_tally_add(&w->again.now, r->ns, r->spread_ns);
	ranges_add(&w->own, from, from + r->bytes);
}

/* Returns true if `from` is within the last request in this direction, or directly after it. */
static bool continues(const struct io_open *o, enum io_direction d, uint64_t from)
{
	return o->used[d] && from > o->begin[d] && from <= o->end[d];
}

/* Does the program say where the request begins? Files of /proc, and devices, can have offsets too. */
static bool has_place(const struct io_open *o, const struct io_request *r)
{
	return r->positioned || o->sought;
}

static void classify(struct io_open *o, const struct io_request *r, uint64_t from)
{
	struct io_file *f = o->file;
	struct io_flow *w = &f->flow[r->direction];
	bool follows_other = o->last != r->direction && continues(o, !r->direction, from);
	bool stream = f->kind != IO_FILE && !has_place(o, r);
	bool sequential = stream || from == o->end[r->direction] || continues(o, r->direction, from) || follows_other;
	bool repeated = is_repeated(f, r, from);
	double *share = !repeated                 ? (sequential ? &f->row.sequential : &f->row.random)
			: r->direction == IO_READ ? &f->row.reread
						  : &f->row.rewritten;
	(*share)++;
	w->requests++;
	if (r->asynchronous)
		return;
	if (f->kind == IO_FILE && r->direction == IO_READ)
		count_again(w, r, from);
	if (is_small(o, r, sequential)) {
		io_tally_add_judged(&w->small, r->ns, r->spread_ns, r->waited);
		w->small_bytes += (double)r->bytes;
		w->small_starts += !o->used[r->direction];
	}
	if (r->synced) {
		io_tally_add(&f->synced, r->ns, r->spread_ns);
		f->synced_bytes += (double)r->bytes;
		f->synced_direct |= o->direct;
		f->synced_by_call |= !o->synced;
	}
	double pages = further_pages(w, from, r->bytes);
	if (!r->waited)
		io_cost_add(&w->cost, pages, (double)r->bytes, r->ns, r->spread_ns);
}

/* Counts a read that begins within the previous read, to which the program has moved the offset back. */
static void note_back(const struct io_open *o, const struct io_request *r, uint64_t from)
{
	struct io_file *f = o->file;
	if (f->kind != IO_FILE || r->direction != IO_READ || r->positioned || !o->back)
		return;
	uint64_t again = o->end[IO_READ] - from;
	io_tally_add(&f->back, r->ns, r->spread_ns);
	f->back_bytes += (double)r->bytes;
	f->back_again_bytes += (double)(again < r->bytes ? again : r->bytes);
}

void io_file_seek(struct io_open *o, uint64_t to)
{
	bool is_after_read = o->used[IO_READ] && o->last == IO_READ && o->pos == o->end[IO_READ];
	if (to != o->pos)
		o->back = is_after_read && to > o->begin[IO_READ] && to < o->pos;
	o->pos = to;
	o->sought = true;
}

void io_file_request(struct io_open *o, const struct io_request *r)
{
	struct io_file *f = o->file;
	uint64_t from = r->positioned ? r->offset : o->append && r->direction == IO_WRITE ? f->size : o->pos;
	if (f->kind != IO_FILE && !has_place(o, r))
		from = o->end[r->direction];
	uint64_t to = from + r->bytes;
	if (o->append && r->direction == IO_WRITE && !r->positioned)
		o->end[IO_WRITE] = from; /* a write with O_APPEND is sequential, even if the write before it was made
					  * through another open file description */
	classify(o, r, from);
	*(r->direction == IO_READ ? &f->row.read_bytes : &f->row.written_bytes) += (double)r->bytes;
	f->sought_reads += r->direction == IO_READ && o->sought && !r->positioned;
	f->read_direct |= r->direction == IO_READ && o->direct;
	note_back(o, r, from);
	add_size(f, r);
	add_mark(f, r, from);
	o->begin[r->direction] = from;
	o->end[r->direction] = to;
	o->used[r->direction] = true;
	o->last = r->direction;
	f->size = to > f->size ? to : f->size;
	o->back = false;
	if (!r->positioned) {
		o->pos = to;
		o->sought = false;
	}
}

void io_file_line(const struct io_open *o, double bytes, double ns, double spread_ns)
{
	struct io_file *f = o->file;
	if (is_message(f, IO_WRITE))
		return;
	io_tally_add(&f->lines, ns, spread_ns);
	f->line_bytes += bytes;
	f->line_starts += !o->used[IO_WRITE];
}

void io_file_truncate(struct io_file *f, uint64_t size)
{
	if (size < f->size) {
		ranges_remove(&f->flow[IO_WRITE].seen, size, f->size);
		remove_read(f, size, f->size);
	}
	f->size = size;
}

static int more_frequent(const void *a, const void *b)
{
	const struct run_io_size *x = a;
	const struct run_io_size *y = b;
	if (x->requests != y->requests)
		return x->requests < y->requests ? 1 : -1;
	return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

void io_file_finish(struct io_file *f)
{
	size_t i = 0;
	uint64_t bytes;
	void *n;
	f->row.time_s = f->ns / 1e9;
	f->row.read_waited_s = f->read_waited_ns / 1e9;
	if (f->row.read_waits <= 0 && f->reads_judged < f->row.reads)
		f->row.read_waits = f->row.read_waited_s = NAN;
	f->row.sizes.n = 0;
	while ((n = map_next(&f->sizes, &i, &bytes)))
		vec_push(&f->row.sizes, (struct run_io_size){(double)bytes, (double)(uintptr_t)n});
	if (f->row.sizes.n > 1)
		qsort(f->row.sizes.v, f->row.sizes.n, sizeof(*f->row.sizes.v), more_frequent);
	if (f->row.sizes.n > SIZES_SHOWN)
		f->row.sizes.n = SIZES_SHOWN;
}

struct io_open *io_open_new(struct io_file *f)
{
	struct io_open *o = memory_zeroed(1, sizeof(*o));
	*o = (struct io_open){.refs = 1, .file = f};
	return o;
}

/* Releases a reference, and frees the description after the last one. */
static void open_drop(struct io_open *o)
{
	if (o && --o->refs == 0)
		free(o);
}

struct io_fds *io_fds_new(void)
{
	struct io_fds *t = memory_zeroed(1, sizeof(*t));
	t->refs = 1;
	return t;
}

struct io_fd *io_fds_get(const struct io_fds *t, int fd)
{
	return fd < 0 ? NULL : map_get(&t->map, (uint64_t)fd);
}

void io_fds_set(struct io_fds *t, int fd, struct io_open *o, bool cloexec, bool own)
{
	struct io_fd *d = memory_zeroed(1, sizeof(*d));
	io_fds_close(t, fd);
	*d = (struct io_fd){o, cloexec, own};
	map_put(&t->map, (uint64_t)fd, d);
}

struct io_fds *io_fds_copy(const struct io_fds *t)
{
	struct io_fds *copy = io_fds_new();
	buf_adds(&copy->folder, buf_str(&t->folder));
	size_t i = 0;
	uint64_t fd;
	const struct io_fd *d;
	while ((d = map_next(&t->map, &i, &fd))) {
		d->open->refs++;
		io_fds_set(copy, (int)fd, d->open, d->cloexec, false);
	}
	return copy;
}

void io_fds_close(struct io_fds *t, int fd)
{
	auto_free struct io_fd *d = fd < 0 ? NULL : map_remove(&t->map, (uint64_t)fd);
	if (d)
		open_drop(d->open);
}

void io_fds_close_range(struct io_fds *t, uint64_t first, uint64_t last, bool cloexec_only)
{
	VEC(int) closed = {0};
	size_t i = 0;
	uint64_t fd;
	const struct io_fd *d;
	while ((d = map_next(&t->map, &i, &fd)))
		if (fd >= first && fd <= last && (!cloexec_only || d->cloexec))
			vec_push(&closed, (int)fd);
	for (i = 0; i < closed.n; i++)
		io_fds_close(t, closed.v[i]);
	vec_free(&closed);
}

void io_fds_close_on_exec(struct io_fds *t, uint64_t first, uint64_t last)
{
	size_t i = 0;
	uint64_t fd;
	struct io_fd *d;
	while ((d = map_next(&t->map, &i, &fd)))
		if (fd >= first && fd <= last)
			d->cloexec = true;
}

void io_fds_end(struct io_fds *t)
{
	size_t i = 0;
	const struct io_fd *d;
	size_t n = 0;
	while (t && t->refs == 1 && (d = map_next(&t->map, &i, NULL)))
		n += d->own;
	for (i = 0; n > 0 && (d = map_next(&t->map, &i, NULL));) {
		d->open->file->row.unclosed += d->own;
		d->open->file->unclosed_of_many += n >= IO_UNCLOSED_MANY && d->own;
	}
	io_fds_drop(t);
}

void io_fds_drop(struct io_fds *t)
{
	size_t i = 0;
	struct io_fd *d;
	if (!t || --t->refs > 0)
		return;
	while ((d = map_next(&t->map, &i, NULL))) {
		open_drop(d->open);
		free(d);
	}
	map_free(&t->map);
	buf_free(&t->folder);
	free(t);
}

/* Returns the index of the first range that ends at `offset` or later. */
static size_t first_from(const struct ranges *r, uint64_t offset)
{
	size_t low = 0;
	size_t high = r->n;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (r->v[middle].to >= offset)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

uint64_t ranges_common(const struct ranges *r, uint64_t from, uint64_t to)
{
	uint64_t sum = 0;
	for (size_t i = first_from(r, from); i < r->n && r->v[i].from < to; i++) {
		uint64_t low = r->v[i].from > from ? r->v[i].from : from;
		uint64_t high = r->v[i].to < to ? r->v[i].to : to;
		sum += high - low;
	}
	return sum;
}

/* Replaces the ranges with the indices `i` to `end` - 1 by the `n` ranges (0 to 2) of `by`. */
static void replace(struct ranges *r, size_t i, size_t end, const struct range *by, size_t n)
{
	size_t size = r->n - (end - i) + n;
	while (r->cap < size)
		vec_reserve((void **)&r->v, r->cap, &r->cap, sizeof(*r->v));
	if (r->n > end)
		memmove(&r->v[i + n], &r->v[end], (r->n - end) * sizeof(*r->v));
	if (n)
		memcpy(&r->v[i], by, n * sizeof(*by));
	r->n = size;
}

void ranges_add(struct ranges *r, uint64_t from, uint64_t to)
{
	struct range all = {from, to};
	size_t i = first_from(r, from);
	size_t end = i;
	for (; end < r->n && r->v[end].from <= to; end++) {
		all.from = r->v[end].from < all.from ? r->v[end].from : all.from;
		all.to = r->v[end].to > all.to ? r->v[end].to : all.to;
	}
	if (end > i || r->n < RANGES_MAX)
		replace(r, i, end, &all, 1);
}

void ranges_remove(struct ranges *r, uint64_t from, uint64_t to)
{
	struct range left[2];
	size_t n = 0;
	size_t i = first_from(r, from + 1);
	size_t end = i;
	while (end < r->n && r->v[end].from < to)
		end++;
	if (end == i)
		return;
	if (r->v[i].from < from)
		left[n++] = (struct range){r->v[i].from, from};
	if (r->v[end - 1].to > to)
		left[n++] = (struct range){to, r->v[end - 1].to};
	replace(r, i, end, left, n);
}
