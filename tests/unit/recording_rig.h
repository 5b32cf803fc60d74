/* SPDX-License-Identifier: MIT */
/* A temporary file that contains a recording. */
#ifndef RECORDING_RIG_H
#define RECORDING_RIG_H

#include "recording/read.h"
#include "recording/write.h"

#include "trace_events.h"

#include <stdio.h>
#include <unistd.h>

static char path[64];

static inline int make_path(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "/tmp/sctrace-recording.XXXXXX");
	int fd = mkstemp(path);
	return fd < 0 || close(fd) < 0;
}

static inline int remove_path(void **state)
{
	(void)state;
	return unlink(path) < 0 && errno != ENOENT;
}

static inline struct recording_writer *create(struct recording_head *h, const struct recording_last *last)
{
	struct recording_writer *w;
	struct buf why = {0};
	recording_head_init(h);
	h->start_ns = 1000;
	h->real_offset_ns = -77;
	h->string_max = 64;
	h->follow = true;
	field_set(&h->about.engine, "made-up");
	strings_add(&h->about.program, "cat");
	strings_add(&h->about.program, "x");
	assert_int_equal(recording_create(&w, path, last, &why), 0);
	recording_begin(w, h, NULL);
	return w;
}

static const struct engine_result result = {.status = 3 << 8, .wall_ns = 5, .peak_rss_bytes = 4096, .processes = 2};

static inline void end(struct recording_writer *w, struct recording_head *h)
{
	struct buf why = {0};
	assert_int_equal(
		recording_close(w, &(struct recording_end){&result, "engine: made up \033[31m\nby a test"}, &why), 0);
	recording_head_free(h);
}

static inline struct recording *open_it(void)
{
	struct recording *r;
	struct buf why = {0};
	if (recording_open(&r, path, &why) < 0)
		fail_msg("%s", buf_str(&why));
	return r;
}

#endif
