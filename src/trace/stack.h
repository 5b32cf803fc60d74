/* The stack of a call, for sinks that show it (-k): as lines below the call's line, or as strings of a JSON array. */
#ifndef SCTRACE_TRACE_STACK_H
#define SCTRACE_TRACE_STACK_H

#include "event.h"
#include "stack/stack.h"

/*
 * A frame as a line " > libc.so.6(write+0x14) [0x10a4c0]"; or as a JSON string, after a comma if it is not the first.
 */
bool trace_stack_line(void *buf, const struct stack_frame *f);
bool trace_stack_string(void *buf, const struct stack_frame *f);

/* True if the call replaces or removes the stack (exit, execve). Then it is taken at the entry of the call. */
bool trace_stack_is_lost(const struct event *enter);
/*
 * At the entry of a call: saves in `kept` a stack that the call would remove, each frame by `fn`; otherwise empties
 * `kept`.
 */
void trace_stack_enter(struct stack *s, const struct event *ev, stack_frame_fn fn, struct buf *kept);
/* At the end of a call: appends its stack to `out`, either the saved one or the current one. */
void trace_stack_leave(struct stack *s, const struct event *ev, stack_frame_fn fn, struct buf *kept, struct buf *out);

#endif
