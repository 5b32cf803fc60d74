/* How much of a recording has been read, shown on the terminal. */
#ifndef SCTRACE_CMD_SHOW_PROGRESS_H
#define SCTRACE_CMD_SHOW_PROGRESS_H

#include "recording/read.h"

/* Initialise with zeros, except `recording` and `output`. */
struct show_progress {
	const struct recording *recording;
	int output; /* the descriptor of the output: where that is a terminal, nothing is shown */
	unsigned events;
	uint64_t due_ns; /* when it is shown next */
	bool shown;
};

/* To be called after each event. Writes a line to standard error four times a second. */
void show_progress(struct show_progress *p);
/* Removes the line. */
void show_progress_end(struct show_progress *p);

#endif
