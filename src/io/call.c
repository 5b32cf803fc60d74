/* SPDX-License-Identifier: MIT */
/* What each system call does to descriptors and files. */
#include "io/call.h"
#include "base/buf.h"
#include "syscall/uring_ops.h"
#include "tracee/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NONE = -1 }; /* the call has no such argument */

static void duplicate(const struct io_context *x, bool cloexec)
{
	struct io_open *o = io_open_of(x, 0);
	if (!o || x->c->error || x->c->result == io_fd_of(x, 0))
		return;
	o->refs++;
	io_fds_set(x->t, (int)x->c->result, o, cloexec, true);
}

static void leave_dup(const struct io_context *x)
{
	duplicate(x, io_is_call(x, "dup3") && x->c->args[2] & O_CLOEXEC);
}

static void leave_fcntl(const struct io_context *x)
{
	const struct io_fd *d = io_fds_get(x->t, io_fd_of(x, 0));
	int command = io_fd_of(x, 1);
	if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
		duplicate(x, command == F_DUPFD_CLOEXEC);
	else if (d && !x->c->error && command == F_SETFL) {
		d->open->append = x->c->args[2] & O_APPEND;
		d->open->direct = x->c->args[2] & O_DIRECT;
	} else if (d && !x->c->error && command == F_SETFD)
		((struct io_fd *)d)->cloexec = x->c->args[2] & FD_CLOEXEC;
}

static void leave_close(const struct io_context *x)
{
	const struct io_open *o = io_open_of(x, 0);
	if (o && !x->c->error)
		io_tally_add(&o->file->close, x->ns, x->spread_ns);
	/* The same buffer may hold other data when the program writes again. A program that copies keeps the file open. */
	if (o && x->k->from == o->file)
		x->k->from = NULL;
	io_fds_close(x->t, io_fd_of(x, 0)); /* Linux closes the descriptor even if close(2) reports an error */
}

#define RANGE_UNSHARE 2u /* CLOSE_RANGE_UNSHARE, CLOSE_RANGE_CLOEXEC (linux/close_range.h) */
#define RANGE_CLOEXEC 4u

/* If the process shares its table with others (CLONE_FILES), gives it a copy. Returns the table of the process. */
static struct io_fds *unshared_table(const struct io_context *x)
{
	if (x->t->refs == 1)
		return x->t;
	struct io_fds *own = io_fds_copy(x->t);
	io_fds_drop(x->t);
	map_put(&x->p->processes, (uint64_t)x->ev->pid, own);
	return own;
}

static void leave_close_range(const struct io_context *x)
{
	uint32_t first = (uint32_t)x->c->args[0], last = (uint32_t)x->c->args[1];
	if (x->c->error)
		return;
	struct io_fds *t = x->c->args[2] & RANGE_UNSHARE ? unshared_table(x) : x->t;
	if (x->c->args[2] & RANGE_CLOEXEC)
		io_fds_close_on_exec(t, first, last);
	else
		io_fds_close_range(t, first, last, false);
}

#define UNSHARE_FILES 0x400u /* CLONE_FILES (linux/sched.h) */

static void leave_unshare(const struct io_context *x)
{
	if (!x->c->error && x->c->args[0] & UNSHARE_FILES)
		unshared_table(x);
}

static void leave_seek(const struct io_context *x)
{
	struct io_open *o = io_open_of(x, 0);
	if (!o || x->c->error)
		return;
	uint64_t to = (uint64_t)x->c->result;
	/* _llseek(2) of 32-bit programs stores the new offset in memory. */
	int at = syscall_find_kind(x->c, K_OUT_OFF_AT);
	if (at >= 0 && (!x->ev->mem || mem_get(x->ev->mem, x->c->args[at], &to, sizeof(to)) < 0))
		return;
	int whence = syscall_find_kind(x->c, K_WHENCE);
	bool to_end = x->c->args[1] == 0 && (at < 0 || x->c->args[2] == 0); /* _llseek(2) has two halves of an offset */
	if (whence >= 0 && io_fd_of(x, whence) == SEEK_END && to_end)
		o->file->size = to;
	o->file->row.seeks++;
	o->file->row.seeks_without_effect += to == o->pos;
	io_tally_add(&o->file->seek, x->ns, x->spread_ns);
	io_file_seek(o, to);
}

