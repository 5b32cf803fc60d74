/*
 * The stop loop: every engine that stops programs stands on it. It knows births and deaths, group-stops, signals, exec
 * and detaching; what a stop at a call means it leaves to its user through `struct tracer_ops`.
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

struct tracer {
	struct engine base; /* first, so that a struct engine * is one of these */
	const struct tracer_ops *ops;
	void *ops_ctx;
	struct engine_config config;
	struct tasks tasks;
	struct task *current; /* stopped since the last event, resumed at the next tracer_next() */
	struct event pending[4];
	size_t npending, next_pending;
	VEC(struct wait_status) waited;
	size_t next_waited;
	struct spin spin;
	unsigned lone; /* waits in a row that took one task only */
	struct {       /* waits in a row that were interrupted, and when the first was */
		unsigned n;
		uint64_t since_ns;
	} interruptions;
	int failed;            /* -errno: the kernel refuses what tracing needs, or memory ran out; all is over */
	struct summary counts; /* since the last collect */
	struct map groups;     /* thread or process, by config.want -> its struct summary_group of `counts` */
	struct tracer_cost cost;
	struct tracer_cost unseen_cost; /* of calls that the tracer did not see begin */
	struct engine_result result;
	pid_t root;     /* the program that was started, or 0 */
	bool root_ran;  /* its execve succeeded */
	bool root_left; /* it is let go of, and its end is waited for all the same */
	bool root_waits; /* it waits for our word before its execve, and ends by itself, with our status, where there will be none */
	int exec_error; /* errno of the start that failed */
	uint64_t root_t0;
	unsigned long
		options;   /* PTRACE_O_* for what was started or attached to; descendants have them without TRACEEXIT */
	size_t unborn;     /* tasks whose first stop came before their birth was told */
	bool filter;       /* a seccomp filter of ours stops at the wanted calls */
	bool hold;         /* descendants stay attached, counted or not: something of ours is in force in them */
	bool calls_unseen; /* calls are made without stops too: the end of an interrupted one's restart may not be seen */
	bool exit_kill;    /* the program cannot live without us: the kernel ends it when we die */
	bool main_armed, main_by_symbol;
	bool detaching;
	bool calibrating;
	int err_fd, go_fd;
	pid_t mem_pid;    /* whose memory `mem` reads */
	bool userfaultfd; /* some program serves page faults itself: what is not there is not read */
	struct mem mem;
	struct buf note; /* text of the last EV_NOTE */
};

/* Makes a zero-initialised `t` an empty tracer. */
void tracer_init(struct tracer *t, const struct tracer_ops *ops);
/* Sets an empty `t` up for `config`; starts the program and attaches, up to the first stops. 0, or -errno and `why`. */
int tracer_start(struct tracer *t, const struct engine_config *config, struct buf *why);
/* engine_ops' functions over a tracer. */
int tracer_next(struct engine *e, struct event *ev);
int tracer_collect(struct engine *e, struct summary *s);
int tracer_detach(struct engine *e);
void tracer_kill(struct engine *e, int sig);
void tracer_result(const struct engine *e, struct engine_result *r);
/* Frees all but the struct. */
void tracer_free(struct tracer *t);

/* --- for the tracer's own files and for engines that stand on it --- */

/*
 * Tracing is over: a note says why (with strerror(-err) behind it), what was started is killed, and tracer_next() gives `err`
 * from then on. Returns `err`.
 */
