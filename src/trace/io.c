/* SPDX-License-Identifier: MIT */
#include "trace/io.h"

#include "tracee/uring.h"

static struct io_profile *profile_of(struct trace_sink *s)
{
	return &((struct trace_io *)s)->profile;
}

static void io_begin(struct trace_sink *s)
{
	profile_of(s)->names = s->session->names;
	profile_of(s)->start_ns = s->session->start_ns;
}

static void io_enter(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	io_profile_enter(profile_of(s), trace_own(s, k), ev);
}

static void io_leave(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	io_profile_leave(profile_of(s), trace_own(s, k), ev);
	for (size_t i = 0; ev->uring && i < ev->uring->completions.n; i++)
		io_profile_completion(profile_of(s), &ev->uring->completions.v[i]);
}

static void io_other(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	io_profile_other(profile_of(s), trace_own(s, k), ev);
}

static void io_gone(struct trace_sink *s, struct trace_task *k)
{
	io_thread_free(trace_own(s, k));
}

static const struct trace_sink_ops io_ops = {.task_size = sizeof(struct io_thread),
					     .begin = io_begin,
					     .enter = io_enter,
					     .leave = io_leave,
					     .other = io_other,
					     .gone = io_gone};

void trace_io_init(struct trace_io *t)
{
	*t = (struct trace_io){.sink.ops = &io_ops};
}

void trace_io_free(struct trace_io *t)
{
	io_profile_free(&t->profile);
}
