/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/helper.h"
#include "engine/costs.h"
#include "engine/ptrace/tracer.h"
#include "syscall/call_table.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BATCHES = 9, BATCH = 200, TRACED = 100 };

/* Memory shared with the child. */
struct probe {
	cpu_set_t cpus; /* where the child runs while it is traced; if empty, where the scheduler lets it run */
	double native_ns;
	_Atomic int ready, go;
};

static void __attribute__((noreturn)) child(struct probe *p)
{
	p->native_ns = costs_native(BATCHES, BATCH);
	p->ready = 1;
	while (!p->go)
		syscall(SYS_sched_yield);
	sched_setaffinity(0, sizeof(p->cpus), &p->cpus);
	costs_make_calls(TRACED);
	_exit(0);
}

bool tracer_await_child(pid_t pid, const _Atomic int *ready)
{
	while (!*ready) {
		siginfo_t end = {0};
		if (waitid(P_PID, (id_t)pid, &end, WEXITED | WNOWAIT | WNOHANG) < 0 || end.si_pid)
			return false;
		syscall(SYS_sched_yield);
	}
	return true;
}

static const struct tracer_ops default_ops;

/*
 * Keeps sctrace on the CPU on which it runs. Sets *child to the CPUs for the child: the same CPU, or the others if
 * sctrace polls. `allowed` are the CPUs that sctrace may use, or NULL if they are not known. If sctrace cannot choose its
 * CPU, *child stays empty.
 */
static void choose_cpus(const cpu_set_t *allowed, enum noticed how, cpu_set_t *child)
{
	cpu_set_t here;
	int cpu = sched_getcpu();
	CPU_ZERO(&here);
	if (cpu >= 0 && cpu < CPU_SETSIZE)
		CPU_SET((size_t)cpu, &here);
	if (!allowed || sched_setaffinity(0, sizeof(here), &here) < 0)
		return;
	if (how == NOTICED_POLLING)
		CPU_XOR(child, allowed, &here);
	else
		*child = here;
}

/* Traces the child, and adds its calls to the tracer's counts. Before it is traced, the child runs on any CPU. */
static int trace_child(struct tracer *t, pid_t pid, struct probe *p, const cpu_set_t *allowed, enum noticed how)
{
	struct event ev;
	int status;
	if (!tracer_await_child(pid, &p->ready))
		return -ECHILD;
	if (ptrace(PTRACE_SEIZE, pid, NULL, (long)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)) < 0)
		return -errno;
	struct task *task = tasks_add(&t->tasks, pid);
	tasks_join(&t->tasks, task, pid);
	task->fresh = false;
	task->proc->counted = true;
	if (ptrace_retry(PTRACE_INTERRUPT, pid, NULL, NULL) < 0 || tracer_wait_task(t, pid, &status) < 0 ||
	    !WIFSTOPPED(status))
		return -ECHILD;
	task->stopped = true;
	choose_cpus(allowed, how, &p->cpus);
	p->go = 1;
	tracer_resume(t, task);
	int r;
	while ((r = tracer_next(&t->base, &ev)) > 0 || r == -EINTR)
		;
	return r;
}

/* The traced time of getppid(2) is its median, and the spread is that of its quartiles. */
static int read_cost(struct tracer *t, double native_ns, struct cost_numbers *n)
{
	struct summary_group *g = summary_group(&t->counts, "", -1);
	const struct call_stats *c = summary_call(&t->counts, g, syscall_native_arch(), SYS_getppid);
	if (c->returned < TRACED)
		return -EIO;
	n->v[COST_TRACED] = hist_quantile(&c->hist, 0.5);
	n->v[COST_NATIVE] = native_ns;
	n->v[COST_SPREAD] = hist_sd(&c->hist);
	return 0;
}

/* Measures the cost of a call whose end is noticed in the way `how`. Returns 0 or -errno. */
static int measure(const cpu_set_t *allowed, enum noticed how, struct cost_numbers *n)
{
	struct probe *p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return -errno;
	pid_t pid = helper_fork();
	if (pid == 0)
		child(p);
	struct tracer t = {.calibrating = true};
	tracer_init(&t, &default_ops);
	t.config.want = CAP_COUNTS;
	t.waits.spin.may = how == NOTICED_POLLING ? 1 : -1;
	int r = pid < 0 ? -errno : trace_child(&t, pid, p, allowed, how);
	if (allowed)
		sched_setaffinity(0, sizeof(*allowed), allowed);
	if (r == 0)
		r = read_cost(&t, p->native_ns, n);
	else if (pid > 0)
		helper_kill(pid);
	tracer_free(&t);
	munmap(p, sizeof(*p));
	return r;
}

/* Finds the cost of a call whose end is noticed in the way `how`. */
static void calibrate(struct costs *kept, const cpu_set_t *allowed, enum noticed how, struct tracer_cost *cost)
{
	static const char *const names[] = {
		[NOTICED_ASLEEP] = "ptrace, one CPU",
		[NOTICED_POLLING] = "ptrace, two CPUs",
	};
	struct cost_numbers n = {0}, measured = {0};
	*cost = (struct tracer_cost){0};
	if (costs_find(kept, names[how], &n) < 0)
		for (int i = 0; i < COSTS_TRIES && (i == 0 || cost_of(&n) <= 0); i++)
			if ((cost->err = measure(allowed, how, &measured)) == 0)
				costs_keep(kept, names[how], &measured, &n);
	cost->ns = cost_of(&n);
	cost->spread_ns = n.v[COST_SPREAD];
}

void tracer_calibrate(struct costs *kept, struct tracer_cost cost[NOTICED_WAYS])
{
	cpu_set_t set;
	const cpu_set_t *allowed = sched_getaffinity(0, sizeof(set), &set) == 0 ? &set : NULL;
	calibrate(kept, allowed, NOTICED_ASLEEP, &cost[NOTICED_ASLEEP]);
	cost[NOTICED_POLLING] = cost[NOTICED_ASLEEP];
	if (cost[NOTICED_ASLEEP].ns > 0 && allowed && CPU_COUNT(allowed) > 1)
		calibrate(kept, allowed, NOTICED_POLLING, &cost[NOTICED_POLLING]);
}

void tracer_cost_unknown(const struct tracer_cost *cost, struct buf *out)
{
	const char *why = cost->err == -ECHILD ? "the process that measures it ended too early"
			  : cost->err == -EIO  ? "some calls of the process that measures it were not counted"
			  : cost->err          ? strerror(-cost->err)
					       : "the measured cost was not above zero";
	buf_addf(out, "the cost of tracing could not be measured (%s) and is part of the times above", why);
}
