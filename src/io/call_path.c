/* What calls with a path do: they look it up, open or remove a file, or change the current directory. */
#include "base/buf.h"
#include "base/size.h"
#include "io/call.h"
#include "io/path.h"
#include "tracee/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

/* Appends `path`, argument `arg`, after its directory: that of a descriptor, or the current one after chdir(2). */
static void add_argument(const struct io_context *x, int arg, const struct buf *path, struct buf *out)
{
	bool at = arg > 0 && x->c->desc->args[arg - 1].kind == K_DIRFD;
	const struct io_open *folder = at ? io_open_of(x, arg - 1) : NULL;
	io_path_join(out, folder ? folder->file->row.name : buf_str(&x->t->folder), buf_str(path));
}

static void add_path(const struct io_context *x, struct buf *out)
{
	add_argument(x, io_find_kind(x->c, K_PATH), &x->k->path, out);
}

static uint64_t open_flags(const struct io_context *x)
{
	uint64_t flags = O_CREAT | O_WRONLY | O_TRUNC; /* these are the flags of creat(2) */
	int arg = io_find_kind(x->c, K_OPEN_FLAGS);
	int how = io_find_kind(x->c, K_OPEN_HOW);
	if (arg >= 0)
		flags = x->c->args[arg];
	else if (how >= 0 && (!x->ev->mem || mem_get(x->ev->mem, x->c->args[how], &flags, sizeof(flags)) < 0))
		flags = 0;
	return flags;
}

/* Returns the number in a path that names a descriptor of the process: /dev/fd/3, /dev/stdin. Returns -1 for others. */
static int descriptor_in(const char *path)
{
	static const char *const standard[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
	int64_t n;
	for (int i = 0; i < 3; i++)
		if (strcmp(path, standard[i]) == 0)
			return i;
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		size_t len = strlen(folders[i]);
		if (strncmp(path, folders[i], len) == 0 && number_parse(path + len, 0, INT_MAX, &n) == 0)
			return (int)n;
	}
	return -1;
}

static struct io_file *file_of_path(const struct io_context *x)
{
	struct buf path = {0};
	add_path(x, &path);
	int fd = descriptor_in(buf_str(&path));
	/* Such a path does not name the same file each time: the shell uses /dev/fd/63 for each <(command). */
	const struct io_open *o = x->c->error ? NULL : io_profile_open(x->p, x->t, x->ev->tid, fd);
	struct io_file *f = o ? o->file : path.len ? io_profile_file(x->p, buf_str(&path)) : NULL;
	buf_free(&path);
	return f;
}

/* Counts a call that looked up the path of `f`. The call is a repetition if the last such call had the same answer. */
static void count_answer(const struct io_context *x, struct io_file *f, enum io_answer answer, struct io_repeats *r)
{
	io_repeats_add(r, f->answer == answer, x->ev->pid, x->ns, x->spread_ns);
	f->answer = answer;
}

/* Returns true if the call failed. Counts the failure if the file does not exist. */
static bool count_failed(const struct io_context *x, struct io_file *f)
{
	if (!x->c->error)
		return false;
	if (x->c->err == ENOENT || x->c->err == ENOTDIR)
		count_answer(x, f, IO_ABSENT, &f->failed_again);
	return true;
}

/* Records that the path of `f` names another file, or no file, from now on. */
static void replace(struct io_file *f)
{
	f->answer = IO_UNKNOWN;
	io_file_truncate(f, 0);
}

void io_leave_remove(const struct io_context *x)
{
	struct io_file *f = x->c->error ? NULL : file_of_path(x);
	int second = io_find_second_path(x->c);
	struct buf to = {0};
	if (f)
		replace(f);
	if (!f || second < 0 || !x->k->new_path.len)
		return;
	/* rename(2): the new path names the file that had the old path. */
	add_argument(x, second, &x->k->new_path, &to);
	f = io_profile_known_file(x->p, buf_str(&to));
	if (f)
		replace(f);
	buf_free(&to);
}

/* With O_TMPFILE, the path is a directory, and the call creates a file in it that has no name. */
static struct io_file *unnamed_file(const struct io_context *x)
{
	struct buf name = {0};
	add_path(x, &name);
	buf_addf(&name, "/(unnamed file %u)", ++x->p->unnamed);
	struct io_file *f = io_profile_pathless(x->p, buf_str(&name), IO_FILE);
	buf_free(&name);
	return f;
}

void io_leave_open(const struct io_context *x)
{
	uint64_t flags = open_flags(x);
	bool unnamed = !x->c->error && (flags & O_TMPFILE) == O_TMPFILE;
	struct io_file *f = unnamed ? unnamed_file(x) : file_of_path(x);
	if (!f || count_failed(x, f))
		return;
	f->row.opens++;
	f->directory |= (flags & O_DIRECTORY) != 0;
	io_count_call(x, f);
	if (flags & O_CREAT && flags & O_EXCL)
		f->answer = IO_UNKNOWN; /* the call has created another file than the one of this path before */
	count_answer(x, f, IO_PRESENT, &f->opened_again);
	if (flags & O_TRUNC)
		io_file_truncate(f, 0);
	io_set_fd(x, f, (int)x->c->result, flags & O_CLOEXEC);
	const struct io_fd *d = io_fds_get(x->t, (int)x->c->result);
	if (d) {
		d->open->append = flags & O_APPEND;
		d->open->direct = flags & O_DIRECT;
		d->open->synced = flags & O_DSYNC; /* O_SYNC contains this bit */
	}
}

void io_leave_stat(const struct io_context *x)
{
	struct io_file *f = file_of_path(x);
	int folder = io_find_kind(x->c, K_DIRFD);
	/* With an empty path, the call operates on the descriptor itself (AT_EMPTY_PATH); fstat(3) uses this. */
	const struct io_open *o = !f && folder >= 0 ? io_open_of(x, folder) : NULL;
	if (o)
		io_count_call(x, o->file);
	if (f && !count_failed(x, f))
		count_answer(x, f, IO_PRESENT, &f->stated_again);
}

void io_leave_chdir(const struct io_context *x)
{
	const struct io_open *o = x->row->fd >= 0 ? io_open_of(x, 0) : NULL;
	struct buf to = {0};
	if (x->c->error || (x->row->fd >= 0 && !o))
		return;
	if (o)
		buf_adds(&to, o->file->row.name);
	else
		add_path(x, &to);
	buf_free(&x->t->folder);
	x->t->folder = to;
}

void io_leave_truncate(const struct io_context *x)
{
	struct io_open *o = x->row->fd >= 0 ? io_open_of(x, 0) : NULL;
	struct io_file *f = o ? o->file : x->row->fd < 0 ? file_of_path(x) : NULL;
	if (f && !x->c->error)
		io_file_truncate(f, io_offset_of(x, 1));
}
