/* SPDX-License-Identifier: MIT */
#include "bench/stop.h"

#include "base/clock.h"
#include "base/outfile.h"

#include <stddef.h>

/* The last signal that asked sctrace to stop, or 0. */
static volatile sig_atomic_t asked;

static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static void ask(int sig)
{
	asked = sig;
}

void stop_catch(void)
{
	/* If the parent of sctrace ignored SIGCHLD, the kernel would reap sctrace's children before sctrace can. */
	signal(SIGCHLD, SIG_DFL);
	outfile_catch_signals();
	for (size_t i = 0; i < sizeof(caught) / sizeof(*caught); i++) {
		struct sigaction old;
		struct sigaction sa = {.sa_handler = ask};
		if (sigaction(caught[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(caught[i], &sa, NULL);
	}
}

int stop_signal(void)
{
	return asked;
}

const volatile sig_atomic_t *stop_flag(void)
{
	return &asked;
}

void stop_release(void)
{
	asked = 0;
	signal(SIGPIPE, SIG_DFL); /* so that SIGPIPE ends a child whose output nobody reads any more */
	for (size_t i = 0; i < sizeof(caught) / sizeof(*caught); i++) {
		struct sigaction old;
		if (sigaction(caught[i], NULL, &old) == 0 && old.sa_handler == ask)
			signal(caught[i], SIG_DFL);
	}
}

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
