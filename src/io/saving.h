/* SPDX-License-Identifier: MIT */
/* Computes how much time a finding would save. Used only within src/io. */
#ifndef SCTRACE_IO_SAVING_H
#define SCTRACE_IO_SAVING_H

#include "io/profile.h"

/*
 * What a finding costs now, and how much would be saved at least and at most. `delays` are the calls whose time is part
 * of the cost, but not of the saving, because they waited or were interrupted.
 */
struct io_estimate {
	double cost_ns, low_ns, high_ns;
	struct io_delays delays;
};

/* Where a detector looks, and what it found. */
struct io_search {
	const struct io_profile *p;
	const struct io_file *f;   /* NULL if the detector examines the whole program */
	const struct io_cost *all; /* costs of all files; index: enum io_direction */
	unsigned *probes;          /* how many more times the file system may be measured */
	struct io_estimate e;
	struct buf text;  /* the sentence of the finding, up to the word "saves", which is not part of it */
	const char *unit; /* text after the saved time: "", or " of CPU time" */
	const char *last; /* a sentence after that of the saving, or "" */
};

/* Adds the time that is saved by not making `n` calls. */
void io_add_calls(struct io_search *s, double n, const struct io_tally *t);
/* Like io_add_calls(), but adds nothing if the calls are so short that their time is not known. */
void io_add_more_calls(struct io_search *s, double n, const struct io_tally *t);
/* Sets the cost to that of all calls in `t`, and adds the saving if none of them is made. */
void io_saves_all(struct io_search *s, const struct io_tally *t);
/*
 * Computes the saving if the same bytes are moved with a buffer of `buffer` bytes: there are fewer calls, but moving
 * the bytes costs the same. Each of the `starts` open file descriptions needs a call of its own. Returns the number of
 * calls that are then needed.
 */
double io_fewer_calls(struct io_search *s, enum io_direction d, const struct io_tally *t, double bytes, double starts,
		      double buffer);
/* Computes the saving if the synchronous writes `t` do not wait, and one sync moves all `bytes` to the disk. */
void io_one_sync(struct io_search *s, const struct io_tally *t, double bytes);

#endif
