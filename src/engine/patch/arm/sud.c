#include "engine/patch/arm/sud.h"

#include "base/helper.h"
#include "base/ptrace.h"
#include "engine/patch/code/agent.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/utsname.h>
#include <sys/wait.h>

/* Defined in linux/ptrace.h, which cannot be included together with sys/ptrace.h. */
#define PTRACE_SET_SUD 0x4210
struct sud_config {
	uint64_t mode, selector, offset, len;
};
#define SUD_OFF 0
#define SUD_ON  1

int sud_arm(pid_t tid, bool on, uint64_t selector)
{
	struct sud_config c = {.mode = SUD_OFF};
	if (on)
		c = (struct sud_config){SUD_ON, selector, AGENT_CODE, AGENT_AT(agent_allowed_end) - AGENT_CODE};
	return ptrace_retry(PTRACE_SET_SUD, tid, sizeof(c), &c) < 0 ? -errno : 0;
}

/* Turns dispatch on in a child. Returns 0 or -errno. */
static int try_on_child(void)
{
	pid_t pid = helper_seize();
	int status = 0;
	int r = pid < 0 ? pid : ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0 ? -errno : 0;
	if (r == 0 && waitpid(pid, &status, __WALL) < 0)
		r = -errno;
	if (r == 0)
		r = WIFSTOPPED(status) ? sud_arm(pid, true, 0) : -ECHILD;
	if (pid > 0)
		helper_kill(pid);
	return r;
}

/*
 * Returns true if PTRACE_SET_SUD surely works, so that try_on_child(), which takes 0.3 ms, is not needed. Linux 6.4 added
 * the request. The prctl(2) changes nothing, because dispatch is already off in sctrace. It fails if this architecture or
 * the kernel's configuration has no dispatch.
 */
static bool is_certain(void)
{
	struct utsname u;
	int major = 0, minor = 0;
	return uname(&u) == 0 && sscanf(u.release, "%d.%d", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 4)) &&
	       prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0) == 0;
}

int sud_probe(struct buf *why)
{
	static int known = 1; /* 1: not tried yet; the result is kept, because it does not change */
	if (known > 0)
		known = is_certain() ? 0 : try_on_child();
	if (known < 0)
		buf_addf(why,
			 "the kernel cannot enable Syscall User Dispatch for another process, which needs Linux 6.4 or "
			 "later: %s",
			 strerror(-known));
	return known;
}
