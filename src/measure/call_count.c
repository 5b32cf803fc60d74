/* SPDX-License-Identifier: MIT */
#include "measure/sample.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/diag.h"
#include "tracee/proc.h"
#include "tracee/spawn.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/time.h>

void count_free(struct count *c)
{
	summary_free(&c->calls);
}

static bool stop_wanted(const struct count_spec *spec)
{
	return spec->stop && *spec->stop;
}

/* The state of the run. */
struct watch {
	bool began;        /* execve(2) of the program succeeded */
	bool killed, left; /* the user wanted to stop; sctrace has detached from what the program left behind */
	bool lost;         /* a set-user-ID program ran without its privileges */
	bool late;         /* the run took longer than the limit */
	pid_t root;
	uint64_t ended_ns; /* when the program ended; 0: not yet */
};

static void on_tick(int sig)
{
	(void)sig;
}

/*
 * With `on`, lets SIGALRM interrupt the waits of the engine from now on, so that next() returns after at most a tick.
 * The signal has to be repeated, because it could come just before a wait.
 */
static void tick(bool on)
{
	const struct timeval every = {.tv_usec = on ? 100000 : 0};
	if (on)
		sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_tick}, NULL);
	setitimer(ITIMER_REAL, &(struct itimerval){every, every}, NULL);
}

static void on_event(struct watch *w, const struct event *ev)
{
	if (ev->kind == EV_EXEC && !w->began) {
		w->began = true;
		w->root = ev->pid;
	}
	w->lost |= ev->kind == EV_EXEC && proc_lost_privilege(ev->pid) != NULL;
	if (ev->kind == EV_DEATH && ev->is_process && ev->pid == w->root && !w->ended_ns) {
		w->ended_ns = clock_ns();
		tick(true);
	}
}

/*
 * Waits for events until no task is left, or until COUNT_PATIENCE_NS after the end of the program. If the user wants to
 * stop, kills all tasks and waits until they have exited.
 */
static int run_to_end(struct engine *e, const struct count_spec *spec, struct watch *w)
{
	const uint64_t until = spec->limit_ns ? clock_ns() + spec->limit_ns : UINT64_MAX;
	if (spec->limit_ns)
		tick(true);
	for (;;) {
		struct event ev;
		int r = e->ops->next(e, &ev);
		if (r == 0)
			return w->late ? -ETIMEDOUT : w->killed ? -EINTR : 0;
		if (r < 0 && r != -EINTR)
			return r;
		if (r == 1)
			on_event(w, &ev);
		if (r == 1 && spec->event)
			spec->event(spec->ctx, &ev);
		w->late |= !w->killed && clock_ns() > until;
		if ((stop_wanted(spec) || w->late) && !w->killed) {
			e->ops->kill(e, SIGKILL);
			w->killed = true;
		}
		bool late = w->ended_ns && clock_ns() > w->ended_ns + COUNT_PATIENCE_NS;
		if (late && !w->left && !w->killed && !(e->ops->is_needed && e->ops->is_needed(e))) {
			w->left = true;
			e->ops->detach(e);
		}
	}
}

/* Returns the sum of the bytes that the calls moved; NAN if the calls are unknown. */
static double bytes_of(const struct summary *s)
{
	double bytes = s ? 0 : NAN;
	for (size_t g = 0; s && g < s->groups.n; g++)
		for (size_t i = 0; i < s->groups.v[g]->calls.n; i++)
			bytes += (double)s->groups.v[g]->calls.v[i]->bytes;
	return bytes;
}

int count_take(const struct count_spec *spec, struct count *c, struct buf *why)
{
	*c = (struct count){0};
	unsigned want = (spec->event ? CAP_EVENTS : CAP_COUNTS) | (spec->follow ? CAP_FOLLOW : 0u);
	const struct engine_ops *ops = engine_choose(spec->engine, want, why);
	if (!ops)
		return -ENOTSUP;
	struct engine_config config = {
		.want = want,
		.spawn = {.argv = spec->argv,
			  .work_dir = spec->dir,
			  .stdin_fd = spec->stdin_fd,
			  .stdout_fd = spec->stdout_fd,
			  .stderr_fd = spec->stderr_fd},
		.follow = spec->follow,
		.find_main = !spec->event,
		.string_max = spec->string_max,
		.woken = spec->stop,
	};
	struct engine *e;
	buf_clear(why);
	int err = ops->start(&e, &config, why);
	if (err < 0)
		return err;
	struct watch w = {0};
	err = run_to_end(e, spec, &w);
	tick(false);
	c->left = w.left;
	c->lost_privilege = w.lost;
	if (err == 0)
		err = ops->collect(e, &c->calls);
	ops->result(e, &c->result);
	c->bytes_before_main = bytes_of(c->result.before);
	c->engine = ops->name;
	ops->stop(e);
	if (err < 0) {
		if (err == -ETIMEDOUT)
			buf_clear(why);
		else if (!w.began && err != -EINTR)
			buf_addf(why, "cannot run '%s': %s", spec->argv[0], spawn_error(spec->argv[0], -err));
		else if (err != -EINTR)
			buf_addf(why, "engine %s failed: %s", ops->name, diag_error_text(-err));
		count_free(c);
	}
	return err;
}
