/* The parts of `sctrace show`: its options, the progress on the terminal, and --diff. */
#ifndef SCTRACE_CMD_SHOW_CMD_SHOW_H
#define SCTRACE_CMD_SHOW_CMD_SHOW_H

#include "base/map.h"
#include "cmd/trace/opts.h"
#include "recording/read.h"

/* Fills in `c` with at most `max` rows: its own options, and all of the tracer, even if show_check() rejects them. */
void show_all_options(struct opt_command *c, struct opt *rows, size_t max);
/* Checks that the options suit a recording and each other. Returns 0, or -EINVAL with the reason in `why`. */
int show_check(struct trace_opts *o, struct buf *why);

/* The state of the progress display. Set `recording` and `output`, and initialise the other members with zeros. */
struct show_progress {
	const struct recording *recording;
	int output; /* descriptor of the output; if it is a terminal, no progress is shown */
	unsigned events;
	uint64_t due_ns; /* the time at which the progress is shown next */
	bool shown;
};

/*
 * Must be called after each event. Writes the progress to standard error, at most four times a second, if standard
 * error is a terminal and the output is not.
 */
void show_progress(struct show_progress *p);
/* Removes the line with the progress from the terminal. */
void show_progress_end(struct show_progress *p);

/* The part of a recording that is shown. */
struct show_window {
	const struct trace_opts *o;
	bool active; /* false: all of the recording */
	uint64_t start_ns, last;
	struct map threads; /* tid -> struct window_thread */
};
/*
 * Prepares the selection of events by --last, --since, --until, --pid and --tid. A recording that was made with --last N
 * shows the last N calls of each thread by default. Reads the recording in `path` once if it must know the number of calls.
 * Returns 0, or -errno with the reason in `why`. Call show_window_free() in every case.
 */
int show_window_open(struct show_window *w, const struct trace_opts *o, const struct recording_head *h,
		     const char *path, struct buf *why);
/* Returns true if the next event is shown. Must be called for each event, in their order. */
bool show_window_has(struct show_window *w, const struct event *ev);
void show_window_free(struct show_window *w);

/*
 * Compares the recordings in the two files `paths`. Prints the differences to o->output or standard output. Returns an
 * exit status like diff(1): 0 if there are no differences, 1 if there are some, 2 after a message about an error.
 */
int show_diff(const struct trace_opts *o, char *const *paths);
/*
 * Prints one profile (--profile) for the programs of all recordings in the files `paths`, a list that ends with NULL.
 * Returns 0, or an exit status after a message.
 */
int show_profile(const struct trace_opts *o, char *const *paths);

#endif
