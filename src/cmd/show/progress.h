/* Shows on the terminal how much of a recording has been read. */
#ifndef SCTRACE_CMD_SHOW_PROGRESS_H
#define SCTRACE_CMD_SHOW_PROGRESS_H

#include "recording/read.h"

/* The state of the progress display. Set `recording` and `output`, and initialise the other members with zeros. */
struct show_progress {
	const struct recording *recording;
	int output; /* descriptor of the output; if it is a terminal, no progress is shown */
	unsigned events;
	uint64_t due_ns; /* the time at which the progress is shown next */
	bool shown;
};

/* Must be called after each event. Writes the progress to standard error four times a second. */
void show_progress(struct show_progress *p);
/* Removes the line with the progress from the terminal. */
void show_progress_end(struct show_progress *p);

#endif
