/* SPDX-License-Identifier: MIT */
#include "trace/out.h"

#include "base/clock.h"
#include "base/diag.h"
#include "base/memory.h"
#include "base/outfile.h"
#include "tracee/names.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCK    32768
#define GRACE_NS NSEC_PER_SEC /* after a signal that asks sctrace to end, output waits this long for a reader */

static int open_command(struct trace_out *out, const char *command)
{
	int p[2];
	int r = outfile_pipe(p);
	if (r < 0)
		return r;
	pid_t pid = fork();
	if (pid == 0) {
		dup2(p[0], STDIN_FILENO);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	int err = errno;
	close(p[0]);
	if (pid < 0) {
		close(p[1]);
		return -err;
	}
	out->command = pid;
	out->fd = p[1];
	return 0;
}

static bool is_empty(int fd)
{
	struct stat st;
	return fstat(fd, &st) < 0 || st.st_size == 0;
}

static int cannot_open(const char *path, int r, struct buf *why)
{
	buf_addf(why, "cannot open '%s': %s", path, outfile_why(r));
	return r;
}

int trace_out_open(struct trace_out *out, const char *path, bool append, struct buf *why)
{
	*out = (struct trace_out){.fd = STDERR_FILENO, .eager = true, .empty = true};
	if (!path)
		return 0;
	out->eager = false;
	if (path[0] == '|' || path[0] == '!') {
		int r = open_command(out, path + 1);
		if (r < 0)
			buf_addf(why, "cannot run '%s': %s", path + 1, diag_error_text(-r));
		return r;
	}
	int fd = outfile_open(path, append ? O_APPEND : O_TRUNC, 0600);
	if (fd < 0)
		return cannot_open(path, fd, why);
	out->fd = fd;
	out->eager = isatty(fd);
	out->empty = is_empty(fd);
	out->path = memory_copy(path);
	return 0;
}

int trace_out_open_task(struct trace_out *out, const char *path, bool append, struct buf *why)
{
	*out = (struct trace_out){.fd = -1, .path = memory_copy(path)};
	int fd = outfile_open(out->path, append ? O_APPEND : O_TRUNC, 0600);
	if (fd < 0)
		return cannot_open(out->path, fd, why);
	out->empty = is_empty(fd);
	close(fd);
	return 0;
}

/* Appends the name of a program. A process can choose it (prctl(2)), so it must not lead to another folder. */
static void add_program(const char *program, struct buf *out)
{
	size_t begin = out->len;
	buf_adds(out, *program ? program : "unknown");
	for (size_t i = begin; i < out->len; i++) {
		unsigned char c = (unsigned char)out->s[i];
		if (c == '/' || c < 0x20 || c == 0x7f || (c == '.' && i == begin))
			out->s[i] = '_';
	}
}

void trace_out_name(const char *pattern, pid_t pid, pid_t tid, const char *program, struct buf *out)
{
	bool of_process = false, of_thread = false;
	for (const char *p = pattern; *p; p++) {
		char letter = *p == '%' ? p[1] : '\0';
		of_process |= letter == 'p';
		of_thread |= letter == 'i';
		if (letter == 'e')
			add_program(program, out);
		else if (letter == 'p' || letter == 'i')
			buf_addf(out, "%d", (int)(letter == 'p' ? pid : tid));
		else
			buf_addc(out, *p);
		p += letter && strchr("epi%", letter);
	}
	if (!of_thread && !(of_process && pid == tid))
		buf_addf(out, ".%d", (int)tid);
}

static void fail(struct trace_out *out, int err)
{
	out->failed = true;
	out->err = err;
}

/* If a block did not fit into the file, removes the last `done` bytes: half a table or line may look complete. */
static void take_back(const struct trace_out *out, int fd, size_t done)
{
	struct stat st;
	off_t at = out->path ? lseek(fd, 0, out->fd < 0 ? SEEK_END : SEEK_CUR) : -1;
	bool last = at >= (off_t)done && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == at;
	/* A failure of ftruncate(2) can be ignored: sctrace reports in any case that the file is incomplete. */
	(void)(last && ftruncate(fd, at - (off_t)done) == 0);
}

/* Waits until a write of PIPE_BUF bytes does not block (pipe(7)). Returns false if that takes too long. */
static bool can_write(int fd)
{
	uint64_t until = clock_ns() + GRACE_NS;
	int n;
	do
		n = poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, (int)(GRACE_NS / 1000000));
	while (n < 0 && clock_ns() < until);
	return n > 0;
}

static void write_all(struct trace_out *out, int fd)
{
	size_t done = 0;
	while (done < out->buf.len && !out->failed) {
		bool ending = out->stop && *out->stop;
		size_t most = ending ? PIPE_BUF : SIZE_MAX, left = out->buf.len - done;
		if (ending && !can_write(fd)) {
			fail(out, EINTR);
			break;
		}
		ssize_t n = write(fd, out->buf.s + done, left < most ? left : most);
		if (n >= 0)
			done += (size_t)n;
		else if (errno == EAGAIN)
			can_write(fd);
		else if (errno != EINTR)
			fail(out, errno);
	}
	if (out->failed && out->begun + done)
		take_back(out, fd, out->begun + done);
	const char *line = memrchr(out->buf.s, '\n', out->buf.len);
	out->begun = line ? (size_t)(out->buf.s + out->buf.len - line) - 1 : out->begun + out->buf.len;
}

