#include "engine/ptrace/loop/start.h"

#include "base/buf.h"
#include "base/error.h"
#include "engine/ptrace/state/event.h"
#include "engine/ptrace/tasks/attach.h"
#include "engine/ptrace/tasks/resume.h"
#include "engine/ptrace/wait/wait.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int tracer_pin(const struct engine_config *config, struct buf *why)
{
	int r = config->spawn.pin_tracer ? spawn_pin(&config->spawn) : 0;
	if (r < 0)
		buf_addf(why, "cannot keep the program on one CPU: %s", error_text(-r));
	return r;
}

/* Warns if the program does not gain its file's privileges, because the tracer does not have them (execve(2)). */
static void note_lost_privileges(struct tracer *t)
{
	struct stat st;
	int err;
	char *path = geteuid() == 0 ? NULL : spawn_find(t->config.spawn.argv[0], t->config.spawn.envp, &err);
	if (path && stat(path, &st) == 0 && st.st_mode & (S_ISUID | S_ISGID))
		tracer_note(t, "'%s' is a set-%s program; it runs without its privileges, because it is traced", path,
			    st.st_mode & S_ISUID ? "uid" : "gid");
	free(path);
}

/* Explains why the child that will execute the program cannot be traced. */
static void explain(const struct tracer *t, pid_t child, int err, struct buf *why)
{
	pid_t tracer = attach_tracer_of(child);
	buf_addf(why, "tracing '%s' is not permitted: ", t->config.spawn.argv[0]);
	if (tracer)
		buf_addf(why, "process %d traces sctrace and its children, and a process can have only one tracer",
			 (int)tracer);
	else
		buf_addf(why, "%s (a container must permit ptrace%s)", error_text(err),
			 access(ATTACH_YAMA, F_OK) == 0 ? "; see also " ATTACH_YAMA : "");
}

/* Starts the program, and resumes it from its first stop. Its next calls, which make the execve(2), will stop. */
static int start_program(struct tracer *t, struct buf *why)
{
	struct spawned child;
	int r = spawn_start(&t->config.spawn, &child, why);
	if (r < 0)
		return r;
	t->root.pid = child.pid;
	t->root.waits = true;
	t->root.go_fd = child.go_fd;
	t->root.err_fd = child.err_fd;
	if (ptrace(PTRACE_SEIZE, child.pid, NULL, t->options) < 0) {
		r = -errno;
		explain(t, child.pid, -r, why);
		return r;
	}
	struct task *task = tasks_add(&t->tasks, child.pid);
	tasks_join(&t->tasks, task, child.pid);
	task->fresh = false;
	task->proc->root = task->proc->counted = true;
	t->result.processes = t->result.threads = 1;
	/*
	 * The child blocks in read(2) on the pipe of spawn_go(). The child must stop once, because only a stopped task
	 * can be resumed in such a way that its next calls stop (PTRACE_SYSCALL).
	 */
	int status;
	if (ptrace_retry(PTRACE_INTERRUPT, child.pid, NULL, NULL) < 0)
		return -errno;
	r = tracer_wait_task(t, child.pid, &status);
	if (r < 0 || !WIFSTOPPED(status))
		return r < 0 ? r : -ECHILD;
	task->stopped = true;
	r = spawn_go(&child);
	t->root.waits = r < 0;
	tracer_resume(t, task);
	note_lost_privileges(t);
	return r;
}

static unsigned long options_for(const struct engine_config *config, const struct tracer *t)
{
	unsigned long o = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT;
	/* A child that is not followed must not be traced even for a moment, because it may have a tracer of its own. */
	if (config->follow || t->hold || t->ops->new_task)
		o |= PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
	/*
	 * New threads belong to the program, so they are traced even without -f. If clone(2) has created a process
	 * instead of a thread, this is recognised when the parent reports the new task.
	 */
	o |= PTRACE_O_TRACECLONE;
	if (t->filter)
		o |= PTRACE_O_TRACESECCOMP;
	if (t->filter || t->exit_kill || config->kill_on_exit)
		o |= PTRACE_O_EXITKILL;
	return o;
}

int tracer_start(struct tracer *t, const struct engine_config *config, struct buf *why)
{
	t->config = *config;
	t->options = options_for(config, t);
	pid_t earlier;
	ptrace_refused(&earlier); /* clears the refusals that probes and calibrations have recorded */
	int r = 0;
	if (config->spawn.argv)
		r = start_program(t, why);
	for (size_t i = 0; r == 0 && i < config->nattach; i++)
		r = tracer_attach(t, config->attach[i], why);
	if (r < 0 && t->root.pid && !t->root.waits)
		kill(t->root.pid, SIGKILL);
	if (r < 0 && !why->len)
		buf_adds(why, buf_str(&t->note)); /* the reason why tracing was given up */
	if (r < 0 && !why->len)
		buf_addf(why, "cannot start tracing: %s", error_text(-r));
	return r;
}
