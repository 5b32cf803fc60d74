#include "engine/ptrace/state/give_up.h"

#include "engine/ptrace/state/event.h"

#include <signal.h>
#include <stdarg.h>
#include <string.h>

void tracer_kill(struct engine *e, int sig)
{
	struct tracer *t = (struct tracer *)e;
	if (sig == SIGKILL)
		t->config.woken = NULL; /* signals to sctrace no longer interrupt the wait for the ends of the killed
					 * tasks */
	struct process *p;
	for (size_t i = 0; (p = map_next(&t->tasks.processes, &i, NULL));)
		if (!p->attached && !(p->root && t->root.waits))
			kill(p->pid, sig);
}

int tracer_give_up(struct tracer *t, int err, const char *fmt, ...)
{
	if (t->failed)
		return t->failed;
	struct buf text = {0};
	va_list ap;
	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	tracer_note(t, "%s: %s", buf_str(&text), strerror(-err));
	buf_free(&text);
	t->failed = err;
	tracer_kill(&t->base, SIGKILL);
	if (t->ops->gave_up)
		t->ops->gave_up(t);
	return err;
}

void tracer_check_refused(struct tracer *t)
{
	pid_t tid;
	int err = ptrace_refused(&tid);
	if (err)
		tracer_give_up(t, -err, "cannot trace task %d any further", (int)tid);
}
