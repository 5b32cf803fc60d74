/*
 * Recording: the recorder in the program writes whole calls, which become events like those of ptrace stops. A call
 * without a recipe, or whose arguments require it, stops under ptrace as before. So the stream of events is complete,
 * whatever the recorder can do.
 */
#ifndef SCTRACE_ENGINE_PATCH_RECORD_RECORD_H
#define SCTRACE_ENGINE_PATCH_RECORD_RECORD_H

#include "engine/patch/record/reader.h"
#include "engine/patch/record/recipe.h"
#include "engine/patch/state.h"

/* A thread that has a ring. */
struct record_thread {
	struct record_reader reader;
	pid_t tid, pid;
	struct task *task; /* NULL: it is gone */
	struct image *image;
	struct call call; /* the one whose beginning was reported last */
	uint64_t turn;    /* when its next item is to be reported; UINT64_MAX: it has none */
	unsigned index;   /* index of the ring in its region */
	uint64_t fs_base; /* the fs base under which the program finds it */
};

/* Additional state of an engine that records. */
struct record {
	/* Those that are gone, too, until all they recorded is reported. If `ordered`, a heap by their turns, the earliest first. */
	VEC(struct record_thread *) threads;
	bool ordered;
	unsigned char program[RECORDER_ROOM + RECIPES_ROOM]; /* mapped in the program from RECORDER_CODE on */
	uint32_t limit;                                      /* bytes of each ring that are used */
	uint64_t string_max;
	uint64_t sync_ticks, sync_ns; /* both clocks, read together at the last look */
	struct mem mem;
	pid_t mem_pid;
	struct record_thread
		*reported; /* whose item the last event was: its memory must last until the next one; or NULL */
	uint32_t reported_calls[AGENT_CALLS],
		asked_calls[AGENT_CALLS]; /* with SCTRACE_DEBUG they are printed: see record_close() */
	bool overwritten;                 /* the note that a ring was overwritten has been given */
};

static inline struct record_thread *recorded_of(const struct task *task)
{
	return patch_task_of(task) ? patch_task_of(task)->recorded : NULL;
}

static inline uint64_t record_scratch_address(const struct record_thread *th)
{
	return SCRATCHES_AT + (uint64_t)th->index * SCRATCH_SIZE;
}

/* Checks whether this processor and kernel support recording. Returns 0, or -ENOTSUP with the reason in `why`. */
int record_probe(struct buf *why);
/* Makes the engine record what `config` requests. Returns 0 or -ENOMEM. */
int record_open(struct patch *p, const struct engine_config *config);
void record_close(struct patch *p);

/*
 * Gives the stopped task a ring, or enters its ring under its present fs base. Returns false if there is no room; its
 * calls then go to sctrace.
 */
bool record_admit(struct patch *p, struct task *task);
/* The task's process received a copy of its parent's memory: the rings there are not its own. */
void record_forget_copied(struct task *task);
/* Frees the thread's ring and its row in the table. */
void record_dismiss(struct record_thread *th);
/* The task, or its image, is gone. Its records will still be reported. */
void record_leave(struct patch *p, struct task *task);

/*
 * The agent handed over a call that it usually records. Returns true if the reason is now removed (the thread had no
 * ring, or the ring was full), so that the call can be sent to its stub again.
 */
bool record_retry(struct patch *p, struct task *task, int64_t nr);
/* True if a call with registers `r` has stopped by which the recorder asks to complete a record. */
bool record_is_asking(const struct user_regs_struct *r);
/* Completes it: changes and sets the registers `r`. */
void record_complete(struct patch *p, struct task *task, struct user_regs_struct *r);
/*
 * Takes a task out of the path of a recorded call, as stepout() does: changes `r`. False: it is not on it.
 */
bool record_step_out(struct patch *p, struct task *task, struct user_regs_struct *r, enum stepout_for what);
/*
 * The recorder faulted while it copied memory, because that memory was unmapped in between: completes the record.
 * Returns false if the recorder did not cause the fault.
 */
bool record_survive_fault(struct patch *p, struct task *task);
/*
 * For a thread whose next instruction, at `ip`, is ours: the address after its call, or 0 if that is unknown. Otherwise
 * `ip`.
 */
uint64_t record_native_ip(const struct task *task, uint64_t ip);
/* True if `ip` is in the recorder. */
bool record_is_recorder(uint64_t ip);

/*
 * Adds what the recipe wants to the record of the thread's call in progress: what the call was given, and where it was made, with
 * `result`, what it has written. `result` is -1 where it was not made.
 */
void record_capture(const struct patch *p, struct record_thread *th, int64_t result);
/* Frees a thread of which all is reported. */
void record_thread_free(struct record_thread *th);
/* Copies what all threads have recorded; to be called before a stop is reported. */
void record_look(struct patch *p);
/* Gets the next recorded event in order of time: returns true and fills in *ev. */
bool record_next(struct patch *p, struct event *ev);

#endif