static void leave_sync(const struct io_context *x)
{
	const struct io_open *o = io_open_of(x, 0);
	if (!o || x->c->error)
		return;
	struct io_file *f = o->file;
	f->row.syncs++;
	f->least_sync_ns = f->sync.n > 0 && f->least_sync_ns < x->ns ? f->least_sync_ns : x->ns;
	io_tally_add(&f->sync, x->ns, x->spread_ns);
}

static void leave_mmap(const struct io_context *x)
{
	const struct io_open *o = io_open_of(x, 4);
	if (!o || x->c->error)
		return;
	o->file->row.mmaps++;
	o->file->mapped = true;
	o->file->executable |= x->c->args[2] & PROT_EXEC;
}

static void leave_submit(const struct io_context *x)
{
	if (!x->c->error)
		x->p->submitted += (double)x->c->result;
}

/* Returns how many bytes were requested; the result if unknown (for messages, or many buffers). */
static uint64_t asked(const struct io_context *x)
{
	const struct io_call *r = x->row;
	uint64_t n = r->size < 0 ? 0 : x->c->args[r->size];
	uint16_t kind = r->buf < 0 ? K_END : x->c->desc->args[r->buf].kind;
	if (r->size >= 0 && kind != K_IN_IOVEC && kind != K_OUT_IOVEC)
		return n;
	int64_t sum = r->size < 0 ? -1 : io_buffers_length(x->c, x->ev->mem, x->c->args[r->buf], n);
	return sum < 0 ? (uint64_t)x->c->result : (uint64_t)sum;
}

#define RWF_SYNCED 0x6u /* RWF_DSYNC, RWF_SYNC (linux/fs.h) */

/* Returns true if the call is a write that waits for the disk. */
static bool is_synced(const struct io_context *x, const struct io_open *o)
{
	int flags = syscall_find_kind(x->c, K_RWF_FLAGS);
	bool here = flags >= 0 && x->c->args[flags] & RWF_SYNCED;
	return x->row->direction == IO_WRITE && (o->synced || here);
}

/* Remembers the buffer of a read. Finds out whether a write wrote exactly what the last read stored in this buffer. */
static void note_copy(const struct io_context *x, const struct io_open *o, uint64_t bytes, bool whole)
{
	struct io_thread *k = x->k;
	struct io_file *f = o->file;
	uint64_t buf = x->row->buf >= 0 ? x->c->args[x->row->buf] : 0;
	if (x->row->direction == IO_READ) {
		k->from = f;
		k->buf = buf;
		k->bytes = bytes;
		k->whole = whole;
		k->direct = o->direct;
		k->ns = x->ns;
		k->waited = io_waited(x);
		return;
	}
	/*
	 * The kernel would copy through the page cache, which a program with O_DIRECT does not want. The time of a
	 * synchronous write is spent on the disk and not on copying.
	 */
	bool direct = k->direct || o->direct || is_synced(x, o);
	if (!direct && k->from && k->from != f && k->from->kind == IO_FILE && f->kind == IO_FILE && k->buf == buf &&
	    k->bytes == bytes && bytes < IO_BUFFER) {
		io_tally_add_judged(&f->copied, x->ns + k->ns, 2 * x->spread_ns, k->waited || io_waited(x));
		f->copied_from = k->from;
	}
	k->from = NULL;
}

#define SECTOR 512u /* O_DIRECT requires multiples of the device's block size (open(2)), which is at least 512 */

