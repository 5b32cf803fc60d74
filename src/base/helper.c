#include "base/helper.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t helper_fork(void)
{
	const pid_t parent = getpid();
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent) /* the parent exited before prctl() was called */
			_exit(0);
		syscall(SYS_close_range, 0, ~0U, 0);
	}
	return pid;
}

void helper_kill(pid_t pid)
{
	int r = -1;
	for (int tries = 0; r < 0 && tries < 3; tries++)
		r = kill(pid, SIGKILL);
	while (r == 0 && waitpid(pid, NULL, __WALL) < 0)
		r = errno == EINTR ? 0 : -1;
}
