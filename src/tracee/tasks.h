/* The traced threads and processes, found by id in constant time. */
#ifndef SCTRACE_TRACEE_TASKS_H
#define SCTRACE_TRACEE_TASKS_H

#include "base/map.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A thread group. It exists as long as one of its threads is known. */
struct process {
	pid_t pid;
	unsigned ntasks;
	bool counted;  /* its calls are shown; false if it is traced only because of a filter */
	bool root;     /* the program that sctrace started */
	bool attached; /* it ran before sctrace, and continues after it */
	bool execed;   /* it has called execve(2) while traced, so the root's calls count */
	bool hold;     /* stays attached although it is not counted, because it shares memory with a counted process */
	void *image;   /* owned by the engine, or NULL */
};

/* One thread, and its ptrace-stop. */
struct task {
	pid_t tid;
	struct process *proc; /* NULL until its creation was reported */
	bool stopped;         /* in a ptrace-stop that wait4(2) has returned */
	bool listening;       /* in a group-stop that PTRACE_LISTEN preserves */
	bool group_stopped;   /* EV_STOP was reported, and EV_CONT will follow */
	bool mid_call;        /* this stop is inside a call, whose result is not yet in its registers */
	bool exiting;         /* its exit event was reported */
	bool release;         /* detach at its next resumption */
	bool fresh;           /* its first stop has not been seen yet */
	int early_status;     /* a stop that came before its creation was reported, or 0 */
	uint64_t early_ns;    /* time of that stop */
	int deliver;          /* signal to deliver at the next resumption, or 0 */
	void *data;           /* owned by the engine, or NULL */
};

/* A struct of zeros is empty. */
struct tasks {
	size_t task_size; /* size of the tracer's own structure that begins with a struct task; 0 if it has none */
	struct map by_tid;
	struct map processes;
};

void tasks_free(struct tasks *t);
struct task *tasks_find(const struct tasks *t, pid_t tid);
/*
 * Adds a task without a process; the rest of the tracer's structure is zero. Returns NULL if memory ran out or the tid
 * exists.
 */
struct task *tasks_add(struct tasks *t, pid_t tid);
/* Makes `task` a thread of process `pid`, which is created if it is new. Returns 0 or -ENOMEM. */
int tasks_join(struct tasks *t, struct task *task, pid_t pid);
/* Removes the task, and its process if it was the last thread. */
void tasks_remove(struct tasks *t, struct task *task);
/* execve(2) by thread `task` of a process with leader `leader`: the task takes over the leader's id. */
int tasks_rename(struct tasks *t, struct task *task, pid_t leader);
size_t tasks_count(const struct tasks *t);

#endif
