/* SPDX-License-Identifier: MIT */
#include "engine/patch/patch.h"

#include "arch/arch.h"
#include "base/clock.h"
#include "base/helper.h"
#include "engine/costs.h"
#include "engine/patch/arm/arm.h"
#include "engine/patch/image/image.h"
#include "engine/patch/image/region.h"
#include "engine/patch/image/setup.h"
#include "engine/ptrace/tracer.h"
#include "syscall/call_table.h"

#include <errno.h>
#include <math.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BATCHES = 9, BATCH = 300, COUNTED = 3000 };

struct probe {
	double native_ns;
	_Atomic int ready, go;
	bool failed;
};

/*
 * Calls getppid(2) once without measuring it, then BATCH times with as few other instructions as possible. Returns the
 * time at which the measured calls began.
 */
static uint64_t make_batch(void)
{
	syscall(SYS_getppid);
	const uint64_t start = clock_ns();
	for (int i = 0; i < BATCH; i++)
		arch_bare_call(SYS_getppid);
	return start;
}

static double native_cost(void)
{
	double best = INFINITY;
	for (int b = 0; b < BATCHES; b++) {
		uint64_t start = make_batch();
		double ns = (double)(clock_ns() - start) / BATCH;
		best = ns < best ? ns : best;
	}
	return best;
}

static void __attribute__((noreturn)) child(struct probe *p, struct call_filter *filter)
{
	p->native_ns = native_cost();
	/*
	 * Once the filter is installed, calls fail until the tracer has attached. Failing calls do not matter in the
	 * loop below, which only waits for the tracer.
	 */
	p->failed = filter->code && call_filter_install(filter) < 0;
	p->ready = 1;
	while (!p->go)
		syscall(SYS_sched_yield);
	for (int i = 0; i < COUNTED / BATCH; i++)
		make_batch();
	_exit(0);
}

/* Puts the agent into a running child of sctrace, which is then stopped and p->t.current. Returns 0 or -errno. */
static int adopt(struct patch *p, pid_t pid)
{
	struct cpu_regs r, saved;
	int status;
	struct tracer *t = &p->t;
	t->config.want = CAP_COUNTS;
	long options =
		PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | (p->arming == ARM_FILTER ? PTRACE_O_TRACESECCOMP : 0);
	if (ptrace(PTRACE_SEIZE, pid, NULL, options) < 0)
		return -errno;
	struct task *task = tasks_add(&t->tasks, pid);
	tasks_join(&t->tasks, task, pid);
	children_give_state(task);
	task->fresh = false;
	task->proc->counted = true;
	task->proc->image = image_new();
	if (ptrace_retry(PTRACE_INTERRUPT, pid, NULL, NULL) < 0 || tracer_wait_task(t, pid, &status) < 0 ||
	    !WIFSTOPPED(status) || cpu_get(pid, &r) < 0)
		return -ECHILD;
	task->stopped = true;
	saved = r;
	/* The child has only run its loop (above), so it is not in a call that began before the agent was mapped. */
	image_of(task)->start.observed = true;
	uint64_t at = tracer_entry_point(pid);
	int err = at ? setup_image(p, task, at, &saved, NULL) : -ENOEXEC;
	cpu_set(pid, &saved);
	arm_task(p, task, true);
	t->current = task;
	return err;
}

static int run_child(struct patch *p, pid_t pid, struct probe *probe)
{
	struct event ev;
	if (!tracer_await_child(pid, &probe->ready))
		return -ECHILD;
	int r = probe->failed ? -ENOTSUP : adopt(p, pid);
	if (r < 0)
		return r;
	probe->go = 1;
	tracer_resume(&p->t, p->t.current);
	p->t.current = NULL;
	while ((r = tracer_next(&p->t.base, &ev)) > 0 || r == -EINTR)
		;
	return r;
}

/* Called if the child has not ended by itself: kills the child, and frees the state of its tasks. */
static void end_child(struct patch *p, pid_t pid)
{
	struct task *task = tasks_find(&p->t.tasks, pid);
	helper_kill(pid);
	if (task)
		tracer_forget(&p->t, task);
}

/*
 * Sets the traced time to the mean time of the undisturbed calls (those below the 90th percentile), and the spread to
 * the standard deviation that the quartiles have.
 */
static int read_cost(struct patch *p, double native_ns, struct cost_numbers *cost)
{
	region_collect_all(&p->t);
	struct summary_group *g = summary_group(&p->t.counts, "", -1);
	struct call_stats *c = summary_call(&p->t.counts, g, syscall_native_arch(), SYS_getppid);
	if (c->returned < COUNTED)
		return -EIO;
	double sum = 0;
	uint64_t n = 0;
	double limit = hist_quantile(&c->hist, 0.9);
	for (uint32_t i = 0; i < c->hist.n; i++) {
		uint32_t b = c->hist.first + i;
		double mid = ((double)hist_bucket_low(b) + (double)hist_bucket_low(b + 1) - 1) / 2;
		if (mid > limit)
			break;
		sum += mid * (double)c->hist.count[i];
		n += c->hist.count[i];
	}
	cost->v[COST_TRACED] = sum / (double)n;
	cost->v[COST_NATIVE] = native_ns;
	cost->v[COST_SPREAD] = hist_sd(&c->hist);
	cost->v[COST_TICK] = p->tick_ns;
	return 0;
}

int patch_calibrate(struct patch *p, struct cost_numbers *cost)
{
	struct probe *probe = mmap(NULL, sizeof(*probe), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (probe == MAP_FAILED)
		return -errno;
	if (p->arming == ARM_FILTER)
		arm_filter_build(&p->filter);
	pid_t pid = helper_fork();
	if (pid == 0)
		child(probe, &p->filter);
	int r = pid < 0 ? -errno : run_child(p, pid, probe);
	if (r == 0)
		r = read_cost(p, probe->native_ns, cost);
	else if (pid > 0)
		end_child(p, pid);
	munmap(probe, sizeof(*probe));
	call_filter_free(&p->filter);
	return r;
}
