#include "cmd/trace/trace.h"

#include <signal.h>

static void terminal_stops(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTSTP);
	sigaddset(set, SIGTTIN);
	sigaddset(set, SIGTTOU);
}

void trace_hold_stops(void)
{
	sigset_t set;
	terminal_stops(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

void trace_suspend(void)
{
	sigset_t set;
	terminal_stops(&set);
	sigprocmask(SIG_UNBLOCK, &set,
		    NULL); /* SIGCONT takes back what is pending, so this stops for a new one alone */
	sigprocmask(SIG_BLOCK, &set, NULL);
}
