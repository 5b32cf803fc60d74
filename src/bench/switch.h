/* `bench switch`: the cost of switching between tasks, with a count that proves that the switches happened. */
#ifndef SCTRACE_BENCH_SWITCH_H
#define SCTRACE_BENCH_SWITCH_H

#include "base/buf.h"
#include "base/vec.h"
#include "bench/place.h"

#include <mqueue.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* One side of a pair. */
struct switch_side {
	int read_fd, write_fd; /* this side waits on read_fd; whoever wakes it writes to write_fd */
	mqd_t queue;
	_Atomic uint32_t word; /* futex: 1 means continue */
	pid_t pid, tid;
	uint64_t rounds;
	uint64_t voluntary, involuntary; /* context switches in all rounds */
};

/* Two tasks that take turns, in memory that both share. The measuring process is the first one. */
struct switch_pair {
	struct switch_side side[2];
	char why[256]; /* if not empty: a call that either of them needs was refused */
	atomic_bool stop, ready;
	size_t message; /* bytes of a message through a descriptor */
	size_t size;    /* bytes that each side touches in each turn */
	struct place_policy policy;
	int cpu[2];
};

struct switch_kind {
	const char *name;
	const char *about;
	enum switch_tasks { TASKS_PROCESSES, TASKS_THREADS, TASKS_USER } tasks;
	int (*open)(struct switch_pair *p, struct buf *why); /* called before the second task is created; returns 0,
							      * or -errno and why */
	void (*wake)(struct switch_pair *p, int side);       /* lets `side` continue */
	void (*wait)(struct switch_pair *p, int side);       /* sleeps until `side` may continue */
	bool yields;                /* does not sleep: the kernel counts its switches as involuntary */
	void (*rounds)(uint64_t n); /* TASKS_USER: switches n times there and back, without the kernel's scheduler */
};

/* Row `i`, or NULL after the last. */
const struct switch_kind *switch_kind_at(size_t i);
const struct switch_kind *switch_kind_find(const char *name);

/*
 * A call that the turns need was refused with errno: stores the reason, and ends the measuring process, which may be
 * waiting for a turn.
 */
_Noreturn void switch_give_up(struct switch_pair *p, const char *what);

/* The rounds of the user-level kinds, in switch_user.c. */
void switch_ucontext_rounds(uint64_t n);
void switch_bare_rounds(uint64_t n);
/* True if the bare switch is implemented for this processor. */
bool switch_bare_there(void);

struct switch_plan {
	size_t samples;
	uint64_t sample_ns; /* a sample is the mean of rounds that take this long */
	uint64_t limit_ns;  /* for each kind */
	size_t size;        /* bytes of working set that each side touches in each turn */
	int cpu[2];         /* the CPUs of the two tasks; equal: a switch, different: a wake-up */
	/*
	 * SCHED_BATCH makes every switch voluntary: a task with that policy does not preempt the task that woke it
	 * (check_preempt_wakeup_fair() in the kernel's kernel/sched/fair.c), so the waker continues until it sleeps.
	 */
	struct place_policy policy;
	void (*tick)(void *ctx); /* called about ten times a second; may be NULL */
	void *tick_ctx;
};

struct switch_result {
	const struct switch_kind *kind;
	int cpu[2];
	VEC(double) ns;  /* for each switch or wake-up, without the mechanism's own cost */
	double round_ns; /* median time of a round: there and back */
	double own_ns;   /* median time of one wake, one wait and one touch in a single task, without a switch */
	double voluntary, involuntary; /* switches in each round, of both sides, as counted by getrusage(2) */
	double per_round;              /* the number that a round's time was divided by */
	uint64_t rounds;
	struct buf why; /* if not empty: the reason why it cannot run here */
};

/*
 * The cost of one switch: the time of a round without both sides' own costs (`turns` of them), divided by the number of
 * switches. Pure.
 */
double switch_solve(double round_ns, double own_ns, double turns, double switches);
/* Measures r->kind. Returns 0 or -errno. A kind that cannot run here, and an end by stop_signal(), are not errors. */
int switch_measure(const struct switch_plan *plan, struct switch_result *r);
void switch_result_free(struct switch_result *r);

#endif
