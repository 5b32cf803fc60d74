#include "engine/ptrace/loop/batch.h"

#include "base/clock.h"
#include "engine/ptrace/tasks/births.h"
#include "engine/ptrace/wait/wait.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* Stops that are taken from the kernel at once: all that wait are served before any is served twice. */
#define WAIT_BATCH 256

/*
 * Blocks for the first stop. A birth is told at once after the child's first stop, or never: a leader that was killed
 * before does not even report its death while that child, its thread, is there. So it is not waited for without end.
 */
static pid_t wait_first(struct tracer *t, int *status, struct rusage *usage)
{
	while (t->unborn && !t->failed && !(t->config.woken && *t->config.woken)) {
		pid_t tid = tracer_wait(t, -1, status, WNOHANG, usage);
		if (tid)
			return tid;
		clock_sleep_ns(1000000);
		tracer_adopt_orphans(t);
	}
	if (t->failed)
		return t->failed;
	pid_t tid = tracer_spin(t, -1, status, usage);
	if (tid == 0 && t->config.woken && *t->config.woken)
		return -EINTR; /* a signal came meanwhile, and would not wake the sleep to come */
	return tid ? tid : tracer_wait(t, -1, status, 0, usage);
}

/* How often one task alone is taken before the others are asked for again. */
#define LONE_MAX 4

/*
 * wait4(2) looks at one task after the other, always in the same order: who is far behind waits as long as those before have
 * stops. So all are taken before the first is served, but where it was one alone that had stopped, not each time.
 */
static bool takes_more(struct tracer *t)
{
	if (t->waited.n > 1)
		t->lone = 0;
	return t->waited.n < WAIT_BATCH && tasks_count(&t->tasks) > 1 &&
	       (t->waited.n > 1 || t->lone == 0 || t->lone == LONE_MAX);
}

int tracer_take_waiting(struct tracer *t)
{
	t->waited.n = t->next_waited = 0;
	if (t->unborn)
		tracer_adopt_orphans(t);
	t->lone = t->lone < LONE_MAX ? t->lone + 1 : 1;
	do {
		int status = 0;
		struct rusage usage = {0};
		pid_t tid = t->waited.n ? tracer_wait(t, -1, &status, WNOHANG, &usage) : wait_first(t, &status, &usage);
		if (tid <= 0 && t->waited.n)
			break;
		if (tid <= 0)
			return tid ? tid : -EINTR;
		if (tid == t->root && !WIFSTOPPED(status))
			t->result.usage = usage;
		uint64_t rss = WIFSTOPPED(status) ? 0 : (uint64_t)usage.ru_maxrss * 1024;
		if (!vec_push(&t->waited, (struct wait_status){tid, status, rss}))
			return -ENOMEM;
	} while (takes_more(t));
	return 0;
}
