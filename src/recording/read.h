/*
 * Reading a recording: events as an engine gives them, with memory, names and stacks that were recorded. What a recording holds is not
 * trusted.
 */
#ifndef SCTRACE_RECORDING_READ_H
#define SCTRACE_RECORDING_READ_H

#include "engine/engine.h"
#include "recording/head.h"
#include "stack/stack.h"
#include "tracee/names.h"

struct recording;

/* Opens the file and reads its beginning. 0 and *out, or -errno (-EBADMSG: it is not a recording that can be read) and `why`. */
int recording_open(struct recording **out, const char *path, struct buf *why);
void recording_close_read(struct recording *r);
const struct recording_head *recording_head_of(const struct recording *r);
/* The engine whose events are the recording's. It belongs to the recording. */
struct engine *recording_engine(struct recording *r);
/* What descriptors, processes and interfaces were called when the last event came; */
const struct names *recording_names(struct recording *r);
/* the stack that was recorded with it. */
struct stack *recording_stack(struct recording *r);
/* Where reading stands, in percent of the file; -1: it is not a regular file. */
int recording_percent(const struct recording *r);
/*
 * After the last event: false where the recording is not complete, and `why` says so: it ends too early (its writer was killed, or the
 * disk was full), or it is damaged.
 */
bool recording_is_complete(const struct recording *r, struct buf *why);

#endif
