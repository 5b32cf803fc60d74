/* SPDX-License-Identifier: MIT */
/*
 * The state of a tracer that uses ptrace(2), on which the engines ptrace and patch are built. The other modules of
 * this folder handle new and ending tasks, group-stops, signals, execve(2), attaching and detaching. Each engine handles stops at
 * calls through `struct tracer_ops`.
 */
#ifndef SCTRACE_ENGINE_PTRACE_TRACER_H
#define SCTRACE_ENGINE_PTRACE_TRACER_H

#include "base/buf.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/ptrace.h"
#include "engine/engine.h"
#include "stats/summary.h"
#include "syscall/life.h"
#include "tracee/mem.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct costs;
struct tracer;

/* A process (thread group). It exists as long as one of its threads is known. */
struct process {
	pid_t pid;
	unsigned ntasks;
	bool counted;  /* its calls are shown; false if it is traced only because it has inherited sctrace's seccomp
			* filter or because of `hold`, or until it is detached */
	bool root;     /* the program that sctrace started */
	bool attached; /* sctrace attached to it, and it will continue when sctrace exits */
	bool execed;   /* it has called execve(2) while it was traced; the calls of the root count from then on */
	bool hold;     /* it stays attached because it shares memory with a process whose calls are shown, and its
			* own calls are not shown or are counted separately */
	uint64_t cpu_ns, peak_rss_bytes; /* measured when the leader ended; 0: unknown */
	void *image;                     /* used and freed by the engine; may be NULL */
};

/* One thread, and its ptrace-stop. */
struct task {
	pid_t tid;
	struct process *proc; /* NULL until the creation of the task was reported */
	bool stopped;         /* in a ptrace-stop that wait4(2) has returned */
	bool listening;       /* in a group-stop, in which PTRACE_LISTEN keeps it */
	bool group_stopped;   /* EV_STOP was reported, and EV_CONT will follow */
	bool mid_call;        /* stopped inside a call, whose result is not in its registers yet */
	bool exiting;         /* its exit event was reported */
	bool release;         /* detach when it is resumed */
	bool fresh;           /* its first stop has not been seen yet */
	int early_status;     /* wait status of a stop that occurred before the creation of the task was reported, or
			       * 0 */
	uint64_t early_ns;    /* time of that stop */
	int deliver;          /* signal to deliver when the task is resumed, or 0 */
	void *data;           /* used and freed by the engine; may be NULL */
};

/* All tasks and processes that are traced, which are found by id in constant time. A zeroed struct is empty. */
struct tasks {
	size_t task_size; /* size of the engine's struct, whose first member is a struct task; 0: a struct task */
	struct map by_tid;
	struct map processes;
};

/* Returns the task with this id, or NULL. */
struct task *tasks_find(const struct tasks *t, pid_t tid);
/* Adds a task without a process. The rest of the engine's struct is zeroed. Returns NULL if the task exists. */
struct task *tasks_add(struct tasks *t, pid_t tid);
/* Makes `task` a thread of process `pid`, and adds the process if necessary. */
void tasks_join(struct tasks *t, struct task *task, pid_t pid);
/* Removes the task, and its process if it has no other threads. */
void tasks_remove(struct tasks *t, struct task *task);
/* Called after execve(2) by a thread that is not the leader: `task` takes over the id of the vanished leader. */
void tasks_rename(struct tasks *t, struct task *task, pid_t leader);

/* The result of handling a special stop. */
enum tracer_verdict {
	STOP_PASS,    /* not caused by sctrace: continue as for any program */
	STOP_HANDLED, /* handled: resume the task without a signal */
	STOP_IGNORED, /* a signal that the program ignores: report it, and resume the task without it */
	STOP_RESUMED, /* handled, and the task was resumed or has ended: it must not be resumed again */
};

