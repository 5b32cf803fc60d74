/* Writing a recording: events, with all that showing them needs later, become a file; or, for --last, wait in memory. */
#ifndef SCTRACE_RECORDING_WRITE_H
#define SCTRACE_RECORDING_WRITE_H

#include "engine/engine.h"
#include "recording/head.h"
#include "recording/items.h"
#include "recording/keep.h"
#include "stack/stack.h"

struct recording_writer;

/* What the writer keeps of a thread; the caller's. Zero-initialised; free with recording_thread_free(). */
struct recording_thread {
	uint64_t block; /* in which it has an index, or 0 */
	uint32_t index;
	pid_t pid;
	struct item_calls calls;
	struct captures entry; /* of the call in progress, */
	uint64_t entry_block;  /* whose entry is in this block, or 0 */
};
void recording_thread_free(struct recording_thread *th);

/*
 * Begins a recording in the file `path`, made with mode 0600. `last` (NULL: all is written) says how much of its end is kept in memory
 * until recording_save(). 0 and *out, or -errno and `why`.
 */
int recording_create(struct recording_writer **out, const char *path, const struct recording_last *last,
		     struct buf *why);
/* Writes what is known at the beginning; once, before the first event. `head` must outlive the writer where there is a `last`. */
void recording_begin(struct recording_writer *w, const struct recording_head *head);
/* An event of this thread is to be written: what recording_name() and recording_frame() are given belongs to it. The number of its block. */
uint64_t recording_event_begin(struct recording_writer *w, struct recording_thread *th, const struct event *ev);
/* What a descriptor of thread `tid`, a process, or an interface (`key`) is called. `text` NULL: unknown, or the answer is `number`. */
void recording_name(struct recording_writer *w, enum recording_name kind, pid_t tid, uint32_t key,
		    const struct buf *text, int64_t number);
/* A level of the stack of the event's thread (stack_frame_fn): `w` is the writer. */
bool recording_frame(void *w, const struct stack_frame *f);
/* The event itself; `captures`: what was read of its memory. */
void recording_event(struct recording_writer *w, struct recording_thread *th, const struct event *ev,
		     struct captures *captures);
/* --last: writes what is kept to the file, and goes on. recording_close() returns the first failure. */
void recording_save(struct recording_writer *w, const struct recording_end *end);
/*
 * Ends the file (with --last: leaves it as recording_save() wrote it), and frees the writer. `end`: what is known of the program now.
 * 0, or -errno and `why`: something could not be written.
 */
int recording_close(struct recording_writer *w, const struct recording_end *end, struct buf *why);
/* Frees the writer. A file that nothing was written to is removed. */
void recording_drop(struct recording_writer *w);

#endif
