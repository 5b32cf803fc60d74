/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/size.h"
#include "io/call.h"
#include "io/profile.h"
#include "tracee/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <string.h>
#include <sys/socket.h>

/* What calls do that create pipes, sockets, and descriptors that are not files. */
#define SOCK_TYPE 0xf /* the type in the second argument of socket(2), without flags (linux/net.h) */

enum { ALWAYS = -1 };

/* Which argument and which bit of it say that execve(2) closes the new descriptor. */
static const struct {
	const char *call;
	int arg; /* ALWAYS: the call has no such bit, and the descriptor is always closed */
	uint64_t bit;
} close_on_exec[] = {
	{"pipe2", 1, O_CLOEXEC},
	{"socket", 1, SOCK_CLOEXEC},
	{"socketpair", 1, SOCK_CLOEXEC},
	{"accept4", 3, SOCK_CLOEXEC},
	{"epoll_create1", 0, O_CLOEXEC},
	{"eventfd2", 1, O_CLOEXEC},
	{"signalfd4", 3, O_CLOEXEC},
	{"timerfd_create", 1, O_CLOEXEC},
	{"inotify_init1", 0, O_CLOEXEC},
	{"userfaultfd", 0, O_CLOEXEC},
	{"mq_open", 1, O_CLOEXEC},
	{"open_by_handle_at", 2, O_CLOEXEC},
	{"open_tree", 2, O_CLOEXEC},
	{"memfd_secret", 0, O_CLOEXEC},
	{"memfd_create", 1, 1},    /* MFD_CLOEXEC */
	{"fanotify_init", 0, 1},   /* FAN_CLOEXEC */
	{"fsopen", 1, 1},          /* FSOPEN_CLOEXEC */
	{"fsmount", 1, 1},         /* FSMOUNT_CLOEXEC */
	{"fspick", 2, 1},          /* FSPICK_CLOEXEC */
	{"perf_event_open", 4, 8}, /* PERF_FLAG_FD_CLOEXEC */
	{"pidfd_open", ALWAYS, 0},
	{"pidfd_getfd", ALWAYS, 0},
	{"io_uring_setup", ALWAYS, 0},
	{"landlock_create_ruleset", ALWAYS, 0},
};

static bool closes_on_exec(const struct io_context *x)
{
	for (size_t i = 0; i < sizeof(close_on_exec) / sizeof(*close_on_exec); i++)
		if (io_is_call(x, close_on_exec[i].call))
			return close_on_exec[i].arg == ALWAYS ||
			       x->c->args[close_on_exec[i].arg] & close_on_exec[i].bit;
	return false;
}

void io_leave_pair(const struct io_context *x)
{
	int fds[2];
	int arg = syscall_find_kind(x->c, K_OUT_FD_PAIR);
	bool pipes = !io_is_call(x, "socketpair");
	auto_buf name = {0};
	if (x->c->error || !x->ev->mem || mem_get(x->ev->mem, x->c->args[arg], fds, sizeof(fds)) < 0)
		return;
	buf_addf(&name, "%s %u", pipes ? "pipe" : "socket pair", pipes ? ++x->p->pipes : ++x->p->sockets);
	struct io_file *f = io_profile_pathless(x->p, buf_str(&name), pipes ? IO_PIPE : IO_SOCKET);
	f->row.opens += 2;
	f->created = pipes;
	f->messages = !pipes && (x->c->args[1] & SOCK_TYPE) != SOCK_STREAM;
	io_count_call(x, f);
	for (int i = 0; i < 2; i++)
		io_set_fd(x, f, fds[i], closes_on_exec(x));
}

/* The call has returned a descriptor of a file without a path, which is named "KIND NUMBER", or "KIND" if `number` is 0. */
static struct io_file *created(const struct io_context *x, const char *kind, unsigned number, enum io_kind type)
{
	auto_buf name = {0};
	buf_adds(&name, kind);
	if (number)
		buf_addf(&name, " %u", number);
	struct io_file *f = io_profile_pathless(x->p, buf_str(&name), type);
	f->row.opens++;
	io_count_call(x, f);
	io_set_fd(x, f, (int)x->c->result, closes_on_exec(x));
	return f;
}

void io_leave_socket(const struct io_context *x)
{
	if (x->c->error)
		return;
	struct io_file *f = created(x, "socket", ++x->p->sockets, IO_SOCKET);
	f->messages = io_is_call(x, "socket") && (x->c->args[1] & SOCK_TYPE) != SOCK_STREAM;
}

void io_leave_other_fd(const struct io_context *x)
{
	if (!x->c->error)
		created(x, x->c->desc->name, 0, IO_OTHER);
}

void io_leave_memfd(const struct io_context *x)
{
	if (!x->c->error)
		created(x, "memfd", ++x->p->memfds, IO_FILE);
}

