/*
 * A tracer by ptrace(2): what it knows. The engines ptrace and patch stand on it. The folders beside this one handle births and
 * deaths, group-stops, signals, execve(2), attaching and detaching; what a stop at a call means is the engine's, through `struct
 * tracer_ops`.
 */
#ifndef SCTRACE_ENGINE_PTRACE_STATE_TRACER_H
#define SCTRACE_ENGINE_PTRACE_STATE_TRACER_H

#include "base/buf.h"
#include "base/map.h"
#include "base/ptrace.h"
#include "base/vec.h"
#include "engine/engine.h"
#include "engine/ptrace/state/thread.h"
#include "stats/summary.h"
#include "tracee/mem.h"
#include "tracee/tasks.h"

struct tracer;

/* What a special stop turned out to be. */
enum tracer_verdict {
	STOP_PASS, /* not ours: go on as for any program */
	STOP_OURS, /* dealt with: resume the task without a signal */
	STOP_HELD, /* dealt with, and the task was resumed or is gone: leave it alone */
};

/* Where the patch engine differs from plain ptrace; a NULL member is "nothing special". */
struct tracer_ops {
	/* A wait status was taken, and will be dealt with: what must not wait that long is done here. */
	void (*waited)(struct tracer *t, pid_t tid, int status);
	/* A signal-delivery-stop: `si` is what is to be delivered. STOP_PASS delivers it. */
	enum tracer_verdict (*signal)(struct tracer *t, struct task *task, const siginfo_t *si);
	/* A seccomp stop (only with a filter of ours in force). */
	enum tracer_verdict (*seccomp)(struct tracer *t, struct task *task);
	/* A birth, told by the parent; the child is in its first stop or will be. `clone_flags` as far as known. */
	void (*birth)(struct tracer *t, struct task *parent, struct task *child, uint64_t clone_flags);
	/* A new task is in its first stop and its birth is known. */
	void (*first_stop)(struct tracer *t, struct task *task);
	/* A new image runs in `task`; its process's other threads are forgotten already. */
	void (*exec)(struct tracer *t, struct task *task);
	/* The task is about to be forgotten (exited, or taken away by another thread's exec). */
	void (*death)(struct tracer *t, struct task *task);
	/* Before PTRACE_DETACH of a stopped task: it must run without us. */
	void (*detach)(struct tracer *t, struct task *task);
	/* All tasks are stopped and about to be detached: called for each, to clean its process up once. */
	void (*leave)(struct tracer *t, struct task *task);
	/* All is over (tracer_give_up): what was attached to must soon run without us. */
	void (*gave_up)(struct tracer *t);
	/* The ptrace request that resumes this task: PTRACE_SYSCALL or PTRACE_CONT. */
	int (*resume_request)(struct tracer *t, const struct task *task);
	/* A syscall-stop; true: it was dealt with (not a call of the program's). */
	bool (*syscall_stop)(struct tracer *t, struct task *task);
	/* A wait status is about to be dealt with: what was recorded up to now comes before it. */
	void (*look)(struct tracer *t);
	/* The next event of those: true and *ev. */
	bool (*next_recorded)(struct tracer *t, struct event *ev);
	/* Where the task would be natively whose next instruction is at `ip`; NULL: there. */
	uint64_t (*native_ip)(struct tracer *t, const struct task *task, uint64_t ip);
	/* Calls that were counted elsewhere than in t->counts. */
	uint64_t (*calls_so_far)(struct tracer *t);
};

/* What a calibration found: how long a stop's cost makes a call look, in ns, and its spread (robust standard
 * deviation). */
struct tracer_cost {
	double ns;
	double spread_ns;
	int err; /* -errno of the calibration, or 0 */
};

struct wait_status {
	pid_t tid;
	int status;
	uint64_t peak_rss_bytes; /* of a task that ended */
};

/*
 * To be woken costs more than a stop itself where the processor sleeps meanwhile. So the next stop is asked for without sleep
 * for a while, as long as that pays: `credit` is what earlier successes are worth.
 */
struct spin {
	int may; /* 1 yes, -1 no, 0 not known yet */
	int credit;
	unsigned passed;
};

/*
 * Between two calls of tracer_next(): what it has to hand out. One stop gives three events at most (vanish, exec or death,
 * note).
 */
struct tracer_events {
	struct event v[4];
	size_t n, next;
};

/* Wait statuses that were taken from the kernel and not served yet, and how the next ones are to be waited for. */
struct tracer_waits {
	VEC(struct wait_status) taken;
	size_t next;
	struct spin spin;
	unsigned lone; /* waits in a row that took one task only */
	struct {       /* waits in a row that were interrupted, and when the first was */
		unsigned n;
		uint64_t since_ns;
	} interruptions;
};

/* The program that was started. */
struct tracer_root {
	pid_t pid;  /* 0: none */
	bool ran;   /* its execve(2) succeeded */
	bool left;  /* it was detached from, and its end is waited for all the same */
	bool waits; /* it waits for spawn_go() before its execve(2); without it, it ends by itself, with our status */
	uint64_t start_ns; /* CLOCK_MONOTONIC: its execve(2) */
	int go_fd, err_fd; /* of struct spawned; -1: closed */
};

struct tracer {
	struct engine base; /* first, so that a struct engine * is one of these */
	const struct tracer_ops *ops;
	struct engine_config config;
	struct tasks tasks;
	struct tracer_root root;
	struct tracer_waits waits;
	struct tracer_events events;
	bool looked;          /* tracer_ops.look() was called for the wait status to come */
	bool hold_current;    /* it stays stopped until all that is recorded is told, which is read from its memory */
	struct task *current; /* stopped since the last event, resumed at the next tracer_next() */
	int failed;           /* -errno once tracing was given up (give_up.h), or the program could not be started */
	unsigned long
		options; /* PTRACE_O_* of tasks that were started or attached to; descendants have them without TRACEEXIT */
	size_t unborn;     /* tasks whose first stop came before their parent reported their birth */
	bool filter;       /* a seccomp filter of ours stops at the wanted calls */
	bool hold;         /* descendants stay attached, counted or not: something of ours is in force in them */
	bool calls_unseen; /* calls are made without stops, too, so the restart of an interrupted one may not be seen */
	bool exit_kill;    /* the program cannot live without us: the kernel kills it when we die */
	bool detaching;    /* tracer_detach_all() is at work */
	bool calibrating;  /* the program is a child of our own */
	bool userfaultfd;  /* some program serves page faults itself: memory that is not present is not read */
	struct {           /* the breakpoint at the program's main (tasks/main_symbol.h) */
		bool armed, by_symbol;
	} main;
	struct summary counts;          /* since the last collect */
	struct map groups;              /* thread or process, by config.want -> its struct summary_group of `counts` */
	struct tracer_cost cost;        /* of a call under ptrace */
	struct tracer_cost unseen_cost; /* of calls whose entry the tracer does not see */
	struct engine_result result;
	struct mem mem;  /* of the last event */
	pid_t mem_pid;   /* its ctx */
	struct buf note; /* text of the last EV_NOTE */
};

/* Makes a zero-initialised `t` an empty tracer. */
void tracer_init(struct tracer *t, const struct tracer_ops *ops);
/* Frees all but the struct. */
void tracer_free(struct tracer *t);
/* engine_ops.collect and engine_ops.result. */
int tracer_collect(struct engine *e, struct summary *s);
void tracer_result(const struct engine *e, struct engine_result *r);

#endif
