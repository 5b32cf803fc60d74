/* SPDX-License-Identifier: MIT */
/* Reads recordings: events as from an engine, with memory, names and stacks. The contents are not trusted. */
#ifndef SCTRACE_RECORDING_READ_H
#define SCTRACE_RECORDING_READ_H

#include "engine/engine.h"
#include "recording/write.h"
#include "stack/stack.h"
#include "tracee/names.h"

struct recording;

/*
 * Opens the file, or standard input if `path` is "-", and reads its head. Returns 0 and sets *out. Returns -EBADMSG if
 * the file is not a recording that this version can read, or another -errno; `why` then contains the reason.
 */
int recording_open(struct recording **out, const char *path, struct buf *why);
void recording_close_read(struct recording *r);
const struct recording_head *recording_head_of(const struct recording *r);
/* Returns the engine that delivers the recorded events. It belongs to the recording. */
struct engine *recording_engine(struct recording *r);
/* Returns the recorded names of descriptors, processes and interfaces, as they were at the last event. */
const struct names *recording_names(struct recording *r);
/* Returns the recorded stack of the last event. */
struct stack *recording_stack(struct recording *r);
/* Returns how much of the file has been read, in percent, or -1 if it is not a regular file. */
int recording_percent(const struct recording *r);
/*
 * Must be called after the last event. Returns false if the file cannot be read, if the recording is incomplete or
 * damaged, or if other data follows it in the file, with a sentence in `why`. A recording is incomplete if its writer was
 * killed or the disk was full.
 */
bool recording_is_complete(const struct recording *r, struct buf *why);

#endif