/* How fast records come, estimated from the number of unread records in one ring. */
enum flow {
	FLOW_FEW,  /* too few: sctrace looks less often */
	FLOW_MANY, /* the right number for one look */
	FLOW_FAST, /* too many for one look: sctrace looks more often */
};

/* Functions for what the patch engine does differently from the ptrace engine. NULL: there is no difference. */
struct tracer_ops {
	/* Called as soon as wait4(2) or waitid(2) reports `status`, which is handled later: for what cannot wait. */
	void (*waited)(struct tracer *t, pid_t tid, int status);
	/* Handles a signal-delivery-stop. STOP_PASS means that the signal, which `si` describes, is delivered. */
	enum tracer_verdict (*signal)(struct tracer *t, struct task *task, const siginfo_t *si);
	/* Handles a seccomp stop. Called only if sctrace's filter is installed. */
	enum tracer_verdict (*seccomp)(struct tracer *t, struct task *task);
	/* True if the agent made the clone(2) that `parent` reports by `event`. Sets *flags to its flags. */
	bool (*unseen_clone)(struct tracer *t, const struct task *parent, int event, uint64_t *flags);
	/* Called when a parent reports a new task, before or after its first stop. The flags may not be known. */
	void (*new_task)(struct tracer *t, struct task *parent, struct task *child, uint64_t clone_flags);
	/* Called when a new task, which its parent has reported, is in its first stop. */
	void (*first_stop)(struct tracer *t, struct task *task);
	/*
	 * Called when `task` runs a new image. The other threads of its process were already removed. If no syscall-stop
	 * will follow for the execve(2), sets thread_of(task)->call to the finished call and returns true.
	 */
	bool (*exec)(struct tracer *t, struct task *task);
	/* Called when the task is about to be removed, because it exited or another thread called execve(2). */
	void (*death)(struct tracer *t, struct task *task);
	/* Called before PTRACE_DETACH of a stopped task, which must then run without sctrace. */
	void (*detach)(struct tracer *t, struct task *task);
	/* Called for each stopped task before all are detached. The first call for a process restores it. */
	void (*leave)(struct tracer *t, struct task *task);
	/* Called when tracing was given up (tracer_give_up). Attached processes must soon run without sctrace. */
	void (*gave_up)(struct tracer *t);
	/* Returns the ptrace request with which the task must be resumed: PTRACE_SYSCALL or PTRACE_CONT. */
	int (*resume_request)(struct tracer *t, const struct task *task);
	/* Called at a syscall-stop. Returns true if it has handled the stop: the program did not make the call. */
	bool (*syscall_stop)(struct tracer *t, struct task *task);
	/* Called before a wait status is handled: reads everything that was recorded before that status. */
	void (*look)(struct tracer *t);
	enum flow (*record_flow)(struct tracer *t);
	/* Gets the next recorded event: returns true and fills in *ev. */
	bool (*next_recorded)(struct tracer *t, struct event *ev);
	/* Returns where the task would be without sctrace if it is at `ip`. NULL: at the same address. */
	uint64_t (*native_ip)(struct tracer *t, const struct task *task, uint64_t ip);
	/* Adds the calls that were counted elsewhere to t->counts. */
	void (*gather)(struct tracer *t);
};

/* The result of a calibration, in ns: how much stops lengthen a call, and its robust standard deviation. */
struct tracer_cost {
	double ns;
	double spread_ns;
	int err; /* -errno if calibration failed, otherwise 0 */
};

/*
 * How sctrace noticed a stop. The two ways take different times. If sctrace sleeps, the program usually runs on the same
 * CPU. If sctrace polls (tracer_spin()), the program runs on another CPU, which the kernel must wake after each stop.
 */
enum noticed { NOTICED_ASLEEP, NOTICED_POLLING, NOTICED_WAYS };

struct wait_status {
	pid_t tid;
	int status;
	uint64_t noticed_ns; /* CLOCK_MONOTONIC time at which it was taken from the kernel */
	enum noticed noticed;
	/* How long sctrace polled for this stop before it slept. 0 if it polled with credit (struct spin). */
	uint64_t in_vain_ns;
	uint64_t peak_rss_bytes; /* peak RSS of a task that has ended */
};