void trace_out_flush(struct trace_out *out)
{
	if (out->buf.len && !out->failed) {
		int fd = out->fd >= 0 ? out->fd : outfile_open(out->path, O_APPEND, 0600);
		if (fd < 0)
			fail(out, -fd);
		else
			write_all(out, fd);
		if (out->fd < 0 && fd >= 0 && close(fd) < 0 && !out->failed)
			fail(out, errno);
	}
	buf_clear(&out->buf);
}

void trace_out_event(struct trace_out *out)
{
	if (out->buf.len >= (out->fd < 0 ? BLOCK / 8 : BLOCK))
		trace_out_flush(out);
}

void trace_out_idle(struct trace_out *out)
{
	if (out->eager)
		trace_out_flush(out);
}

int trace_out_close(struct trace_out *out, struct buf *why)
{
	trace_out_flush(out);
	if (out->fd > STDERR_FILENO && close(out->fd) < 0 && !out->failed)
		fail(out, errno);
	if (out->command)
		while (waitpid(out->command, NULL, 0) < 0 && errno == EINTR)
			if (out->stop && *out->stop)
				break;
	if (out->failed)
		buf_addf(why, "cannot write %s%s%s: %s", out->path ? "'" : "",
			 out->path                  ? out->path
			 : out->command             ? "to the command of -o"
			 : out->fd == STDOUT_FILENO ? "to standard output"
						    : "the trace",
			 out->path ? "'" : "",
			 out->err == EINTR ? "its reader does not read" : diag_error_text(out->err));
	int r = out->failed ? -out->err : 0;
	buf_free(&out->buf);
	free(out->path);
	out->path = NULL;
	return r;
}

static struct trace_out *open_own(struct trace_outputs *o, pid_t tid, const char *path)
{
	struct trace_out *own = memory_zeroed(1, sizeof(*own));
	map_put(&o->threads, (uint64_t)tid, own);
	auto_buf why = {0};
	bool append = o->append || map_get(&o->earlier, map_key(path));
	int r = trace_out_open_task(own, path, append, &why);
	if (r < 0) {
		trace_fail(o->failure, r, "%s", buf_str(&why));
		fail(own, -r);
	}
	map_put(&o->earlier, map_key(path), o);
	return own;
}

/* Appends the name of the program of a thread. sctrace's child has another name until it executes the program. */
static void program_of(const struct trace_outputs *o, const struct event *ev, struct buf *out)
{
	enum { COMM_MOST = 15 };
	const char *slash = o->program ? strrchr(o->program, '/') : NULL;
	const char *known = map_get(&o->programs, (uint64_t)ev->tid);
	if (ev->kind == EV_ENTER && ev->launch && o->program)
		buf_addf(out, "%.*s", COMM_MOST, slash ? slash + 1 : o->program);
	else if (known)
		buf_adds(out, known);
	else if (o->names)
		o->names->comm(o->names->ctx, ev->tid, out);
}

struct trace_out *trace_outputs_begin(struct trace_outputs *o, const struct event *ev)
{
	struct trace_out *own = o->separate ? map_get(&o->threads, (uint64_t)ev->tid) : &o->common;
	if (own && !own->stale)
		return own;
	auto_buf program = {0}, path = {0};
	if (strstr(o->separate, "%e"))
		program_of(o, ev, &program);
	trace_out_name(o->separate, ev->pid, ev->tid, buf_str(&program), &path);
	if (own && strcmp(own->path, buf_str(&path)) != 0) {
		trace_outputs_gone(o, ev->tid);
		own = NULL;
	}
	if (own)
		own->stale = false;
	else
		own = open_own(o, ev->tid, buf_str(&path));
	return own;
}

struct trace_out *trace_outputs_of(struct trace_outputs *o, pid_t tid)
{
	struct trace_out *own = o->separate ? map_get(&o->threads, (uint64_t)tid) : &o->common;
	return own ? own : trace_outputs_begin(o, &(struct event){.kind = EV_DEATH, .tid = tid, .pid = tid});
}

/* Notes that the program of `tid` is the one that `of` has now. */
static void note_program(struct trace_outputs *o, pid_t tid, pid_t of)
{
	auto_buf name = {0};
	free(map_remove(&o->programs, (uint64_t)tid));
	if (o->separate && o->names && strstr(o->separate, "%e"))
		o->names->comm(o->names->ctx, of, &name);
	if (name.len)
		map_put(&o->programs, (uint64_t)tid, memory_copy(buf_str(&name)));
}

void trace_outputs_created(struct trace_outputs *o, pid_t tid, pid_t child)
{
	note_program(o, child, tid);
}

void trace_outputs_exec(struct trace_outputs *o, pid_t tid)
{
	struct trace_out *own = o->separate ? map_get(&o->threads, (uint64_t)tid) : NULL;
	if (own)
		own->stale = true;
	note_program(o, tid, tid);
}

void trace_outputs_gone(struct trace_outputs *o, pid_t tid)
{
	struct trace_out *own = map_get(&o->threads, (uint64_t)tid);
	auto_buf why = {0};
	free(map_remove(&o->programs, (uint64_t)tid));
	if (!own)
		return;
	map_remove(&o->threads, (uint64_t)tid);
	if (trace_out_close(own, &why) < 0)
		trace_fail(o->failure, -EIO, "%s", buf_str(&why));
	free(own);
}

void trace_outputs_free(struct trace_outputs *o)
{
	map_free(&o->threads);
	map_free(&o->programs);
	map_free(&o->earlier);
}

void trace_fail(struct trace_failure *f, int err, const char *fmt, ...)
{
	if (f->err || !err)
		return;
	va_list ap;
	va_start(ap, fmt);
	buf_addv(&f->why, fmt, ap);
	va_end(ap);
	f->err = err;
}
