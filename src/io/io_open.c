/* SPDX-License-Identifier: MIT */

#include "base/buf.h"
#include "io/profile.h"
#include "tracee/names.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

/* Determines which file a path or a descriptor refers to. */
#define FILES_MAX   4096 /* all further files share one row of the profile */
#define OTHER_FILES "(other files)"
#define ANONYMOUS   "anon_inode:"

static enum io_kind kind_of(const char *path)
{
	static const struct {
		const char *prefix;
		enum io_kind kind;
	} kinds[] = {
		{"pipe:[", IO_PIPE},           {"socket:[", IO_SOCKET},    {ANONYMOUS, IO_OTHER},
		{"/dev/shm/", IO_FILE},        {"/dev/pts/", IO_TERMINAL}, {"/dev/tty", IO_TERMINAL},
		{"/dev/console", IO_TERMINAL}, {"/dev/", IO_DEVICE},       {"/proc/", IO_OTHER},
		{"/sys/", IO_OTHER},
	};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strncmp(path, kinds[i].prefix, strlen(kinds[i].prefix)) == 0)
			return kinds[i].kind;
	return IO_FILE;
}

/* Returns the file with this id, or NULL. Sets *key to its key in p->by_id, or to the one that a new file will have. */
static struct io_file *find_id(const struct io_profile *p, const char *id, uint64_t *key)
{
	struct io_file *f;
	*key = map_key(id);
	while ((f = map_get(&p->by_id, *key)) && strcmp(f->id, id) != 0)
		++*key;
	return f;
}

static struct io_file *file_with_id(struct io_profile *p, const char *id, const char *name, enum io_kind kind)
{
	uint64_t key;
	struct io_file *f = find_id(p, id, &key);
	if (f)
		return f;
	if (p->files.n >= FILES_MAX && strcmp(name, OTHER_FILES) != 0)
		return io_profile_pathless(p, OTHER_FILES, IO_OTHER);
	f = io_file_new(id, name, kind);
	f->several = p->files.n >= FILES_MAX;
	map_put(&p->by_id, key, f);
	vec_push(&p->files, f);
	return f;
}

struct io_file *io_profile_pathless(struct io_profile *p, const char *name, enum io_kind kind)
{
	return file_with_id(p, name, name, kind);
}

struct io_file *io_profile_file(struct io_profile *p, const char *name)
{
	auto_buf id = {0};
	io_path_join(&id, buf_str(&p->start), name);
	struct io_file *f = file_with_id(p, buf_str(&id), name, kind_of(buf_str(&id)));
	return f;
}

struct io_file *io_profile_known_file(const struct io_profile *p, const char *name)
{
	uint64_t key;
	auto_buf id = {0};
	io_path_join(&id, buf_str(&p->start), name);
	struct io_file *f = find_id(p, buf_str(&id), &key);
	return f;
}

/* Appends what a descriptor without a path is: "pipe", or "inotify" if /proc has "anon_inode:inotify". */
static void say_pathless(const char *path, enum io_kind kind, struct buf *out)
{
	if (strncmp(path, ANONYMOUS, strlen(ANONYMOUS)) != 0) {
		buf_adds(out, io_kind_name(kind));
		return;
	}
	const char *what = path + strlen(ANONYMOUS);
	what += *what == '[';
	buf_add(out, what, strcspn(what, "]"));
}

/*
 * Returns the file of a descriptor that was open before the trace began. The numbers of pipes and sockets are not part
 * of its name, because they are different in each run.
 */
