/* SPDX-License-Identifier: MIT */
/* Fake events for tests of sinks, with fake memory and names. No engine runs. */
#ifndef SCTRACE_TEST_TRACE_EVENTS_H
#define SCTRACE_TEST_TRACE_EVENTS_H

#include "base/buf.h"
#include "syscall/call_table.h"
#include "trace/look.h"
#include "trace/out.h"
#include "trace/pipeline.h"
#include "tracee/mem.h"
#include "tracee/names.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

/* The traced program's memory: one string at address 0x1000. */
static const char text[] = "a \033[31m \"b\"\n";

static inline ssize_t fake_read(void *ctx, uint64_t addr, void *buf, size_t n)
{
	(void)ctx;
	if (addr < 0x1000 || addr >= 0x1000 + sizeof(text))
		return -EFAULT;
	size_t have = 0x1000 + sizeof(text) - addr;
	n = n < have ? n : have;
	memcpy(buf, text + (addr - 0x1000), n);
	return (ssize_t)n;
}

static const struct mem memory = {.read = fake_read};

static inline bool fake_fd(void *ctx, pid_t tid, int fd, struct buf *out)
{
	(void)ctx, (void)tid;
	if (fd > 9)
		return false;
	buf_addf(out, "/file%d", fd);
	return true;
}

static inline int fake_netlink(void *ctx, pid_t tid, int fd)
{
	(void)ctx, (void)tid, (void)fd;
	return -1;
}

static inline bool fake_comm(void *ctx, pid_t tid, struct buf *out)
{
	(void)ctx;
	buf_addf(out, "program%d", (int)tid);
	return true;
}

static const struct names names = {.fd = fake_fd, .fd_in_full = fake_fd, .netlink = fake_netlink, .comm = fake_comm};

/* A pipeline with one sink. The output stays in out.common.buf. Threads 100 and 101 belong to process 100. */
struct rig {
	struct trace_select select;
	struct trace_look look;
	struct trace_failure failure;
	struct trace_outputs out;
	struct trace_pipeline p;
};

static inline void rig_start(struct rig *r, struct trace_sink *s)
{
	r->out.common.fd = -1;
	r->out.failure = &r->failure;
	r->p.select = &r->select;
	r->p.session.names = &names;
	r->p.session.start_ns = 1000;
	trace_pipeline_add(&r->p, s);
	trace_pipeline_begin(&r->p);
}

static inline void rig_free(struct rig *r)
{
	trace_pipeline_end(&r->p);
	trace_select_free(&r->select);
	trace_look_free(&r->look);
	buf_free(&r->out.common.buf);
	buf_free(&r->failure.why);
	trace_outputs_free(&r->out);
}

static inline struct event call_event(enum event_kind kind, pid_t tid, long nr, uint64_t a0, uint64_t a1, uint64_t a2,
				      int64_t result)
{
	struct event ev = {.kind = kind, .tid = tid, .pid = 100, .mem = &memory, .time_ns = 5000};
	ev.call.arch = syscall_native_arch();
	ev.call.nr = nr;
	ev.call.desc = syscall_lookup(ev.call.arch, nr);
	ev.call.args[0] = a0;
	ev.call.args[1] = a1;
	ev.call.args[2] = a2;
	ev.call.result = result;
	ev.call.error = result < 0;
	ev.call.err = result < 0 ? (int)-result : 0;
	ev.call.enter_ns = 4000;
	ev.call.duration_ns = 30000;
	ev.call.cost_ns = 20000;
	ev.call.spread_ns = 1000;
	return ev;
}

static inline void give(struct rig *r, struct event ev)
{
	trace_pipeline_event(&r->p, &ev);
}

static inline void enter(struct rig *r, pid_t tid, long nr, uint64_t a0, uint64_t a1, uint64_t a2)
{
	give(r, call_event(EV_ENTER, tid, nr, a0, a1, a2, 0));
}

static inline void leave(struct rig *r, pid_t tid, long nr, uint64_t a0, uint64_t a1, uint64_t a2, int64_t result)
{
	give(r, call_event(EV_EXIT, tid, nr, a0, a1, a2, result));
}

/* Gives a call as one event. It began when the memory `before` was in place. */
static inline void whole(struct rig *r, const struct mem *before, long nr, uint64_t a0, uint64_t a1, uint64_t a2,
			 int64_t result)
{
	struct event ev = call_event(EV_CALL, 100, nr, a0, a1, a2, result);
	ev.entry_mem = before;
	give(r, ev);
}

/* Compares the text that was written since the last call. */
static inline void wrote(struct rig *r, const char *expected)
{
	assert_string_equal(buf_str(&r->out.common.buf), expected);
	buf_clear(&r->out.common.buf);
}

#endif