/*
 * Waking up a processor that sleeps between two stops takes longer than a stop. So the tracer polls for the next stop
 * for a while, as long as that saves time. `credit` is the amount of polling that earlier successes allow.
 */
struct spin {
	int may; /* may the tracer poll: 1 yes, -1 no, 0 not known yet */
	int credit;
	unsigned passed;     /* how many times the tracer was to poll without credit; see spin_wait() */
	uint64_t in_vain_ns; /* struct wait_status */
};

/*
 * The events that tracer_next() will return. One stop causes at most four: EV_VANISH, then EV_EXEC or EV_DEATH, then the
 * EV_EXIT of an execve(2) for which no syscall-stop follows (tracer_ops.exec), then EV_NOTE.
 */
struct tracer_events {
	struct event v[4];
	size_t n, next;
};

/* Wait statuses that were taken from the kernel and have not been handled yet, and how to wait for the next ones. */
struct tracer_waits {
	VEC(struct wait_status) taken;
	size_t next;
	struct spin spin;
	uint64_t flow_until_ns;   /* records may come fast until then: tracer_await_records() looks for them */
	uint64_t output_until_ns; /* until then, it looks after each pause (tracer_expect_output()) */
	uint64_t pause_ns;        /* its last pause between two looks */
	unsigned lone;            /* how many times in succession only one task had stopped */
	struct {                  /* how many waits in succession were interrupted, and the time of the first one */
		unsigned n;
		uint64_t since_ns;
	} interruptions;
};

/* The started program. */
struct tracer_root {
	pid_t pid; /* 0: there is none */
	bool ran;  /* the program's execve(2) has succeeded */
	bool left; /* the program was detached, but sctrace still waits for its end */
	/* It waits for spawn_go() before its execve(2). Without that, it exits with sctrace's status. */
	bool waits;
	uint64_t start_ns; /* CLOCK_MONOTONIC time of the program's execve(2) */
	int go_fd, err_fd; /* from struct spawned; -1: closed */
};

struct tracer {
	struct engine base; /* the first member, so that a struct engine * can be cast to this type */
	const struct tracer_ops *ops;
	struct engine_config config;
	struct tasks tasks;
	struct tracer_root root;
	struct tracer_waits waits;
	struct tracer_events events;
	bool looked; /* tracer_ops.look() has been called for the next wait status */
	/* `current` stays stopped until all recorded events are handled: their memory is read through it */
	bool hold_current;
	/* The task that has been stopped since the last event; the next tracer_next() resumes it. */
	struct task *current;
	/* -errno after tracing was given up (tracer_give_up()), or if the program could not be started */
	int failed;
	/* PTRACE_O_* of started and attached tasks; descendants have the same options except TRACEEXIT
				* (but config.usage) */
	unsigned long options;
	size_t unreported; /* tasks whose first stop came before their parent reported them */
	bool filter;       /* sctrace's seccomp filter stops at the wanted calls */
	/* Descendants that are not counted stay attached, because sctrace's filter is in them. */
	bool hold;
	/* The kernel kills the program when sctrace dies, because the program cannot run without sctrace. */
	bool exit_kill;
	bool detaching;   /* tracer_detach_all() is running */
	bool calibrating; /* the program is a child for calibration */
	/* A traced program may have to provide a page (mem_serves_pages()): only present memory is read. */
	bool serves_pages;
	struct { /* the breakpoint at the program's main (tracer_find_main()) */
		bool armed, by_symbol;
	} main;
	struct summary counts; /* calls counted since the last collect() */
	struct summary before; /* calls before main */
	/* The struct summary_group in `counts` for each thread or for each process, depending on config.want. */
	struct map groups;
	struct wait_status handled; /* the status that is being handled */
	/* Cost of a call, for each way in which its end was noticed; the same if there is only one CPU. */
	struct tracer_cost cost[NOTICED_WAYS];
	struct tracer_cost unseen_cost; /* cost of a call whose entry the tracer does not see */
	struct engine_result result;
	struct mem mem;  /* the memory of the last event's task */
	pid_t mem_pid;   /* process whose memory `mem` reads (the context of `mem`) */
	struct buf note; /* text of the last EV_NOTE */
};

