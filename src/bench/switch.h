/* SPDX-License-Identifier: MIT */
/* `bench switch`: measures the cost of switching between tasks, and counts the switches to prove that they happened. */
#ifndef SCTRACE_BENCH_SWITCH_H
#define SCTRACE_BENCH_SWITCH_H

#include "base/buf.h"
#include "base/memory.h"
#include "bench/place.h"
#include "bench/stop.h"

#include <mqueue.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* One of the two tasks of a pair. */
struct switch_side {
	int read_fd, write_fd; /* this task waits on read_fd; the other one wakes it by writing to write_fd */
	mqd_t queue;
	_Atomic uint32_t word; /* the word that futex(2) works on; 1 means that the task may continue */
	pid_t pid, tid;
	uint64_t rounds;
	uint64_t voluntary, involuntary; /* context switches of this task in all rounds */
};

/* Two tasks that take turns. This struct is in memory that they share. The measuring process is side[0]. */
struct switch_pair {
	struct switch_side side[2];
	char why[256]; /* if not empty: which system call of a task failed, and why */
	atomic_bool stop, ready;
	size_t message; /* size in bytes of the messages that are written to descriptors */
	size_t size; /* each task changes a byte in each cache line of this much memory, its working set, at each turn */
	struct place_policy policy;
	int cpu[2];
};

struct switch_kind {
	const char *name;
	const char *about;
	enum switch_tasks { TASKS_PROCESSES, TASKS_THREADS, TASKS_USER } tasks;
	int (*open)(struct switch_pair *p, struct buf *why); /* creates pipes, queues or the like, before the second
							      * task exists; returns 0, or -errno with the reason in
							      * `why`; may be NULL */
	void (*wake)(struct switch_pair *p, int side);       /* lets the task side[`side`] continue */
	void (*wait)(struct switch_pair *p, int side);       /* blocks the calling task, which is side[`side`], until
							      * it may continue */
	bool yields;                /* the task never sleeps, so the kernel counts its switches as involuntary */
	void (*rounds)(uint64_t n); /* TASKS_USER: switches `n` times to the other stack and back, without the
				     * kernel's scheduler */
};

/* Returns row `i` of the table of mechanisms, or NULL after the last row. */
const struct switch_kind *switch_kind_at(size_t i);
/* Returns the mechanism with this name, or NULL. */
const struct switch_kind *switch_kind_find(const char *name);

/*
 * Called when a system call that the turns need has failed. Stores `what` and the text of errno in p->why, and kills
 * the measuring process, because it may be waiting for a turn.
 */
_Noreturn void switch_give_up(struct switch_pair *p, const char *what);

struct switch_plan {
	size_t samples;
	uint64_t sample_ns; /* duration of the rounds whose mean is one sample */
	uint64_t limit_ns;  /* time limit for each mechanism */
	size_t size;        /* each task touches this many bytes of memory in each turn */
	int cpu[2];         /* the CPUs of the two tasks; equal: switches are measured; not equal: wake-ups */
	/*
	 * With SCHED_BATCH every switch is voluntary: a task with that policy does not preempt the task that woke it
	 * (check_preempt_wakeup_fair() in the kernel's kernel/sched/fair.c), so the waking task continues until it
	 * sleeps.
	 */
	struct place_policy policy;
	struct progress progress;
};

struct switch_result {
	const struct switch_kind *kind;
	int cpu[2];
	VEC(double) ns;                /* samples: ns for each switch or wake-up, without the mechanism's own cost */
	double round_ns;               /* median time of a round, in which each task has one turn */
	double own_ns;                 /* the mechanism's own cost: median time of a wake, a wait and an access to the
					* working set by a single task, without a switch */
	double voluntary, involuntary; /* context switches of both tasks in each round, as counted by getrusage(2) */
	double per_round;              /* the number of switches by which the time of a round was divided */
	uint64_t rounds;
	struct buf why; /* if not empty: why the mechanism cannot run on this machine */
};

/* Returns the cost of one switch: (round_ns - turns * own_ns) / switches. `turns` is the number of turns in a round. */
double switch_solve(double round_ns, double own_ns, double turns, double switches);
/*
 * Measures r->kind. Returns 0 or -errno. If the kind cannot run on this machine, or stop_signal() ends the measurement,
 * returns 0 as well.
 */
int switch_measure(const struct switch_plan *plan, struct switch_result *r);
/*
 * Checks the kinds that the user has named. If `sized` is set, each task touches memory at each turn, which is impossible
 * with switches at user level. Returns 0, or -EINVAL with the reason in `why`.
 */
int switch_check(char *const *names, size_t n, bool sized, struct buf *why);
/*
 * Chooses the measurements: those of the kinds `names` (`n` is 0: of all kinds) on one CPU and then, if `across` is
 * set, across two CPUs. Sets *results to a new zeroed array with the kind of each measurement. cpu[1] is 1 if the
 * measurement is across two CPUs, otherwise 0; switch_measure() replaces this by the numbers of the CPUs. Returns the
 * number of measurements.
 */
size_t switch_choose(struct switch_result **results, char *const *names, size_t n, bool across, bool sized);
/*
 * Returns the policy (sched(7)) of a measurement: that of the plan, but SCHED_OTHER instead of SCHED_BATCH across two
 * CPUs. A task of SCHED_BATCH does not preempt others when it wakes up, so across CPUs, it would wait for other
 * programs.
 */
int switch_policy(const struct switch_plan *plan, const struct switch_result *r);
/*
 * Makes the `n` measurements that switch_choose() has chosen, on the CPUs of the plan and with switch_policy(). If
 * stop_signal() is set, ends early and keeps the results so far. Returns 0 or -errno.
 */
int switch_measure_all(const struct switch_plan *plan, struct switch_result *results, size_t n);
void switch_result_free(struct switch_result *r);

#endif
