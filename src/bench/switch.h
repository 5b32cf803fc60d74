/* `bench switch`: what it costs to go from one task to another, proven by counting that it happened. */
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
	int read_fd, write_fd; /* this side waits on read_fd; who wakes it writes to write_fd */
	mqd_t queue;
	_Atomic uint32_t word; /* futex: 1: go on */
	pid_t pid, tid;
	uint64_t rounds;
	uint64_t voluntary, involuntary; /* context switches over all rounds */
};

/* Two tasks that take turns; lies in memory that both share. The measuring process is the first one's. */
struct switch_pair {
	struct switch_side side[2];
	char why[256]; /* not empty: a call that either needs was refused */
	atomic_bool stop, ready;
	size_t message; /* bytes of a message through a descriptor */
	size_t size;    /* bytes each side touches each turn */
	struct place_policy policy;
	int cpu[2];
};

struct switch_kind {
	const char *name;
	const char *about;
	enum switch_tasks { TASKS_PROCESSES, TASKS_THREADS, TASKS_USER } tasks;
	int (*open)(struct switch_pair *p, struct buf *why); /* before the second task is made; 0 or -errno and why */
	void (*wake)(struct switch_pair *p, int side);       /* lets `side` go on */
	void (*wait)(struct switch_pair *p, int side);       /* sleeps until `side` may go on */
	bool yields;                /* no sleep: switches are involuntary ones in the kernel's books */
	void (*rounds)(uint64_t n); /* TASKS_USER: n times there and back, without the kernel's scheduler */
};

/* Row `i`, NULL behind the last. */
const struct switch_kind *switch_kind_at(size_t i);
const struct switch_kind *switch_kind_find(const char *name);

/* A call that the turns need was refused, as errno says: leaves word, and ends the measuring process, which may wait for a turn. */
_Noreturn void switch_give_up(struct switch_pair *p, const char *what);

/* In switch_user.c: the user-level kinds' rounds. */
void switch_ucontext_rounds(uint64_t n);
void switch_bare_rounds(uint64_t n);
/* Is there a bare switch for this processor? */
bool switch_bare_there(void);

struct switch_plan {
	size_t samples;
	uint64_t sample_ns; /* a sample is the mean of rounds that last so long */
	uint64_t limit_ns;  /* for one kind */
	size_t size;        /* bytes of working set touched by each side at each turn */
	int cpu[2];         /* where the two run; the same: a switch, two: a wake-up */
	/*
	 * SCHED_BATCH makes every switch a voluntary one: a task of that policy does not preempt who woke it
	 * (check_preempt_wakeup_fair() in the kernel's kernel/sched/fair.c), so the waker runs on until it sleeps.
	 */
	struct place_policy policy;
	void (*tick)(void *ctx); /* some ten times a second; may be NULL */
	void *tick_ctx;
};

struct switch_result {
	const struct switch_kind *kind;
	int cpu[2];
	VEC(double) ns;  /* per switch (or wake-up), the means' own cost taken out */
	double round_ns; /* median of a round: there and back */
	double own_ns;   /* median of one wake, one wait and one touch in one task alone, where nothing switches */
	double voluntary, involuntary; /* switches per round, both sides together, as getrusage(2) counted */
	double per_round;              /* what a round was divided by */
	uint64_t rounds;
	struct buf why; /* not empty: it cannot run here */
};

/*
 * A round's cost per switch: both sides' own costs taken out, `turns` of them a round, the rest shared among the
 * switches. Pure.
 */
double switch_solve(double round_ns, double own_ns, double turns, double switches);
/* Measures r->kind; 0 or -errno. A kind that cannot run here, and the end by stop_signal(), are no errors. */
int switch_measure(const struct switch_plan *plan, struct switch_result *r);
void switch_result_free(struct switch_result *r);

#endif
