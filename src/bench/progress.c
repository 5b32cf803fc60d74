#include "bench/progress.h"

#include "base/clock.h"

void progress_show(const struct progress *p)
{
	double more = p->since_ns ? (double)(clock_ns() - p->since_ns) : 0;
	if (p->show)
		p->show(p->ctx, p->done + more, p->all, p->what);
}

void progress_say(const struct progress *p, const char *what)
{
	if (p->show)
		p->show(p->ctx, 0, 0, what);
}
