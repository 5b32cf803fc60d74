#include "io/descriptors.h"

#include "base/memory.h"

#include <stdlib.h>

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
	struct io_fd *d = fd < 0 ? NULL : map_remove(&t->map, (uint64_t)fd);
	if (!d)
		return;
	open_drop(d->open);
	free(d);
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