static void note_direct(const struct io_context *x, const struct io_open *o, uint64_t size)
{
	bool refused = x->c->error && x->c->err == EINVAL;
	uint64_t offset = x->row->offset >= 0 ? io_offset_of(x, x->row->offset) : o->pos;
	if (o->direct && (refused || (!x->c->error && x->c->result > 0 && (size % SECTOR || offset % SECTOR))))
		io_tally_add(&o->file->unaligned, x->ns, x->spread_ns);
}

/*
 * Returns true if a process may send requests through one pipe and receive the answers through the other. The other
 * ends of both pipes then belong to one process. It is not known if children are not traced. Pipes that existed before
 * the trace began are taken for the input and the output of a filter; see maybe_converse().
 */
static bool converse(const struct io_context *x, const struct io_file *in, const struct io_file *out)
{
	pid_t writer = in->users[IO_WRITE], reader = out->users[IO_READ];
	return in->created && out->created && writer == reader && (writer || !x->p->children);
}

/*
 * Returns true if a process may converse through these pipes as above, because they existed before the trace began. It
 * is not known then who uses their other ends.
 */
static bool maybe_converse(const struct io_file *in, const struct io_file *out)
{
	return in != out && !in->created && !out->created;
}

/* Like io_file_turns(), but also examines the last pipe that the process used. Remembers the pipe that it uses now. */
static bool turns(const struct io_context *x, const struct io_open *o)
{
	struct io_file *f = o->file;
	struct io_fds *t = x->t;
	enum io_direction d = x->row->direction;
	if (f->kind != IO_PIPE)
		return io_file_turns(o, d);
	bool other_way = t->pipe && t->pipe_direction != d;
	bool is = other_way && (d == IO_READ ? converse(x, f, t->pipe) : converse(x, t->pipe, f));
	f->maybe_turns += other_way && maybe_converse(f, t->pipe);
	f->users[d] = x->ev->pid;
	t->pipe = f;
	t->pipe_direction = d;
	return is;
}

static void leave_transfer(const struct io_context *x)
{
	const struct io_call *r = x->row;
	struct io_open *o = io_open_of(x, r->fd);
	if (!o)
		return;
	struct io_file *f = o->file;
	uint64_t size = x->c->error ? 0 : io_at_most(asked(x), IO_BYTES_MAX);
	note_direct(x, o, size);
	if (x->c->error && x->c->err == EAGAIN)
		io_tally_add(&f->again_later, x->ns, x->spread_ns);
	if (x->c->error)
		return;
	uint64_t bytes = (uint64_t)x->c->result;
	io_count_transfer(x, f, r->direction);
	if (!bytes || io_peeks(x))
		return;
	bool whole = r->size >= 0 && bytes == size;
	/* A write of all the bytes that a short read returned could not have been larger. */
	const struct io_thread *k = x->k;
	if (r->direction == IO_WRITE && k->from && !k->whole && k->buf == x->c->args[1] && k->bytes == bytes)
		whole = false;
	bool in_turns = turns(x, o);
	if (r->direction == IO_WRITE && k->writes_line && whole && !in_turns)
		io_file_line(o, (double)bytes, x->ns, x->spread_ns);
	note_copy(x, o, bytes, whole);
	bool positioned = r->offset >= 0 && io_offset_of(x, r->offset) != UINT64_MAX; /* an offset of -1 means the
										    * current position (preadv2(2)) */
	io_file_request(o, &(struct io_request){.direction = r->direction,
						.positioned = positioned,
						.offset = positioned ? io_offset_of(x, r->offset) : 0,
						.asked = size,
						.bytes = bytes,
						.joins = whole,
						.turns = in_turns,
						.synced = is_synced(x, o),
						.waited = io_waited(x),
						.ns = x->ns,
						.spread_ns = x->spread_ns,
						.pid = x->ev->pid,
						.time_s = io_time_of(x)});
}