int tracer_give_up(struct tracer *t, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/*
 * wait.c: wait4(2) for a stop or an end (__WALL). A task's id, 0 with WNOHANG, or -errno: -EINTR when a signal came to sctrace,
 * -ECHILD where there is nobody, and where the kernel refuses it tracing is over. `usage` or NULL.
 */
pid_t tracer_wait(struct tracer *t, pid_t pid, int *status, int options, struct rusage *usage);
/* The same, first without sleeping where that pays. */
pid_t tracer_wait_or_signal(struct tracer *t, pid_t pid, int *status, struct rusage *usage);
/* The same for one task, interrupted or not. */
pid_t tracer_wait_task(struct tracer *t, pid_t tid, int *status);
/* Keeps a status that was waited for elsewhere, to be served like any other. */
void tracer_keep_status(struct tracer *t, pid_t tid, int status);
/* Takes what waits into t->waited; blocks for the first. 0 or -errno as tracer_wait(). */
int tracer_take_waiting(struct tracer *t);
/* One wait status; 1: an event is in t->pending, 0: nothing to tell, -errno. */
int tracer_stop(struct tracer *t, struct task *task, int status);
/* Does a PTRACE_EVENT_STOP with this signal begin a group-stop? */
bool tracer_is_stopping(int sig);
/* Takes in the tasks whose birth was not told, because who bore them was killed first. */
void tracer_adopt_orphans(struct tracer *t);
/* Resumes a stopped task with its pending signal. A task that died meanwhile is no error. */
void tracer_resume(struct tracer *t, struct task *task);
/* Queues an event of `task`; the caller fills in the rest. */
struct event *tracer_event(struct tracer *t, enum event_kind kind, const struct task *task);
/* Queues a note for the user. */
void tracer_note(struct tracer *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Attaches to all threads of `pid`; 0, or -errno and `why`. */
int tracer_attach(struct tracer *t, pid_t pid, struct buf *why);
/* The ptrace(2) options of what is attached to: t->options, but our death is never theirs. */
unsigned long tracer_attach_options(const struct tracer *t);
/* Brings all tasks to a stop and detaches them. */
void tracer_detach_all(struct tracer *t);
/* Forgets a task that is gone or detached. */
void tracer_forget(struct tracer *t, struct task *task);
/* Detaches one stopped task, with the signal that was on its way, and forgets it. */
void tracer_let_go(struct tracer *t, struct task *task);
/* The group that `task`'s calls are added to, by config.want; NULL when memory ran out. */
struct summary_group *tracer_group(struct tracer *t, const struct task *task);
/* The task or its process ends, or runs another program: its next calls belong to a new group. */
void tracer_leave_group(struct tracer *t, const struct task *task);
/* The name and id of the group that `task`'s process is shown as. */
void tracer_group_name(struct tracer *t, const struct task *task, char *name, size_t size, int64_t *id);
/* The memory of `task`'s process. */
const struct mem *tracer_mem(struct tracer *t, const struct task *task);
/* The peak resident set of a process in its exit event, in bytes; 0: unreadable. */
uint64_t tracer_peak_rss(pid_t pid);
/* Where the process's entry point was loaded, or 0. */
uint64_t tracer_entry_point(pid_t pid);
/* The address of main in the executable file `fd` as loaded, or 0; `entry` is AT_ENTRY, which tells how far it was moved. */
uint64_t tracer_main_symbol(int fd, uint64_t entry);
/* Arms the search for main in the root's new image, and tells whether `task`'s SIGTRAP is its end. */
void tracer_find_main(struct tracer *t, struct task *task);
bool tracer_at_main(struct tracer *t, struct task *task);

/* calls.c: one call's life. */
/* A call begins: fills the call of its thread (arch, nr, args, ip, sp set by the caller) and tells whether it continues another. */
void tracer_call_enter(struct tracer *t, struct task *task);
/* It came back: result, error and err are set in the call of its thread. */
void tracer_call_exit(struct tracer *t, struct task *task);
/*
 * The call of its thread, which the tracer did not see begin, was interrupted after `elapsed_ns` (err is ERESTART*). Its restart
 * will not be seen either; it is counted here from now on, whatever becomes of it.
 */
void tracer_call_interrupted(struct tracer *t, struct task *task, uint64_t elapsed_ns);
/* If the task's next call continues the one that was interrupted last: it will not be seen. */
void tracer_call_restarts_unseen(struct tracer *t, struct task *task);
/* It never will: the task is gone. */
void tracer_call_vanish(struct tracer *t, struct task *task);
/*
 * clone(2) with CLONE_UNTRACED would hide the child from us, which the program cannot mean: the bit is taken out while the
 * call runs and put back when it is over, in the parent and in the child at its first stop.
 */
void tracer_untraced_enter(struct tracer *t, struct task *task);
void tracer_untraced_exit(const struct task *task);
/* A syscall-stop of plain ptrace: enter or exit, by PTRACE_GET_SYSCALL_INFO. */
void tracer_syscall_stop(struct tracer *t, struct task *task);

/*
 * calibrate.c: the cost of a traced call, measured on a child of its own, or kept from earlier (engine/costs.h); `pinned`: both
 * sides are on one CPU. 0 or -errno.
 */
int tracer_calibrate(struct tracer_cost *cost, bool pinned);
/* Appends that the cost is part of the times shown, because it could not be measured, and why. */
void tracer_cost_unknown(const struct tracer_cost *cost, struct buf *out);
/* Waits until a child to calibrate on, not traced yet, says so; false: it has ended before. */
bool tracer_await_child(pid_t pid, const _Atomic int *ready);
/* Puts sctrace where `config` wants it (--pin), before anything is measured. 0, or -errno and `why`. */
int tracer_pin(const struct engine_config *config, struct buf *why);

#endif
