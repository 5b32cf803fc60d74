/* The traced: threads and processes, found by id in constant time. */
#ifndef SCTRACE_TRACEE_TASKS_H
#define SCTRACE_TRACEE_TASKS_H

#include "base/map.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A thread group. It lives as long as one of its threads is known. */
struct process {
	pid_t pid;
	unsigned ntasks;
	bool counted;  /* its calls are shown; false for what is held only because of a filter */
	bool root;     /* the program that was started */
	bool attached; /* it was running before; it is left running */
	bool execed;   /* has run execve(2) under us, so the root's calls count */
	bool hold;     /* stays attached though it is not counted: it shares memory with what is */
	void *image;   /* the engine's own, or NULL */
};

/* One thread, and the ptrace-stop that it is in. */
struct task {
	pid_t tid;
	struct process *proc; /* NULL until the birth is known */
	bool stopped;         /* in a ptrace-stop that was waited for */
	bool listening;       /* in a group-stop kept by PTRACE_LISTEN */
	bool group_stopped;   /* EV_STOP was given and EV_CONT is due */
	bool mid_call;        /* this stop is inside a call, whose result is yet to be written to its registers */
	bool exiting;         /* its exit event was seen */
	bool release;         /* is let go at its next resumption */
	bool fresh;           /* its first stop has not been seen */
	int early_status;     /* a stop that came before its birth was known, or 0 */
	uint64_t early_ns;    /* when that was */
	int deliver;          /* signal to hand over at the next resumption, or 0 */
	void *data;           /* the engine's own, or NULL */
};

/* Zero-initialised is empty. */
struct tasks {
	size_t task_size; /* of the tracer's own structure that begins with a struct task; 0: it has none */
	struct map by_tid;
	struct map processes;
};

void tasks_free(struct tasks *t);
struct task *tasks_find(const struct tasks *t, pid_t tid);
/* A new task without process, the rest of the tracer's structure all zero; NULL when memory ran out or the tid is there. */
struct task *tasks_add(struct tasks *t, pid_t tid);
/* Makes `task` a thread of process `pid`, which is made where it is new; 0 or -ENOMEM. */
int tasks_join(struct tasks *t, struct task *task, pid_t pid);
/* Forgets the task, and its process when it was the last thread. */
void tasks_remove(struct tasks *t, struct task *task);
/* execve(2) by thread `task` of a process whose leader's tid is `leader`: the task takes over that id. */
int tasks_rename(struct tasks *t, struct task *task, pid_t leader);
size_t tasks_count(const struct tasks *t);

#endif
