#include "base/clock.h"
#include "cmd/show/cmd_show.h"

#include <stdio.h>
#include <unistd.h>

#define PERIOD_NS (NSEC_PER_SEC / 4)
#define PERIOD    4096 /* the clock is read once in this number of events */

void show_progress(struct show_progress *p)
{
	if (++p->events % PERIOD)
		return;
	uint64_t now_ns = clock_ns();
	int percent = recording_percent(p->recording);
	if (!p->due_ns)
		p->due_ns = now_ns + PERIOD_NS;
	if (now_ns < p->due_ns || percent < 0 || !isatty(STDERR_FILENO) || isatty(p->output))
		return;
	fprintf(stderr, "\rsctrace: %d %% of the recording read", percent);
	p->shown = true;
	p->due_ns = now_ns + PERIOD_NS;
}

void show_progress_end(struct show_progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}
