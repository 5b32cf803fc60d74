#include "measure/count.h"

#include "base/buf.h"
#include "base/error.h"
#include "tracee/spawn.h"

#include <errno.h>
#include <math.h>
#include <string.h>

void count_free(struct count *c)
{
	summary_free(&c->calls);
}

static bool stop_wanted(const struct count_spec *spec)
{
	return spec->stop && *spec->stop;
}

/*
 * Waits for events until no task is left. Sets *began if execve(2) of the program succeeded. If the user wants to stop,
 * kills all tasks and waits until they have exited.
 */
static int run_to_end(struct engine *e, const struct count_spec *spec, bool *began)
{
	bool killed = false;
	for (;;) {
		struct event ev;
		int r = e->ops->next(e, &ev);
		if (r == 0)
			return killed ? -EINTR : 0;
		if (r < 0 && r != -EINTR)
			return r;
		*began |= r == 1 && ev.kind == EV_EXEC;
		if (r == 1 && spec->event)
			spec->event(spec->ctx, &ev);
		if (stop_wanted(spec) && !killed) {
			e->ops->kill(e, SIGKILL);
			killed = true;
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
		.kill_on_exit = true,
		.find_main = !spec->event,
		.string_max = spec->string_max,
		.woken = spec->stop,
	};
	struct engine *e;
	buf_clear(why);
	int err = ops->start(&e, &config, why);
	if (err < 0)
		return err;
	bool began = false;
	err = run_to_end(e, spec, &began);
	if (err == 0)
		err = ops->collect(e, &c->calls);
	ops->result(e, &c->result);
	c->bytes_before_main = bytes_of(c->result.before);
	c->engine = ops->name;
	ops->stop(e);
	if (err < 0) {
		if (!began && err != -EINTR)
			buf_addf(why, "cannot run '%s': %s", spec->argv[0], spawn_error(spec->argv[0], -err));
		else if (err != -EINTR)
			buf_addf(why, "engine %s failed: %s", ops->name, error_text(-err));
		count_free(c);
	}
	return err;
}