static struct io_file *inherited(struct io_profile *p, pid_t tid, int fd)
{
	static const char *const standard[] = {"stdin", "stdout", "stderr"};
	auto_buf path = {0};
	auto_buf name = {0};
	bool known = p->names->fd(p->names->ctx, tid, fd, &path);
	enum io_kind kind = known ? kind_of(buf_str(&path)) : IO_OTHER;
	bool stream = !known || kind == IO_PIPE || kind == IO_SOCKET ||
		      strncmp(buf_str(&path), ANONYMOUS, strlen(ANONYMOUS)) == 0;
	if (stream) {
		if (fd < 3)
			buf_addf(&name, "%s (", standard[fd]);
		else
			buf_addf(&name, "descriptor %d (", fd);
		say_pathless(buf_str(&path), kind, &name);
		buf_addc(&name, ')');
	} else {
		buf_adds(&name, buf_str(&path));
	}
	struct io_file *f = stream ? io_profile_pathless(p, buf_str(&name), kind) : io_profile_file(p, buf_str(&name));
	return f;
}

/*
 * Standard input, output and error usually share one open file description, but /proc does not show whether they do. If
 * they refer to the same file, they are assumed to share it.
 */
static struct io_open *shared_by(const struct io_fds *t, const struct io_file *f, int fd)
{
	for (int i = 0; i < 3; i++) {
		const struct io_fd *d = i != fd ? io_fds_get(t, i) : NULL;
		if (d && !d->own && d->open->file == f) {
			d->open->refs++;
			return d->open;
		}
	}
	return NULL;
}

struct io_open *io_profile_open(struct io_profile *p, struct io_fds *t, pid_t tid, int fd)
{
	const struct io_fd *d = io_fds_get(t, fd);
	if (d || fd < 0)
		return d ? d->open : NULL;
	struct io_file *f = inherited(p, tid, fd);
	struct io_open *o = fd < 3 ? shared_by(t, f, fd) : NULL;
	io_fds_set(t, fd, o ? o : io_open_new(f), false, false);
	return io_fds_get(t, fd)->open;
}

static void find_folder(struct io_profile *p, struct io_fds *t, pid_t tid)
{
	auto_buf folder = {0};
	if (!p->names->fd(p->names->ctx, tid, AT_FDCWD, &folder))
		return;
	if (!p->start.len)
		buf_adds(&p->start, buf_str(&folder));
	if (strcmp(buf_str(&p->start), buf_str(&folder)) != 0)
		buf_adds(&t->folder, buf_str(&folder));
}

void io_profile_find_names(struct io_profile *p, struct io_fds *t, pid_t tid)
{
	for (int fd = 0; fd < 3; fd++) {
		auto_buf path = {0};
		/* A recording contains the name of a descriptor only from the first call that uses it. */
		if (p->names->fd(p->names->ctx, tid, fd, &path))
			io_profile_open(p, t, tid, fd);
	}
	find_folder(p, t, tid);
}

/* Removes the last component of `out`. Returns false if there is none, or if it is "..". */
static bool remove_last(struct buf *out)
{
	const char *s = buf_str(out);
	const char *slash = strrchr(s, '/');
	const char *last = slash ? slash + 1 : s;
	if (!*last || strcmp(last, "..") == 0)
		return false;
	buf_truncate(out, slash && slash > s ? (size_t)(slash - s) : slash ? 1 : 0);
	return true;
}

/* Appends the components of `path`. The first of them may be "..", which removes the last component of `out`. */
static void add_components(struct buf *out, const char *path)
{
	bool is_first = true;
	for (size_t n; *path; path += n + (path[n] == '/')) {
		n = strcspn(path, "/");
		bool up = n == 2 && path[0] == '.' && path[1] == '.';
		if (n == 0 || (n == 1 && *path == '.'))
			continue;
		if (up && is_first && (remove_last(out) || strcmp(buf_str(out), "/") == 0))
			continue;
		is_first = is_first && up;
		if (out->len && buf_str(out)[out->len - 1] != '/')
			buf_addc(out, '/');
		buf_add(out, path, n);
	}
}

void io_path_join(struct buf *out, const char *folder, const char *path)
{
	if (!*path)
		return;
	if (*path == '/' || *folder == '/')
		buf_addc(out, '/');
	if (*path != '/')
		add_components(out, folder);
	add_components(out, path);
	if (!out->len)
		buf_addc(out, '.');
}