/* Requests with several buffers or messages, which the memory of the program describes. */
#define BUFFERS_MAX  64
#define MESSAGES_MAX 1024 /* UIO_MAXIOV (linux/uio.h): Linux handles at most this many messages in one call */

bool io_is_32bit(const struct call *c)
{
	return !(c->arch & __AUDIT_ARCH_64BIT);
}

int64_t io_buffers_length(const struct call *c, const struct mem *m, uint64_t addr, uint64_t n)
{
	/* Addresses and lengths in turn. */
	union {
		uint64_t wide[2 * BUFFERS_MAX];
		uint32_t narrow[2 * BUFFERS_MAX];
	} iov;
	size_t word = syscall_word_size(c);
	int64_t sum = 0;
	if (n > BUFFERS_MAX || !m || mem_get(m, addr, &iov, 2 * n * word) < 0)
		return -1;
	for (uint64_t i = 0; i < n; i++)
		sum += (int64_t)io_at_most(word == 8 ? iov.wide[2 * i + 1] : iov.narrow[2 * i + 1], IO_BYTES_MAX);
	return sum;
}

/* Returns the number of bytes in the first `n` struct mmsghdr of the call, in which the kernel has stored their sizes. */
static uint64_t messages_length(const struct call *c, const struct mem *m, uint64_t n)
{
	/* struct mmsghdr: a struct msghdr of seven words, the size, and padding to a whole word. */
	size_t word = syscall_word_size(c);
	uint64_t sum = 0;
	uint32_t size;
	for (uint64_t i = 0, addr = c->args[1]; i < n && n <= MESSAGES_MAX && m; i++, addr += 8 * word)
		if (mem_get(m, addr + 7 * word, &size, sizeof(size)) == 0)
			sum += size;
	return sum;
}

void io_leave_messages(const struct io_context *x)
{
	struct io_open *o = io_open_of(x, 0);
	enum io_direction d = x->row->direction;
	if (!o || x->c->error)
		return;
	uint64_t bytes = messages_length(x->c, x->ev->mem, (uint64_t)x->c->result);
	io_count_transfer(x, o->file, d);
	if (bytes && !io_peeks(x))
		io_file_request(o, &(struct io_request){.direction = d,
							.asked = bytes,
							.bytes = bytes,
							.waited = io_waited(x),
							.ns = x->ns,
							.spread_ns = x->spread_ns,
							.pid = x->ev->pid,
							.time_s = io_time_of(x)});
}

/* What calls with a path do: they look it up, open or remove a file, or change the current directory. */
/* Appends `path`, argument `arg`, after its directory: that of a descriptor, or the current one after chdir(2). */
static void add_argument(const struct io_context *x, int arg, const struct buf *path, struct buf *out)
{
	bool at = arg > 0 && x->c->desc->args[arg - 1].kind == K_DIRFD;
	const struct io_open *folder = at ? io_open_of(x, arg - 1) : NULL;
	io_path_join(out, folder ? folder->file->row.name : buf_str(&x->t->folder), buf_str(path));
}

static void add_path(const struct io_context *x, struct buf *out)
{
	add_argument(x, syscall_find_kind(x->c, K_PATH), &x->k->path, out);
}

static uint64_t open_flags(const struct io_context *x)
{
	uint64_t flags = O_CREAT | O_WRONLY | O_TRUNC; /* these are the flags of creat(2) */
	int arg = syscall_find_kind(x->c, K_OPEN_FLAGS);
	int how = syscall_find_kind(x->c, K_OPEN_HOW);
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
	auto_buf path = {0};
	add_path(x, &path);
	int fd = descriptor_in(buf_str(&path));
	/* Such a path does not name the same file each time: the shell uses /dev/fd/63 for each <(command). */
	const struct io_open *o = x->c->error ? NULL : io_profile_open(x->p, x->t, x->ev->tid, fd);
	struct io_file *f = o ? o->file : path.len ? io_profile_file(x->p, buf_str(&path)) : NULL;
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
	auto_buf to = {0};
	if (f)
		replace(f);
	if (!f || second < 0 || !x->k->new_path.len)
		return;
	/* rename(2): the new path names the file that had the old path. */
	add_argument(x, second, &x->k->new_path, &to);
	f = io_profile_known_file(x->p, buf_str(&to));
	if (f)
		replace(f);
}

/* With O_TMPFILE, the path is a directory, and the call creates a file in it that has no name. */
static struct io_file *unnamed_file(const struct io_context *x)
{
	auto_buf name = {0};
	add_path(x, &name);
	buf_addf(&name, "/(unnamed file %u)", ++x->p->unnamed);
	struct io_file *f = io_profile_pathless(x->p, buf_str(&name), IO_FILE);
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
	int folder = syscall_find_kind(x->c, K_DIRFD);
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
