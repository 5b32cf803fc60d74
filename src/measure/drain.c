#include "measure/drain.h"

#include "base/buf.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Reads until the end of the pipe `in`, and then writes what was read to `result`. Keeps no other file open. */
static void read_all(int in, int result)
{
	static char data[64 * 1024];
	struct drained sum = {0};
	struct rusage u;
	long last = sysconf(_SC_OPEN_MAX);
	for (int fd = 0; fd < (last < 4096 ? last : 4096); fd++)
		if (fd != in && fd != result)
			close(fd);
	ssize_t n;
	while ((n = read(in, data, sizeof(data))) > 0 || (n < 0 && errno == EINTR))
		sum.bytes += n > 0 ? (uint64_t)n : 0;
	getrusage(RUSAGE_SELF, &u);
	sum.cpu_s = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
		    1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
	_exit(write(result, &sum, sizeof(sum)) < 0);
}

int drain_open(struct drain *d, struct buf *why)
{
	int pipes[2][2] = {{-1, -1}, {-1, -1}};
	int err = pipe2(pipes[0], O_CLOEXEC) < 0 || pipe2(pipes[1], O_CLOEXEC) < 0 ? -errno : 0;
	pid_t pid = err ? -1 : fork();
	if (pid == 0) {
		/* The parent of the reader ends at once, so that sctrace does not get the reader's end from wait(2). */
		if (fork() == 0)
			read_all(pipes[0][0], pipes[1][1]);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
	else if (!err)
		err = -errno;
	if (err < 0)
		buf_addf(why, "cannot start a process: %s", error_text(-err));
	*d = (struct drain){.fd = pipes[0][1], .result = pipes[1][0]};
	close(pipes[0][0]);
	close(pipes[1][1]);
	if (err < 0) {
		close(d->fd);
		close(d->result);
	}
	return err;
}

void drain_close(struct drain *d, struct drained *result)
{
	enum { PATIENCE_MS = 200 };
	struct pollfd end = {.fd = d->result, .events = POLLIN};
	*result = (struct drained){0};
	close(d->fd);
	if (poll(&end, 1, PATIENCE_MS) > 0 && read(d->result, result, sizeof(*result)) < (ssize_t)sizeof(*result))
		*result = (struct drained){0};
	close(d->result);
}