/* Adds one half of a call between two descriptors. `offset`: index of the pointer to the offset for `fd`, or -1. */
static void move_side(const struct io_context *x, int fd, int offset, enum io_direction direction, uint64_t size)
{
	struct io_open *o = io_open_of(x, fd);
	uint64_t bytes = (uint64_t)x->c->result;
	if (!o)
		return;
	io_count_transfer(x, o->file, direction);
	bool positioned = offset >= 0 && x->k->positioned >> offset & 1;
	if (!bytes)
		return;
	io_file_request(o, &(struct io_request){.direction = direction,
						.positioned = positioned,
						.offset = positioned ? x->k->offsets[offset] : 0,
						.asked = io_at_most(size, IO_BYTES_MAX),
						.bytes = bytes,
						.synced = direction == IO_WRITE && o->synced,
						.waited = io_waited(x),
						.ns = x->ns / 2,
						.spread_ns = x->spread_ns,
						.pid = x->ev->pid,
						.time_s = io_time_of(x)});
}

/* Indexes in the table: `fd`, the descriptor that is read; `offset`, the pointer to its offset; `buf`, the other. */
static void leave_move(const struct io_context *x)
{
	const struct io_call *r = x->row;
	if (x->c->error)
		return;
	move_side(x, r->fd, r->offset, IO_READ, x->c->args[r->size]);
	move_side(x, r->buf, r->offset == 1 ? 3 : -1, IO_WRITE, x->c->args[r->size]);
	const struct io_open *out = io_open_of(x, r->buf);
	/* The caller has counted the call for the file that is read. Count it for the other file as well. */
	const struct io_open *in = io_open_of(x, r->fd);
	if (in && out && in->file != out->file)
		io_count_call(x, out->file);
}

/* The bytes stay in the pipe that tee(2) reads, so they count as read only when another call takes them. */
static void leave_tee(const struct io_context *x)
{
	if (x->c->error)
		return;
	move_side(x, 1, NONE, IO_WRITE, x->c->args[2]);
	const struct io_open *in = io_open_of(x, 0), *out = io_open_of(x, 1);
	if (in && out && in->file != out->file)
		io_count_call(x, out->file);
}

/*
 * Returns true if the timeout of the call is zero, so that the call does not wait. In the table, `size` is the index of
 * the timeout if it is a number. If `size` is -1, `offset` is the index of a pointer to the timeout. Must be called at
 * the start of the call, because select(2) replaces the timeout by the time that is left.
 */
static bool does_not_wait(const struct io_call *r, const struct event *ev)
{
	const struct call *c = &ev->call;
	if (r->size >= 0)
		return (int)c->args[r->size] == 0;
	/* A struct timespec or timeval. Older calls of 32-bit programs have one of two numbers of 32 bits. */
	bool narrow = io_is_32bit(c) && c->desc->args[r->offset].kind != K_TIMESPEC64 &&
		      strcmp(c->desc->name, "epoll_pwait2") != 0;
	unsigned char time[16], none[16] = {0};
	size_t n = narrow ? 8 : 16;
	return c->args[r->offset] && mem_get(ev->mem, c->args[r->offset], time, n) == 0 && memcmp(time, none, n) == 0;
}

static void leave_poll(const struct io_context *x)
{
	x->p->polls_in_all++;
	if (!x->c->error && x->c->result == 0 && x->k->does_not_wait)
		io_tally_add(&x->p->polls, x->ns, x->spread_ns);
}

