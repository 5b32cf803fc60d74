/* SPDX-License-Identifier: MIT */
/*
 * Recording: the recorder in the program writes records of calls, and sctrace converts these to events like those of
 * ptrace stops. A call stops under ptrace as before if it has no recipe, or if its arguments require it. So the stream
 * of events is complete, even if the recorder cannot record a call.
 */
#ifndef SCTRACE_ENGINE_PATCH_RECORD_RECORD_H
#define SCTRACE_ENGINE_PATCH_RECORD_RECORD_H

#include "base/buf.h"
#include "engine/patch/code/ring.h"
#include "engine/patch/record/reader.h"
#include "engine/patch/state.h"
#include "syscall/rules.h"

#include <stdbool.h>

struct site;
struct syscall_desc;

/* The processes in a control group (cgroups(7)). Their rings and scratch memories share a part of the group's memory. */
struct ring_group {
	char *name;           /* see cgroup_name() */
	uint64_t total, used; /* in bytes */
	/*
	 * It is not sctrace's group. The kernel charges shared memory to the group that uses a page first, so sctrace
	 * itself writes to each page of a new ring first.
	 */
	bool foreign;
};

/* A thread that has a ring. */
struct record_thread {
	struct record_reader reader;
	pid_t tid, pid;
	struct task *task; /* NULL: the task has ended or was detached */
	struct image *image;
	struct region *region; /* contains the ring */
	struct ring_group *group;
	struct call call;        /* the call whose beginning was reported last */
	uint64_t turn;           /* time of the next item; UINT64_MAX: there is none */
	unsigned page, pages;    /* the ring's first page in its region, and its number of pages */
	unsigned index;          /* index of the thread's scratch memory, */
	uint64_t scratch;        /* and its address in the program */
	uint64_t thread_pointer; /* the thread pointer by which the program finds the ring */
	bool has_ring;           /* the thread's scratch memory contains the address of the ring */
	bool contended;          /* other threads have the same thread pointer, so the program cannot find the ring */
	bool names;              /* the recorder may record the names of descriptors (RING_PERMITS_NAMING) */
	bool knows_pairs;        /* RING_PERMITS_PAIRS */
	bool knows_pids;         /* RING_PERMITS_PIDS */
	bool shares;             /* another process has the same memory, as after vfork(2) */
	bool told;               /* the thread has certainly seen RING_NAMES_EACH_TIME, */
	uint64_t told_at;        /* which was set at this value of agent_ring.produced */
};

/* Additional state of an engine that records. */
struct record {
	/*
	 * All threads that have records to report, including threads that have ended. If `ordered` is set, a heap by
	 * `turn`, with the earliest first.
	 */
	VEC(struct record_thread *) threads;
	bool ordered;
	/* The bytes that are mapped in the program from RECORDER_CODE on. The recipes and commands in them need alignment. */
	_Alignas(uint64_t) unsigned char program[RECORDER_ROOM + RECIPES_ROOM];
	int fd;         /* a file with these bytes, or -1 */
	uint32_t limit; /* upper limit for agent_ring.limit of all rings */
	uint64_t string_max;
	const struct statx *output; /* engine_config.output */
	bool names, full_names;     /* names of descriptors may be recorded, and must be names in full */
	bool finds_peers;           /* the names in full of Unix sockets have the inodes of both ends */
	bool tied;                  /* a program has used a connected Unix socket, or a pidfd: RING_OTHERS_LACK */
	bool renaming;              /* a program has given a file another name, or removed one */
	bool several;               /* several processes are or were traced */
	struct record_names {
		struct event_names names;
		struct buf sockets[EVENT_NAMES_MOST]; /* event_name.full */
	} event_names[2];                             /* those of the last event: at its end, and at its beginning */
	unsigned pages_least;                         /* size of the smallest rings */
	VEC(struct ring_group *) groups;              /* the first is that of sctrace */
	uint64_t sync_ticks, sync_ns;  /* time stamp counter and clock, read together by the last record_look() */
	struct mem mem, live;          /* read the memory of the last event, and the present memory of its thread */
	struct mem entry_mem;          /* reads the memory before the call of the last event, if this is EV_CALL */
	struct captured_list captures; /* those of the record of the last event, */
	struct captured_memory before, after; /* and memory that contains them */
	pid_t mem_pid;
	/* The thread of the last event, or NULL. The event's memory stays valid until the next event. */
	struct record_thread *reported;
	/* Numbers of recorded calls, and of those that sctrace completed. SCTRACE_DEBUG shows them at the end. */
	uint32_t reported_calls[AGENT_CALLS], asked_calls[AGENT_CALLS];
	bool overwritten; /* a note about an overwritten ring was already given */
};

static inline struct record_thread *recorded_of(const struct task *task)
{
	return patch_task_of(task) ? patch_task_of(task)->recorded : NULL;
}

/* Checks whether this processor and kernel support recording. Returns 0, or -ENOTSUP with the reason in `why`. */
int record_probe(struct buf *why);
/* Makes the engine record what `config` requests. */
void record_open(struct patch *p, const struct engine_config *config);
void record_close(struct patch *p);

