/* SPDX-License-Identifier: MIT */
#include "present/page.h"

#include "base/buf.h"
#include "base/size.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALIKE_MAX 3 /* if there are more pipes than this, they share a row */

/* Returns true if the file is a pipe without a name: "pipe 12". */
static bool is_pipe(const struct run_io_file *f)
{
	static const char pipe[] = "pipe ";
	size_t n = sizeof(pipe) - 1;
	return f->kind && strcmp(f->kind, "pipe") == 0 && strncmp(f->name, pipe, n) == 0 && f->name[n] &&
	       !f->name[n + strspn(f->name + n, "0123456789")];
}

/* Adds waits of two files, of which NAN is not known. A zero needs that both are known (struct run_io_file). */
static double add_known(double a, double b)
{
	if (isnan(a))
		return b > 0 ? b : NAN;
	if (isnan(b))
		return a > 0 ? a : NAN;
	return a + b;
}

static void add_figures(struct run_io_file *to, const struct run_io_file *f)
{
	to->opens += f->opens;
	to->calls += f->calls;
	to->reads += f->reads;
	to->writes += f->writes;
	to->read_bytes += f->read_bytes;
	to->written_bytes += f->written_bytes;
	to->time_s += f->time_s;
	to->sequential += f->sequential;
	to->random += f->random;
	to->reread += f->reread;
	to->rewritten += f->rewritten;
	to->seeks += f->seeks;
	to->seeks_without_effect += f->seeks_without_effect;
	to->syncs += f->syncs;
	to->mmaps += f->mmaps;
	to->read_waits = add_known(to->read_waits, f->read_waits);
	to->read_waited_s = add_known(to->read_waited_s, f->read_waited_s);
}

static int by_time(const void *a, const void *b)
{
	double left = ((const struct run_io_file *)a)->time_s, right = ((const struct run_io_file *)b)->time_s;
	return (left < right) - (left > right);
}

/* Adds one row for all pipes. Its sizes are those of the pipe that took the most time. */
static void add_pipes(const struct run_io *io, size_t pipes, struct io_rows *rows)
{
	struct run_io_file all = {.kind = "pipe"};
	struct buf name = {0};
	for (size_t i = 0; i < io->files.n; i++) {
		const struct run_io_file *f = &io->files.v[i];
		if (!is_pipe(f))
			continue;
		if (all.calls == 0)
			memcpy(&all.sizes, &f->sizes, sizeof(all.sizes));
		add_figures(&all, f);
	}
	count_human(&name, pipes);
	buf_adds(&name, " pipes");
	all.name = buf_take(&name);
	vec_push(&rows->names, all.name);
	vec_push(&rows->list, all);
}

struct io_rows io_rows_make(const struct run_io *io, size_t most)
{
	struct io_rows rows = {.left = 0};
	size_t pipes = 0;
	for (size_t i = 0; i < io->files.n; i++)
		pipes += is_pipe(&io->files.v[i]);
	bool grouped = most && pipes > ALIKE_MAX;
	for (size_t i = 0; i < io->files.n; i++)
		if (!grouped || !is_pipe(&io->files.v[i]))
			vec_push(&rows.list, io->files.v[i]);
	if (grouped) {
		add_pipes(io, pipes, &rows);
		qsort(rows.list.v, rows.list.n, sizeof(*rows.list.v), by_time);
	}
	rows.left = most && rows.list.n > most ? rows.list.n - most : 0;
	rows.list.n -= rows.left;
	return rows;
}

void io_rows_free(struct io_rows *rows)
{
	for (size_t i = 0; i < rows->names.n; i++)
		free(rows->names.v[i]);
	vec_free(&rows->names);
	vec_free(&rows->list);
}

/* Returns the first byte of a character at or after `s`. A UTF-8 character must not be split. */
static const char *character(const char *s)
{
	while ((*s & 0xC0) == 0x80)
		s++;
	return s;
}

static size_t common_end(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t n = 0;
	while (n < a_len && n < b_len && a[a_len - 1 - n] == b[b_len - 1 - n])
		n++;
	return n;
}

/*
 * Returns the length of the end that all names with the same last `tail` bytes share, or 0 if no other name has them.
 */
static size_t shared_end(const char *name, size_t tail, const struct io_rows *rows)
{
	size_t least = 0;
	for (size_t i = 0; i < rows->list.n; i++) {
		const char *other = rows->list.v[i].name;
		size_t n = common_end(name, strlen(name), other, strlen(other));
		if (n >= tail && strcmp(other, name) != 0)
			least = least && least < n ? least : n;
	}
	return least;
}

/* Returns the part of a path after its last slash. */
static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

/* Returns the number of bytes that are shown of the beginning of a component, before its last `tail` bytes. */
static size_t component_head(const char *component, size_t room, size_t tail)
{
	size_t head = room - 1 - tail;
	while (head && (component[head] & 0xC0) == 0x80)
		head--;
	return head;
}

/*
 * Appends the beginning and the end of the last component of a path: "dataclasses…1.pyc". Appends nothing and returns
 * false if there is room for the component, or if another row would look the same.
 */
static bool short_component(const char *name, size_t room, const struct io_rows *rows, struct buf *out)
{
	enum { TAIL = 5 };
	const char *own = last_component(name), *end = character(own + strlen(own) - TAIL);
	if (strlen(own) < room || room < 3 * TAIL)
		return false;
	size_t head = component_head(own, room, TAIL);
	for (size_t i = 0; i < rows->list.n; i++) {
		const char *path = rows->list.v[i].name, *other = last_component(path);
		if (strcmp(path, name) != 0 && strlen(other) >= room && strncmp(other, own, head) == 0 &&
		    strcmp(character(other + strlen(other) - TAIL), end) == 0)
			return false;
	}
	buf_addf(out, "%.*s…%s", (int)head, own, end);
	return true;
}

void io_short_name(const char *name, size_t room, const struct io_rows *rows, struct buf *out)
{
	size_t n = strlen(name);
	size_t tail = room - 1;
	if (n <= room) {
		buf_adds(out, name);
		return;
	}
	if (short_component(name, room, rows, out))
		return;
	size_t shared = shared_end(name, tail, rows);
	if (shared) {
		tail = (room - 2) / 4;
		size_t before = room - 2 - tail;
		const char *end = character(name + n - shared);
		const char *start = character(end > name + before ? end - before : name);
		buf_addf(out, "…%.*s", (int)(end - start), start);
	}
	const char *end = character(name + n - tail), *slash = strchr(end, '/');
	if (!shared && slash && slash[1] && !shared_end(name, strlen(slash), rows))
		end = slash; /* no part of a folder's name */
	buf_addf(out, "…%s", end);
}