/* Initialises `t`, which must be zeroed, as an empty tracer. */
void tracer_init(struct tracer *t, const struct tracer_ops *ops);
/* Frees everything except the struct itself. */
void tracer_free(struct tracer *t);
/* engine_ops.collect and engine_ops.result. */
int tracer_collect(struct engine *e, struct summary *s);
void tracer_result(const struct engine *e, struct engine_result *r);

/* What the tracer knows about a thread in addition to struct task: its current call, and changes made to that call. */

/* Says where CLONE_UNTRACED was cleared in the flags of the thread's clone(2), so that the bit can be restored. */
struct untraced {
	enum { UNTRACED_NO, UNTRACED_REGISTER, UNTRACED_MEMORY } where;
	uint64_t addr; /* address of the flags if they are in memory (clone3) */
	uint64_t flags;
};

/* What must be done at the end of a call that is tampered with. */
struct tamper {
	bool set_result;
	int64_t result;
	uint64_t exit_delay_ns;
	int signal; /* signal to deliver at the end of the call, or 0 */
};

struct thread {
	struct task task;      /* the first member, so that a struct task * of the tracer can be cast to this type */
	unsigned long options; /* PTRACE_O_* options that are set; 0: not known */
	bool in_call;
	struct call call;    /* the current or last call */
	uint64_t entered_ns; /* CLOCK_MONOTONIC time at which the call started */
	bool entering;       /* stopped at the entry of the call: tracer_resume() will set `entered_ns` */
	struct call_life life;
	bool resumes; /* the thread was attached to and has made no call since; it may be blocked in the call
		       * `resumed` */
	struct call resumed;
	struct untraced untraced;
	struct tamper tamper;
	bool reported_child; /* the kernel has reported the task that the current call has created */
	pid_t vfork_child;   /* the task for which the thread waits in vfork(2), or did; 0: none */
	pid_t vfork_parent;  /* the thread that waits in vfork(2) until this task ends or calls execve(2); 0: none */
};