/*
 * Gives the stopped task a ring, or registers its ring under its present thread pointer. Returns false if there is no room for
 * it; the task's calls then go to sctrace.
 */
bool record_admit(struct patch *p, struct task *task);
/* Like record_admit(), for a task whose setup code gives it the ring at page `page` (image/unattended.c). Its thread pointer is 0. */
void record_adopt(struct patch *p, struct task *task, unsigned page);
/* Like record_admit(), for a task whose thread pointer is known. */
bool record_admit_at(struct patch *p, struct task *task, uint64_t thread_pointer);
/* Called before the stopped task is detached: if the engine has given it a thread pointer, sets it to the program's, which is 0. */
void record_take_pointer(const struct task *task);
/*
 * Called before a call that sets the thread pointer of the stopped task, so that the task's next call finds the ring. The ring
 * is registered under the old thread pointer as well, because the call may fail.
 */
void record_expect(struct patch *p, struct task *task, uint64_t thread_pointer);
/*
 * Called for a process that received a copy of its parent's memory: clears the copied table of threads, because the
 * rings in the table belong to the parent.
 */
void record_forget_copied(struct task *task);
/*
 * Makes the program's table contain the scratch memory of a task whose recorded vfork(2) has returned. Returns false if
 * the program's memory cannot be written.
 */
bool record_take_back(const struct task *task);
/* Frees the thread's ring and its row in the table. */
void record_dismiss(struct patch *p, struct record_thread *th);
/* Called when the task or its image is gone: reads its last records, which are still reported, and frees its ring. */
void record_leave(struct patch *p, struct task *task);
/*
 * Like record_leave(), for a task whose execve(2) has succeeded. Returns true if the call was recorded; the task's
 * thread_of()->call then describes it, with its duration.
 */
bool record_exec(struct patch *p, struct task *task);

/* Determines how much memory rings may take, and the size of the first ring of new images. */
void record_plan_rings(struct patch *p);
void record_free_groups(struct record *rec);
/* Decides whether the thread, which is new, may record the names of descriptors. */
void record_begin_names(const struct patch *p, struct record_thread *th);
/* Must be called for each new task, with the flags of its clone(2): a process that shares the descriptors of its parent looks up each name. */
void record_note_parent(const struct patch *p, const struct task *parent, const struct task *child, uint64_t flags);
/*
 * From now on, names in full may depend on what other processes do: closing descriptors, and exiting, stops if names may have to be
 * looked up (RING_OTHERS_LACK).
 */
void record_tie(const struct patch *p);
/* Must be called before a call of the task, if that may change the names of descriptors that stay open. */
void record_watch_names(struct patch *p, const struct task *task, int64_t nr, const uint64_t args[3]);
/*
 * Removes all notes about names from the program's table (named_row()). `all`: also the note that a call has used other
 * descriptors than its arguments, if the process has not made this call itself.
 */
void record_forget_names(const struct task *task, bool all);
/* Returns 1 + the descriptor that the record shows not to be open before its call, or 0. */
uint32_t record_absent(const struct patch *p, const struct agent_record *r);
/*
 * Returns the names of descriptors in a record that was checked, or NULL: those from before the call, or those from after it.
 * They are valid until the next call with the same `before`.
 */
struct event_names *record_names(struct record *rec, const struct agent_record *r, bool before);
/*
 * The same for a call that has ended, whose record sctrace completes because the recorder could not find the name of a descriptor:
 * looks the name up. If only calls that are known to change names can change it, notes in the program's table that it is
 * recorded. The thread must be stopped. Returns NULL if it is not certain that the name stays the same.
 */
struct event_names *record_look_up_name(struct patch *p, const struct record_thread *th, const struct agent_record *r);

/* Sets agent_ring.permits: which calls the recorder may make on its own. */
void record_permit(const struct patch *p, struct record_thread *th);
/* Does so for all threads: a program has set a seccomp filter, or may serve page faults, for example. */
void record_permit_all(const struct patch *p);
/*
 * Gives the task a ring and a scratch memory, which the image has mapped, but no row in the table of threads. The caller
 * must write the ring's address to the scratch memory. Returns NULL if there is no room, or if the task cannot map memory.
 */
struct record_thread *record_take_ring(struct patch *p, struct task *task);
/* Does the same with a ring and a scratch memory that the image has mapped, and that are reserved for the task. */
struct record_thread *record_thread_new(struct patch *p, struct task *task, unsigned page, unsigned pages,
					unsigned index);
/* Frees the ring and the scratch memory. */
void record_give_ring(struct patch *p, struct record_thread *th);
/*
 * Gives the thread a larger ring, if there is memory for it. The thread must be stopped at a call that the agent has passed
 * to sctrace, and its records must have been copied (reader_fill()). Returns true if it has a larger ring.
 */
bool record_enlarge(struct patch *p, struct record_thread *th);

