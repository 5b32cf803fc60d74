/* SPDX-License-Identifier: MIT */
/* Handles signals to sctrace itself, and its timer. */
#include "cmd/trace/cmd_trace.h"

#include "base/clock.h"

#include <errno.h>
#include <signal.h>
#include <sys/time.h>

#define BIT(sig)    (1 << (sig))
#define ENDING      (BIT(SIGTERM) | BIT(SIGHUP))
#define FROM_KEYS   (BIT(SIGINT) | BIT(SIGQUIT))
#define RECORDS_US  4000               /* the longest time that calls wait in the patch engine's rings */
#define TICK_US     500000             /* period of flushing; also handles a signal that arrived just before a wait */
#define PATIENCE_NS (2 * NSEC_PER_SEC) /* from a signal that asks sctrace to end until SIGKILL for the program */

/* The signals that sctrace has received. Bit N is signal N; all of them are below 31. */
static volatile sig_atomic_t caught;
/* The signals that ask sctrace to end. */
static volatile sig_atomic_t ends;
/* True after one of these signals. Output then does not wait long for a reader that does not read. */
static volatile sig_atomic_t ending;
/* True after a signal that the terminal sends for Ctrl-C or Ctrl-\. */
static volatile sig_atomic_t typed;

static void on_signal(int sig)
{
	caught |= BIT(sig);
	if (BIT(sig) & FROM_KEYS)
		typed = 1;
	if (BIT(sig) & ends)
		ending = 1;
}

/* Ctrl-C asks sctrace to detach from processes that it did not start. The started program receives it itself. */
static int ending_signals(const struct trace *t)
{
	if (t->o.interruptible >= 3)
		return 0;
	return t->program ? ENDING : ENDING | FROM_KEYS;
}

/*
 * Returns true if signal `sig`, which is ignored when sctrace starts, must stay ignored. A shell without job control
 * starts background processes with SIGINT and SIGQUIT ignored. If sctrace attaches to processes, it catches both
 * anyway, like strace, because these signals ask it to detach. If sctrace starts a program, both stay ignored, and the
 * program inherits this. SIGHUP always stays ignored, because of nohup(1).
 */
static bool stays_ignored(const struct trace *t, int sig)
{
	return t->program || !(BIT(sig) & FROM_KEYS);
}

/* The signals need handlers. SIG_IGN cannot be used instead, because the program would inherit it across execve(2). */
int trace_signals_catch(struct trace *t, struct engine_config *c)
{
	static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGALRM, SIGPIPE, SIGXFSZ, SIGTSTP};
	struct sigaction sa = {.sa_handler = on_signal};
	sigfillset(&sa.sa_mask);
	c->woken = &caught;
	ends = ending_signals(t);
	t->out.common.stop = &ending;
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		struct sigaction old;
		if (signals[i] == SIGTSTP && t->o.interruptible < 4)
			continue;
		if (signals[i] == SIGUSR1 && !t->o.count && !t->o.count_too && !t->o.last_set)
			continue;
		if (sigaction(signals[i], NULL, &old) < 0)
			return -errno;
		if (old.sa_handler == SIG_IGN && stays_ignored(t, signals[i]))
			continue;
		if (sigaction(signals[i], &sa, NULL) < 0)
			return -errno;
	}
	return 0;
}

bool trace_signals_typed(void)
{
	return typed;
}

/* Takes those of the signals `which` that sctrace has received. */
static int take_caught(int which)
{
	sigset_t all, old;
	sigfillset(&all);
	bool blocked = sigprocmask(SIG_BLOCK, &all, &old) == 0; /* if this fails, `old` is not valid */
	int bits = caught & which;
	caught &= ~which;
	if (blocked)
		sigprocmask(SIG_SETMASK, &old, NULL);
	return bits;
}

void trace_signals_tick(const struct trace *t, long first_us)
{
	long us = (t->shows || t->o.record) && t->ops == engine_find("patch") ? RECORDS_US : TICK_US;
	if (t->o.interval_ns && t->o.interval_ns / 2000 < (uint64_t)us)
		us = (long)(t->o.interval_ns / 2000);
	struct itimerval v = {{0, us}, {0, first_us && first_us < us ? first_us : us}};
	setitimer(ITIMER_REAL, &v, NULL);
}

static void mask_stops(int how)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	sigaddset(&set, SIGTTIN);
	sigaddset(&set, SIGTTOU);
	sigprocmask(how, &set, NULL);
}

void trace_hold_stops(void)
{
	mask_stops(SIG_BLOCK);
}

/* If a stop signal is pending, lets it stop sctrace until SIGCONT arrives. */
static void suspend(void)
{
	mask_stops(SIG_UNBLOCK); /* SIGCONT has discarded pending stop signals; only a new one stops sctrace here */
	mask_stops(SIG_BLOCK);
}

void trace_signals_answer(struct trace *t, bool all_reported)
{
	bool asked = caught & BIT(SIGUSR1);
	/* Calls since the engine's last look are missing. It looks again before its second -EINTR. */
	bool now = asked && (all_reported || t->asked);
	t->asked = asked && !now;
	if (!now)
		return;
	take_caught(BIT(SIGUSR1));
	if (t->o.last_set)
		trace_save_last(t);
	else if (!t->o.html) /* a table of text does not belong into a page */
		trace_totals_so_far(&t->totals);
}

bool trace_signals_serve(struct trace *t, uint64_t *kill_at)
{
	int bits = caught & ~BIT(SIGUSR1) ? take_caught(~BIT(SIGUSR1)) : 0;
	if (!bits)
		return false;
	if (bits & BIT(SIGALRM)) {
		trace_out_flush(&t->out.common);
		if (t->root_stopped && t->o.interruptible < 4)
			suspend();
	}
	int end = bits & ending_signals(t);
	t->told_to_end = t->told_to_end || end;
	if (!t->program)
		return end;
	if (end && !*kill_at) {
		t->ops->kill(t->engine, end & BIT(SIGTERM) ? SIGTERM : SIGHUP);
		*kill_at = clock_ns() + PATIENCE_NS;
	}
	if (*kill_at && clock_ns() >= *kill_at) {
		t->ops->kill(t->engine, SIGKILL);
		*kill_at = clock_ns() + PATIENCE_NS;
		return t->o.pids.n > 0;
	}
	return false;
}
