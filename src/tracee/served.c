#include "tracee/served.h"

#include "base/buf.h"
#include "base/clock.h"
#include "tracee/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_served_type(const char *type)
{
	static const char *const types[] = {"fuse", "fuseblk", "nfs", "nfs4", "cifs",     "smb3",
					    "9p",   "ceph",    "afs", "coda", "orangefs", "lustre"};
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (strcmp(type, types[i]) == 0)
			return true;
	return strncmp(type, "fuse.", 5) == 0;
}

bool served_device(pid_t pid, uint64_t dev)
{
	struct buf text = {0};
	struct proc_mount m;
	char want[32];
	bool served = false;
	snprintf(want, sizeof(want), " %u:%u ", (unsigned)(dev >> 32), (unsigned)dev);
	int r = proc_read(pid, "mountinfo", &text);
	for (const char *line = buf_str(&text); r == 0 && !served && *line; line += *line == '\n') {
		size_t n = strcspn(line, "\n");
		const char *at = strstr(line, want);
		/* The third word of the line is the device. */
		bool same = at && at < line + n && at - line < 24 && memchr(line, ' ', (size_t)(at - line));
		served = same && proc_mount_parse(line, &m) && is_served_type(m.type);
		line += n;
	}
	buf_free(&text);
	return served;
}

enum { COPY_MOST = 512 << 20, COPY_PART = 1 << 20, COPY_FD = 3, DONE_FD = 4 };

/* In the helper: copies the file to COPY_FD, and writes a byte to DONE_FD after each part, and 'e' at the end. */
static void __attribute__((noreturn)) copy_all(const char *path)
{
	struct stat st;
	int from = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = from >= 0 && fstat(from, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= COPY_MOST ? 1 : -1;
	while (n > 0) {
		n = sendfile(COPY_FD, from, NULL, COPY_PART);
		if (n >= 0 && write(DONE_FD, n ? "p" : "e", 1) != 1)
			break;
	}
	_exit(0);
}

/*
 * Starts the helper as an orphan, because sctrace waits for all of its children as tracees. If the server does not
 * answer, the helper cannot be killed until it does (request_wait_answer() in fs/fuse/dev.c), and nobody waits for it.
 */
static int start_copy(const char *path, int copy, int done)
{
	pid_t middle = fork();
	if (middle == 0) {
		if (fork() != 0)
			_exit(0);
		const int high[] = {fcntl(copy, F_DUPFD, 10), fcntl(done, F_DUPFD, 10)};
		if (high[0] < 0 || high[1] < 0 || dup2(high[0], COPY_FD) < 0 || dup2(high[1], DONE_FD) < 0)
			_exit(0);
		for (int fd = 0; fd < COPY_FD; fd++)
			close(fd);
		syscall(SYS_close_range, DONE_FD + 1, ~0U, 0);
		copy_all(path);
	}
	int r = middle < 0 ? -errno : 0;
	while (middle > 0 && waitpid(middle, NULL, 0) < 0 && errno == EINTR)
		;
	return r;
}

/* Waits for the helper. Returns 0 or -errno. */
static int await_copy(int done)
{
	char said = 'p';
	while (said == 'p') {
		struct pollfd p = {done, POLLIN, 0};
		/* sctrace's timer interrupts poll(2) again and again. */
		const uint64_t until = clock_ns() + SERVED_PATIENCE_MS * UINT64_C(1000000);
		int n;
		while ((n = poll(&p, 1, SERVED_PATIENCE_MS)) < 0 && errno == EINTR && clock_ns() < until)
			;
		if (n <= 0)
			return -ETIMEDOUT;
		if (read(done, &said, 1) != 1)
			return -EIO;
	}
	return 0;
}

int served_copy(const char *path)
{
	int pipes[2];
	int copy = memfd_create("sctrace", MFD_CLOEXEC);
	int r = copy < 0 || pipe2(pipes, O_CLOEXEC) < 0 ? -errno : 0;
	if (r == 0) {
		r = start_copy(path, copy, pipes[1]);
		close(pipes[1]);
		r = r < 0 ? r : await_copy(pipes[0]);
		close(pipes[0]);
	}
	if (r == 0 && lseek(copy, 0, SEEK_SET) == 0)
		return copy;
	if (copy >= 0)
		close(copy);
	return r < 0 ? r : -EIO;
}

int served_open(pid_t pid, const char *name)
{
	char path[64];
	struct statx st;
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	int r = proc_stat(path, &st);
	if (r < 0)
		return r;
	bool served = served_device(pid, (uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor);
	return served ? served_copy(path) : proc_open(pid, name);
}
