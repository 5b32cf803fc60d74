/* SPDX-License-Identifier: MIT */
/* Writes a recording. With --last, it stays in memory until it is saved. */
#ifndef SCTRACE_RECORDING_WRITE_H
#define SCTRACE_RECORDING_WRITE_H

#include "base/map.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "recording/items.h"
#include "run/run_env.h"
#include "stack/stack.h"
#include "tracee/names.h"

#include <stddef.h>
#include <stdint.h>

struct recording_writer;

/*
 * For --last: keeps the end of a recording in memory, as whole blocks, and drops the oldest ones. Blocks with the last
 * events of a thread are kept longer, because other threads can make any number of calls before sctrace sees a crash (keep.c).
 */

/* How much of the end of the recording must at least be kept. Exactly one member is not 0. */
struct recording_last {
	uint64_t calls, bytes, ns;
};

/* Parses "1000" (calls), "64M" (bytes) or "30s". Returns 0, or -EINVAL with the reason in `why`. */
int recording_last_parse(const char *text, struct recording_last *last, struct buf *why);

/* A compressed block, as it will be written to the file. */
struct kept_block {
	char *bytes; /* freed by the owner of the struct */
	size_t n;
	uint64_t number; /* the blocks of a recording are numbered consecutively */
	uint64_t calls;  /* number of calls that ended in the block */
	uint64_t end_ns; /* time of the block's last event */
	uint64_t pins;   /* the number of reasons to keep the block, however old it is; 0: none */
};

/* A zeroed struct is empty. The caller must set `last`. */
struct recording_kept {
	struct recording_last last;
	VEC(struct kept_block) pinned; /* pinned blocks, which are older than all of `blocks`; the oldest one first */
	VEC(struct kept_block) blocks; /* the newest blocks, from index `first` on; the oldest one first */
	size_t first;
	uint64_t calls, bytes; /* totals of `blocks`, without the pinned ones */
};

/* Appends a block, and drops blocks that are no longer needed. The block belongs to `k` afterwards. */
void recording_keep(struct recording_kept *k, struct kept_block block);
/* Adds `by` (1 or -1) to the pins of a block. Does nothing if the block was dropped. */
void recording_pin(struct recording_kept *k, uint64_t number, int by);
void recording_kept_free(struct recording_kept *k);

/* The facts about a recording as a whole: those at its start (the head) and those at its end. */

struct recording_head {
	uint64_t start_ns;      /* CLOCK_MONOTONIC at the start of the trace */
	int64_t real_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	uint32_t string_max;    /* maximum number of bytes recorded of each buffer (-s) */
	bool follow;            /* children were traced as well (-f) */
	bool stacks;            /* stacks were recorded (-k) */
	bool last;              /* the recording does not begin at the start of the trace (--last) */
	bool several;           /* several threads existed when the trace began */
	struct recording_about {
		char *version;            /* version of sctrace */
		char *engine;             /* name of the engine */
		struct strings program;   /* argv of the program; unknown if sctrace attached to processes */
		struct strings selection; /* the options that selected calls; empty: all calls were recorded */
		double last_calls; /* with --last: the number of calls that the user asked for; NAN: another amount */
		struct env machine;
	} about;
};

/* Initialises a head in which everything is unknown. Free it with recording_head_free(). */
void recording_head_init(struct recording_head *h);
void recording_head_free(struct recording_head *h);
/* Reads a head. `h` must be initialised. Sets r->bad if the bytes are something else. */
void recording_head_get(struct recording_head *h, struct item_reader *r);

struct recording_end {
	const struct engine_result *result;
	const char *footer; /* text of the engine, of one or more lines */
};
/* Reads these facts. Appends the footer to `footer`. */
void recording_end_get(struct engine_result *result, struct buf *footer, struct item_reader *r);

/*
 * For --last: the last blocks that contain calls of a thread are pinned. There are enough of them for THREAD_CALLS calls,
 * but at most THREAD_BLOCKS, which limits the memory. If other threads make many calls, one block may contain a single
 * call of the thread.
 */
#define THREAD_CALLS  32
#define THREAD_BLOCKS 16

struct thread_block {
	uint64_t number; /* 0: none */
	uint64_t calls;  /* number of calls of the thread that ended in the block */
};

/* What the writer remembers of a thread. Initialise with zeros; free with recording_thread_free(). */
struct recording_thread {
	struct thread_block blocks[THREAD_BLOCKS]; /* the pinned blocks, the latest one first */
	uint32_t index;                            /* number of the thread in the first block */
	pid_t pid;
	struct item_calls calls;
	struct buf entry;     /* captures of the start of the current call (syscall/captured.h) */
	uint64_t entry_block; /* number of the block that contains the start of the current call; 0: none */
	/* The state before the start of the current call was written, for recording_withdraw(). */
	struct recording_undo {
		uint64_t block;
		size_t begin, end;
		uint64_t time_ns;
		struct call call, slot;
	} undo;
};
/* Must be called when the thread has ended. Its last blocks are no longer pinned. */
void recording_thread_free(struct recording_writer *w, struct recording_thread *th);

/*
 * Creates the file `path` with mode 0600. If the file exists, its contents remain until recording_begin(), because the
 * program may not exist. If `last` is not NULL, only that much of the end is kept, in memory, until recording_save().
 * Returns 0 and sets *out, or -errno with a sentence in `why`.
 */
int recording_create(struct recording_writer **out, const char *path, const struct recording_last *last,
		     struct buf *why);
