/* SPDX-License-Identifier: MIT */
/* Where the wall-clock time of a program and of its threads went: the lines below the table of -c. */
#ifndef SCTRACE_TRACE_WALL_H
#define SCTRACE_TRACE_WALL_H

#include "engine/engine.h"
#include "stats/summary.h"

struct buf;

/*
 * Appends "1.45 s wall = 0.13 s user + 0.60 s system + 0.72 s waiting in calls (read 0.70 s)". The parts add up only if
 * there was one thread, because others work and wait at the same time, and if all calls were counted (`all`). What remains
 * is named: the program waited for a CPU or for memory between its calls, or sctrace held it, or it waited in calls
 * of which that is not known. A call that waited has also used some system time, so the parts may be a little more than the whole.
 */
void trace_wall_program(const struct summary *s, const struct engine_result *r, bool all, struct buf *out);
/*
 * For -p, where the line about the program is absent. If the engine does not know of any call whether it waited, appends "waits:
 * not known". If it does not know this of some calls, and they took more than 1 % of the time of all calls, appends a line with
 * their time.
 */
void trace_wall_unknown(const struct summary *s, struct buf *out);
/*
 * For --by=thread, if all calls were counted: appends a line for each of the threads that lived longest: "thread 4711
 * (worker): 1.45 s wall = 0.72 s waiting in calls (read 0.70 s) + 0.60 s in other calls + 0.13 s between calls". Appends
 * nothing for threads whose beginning and end are not known.
 */
void trace_wall_threads(const struct summary *s, struct buf *out);
/* The same of all threads, as the member "threads" of a JSON object, and a comma. */
void trace_wall_threads_json(const struct summary *s, struct buf *out);

#endif
