/* The tasks (threads) and processes that are traced. They are found by id in constant time. */
#ifndef SCTRACE_TRACEE_TASK_LIST_H
#define SCTRACE_TRACEE_TASK_LIST_H

#include "base/map.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

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

/* All tasks and processes that are traced. A zeroed struct is empty. */
struct tasks {
	size_t task_size; /* size of the engine's struct, whose first member is a struct task; 0: a struct task */
	struct map by_tid;
	struct map processes;
};

void tasks_free(struct tasks *t);
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

#endif