static const struct io_call calls[] = {
	{"read readv recvfrom recv", leave_transfer, 0, 1, 2, NONE, IO_READ},
	{"write writev sendto send", leave_transfer, 0, 1, 2, NONE, IO_WRITE},
	{"pread64 preadv preadv2", leave_transfer, 0, 1, 2, 3, IO_READ},
	{"pwrite64 pwritev pwritev2", leave_transfer, 0, 1, 2, 3, IO_WRITE},
	{"recvmsg", leave_transfer, 0, NONE, NONE, NONE, IO_READ},
	{"sendmsg", leave_transfer, 0, NONE, NONE, NONE, IO_WRITE},
	{"recvmmsg recvmmsg_time64", io_leave_messages, 0, NONE, NONE, NONE, IO_READ},
	{"sendmmsg", io_leave_messages, 0, NONE, NONE, NONE, IO_WRITE},
	{"vmsplice", leave_transfer, 0, 1, 2, NONE, IO_WRITE},
	{"tee", leave_tee, 0, NONE, NONE, NONE, IO_READ},
	{"sendfile sendfile64", leave_move, 1, 0, 3, 2, IO_READ},
	{"splice copy_file_range", leave_move, 0, 2, 4, 1, IO_READ},
	{"open openat openat2 creat", io_leave_open, NONE, NONE, NONE, NONE, IO_READ},
	{"pipe pipe2 socketpair", io_leave_pair, NONE, NONE, NONE, NONE, IO_READ},
	{"memfd_create", io_leave_memfd, NONE, NONE, NONE, NONE, IO_READ},
	{"socket", io_leave_socket, NONE, NONE, NONE, NONE, IO_READ},
	{"accept accept4", io_leave_socket, 0, NONE, NONE, NONE, IO_READ},
	{"dup dup2 dup3", leave_dup, 0, NONE, NONE, NONE, IO_READ},
	{"fcntl fcntl64", leave_fcntl, 0, NONE, NONE, NONE, IO_READ},
	{"close", leave_close, 0, NONE, NONE, NONE, IO_READ},
	{"close_range", leave_close_range, NONE, NONE, NONE, NONE, IO_READ},
	{"unshare", leave_unshare, NONE, NONE, NONE, NONE, IO_READ},
	{"chdir", io_leave_chdir, NONE, NONE, NONE, NONE, IO_READ},
	{"fchdir", io_leave_chdir, 0, NONE, NONE, NONE, IO_READ},
	{"lseek _llseek", leave_seek, 0, NONE, NONE, NONE, IO_READ},
	{"ftruncate ftruncate64", io_leave_truncate, 0, NONE, NONE, NONE, IO_READ},
	{"truncate truncate64", io_leave_truncate, NONE, NONE, NONE, NONE, IO_READ},
	{"fsync fdatasync sync_file_range syncfs", leave_sync, 0, NONE, NONE, NONE, IO_READ},
	{"mmap mmap2", leave_mmap, 4, NONE, NONE, NONE, IO_READ},
	{"io_submit", leave_submit, NONE, NONE, NONE, NONE, IO_READ},
	{"unlink unlinkat rmdir rename renameat renameat2", io_leave_remove, NONE, NONE, NONE, NONE, IO_READ},
	{"stat lstat newfstatat statx stat64 lstat64 fstatat64 access faccessat faccessat2 readlink readlinkat",
	 io_leave_stat, NONE, NONE, NONE, NONE, IO_READ},
	{"poll", leave_poll, NONE, NONE, 2, NONE, IO_READ},
	{"ppoll ppoll_time64", leave_poll, NONE, NONE, NONE, 2, IO_READ},
	{"select _newselect pselect6 pselect6_time64", leave_poll, NONE, NONE, NONE, 4, IO_READ},
	{"epoll_wait epoll_pwait", leave_poll, NONE, NONE, 3, NONE, IO_READ},
	{"epoll_pwait2", leave_poll, NONE, NONE, NONE, 3, IO_READ},
};

static const struct io_call other_fd = {"", io_leave_other_fd, NONE, NONE, NONE, NONE, IO_READ};

/* Returns true if `name` is one of the words of `names`. */
static bool is_among(const char *names, const char *name)
{
	for (size_t n; *names; names += n + (names[n] == ' ')) {
		n = strcspn(names, " ");
		if (strncmp(names, name, n) == 0 && !name[n])
			return true;
	}
	return false;
}

void io_calls_init(struct io_profile *p)
{
	const struct syscall_desc *d;
	for (size_t k = 0; (d = syscall_row(k)); k++) {
		const struct io_call *row = d->result == R_FD ? &other_fd : NULL;
		for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
			if (is_among(calls[i].names, d->name))
				row = &calls[i];
		if (row)
			map_put(&p->calls, (uintptr_t)d, (void *)(uintptr_t)row);
	}
}