/* True if a PTRACE_EVENT_STOP with this signal begins a group-stop. */
static inline bool tracer_is_stopping(int sig)
{
	return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

/* True if all events are reported, and not only those of some calls while the others are counted (CAP_EVENTS). */
static inline bool tracer_reports_all(const struct tracer *t)
{
	return (t->config.want & (CAP_EVENTS | CAP_COUNTS)) == CAP_EVENTS;
}

static inline struct thread *thread_of(const struct task *task)
{
	return (struct thread *)task;
}

/* Queues an event with its ids, time and memory. The caller fills in the rest before the next call. */
struct event *tracer_event(struct tracer *t, enum event_kind kind, const struct task *task);
/* Queues an EV_NOTE with this text for the user. */
void tracer_note(struct tracer *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Returns the memory of thread *tid, which must stay where it is. Reads only what no traced program has to provide. */
struct mem tracer_mem_of(const struct tracer *t, pid_t *tid);
/* Returns the memory of the task's process, which is valid until the next call of this function. */
const struct mem *tracer_mem(struct tracer *t, const struct task *task);

/* Returns the group to which the task's calls are added, according to config.want. */
struct summary_group *tracer_group(struct tracer *t, const struct task *task);
/* Stores the name of the group of tracer_group(), and the id of its process or thread in *id, or -1. */
void tracer_group_name(struct tracer *t, const struct task *task, char *name, size_t size, int64_t *id);
/* Called when the task or its process ends, or runs another program: its next calls belong to a new group. */
void tracer_leave_group(struct tracer *t, const struct task *task);
/* Frees the data of a task that has ended or was detached. */
void tracer_forget(struct tracer *t, struct task *task);

/*
 * Gives up tracing. A note gives the reason with strerror(-err). The started program is killed, tracer_detach_all()
 * detaches from attached processes, and tracer_next() returns `err` from now on. Only the first call has an effect.
 * Returns the error of the first call.
 */
int tracer_give_up(struct tracer *t, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Gives up tracing if the kernel keeps refusing a request for a task, which may then stay stopped for ever. */
void tracer_check_refused(struct tracer *t);
/* engine_ops.kill: sends `sig` to all processes, except attached ones and a program that still waits for spawn_go(). */
void tracer_kill(struct engine *e, int sig);

/* The stop loop: starts and attaches, gets the next event, detaches (loop.c). */

/* engine_ops.next. */
int tracer_next(struct engine *e, struct event *ev);

/* Decodes and handles a wait status of a task (ptrace(2), "Stopped states"). Returns 1 if events are pending, otherwise 0. */
int tracer_stop(struct tracer *t, struct task *task, int status);

/* Starts the program of `config`, and attaches to its processes. Returns 0, or -errno with the reason in `why`. */
int tracer_start(struct tracer *t, const struct engine_config *config, struct buf *why);
/* With --pin, pins sctrace, before anything is measured. Returns 0, or -errno with the reason in `why`. */
int tracer_pin(const struct engine_config *config, struct buf *why);

/* Stops all tasks and detaches from them without harm. Tasks that do not stop in time are detached when sctrace exits. */
void tracer_detach_all(struct tracer *t);
/* engine_ops.detach. */
int tracer_detach(struct engine *e);
/* engine_ops.is_needed: calls that a seccomp filter stops fail without a tracer. */
bool tracer_is_needed(const struct engine *e);

/* Waits for stops and ends of tasks, and handles refusals of the kernel (wait.c). */

/*
 * Calls wait4(2) for a stop or an end (__WALL) of `pid`, or of any task if `pid` is -1. Returns a task's id; 0 with
 * WNOHANG if nothing was reported; -EINTR if sctrace received a signal; -ECHILD if there is nothing to wait for. If the
 * kernel refuses to wait, tracing is given up. Sets `usage` only at ends; it may be NULL.
 */
pid_t tracer_wait(struct tracer *t, pid_t pid, int *status, int options, struct rusage *usage);
/* Like tracer_wait(), but does not sleep, and polls only if that may save time. Returns 0 if nothing was reported. */
pid_t tracer_spin(struct tracer *t, pid_t pid, int *status, struct rusage *usage);
/* If the engine records calls, tracer_await_records() looks for records during the next milliseconds. */
void tracer_expect_records(struct tracer *t);
/*
 * Called at the birth of a task. If it is an untraced child, it may soon write to the output of the trace. So
 * tracer_await_records() returns after each short pause, so that the lines of its parent's calls do not appear much later.
 */
void tracer_expect_output(struct tracer *t);
/*
 * While records may come fast (tracer_expect_records()), waits for a stop or an end of any task. Returns the task's id;
 * -EINTR if many records wait to be read, or sctrace received a signal; 0 if no records are expected.
 */
pid_t tracer_await_records(struct tracer *t, int *status, struct rusage *usage);
/* Like tracer_wait(), but for one task, and spins before it sleeps. Signals to sctrace do not interrupt the wait. */
pid_t tracer_wait_task(struct tracer *t, pid_t tid, int *status);
/* Returns the task's status if it was taken from the kernel and the loop has not handled it, or NULL. */
struct wait_status *tracer_taken_status(struct tracer *t, pid_t tid);
/* Queues a status that was waited for elsewhere, so that the loop handles it like any other status. */
void tracer_keep_status(struct tracer *t, pid_t tid, int status);

/* Follows tasks: resumes them, and handles new and ending tasks, execve(2), signals and group-stops (tasks.c). */

/* Resumes a stopped task with its pending signal, or detaches if task.release is set. The task may have died. */
void tracer_resume(struct tracer *t, struct task *task);
/* Like tracer_release(), but does not call tracer_ops.detach. */
void tracer_detach_task(struct tracer *t, struct task *task);

/*
 * Handles new tasks. The kernel reports a new task twice, by a stop of the child and by an event of its parent, in any
 * order. A child whose stop comes first stays stopped (task.early_status) until its parent's event, unless its parent
 * was killed before that event.
 */

/* Handles PTRACE_EVENT_FORK, _VFORK or _CLONE of the parent. */
void tracer_on_child(struct tracer *t, struct task *parent, int event);
/* Adds a task whose parent was killed before it reported the task; /proc says to which process it belongs. */
void tracer_adopt(struct tracer *t, struct task *task);
/* Adopts all tasks whose parents will not report them any more. */
void tracer_adopt_orphans(struct tracer *t);

/* Handles PTRACE_EVENT_EXIT: the task is about to end, and its memory can still be measured. */
void tracer_on_exit(struct tracer *t, struct task *task);
/* Handles the end of a task, and removes the task. `status` is that of wait(2). */
void tracer_on_death(struct tracer *t, struct task *task, int status);
/*
 * Notes the peak resident set of a descendant that has ended, in bytes, from wait4(2). This figure includes the peak of
 * the descendant's parent before execve(2), which does no harm, because the parent's own peak is taken into account
 * anyway. For the started program the figure would be wrong, because its parent was sctrace; tracer_on_exit() measures
 * the started program.
 */
void tracer_note_peak(struct tracer *t, const struct task *task, uint64_t bytes);

/* Handles PTRACE_EVENT_EXEC: the task is now the only thread of its process, with the leader's id. */
void tracer_on_exec(struct tracer *t, struct task *task);

/* Handles a signal-delivery-stop. */
void tracer_on_signal(struct tracer *t, struct task *task, int sig);
/* Handles PTRACE_EVENT_STOP: a group-stop begins or ends, a new task exists, or PTRACE_INTERRUPT has taken effect. */
void tracer_on_event_stop(struct tracer *t, struct task *task, int sig);

/* Attaching to running processes, and the ptrace(2) options of tasks (attach.c). */

/* Attaches to all threads of a process, or to one that is not a leader. Returns 0, or -errno with a sentence. */
int tracer_attach(struct tracer *t, pid_t tid, struct buf *why);
/* With this file, the kernel's module Yama restricts ptrace(2). Not all kernels have it. */
#define ATTACH_YAMA "/proc/sys/kernel/yama/ptrace_scope"
/* Returns the process that traces `pid`, or 0. */
pid_t attach_tracer_of(pid_t pid);
/*
 * Returns true if process `pid` traces process `self`, directly or through other tracers (`tracer_of` returns the tracer
 * of a process). If `self` attached to it, both could stop each other for ever, and SIGKILL would not end them.
 */
bool attach_is_mutual(pid_t pid, pid_t self, pid_t (*tracer_of)(pid_t pid));
/* Sets the options of a stopped task. Only leaders of started or attached processes stop at their exit. */
void tracer_set_options(struct tracer *t, const struct task *task);

/* Finds where a program's own code begins: at its main, or at the entry point if it has no symbols (attach.c). */

/* Returns the address of the process's entry point, or 0. */
uint64_t tracer_entry_point(pid_t pid);
/* Returns the address at which the process's loader is mapped, or 0 if the program is linked statically. */
uint64_t tracer_loader_base(pid_t pid);
/* Returns the address in memory of main of the executable `fd`, or 0. AT_ENTRY (`entry`) gives the load offset. */
uint64_t tracer_main_symbol(int fd, uint64_t entry);
/* Sets a breakpoint at main or the entry point in the new image of the started program. */
void tracer_find_main(struct tracer *t, struct task *task);
/* Removes that breakpoint from the stopped task before PTRACE_DETACH. Without a tracer, it would end the program. */
void tracer_leave_main(struct tracer *t, const struct task *task);
/* True if that breakpoint has caused the task's SIGTRAP: all calls counted until now were made before main. */
bool tracer_at_main(struct tracer *t, struct task *task);

/* The cost of a traced call: measured with a child, or the kept value of engine/costs.h (calibrate.c). */

/* `kept` may be NULL. If a cost could not be measured, its `ns` is not above zero, and its `err` says why. */
void tracer_calibrate(struct costs *kept, struct tracer_cost cost[NOTICED_WAYS]);
/* Appends that the times include the cost of tracing, and the reason why this cost could not be measured. */
void tracer_cost_unknown(const struct tracer_cost *cost, struct buf *out);
/* Waits until a child for calibration, not traced yet, sets *ready. Returns false if it ends without that. */
bool tracer_await_child(pid_t pid, const _Atomic int *ready);

/* The calls of a thread: their beginnings, their ends (syscall/life.h), and the counts (calls.c). */

/* Returns true if this is the call `name`, which need not exist on the call's architecture. */
bool tracer_call_is(const struct call *c, const char *name);
/* Called when a call begins. The caller has set arch, nr, args, ip and sp of the thread's call. */
void tracer_call_enter(struct tracer *t, struct task *task);
/* At an attached thread's first stop: saves the call that may be continued. Queues EV_ATTACH if `report`. */
void tracer_call_at_attach(struct tracer *t, struct task *task, bool report);
/* Called when the call returns. The caller has set result, error and err of the thread's call. */
void tracer_call_exit(struct tracer *t, struct task *task);
/*
 * Called when a signal has interrupted the thread's call after `elapsed_ns` (the call's `err` is one of the codes in
 * syscall/restart.h), and the tracer did not see the call's entry. The tracer counts the call however it ends, so from
 * now on the tracer must see a restart of the call.
 */
void tracer_call_interrupted(struct tracer *t, struct task *task, uint64_t elapsed_ns);
/* Called when the thread has ended: its call and its interrupted calls stay unfinished. */
void tracer_call_vanish(struct tracer *t, struct task *task);

/* Handles a syscall-stop, or a stop by sctrace's seccomp filter: reads the call, creates its events, tampers with it. */
void tracer_syscall_stop(struct tracer *t, struct task *task);

/* Returns true if the task's current call must be reported as an event. */
bool tracer_wants_call(const struct tracer *t, const struct task *task);

/*
 * Handles CLONE_UNTRACED of clone(2), by which a program asks that a child is not traced. The request is meant for
 * other tracers, so sctrace traces such a child as well. It clears the bit while the call runs, and restores the bit
 * afterwards: in the parent, and in the child at its first stop.
 */

/* Called at the end of a call, and at the first stop of a child. Restores the bit if it was cleared. */
void tracer_untraced_exit(const struct task *task);

/* A seccomp filter that stops only the wanted calls (SECCOMP_RET_TRACE; calls.c). */

/* A filter. It is built before the fork, because this allocates memory, and installed in the child. */
struct call_filter {
	struct sock_filter *code;
	unsigned short len;
};

/*
 * Builds the filter for the wanted calls of the native architecture. Calls of other architectures, numbers without
 * a name or beyond CALL_SET_MAX, and those of mem_call_serves_pages(), always stop. The caller calls
 * call_filter_free().
 */
void call_filter_build(struct call_filter *f, const struct call_set *only);
void call_filter_free(struct call_filter *f);
/* Installs the filter `ctx` in the child, with no_new_privs only if needed. Returns 0 or -errno. */
int call_filter_install(void *ctx);

#endif
