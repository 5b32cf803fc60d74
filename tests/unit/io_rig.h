/* SPDX-License-Identifier: MIT */
/* An I/O profile that is made from artificial events. */
#ifndef SCTRACE_TEST_IO_RIG_H
#define SCTRACE_TEST_IO_RIG_H

#include "trace/io.h"

#include "trace_events.h"

#include <fcntl.h>
#include <math.h>

struct fixture {
	struct rig rig;
	struct trace_io sink;
	struct run_io io;
	uint64_t cost_ns;   /* the cost of tracing each call; the call itself takes 10 us */
	uint64_t waited_ns; /* a time in addition to these 10 us */
	enum call_wait wait;
};

static inline int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	*state = f;
	f->cost_ns = 2000;
	trace_io_init(&f->sink);
	rig_start(&f->rig, &f->sink.sink);
	return 0;
}

static inline int tear_down(void **state)
{
	struct fixture *f = *state;
	rig_free(&f->rig);
	trace_io_free(&f->sink);
	for (size_t i = 0; i < f->io.files.n; i++)
		fields_free(&run_io_file_fields, &f->io.files.v[i]);
	for (size_t i = 0; i < f->io.findings.n; i++)
		fields_free(&run_io_finding_fields, &f->io.findings.v[i]);
	vec_free(&f->io.files);
	vec_free(&f->io.findings);
	free(f);
	return 0;
}

static inline void call4(struct fixture *f, long nr, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, int64_t result)
{
	struct event ev = call_event(EV_ENTER, 100, nr, a0, a1, a2, 0);
	ev.call.args[3] = a3;
	give(&f->rig, ev);
	ev = call_event(EV_EXIT, 100, nr, a0, a1, a2, result);
	ev.call.args[3] = a3;
	ev.call.duration_ns -= ev.call.cost_ns - f->cost_ns - f->waited_ns;
	ev.call.cost_ns = f->cost_ns;
	ev.call.wait = f->wait;
	give(&f->rig, ev);
}

static inline void call(struct fixture *f, long nr, uint64_t a0, uint64_t a1, uint64_t a2, int64_t result)
{
	call4(f, nr, a0, a1, a2, 0, result);
}

static inline const struct run_io_file *row(struct fixture *f, const char *name)
{
	if (!f->io.known)
		io_profile_finish(&f->sink.profile, &f->io);
	for (size_t i = 0; i < f->io.files.n; i++)
		if (strcmp(f->io.files.v[i].name, name) == 0)
			return &f->io.files.v[i];
	fail_msg("there is no row '%s'", name);
	return NULL;
}

static inline void shares_are(const struct run_io_file *r, double sequential, double random, double reread,
			      double rewritten)
{
	assert_float_equal(r->sequential, sequential, 0);
	assert_float_equal(r->random, random, 0);
	assert_float_equal(r->reread, reread, 0);
	assert_float_equal(r->rewritten, rewritten, 0);
}

static inline const struct run_io_finding *finding(struct fixture *f, const char *kind)
{
	if (!f->io.known)
		io_profile_finish(&f->sink.profile, &f->io);
	for (size_t i = 0; i < f->io.findings.n; i++)
		if (strcmp(f->io.findings.v[i].kind, kind) == 0)
			return &f->io.findings.v[i];
	return NULL;
}

/* Opens a file whose name is the string at 0x1000. */
static inline void open_as(struct fixture *f, uint64_t flags, int fd)
{
	call(f, SYS_openat, (uint64_t)AT_FDCWD, 0x1000, flags, fd);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
