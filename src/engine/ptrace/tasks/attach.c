#include "engine/ptrace/tasks/attach.h"

#include "base/error.h"
#include "tracee/proc.h"

#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Attached tasks have the options of started ones, but the kernel does not kill them when sctrace dies. */
static unsigned long attach_options(const struct tracer *t)
{
	return t->options & ~(unsigned long)PTRACE_O_EXITKILL;
}

void tracer_set_options(struct tracer *t, const struct task *task)
{
	bool measured = t->config.usage || task->proc->root || task->proc->attached;
	bool leader = task->tid == task->proc->pid && measured;
	unsigned long options = task->proc->attached ? attach_options(t) : t->options;
	if (!leader)
		options &= ~(unsigned long)PTRACE_O_TRACEEXIT;
	struct thread *k = thread_of(task);
	if (k->options != options && ptrace_retry(PTRACE_SETOPTIONS, task->tid, NULL, options) == 0)
		k->options = options;
}

enum { USER_NAME_SIZE = 64 };

static const char *user_name(uid_t uid, char name[static USER_NAME_SIZE])
{
	const struct passwd *found = getpwuid(uid);
	if (found)
		snprintf(name, USER_NAME_SIZE, "%s", found->pw_name);
	else
		snprintf(name, USER_NAME_SIZE, "%u", uid);
	return name;
}

pid_t attach_tracer_of(pid_t pid)
{
	struct proc_status s = {0};
	proc_status(pid, &s);
	return s.tracer;
}

/* Explains in one sentence why `pid` cannot be attached to. */
static void explain(pid_t pid, int err, struct buf *why)
{
	struct proc_status s = {0};
	struct stat st;
	char path[32], theirs[USER_NAME_SIZE], yours[USER_NAME_SIZE];
	const char *untraceable = err == ESRCH ? "no such process" : proc_why_untraceable(pid, &s);
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	buf_addf(why, "cannot attach to process %d: ", (int)pid);
	/* The owner of /proc/PID is the user of the process, or root if the process is not dumpable (proc(5)). */
	if (untraceable)
		buf_adds(why, untraceable);
	else if (s.tracer)
		buf_addf(why, "it is already traced by process %d; detach that tracer first", (int)s.tracer);
	else if (geteuid() != 0 && stat(path, &st) == 0 && st.st_uid != geteuid())
		buf_addf(why, "it belongs to user %s, and you are %s; run sctrace as that user or as root",
			 user_name(st.st_uid, theirs), user_name(geteuid(), yours));
	else
		buf_addf(why, "%s; see /proc/sys/kernel/yama/ptrace_scope, and check whether a capability is missing",
			 error_text(err));
}

/*
 * Returns true for a thread that the kernel refuses for a harmless reason. Either the thread is about to end, or
 * sctrace already traces it, because a traced thread created it and has not reported it yet (ptrace_attach() in
 * kernel/ptrace.c, PTRACE_O_TRACECLONE in ptrace(2)).
 */
static bool may_be_refused(pid_t tid)
{
	struct proc_status s;
	return proc_status(tid, &s) < 0 || s.state == 'Z' || s.state == 'X' || s.tracer == getpid();
}

/* Seizes one thread. Returns 1 if the thread is new, 0 if it was already seized or has ended, or -errno. */
static int seize(struct tracer *t, pid_t pid, pid_t tid)
{
	if (tasks_find(&t->tasks, tid))
		return 0;
	if (ptrace(PTRACE_SEIZE, tid, NULL, attach_options(t)) < 0)
		return errno == ESRCH && tid != pid ? 0 : -errno;
	struct task *task = tasks_add(&t->tasks, tid);
	tasks_join(&t->tasks, task, pid);
	task->proc->counted = task->proc->attached = task->proc->execed = true;
	t->serves_pages |= tid == pid && mem_serves_pages(pid);
	/* The thread must stop once, because only a stopped task can be resumed with PTRACE_SYSCALL. */
	ptrace_retry(PTRACE_INTERRUPT, tid, NULL, NULL);
	return 1;
}

/* Seizes the current threads. Returns the number of those that were not seized before, or -errno. */
static int seize_threads(struct tracer *t, pid_t pid)
{
	char path[40];
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *d = opendir(path);
	if (!d)
		return -errno;
	int found = 0;
	int r = 0;
	while (r >= 0) {
		errno = 0;
		const struct dirent *e = readdir(d);
		if (!e) {
			r = -errno; /* a thread that is missed would run code while that code is being changed */
			break;
		}
		pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);
		r = tid > 0 ? seize(t, pid, tid) : 0;
		if (r == -EPERM && may_be_refused(tid))
			r = 0;
		found += r > 0;
	}
	closedir(d);
	return r < 0 ? r : found;
}

int tracer_attach(struct tracer *t, pid_t pid, struct buf *why)
{
	/* The leader is seized first: if the kernel refuses the leader, it refuses the whole process. */
	int r = pid > 0 && pid != getpid() ? seize(t, pid, pid) : -ESRCH;
	if (r < 0) {
		if (pid == getpid())
			buf_addf(why, "cannot attach to process %d: it is sctrace itself", (int)pid);
		else
			explain(pid, -r, why);
		return r;
	}
	/* New threads may appear while /proc/PID/task is read. So it is read until it contains no new thread. */
	while ((r = seize_threads(t, pid)) > 0)
		;
	t->result.processes++;
	if (r == -ENOENT || r == -ESRCH)
		return 0; /* the process has ended in the meantime */
	if (r < 0)
		buf_addf(why, "cannot attach to all threads of process %d: %s", (int)pid, error_text(-r));
	return r;
}