/*
 * Empties the file and writes the head. Must be called once, before the first event. With --last, the file remains
 * unchanged until recording_save(), and `head` must outlive the writer.
 */
void recording_begin(struct recording_writer *w, const struct recording_head *head, const volatile sig_atomic_t *stop);
/*
 * Begins the recording of event `ev` of a thread. Calls of recording_name() and recording_frame() until
 * recording_event() belong to this event. Returns the number of the block that contains the event.
 */
uint64_t recording_event_begin(struct recording_writer *w, struct recording_thread *th, const struct event *ev);
/*
 * Writes the name of a descriptor of thread `tid`, a process, or an interface. `key` is the descriptor or the
 * interface. If `text` is NULL, the answer is `number`, or the name is unknown.
 */
void recording_name(struct recording_writer *w, enum recording_name kind, pid_t tid, uint32_t key,
		    const struct buf *text, int64_t number);
/* Writes one frame of the stack of the current event (a stack_frame_fn). `w` is the writer. */
bool recording_frame(void *w, const struct stack_frame *f);
/* Writes the event, and what was captured for it: for EV_ENTER before the call, for EV_EXIT after it, or both. */
void recording_event(struct recording_writer *w, struct recording_thread *th, const struct event *ev,
		     const struct captured_list *captures);
/*
 * Removes the start of the current call of the thread, which the thread has not made. Returns false if something was
 * written after it; the caller then writes the end of the call.
 */
bool recording_withdraw(struct recording_writer *w, struct recording_thread *th);
/*
 * For --last: must be called when the thread crashes, after recording_event_begin(). The last blocks of the thread stay
 * pinned, even after it has ended, until another thread crashes.
 */
void recording_crash(struct recording_writer *w, const struct recording_thread *th);
/* For --last: writes what is kept in memory to the file. Recording continues. recording_close() returns an error. */
void recording_save(struct recording_writer *w, const struct recording_end *end);
/*
 * Completes the file and frees the writer. With --last, the file stays as recording_save() has written it. `end`
 * contains the facts that are known at the end. Returns 0, or -errno with a sentence in `why` if something could not be
 * written.
 */
int recording_close(struct recording_writer *w, const struct recording_end *end, struct buf *why);
/* Frees the writer. Deletes the file if it is empty. */
void recording_drop(struct recording_writer *w);

/* Names while a recording is made: looked up on the live system, cached for a short time, and recorded (live_names.c). */

/* Descriptors in RECORDING_FD_SLOTS groups: one for AT_FDCWD, and the others by their number. */
enum { RECORDING_FD_SLOTS = 64 };

/* The names of a thread that were looked up. A zeroed struct is a new thread. */
struct recording_asked_thread {
	uint64_t epoch;      /* that of the latest event */
	uint64_t fds;        /* bit N + 1: all names of descriptor N, for N below 63; bit 0: those of AT_FDCWD */
	uint64_t comm_epoch; /* that in which the names of the thread and its process were looked up */
};

/* Initialise with recording_asked_init(); free with recording_asked_free(). */
struct recording_asked {
	struct recording_answers names; /* pass this to the code that needs names */
	const struct names *live;
	struct recording_writer *writer;
	struct map answers;   /* recording_name_key() -> struct answer; only names that the current block contains */
	struct answer *spare; /* for the next answer, or NULL */
	uint64_t block;
	/*
	 * Number of the current epoch. A new epoch begins with each block of the recording, after each call that may change
	 * names, and after EPOCH_NS. A name is looked up again if it may have changed since the epoch of its last look-up.
	 */
	uint64_t epoch;
	uint64_t all_changed;                 /* the latest epoch in which any name may have changed */
	uint64_t changed[RECORDING_FD_SLOTS]; /* the same for the descriptors of a slot alone */
	uint64_t comm_epoch; /* the same for the names of threads and processes, which few calls change */
	uint64_t epoch_end_ns;
	struct recording_asked_thread *decoding; /* see recording_asked_decode() */
};

void recording_asked_init(struct recording_asked *a, const struct names *live, struct recording_writer *writer);
void recording_asked_free(struct recording_asked *a);
/* Must be called before each event of thread `th`: the event belongs to `block` and has the time `now_ns`. */
void recording_asked_event(struct recording_asked *a, struct recording_asked_thread *th, uint64_t block,
			   uint64_t now_ns);
/* Must be called before the next event if names of descriptors may have changed; `comm`: those of threads too. */
void recording_asked_changed(struct recording_asked *a, bool comm);
/* The same if only names of descriptors `first` to `last` may have changed (AT_FDCWD: that of the current directory). */
void recording_asked_changed_fds(struct recording_asked *a, uint32_t first, uint32_t last);
/* The engine has captured names. If a socket or another descriptor was recorded with a different name in full, names have changed. */
void recording_asked_named(struct recording_asked *a, pid_t tid, const struct event_names *names);
/* Must the names of the thread and its process be looked up? Then notes that they have been. */
bool recording_asked_comm(const struct recording_asked *a, struct recording_asked_thread *th);
/*
 * Must be called before a decoder runs for thread `th` whose output is discarded, and with NULL afterwards. That
 * decoder runs only so that names are looked up, so it gets no name of a descriptor that it has already asked for
 * and that has not changed since.
 */
void recording_asked_decode(struct recording_asked *a, struct recording_asked_thread *th);
/* Returns true if a decoder has asked for all names of descriptor `fd`, and they are still known. */
bool recording_asked_has(const struct recording_asked_thread *th, int fd);

#endif