static void read_path(const struct event *ev, int arg, struct buf *out)
{
	char path[PATH_MAX];
	int ended = 0;
	ssize_t n = mem_string(ev->mem, ev->call.args[arg], path, sizeof(path), &ended);
	if (n > 0 && ended)
		buf_add(out, path, (size_t)n);
}

static bool points_to_offset(uint16_t kind)
{
	return kind == K_OFF_PTR || kind == K_MOVED_OFF_PTR || kind == K_MOVED_OFF_PTR64;
}

/* Reads the offsets that the call takes from memory. Recordings contain them only as they were before the call. */
static void read_offsets(struct io_thread *k, const struct event *ev)
{
	const struct call *c = &ev->call;
	for (unsigned i = 0; i < c->desc->nargs; i++)
		if (points_to_offset(c->desc->args[i].kind) && c->args[i] &&
		    mem_get(ev->mem, c->args[i], &k->offsets[i],
			    c->desc->args[i].kind == K_MOVED_OFF_PTR && io_is_32bit(c) ? 4 : 8) == 0)
			k->positioned |= 1u << i;
}

void io_call_enter(const struct io_profile *p, struct io_thread *k, const struct event *ev)
{
	const struct call *c = &ev->call;
	const struct io_call *row = map_get(&p->calls, (uintptr_t)c->desc);
	char last = 0;
	buf_clear(&k->path);
	buf_clear(&k->new_path);
	k->writes_line = false;
	k->does_not_wait = false;
	k->positioned = 0;
	memset(k->offsets, 0, sizeof(k->offsets)); /* reading an offset of 32 bits sets only one half */
	if (!row || !ev->mem)
		return;
	if (row->leave == leave_move)
		read_offsets(k, ev);
	if (row->leave == leave_poll)
		k->does_not_wait = does_not_wait(row, ev);
	int path = syscall_find_kind(c, K_PATH);
	int second = row->leave == io_leave_remove ? io_find_second_path(c) : -1;
	if (path >= 0)
		read_path(ev, path, &k->path);
	if (second >= 0)
		read_path(ev, second, &k->new_path);
	uint64_t n = row->size >= 0 ? c->args[row->size] : 0;
	bool may_be_line = row->leave == leave_transfer && row->direction == IO_WRITE && row->buf >= 0;
	if (may_be_line && n > 0 && n <= IO_LINE_MAX)
		k->writes_line = mem_get(ev->mem, c->args[row->buf] + n - 1, &last, 1) == 0 && last == '\n';
}

/* Returns the index of the descriptor argument of a call that is not in the table. */
static int first_fd(const struct call *c)
{
	int ring = syscall_find_kind(c, K_URING_FD),
	    arg = ring >= 0 && !uring_is_index(c) ? ring : syscall_find_kind(c, K_FD);
	int path = syscall_find_kind(c, K_PATH);
	return path < 0 ? arg : -1;
}

void io_call_leave(struct io_profile *p, struct io_fds *t, struct io_thread *k, const struct event *ev)
{
	const struct call *c = &ev->call;
	if (!c->desc)
		return;
	const struct io_call *row = map_get(&p->calls, (uintptr_t)c->desc);
	double ns = call_own_ns(c);
	/* If tracing takes longer than the call itself, the own time may be wrong by the cost of tracing. */
	uint64_t doubt_ns = ns < (double)c->cost_ns && c->cost_ns > c->spread_ns ? c->cost_ns : c->spread_ns;
	struct io_context x = {p, t, k, ev, c, row, ns > 0 ? ns : 0, (double)doubt_ns};
	int arg = row ? row->fd : first_fd(c);
	bool is_open = !c->error || c->err != EBADF;
	const struct io_open *o = is_open ? io_open_of(&x, arg) : NULL;
	if (o)
		io_count_call(&x, o->file);
	if (row && is_open)
		row->leave(&x);
}
