/* SPDX-License-Identifier: MIT */
/* Shows the stack of a call (-k): as lines below the line of the call, or as strings of a JSON array. */
#ifndef SCTRACE_TRACE_TRACE_STACK_H
#define SCTRACE_TRACE_TRACE_STACK_H

#include "event.h"
#include "stack/stack.h"
#include "trace/sink.h"

/*
 * Both functions append a frame to `buf`, which is a struct buf: either as a line " > libc.so.6(write+0x14)
 * [0x10a4c0]", or as a JSON string. Before a JSON string that is not the first, they append a comma.
 */
bool trace_stack_line(void *buf, const struct stack_frame *f);
bool trace_stack_string(void *buf, const struct stack_frame *f);

/* Returns true if the call removes the stack (exit, execve), which must then be walked at its entry. */
bool trace_stack_is_lost(const struct event *enter);
/*
 * Appends the stack at EV_SIGNAL if the signal tells of a crash or ends the process, or if the event comes from a recording
 * that contains its stack. Returns the number of frames.
 */
int trace_stack_signal(struct stack *s, const struct event *ev, stack_frame_fn fn, void *ctx);
/* Returns true if `sig` reports an error of the program (as SIGSEGV does) and ends it by default (signal(7)). */
bool trace_is_crash(int sig);
/* Must be called at the entry of a call. If it will remove the stack, saves its frames in `kept`, else empties it. */
void trace_stack_enter(struct stack *s, const struct event *ev, stack_frame_fn fn, struct buf *kept);
/* Must be called at the end of a call. Appends the saved stack to `out`, or the current stack if none was saved. */
void trace_stack_leave(struct stack *s, const struct event *ev, stack_frame_fn fn, struct buf *kept, struct buf *out);

/* The sink of --stacks: adds up equal stacks of calls, for flame graphs. */

struct trace_folded {
	struct trace_sink sink;
	struct stack *walker; /* not owned */
	bool by_time; /* a stack weighs the time in its calls, in ns, without the tracing cost; false: their number */
	struct stack_folded folded;
};

/* Initialises the sink. `walker` walks the stacks of stopped threads and must outlive the sink. */
void trace_folded_init(struct trace_folded *f, struct stack *walker, bool by_time);
/* Appends one line for each stack, sorted. */
void trace_folded_text(struct trace_folded *f, struct buf *out);
void trace_folded_free(struct trace_folded *f);

#endif
