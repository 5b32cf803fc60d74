/* The stack of a call, for sinks that show it (-k): as lines below the call's, or as strings of a JSON array. */
#ifndef SCTRACE_TRACE_STACK_H
#define SCTRACE_TRACE_STACK_H

#include "event.h"
#include "stack/stack.h"

/* A frame as a line " > libc.so.6(write+0x14) [0x10a4c0]"; as a JSON string, the next one behind a comma. */
bool trace_stack_line(void *buf, const struct stack_frame *f);
bool trace_stack_string(void *buf, const struct stack_frame *f);

/* Does the call leave another stack behind, or none (exit, execve)? Then it is taken at the call's entry. */
bool trace_stack_is_lost(const struct event *enter);
/* At a call's entry: keeps in `kept` the stack that the call takes away, each frame by `fn`; else empties `kept`. */
void trace_stack_enter(struct stack *s, const struct event *ev, stack_frame_fn fn, struct buf *kept);
/* At a call's end: appends its stack to `out`, as it was kept or as it is now. */
void trace_stack_leave(struct stack *s, const struct event *ev, stack_frame_fn fn, struct buf *kept, struct buf *out);

#endif
