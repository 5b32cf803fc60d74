/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/helper.h"
#include "base/memory.h"
#include "engine/costs.h"
#include "engine/engine.h"
#include "engine/ptrace/tracer.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

/* The ptrace engine: each call causes two stops. It always works, but is slow; its cost is measured and subtracted. */
static int ptrace_probe(unsigned want, struct buf *why)
{
	(void)want;
	/* The only reliable test of whether ptrace(2) is permitted is to seize a child. */
	pid_t pid = helper_seize();
	int r = pid < 0 ? pid : 0;
	pid_t tracer = r < 0 ? attach_tracer_of(getpid()) : 0;
	if (tracer)
		buf_addf(why, "process %d traces sctrace and its children", (int)tracer);
	else if (r < 0)
		buf_addf(why, "%s (a container or a security module does not permit ptrace)", strerror(-r));
	if (pid > 0)
		helper_kill(pid);
	return r;
}

static const struct tracer_ops plain;

static bool call_set_is_full(const struct call_set *s)
{
	for (size_t i = 0; i < sizeof(s->bits) / sizeof(*s->bits); i++)
		if (~s->bits[i])
			return false;
	return true;
}

static void ptrace_stop(struct engine *e)
{
	struct tracer *t = (struct tracer *)e;
	tracer_detach_all(t);
	tracer_free(t);
	free(t);
}

static int ptrace_start(struct engine **out, const struct engine_config *config, struct buf *why)
{
	int r = tracer_pin(config, why);
	if (r < 0)
		return r;
	struct tracer *t = memory_zeroed(1, sizeof(*t));
	t->base.ops = &engine_ptrace;
	tracer_init(t, &plain);
	struct engine_config c = *config;
	struct call_filter filter = {0};
	if (config->want & CAP_COUNTS || config->times) {
		struct costs *kept = costs_open();
		tracer_calibrate(kept, t->cost);
		costs_close(kept);
	}
	/*
	 * With a filter, calls for which no event is wanted run without a stop. That is correct only if the user wants
	 * events of some calls and nothing else. All descendants inherit the filter and cannot remove it. In a
	 * descendant without a tracer, the calls that the filter stops would fail (seccomp(2)), and the descendant may
	 * be unable to gain privileges. So the filter is used only if descendants are traced.
	 */
	t->filter = config->only && !call_set_is_full(config->only) && config->spawn.argv && config->follow &&
		    !config->may_detach && !(config->want & CAP_COUNTS);
	if (t->filter) {
		call_filter_build(&filter, config->only);
		c.spawn.before_user = call_filter_install;
		c.spawn.before_ctx = &filter;
	}
	t->hold = t->filter;
	r = tracer_start(t, &c, why);
	call_filter_free(&filter);
	if (r < 0)
		ptrace_stop(&t->base);
	else
		*out = &t->base;
	return r;
}

static void ptrace_footer(const struct engine *e, struct buf *text)
{
	const struct tracer_cost *cost = ((const struct tracer *)e)->cost;
	const struct tracer_cost *one = &cost[NOTICED_ASLEEP], *two = &cost[NOTICED_POLLING];
	buf_adds(text, "engine: ptrace; ");
	if (one->ns <= 0) {
		tracer_cost_unknown(one, text);
		return;
	}
	buf_addf(text, "the cost of tracing, %.1f us per call (+- %.1f us, standard deviation)", one->ns / 1e3,
		 one->spread_ns / 1e3);
	if (two->ns != one->ns)
		buf_addf(text, ", or %.1f us (+- %.1f us) while sctrace and the program ran on two CPUs", two->ns / 1e3,
			 two->spread_ns / 1e3);
	buf_adds(text, ", was subtracted from the times above");
}

const struct engine_ops engine_ptrace = {
	.name = "ptrace",
	.purpose = "stops the program at each call; supports all options but --cgroup and --all; slow; the default for "
		   "the stacks of all calls",
	.caps = CAP_EVENTS | CAP_COUNTS | CAP_BY_PROCESS | CAP_BY_THREAD | CAP_ATTACH | CAP_LEAVE | CAP_FOLLOW |
		CAP_INJECT | CAP_THREAD | CAP_BREAK | CAP_ERRNOS | CAP_STOPS | CAP_MAIN,
	.probe = ptrace_probe,
	.start = ptrace_start,
	.next = tracer_next,
	.collect = tracer_collect,
	.detach = tracer_detach,
	.is_needed = tracer_is_needed,
	.kill = tracer_kill,
	.result = tracer_result,
	.footer = ptrace_footer,
	.stop = ptrace_stop,
};