/*
 * Called when the agent has passed a call to sctrace instead of recording it, because the thread had no ring, or the
 * ring was full. Returns true if the thread now has a ring with room, so that the call can be sent to its stub again. Sets
 * *reason if this was the reason.
 */
bool record_retry(struct patch *p, struct task *task, int64_t nr, enum stop_reason *reason);
/*
 * True if a task with registers `r` has stopped at a call with which the agent asks sctrace to report the beginning of a
 * recorded call, or to complete its record.
 */
bool record_is_asking(const struct cpu_regs *r);
/* Called after a call that ran under ptrace: the recorder has not seen that it may have closed descriptors. */
void record_forget_closed(const struct patch *p, const struct task *task, const struct call *c);
/* Does what the agent has asked for. Changes `r`, and sets the task's registers to it. */
void record_answer(struct patch *p, struct task *task, struct cpu_regs *r);
/*
 * Must be called at the first stop of a new process, before the process is given a ring or detached. If the call that
 * created the process is recorded, the process is in the agent's code for that call, and would write to its parent's ring.
 * Changes its registers so that it leaves the agent as after a call that is not recorded.
 */
void record_free_child(const struct task *task);
/*
 * Moves a task out of a recorded call, as stepout() does: changes `r`. With STEPOUT_UNSEEN it moves nothing, but
 * reports the end of a call that was made, and returns false. It also returns false if the task is not in a recorded
 * call, or if its memory cannot be read.
 */
bool record_step_out(struct patch *p, struct task *task, struct cpu_regs *r, enum stepout_for what);
/* Is a thread with registers `r` on the path of a recorded call? The child of a recorded vfork(2) is not. */
bool record_is_on_path(const struct cpu_regs *r);
/*
 * True if the call on whose path a thread is has been made; sets *result to its result. The instruction CPU_RECORD_POP bytes after
 * the call stores the result in the scratch memory.
 */
bool record_is_made(const struct agent_scratch *s, const struct cpu_regs *r, int64_t *result);
/* Sets `r` to the native state of such a thread, before the call or after it. `frame` is the memory at s->sp. */
void record_set_native(struct cpu_regs *r, const struct agent_scratch *s, const uint64_t frame[CPU_FRAME_WORDS],
		       const struct site *site, bool made, int64_t result);
/*
 * Called for a task that gets a signal with a handler and must stay where it is (stepout_waits()). If the signal has interrupted a
 * recorded call, reports the end of the call, so that it comes before the signal. `caught`: the handler will certainly run.
 */
void record_end_interrupted(struct patch *p, const struct task *task, const struct cpu_regs *r, bool caught);
/*
 * Completes the record after the recorder has faulted because the memory that it was copying was unmapped in the
 * meantime. Returns false if the recorder did not cause the fault.
 */
bool record_survive_fault(struct patch *p, struct task *task);
/*
 * tracer_ops.native_ip: if `ip`, the thread's next instruction, is in the agent or a stub, returns the address after its
 * call in the program's own code, or 0 if that is unknown. Otherwise returns `ip`. Events show this address. It also
 * serves to recognise the restart of a call, because the agent does not make the restarted call at the same `ip`.
 */
uint64_t record_native_ip(struct tracer *t, const struct task *task, uint64_t ip);
/* True if `ip` is in the recorder, or at a call that it makes. */
bool record_is_recorder(uint64_t ip);

/*
 * Adds the memory that the recipe names to the record of the thread's call in progress. If the call was made, with this
 * result, this includes the output.
 */
void record_capture(const struct patch *p, struct record_thread *th, int64_t result, bool made);
/* Frees a thread whose records have all been reported. */
void record_thread_free(struct record_thread *th);
/*
 * tracer_ops.record_flow: FLOW_MANY if an eighth of a ring contains records that were not copied yet, FLOW_FAST if a
 * quarter does.
 */
enum flow record_flow(struct tracer *t);
/* Copies the records of all threads from their rings. Must be called before a stop is reported. */
void record_look(struct patch *p);
/* Does the same for one stopped thread, after record_look() has copied the records of the others. */
void record_look_at(struct patch *p, struct record_thread *th);
/* tracer_ops.next_recorded: gets the next recorded event in order of time. Returns true and fills in *ev. */
bool record_next(struct tracer *t, struct event *ev);

/* Recipes: how the recorder treats each call, derived from its line in syscalls.def and its memory rules (recipe.c). */

/*
 * Fills in the rules of commands, and the parts of structures. recipe_of() adds the rules of arguments. With `names`, the
 * names of new descriptors must be looked up at once.
 */
void recipe_memory(struct memory_tables *tables, bool names);
/*
 * Fills in the recipe of call `nr`, which `d` describes. With `verbose`, all arguments and variables of
 * execve(2) are shown. Returns false if the call must stop, because only sctrace can find out everything that is shown.
 */
bool recipe_of(const struct syscall_desc *d, int64_t nr, bool verbose, struct memory_tables *tables,
	       struct agent_recipe *recipe);

#endif
