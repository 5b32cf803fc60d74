/* The work directory of a comparison: its input, the check of a copy, and its end. */
#ifndef SCTRACE_MEASURE_WORK_H
#define SCTRACE_MEASURE_WORK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct buf;

struct work {
	char *dir; /* absolute */
	char *in, *out, *part,
		*errors; /* files in it; `part` is the input's beginning, `errors` what a run complained */
	uint64_t size;   /* of the input, bytes */
	bool has_nul;    /* the input holds NUL bytes */
	const volatile sig_atomic_t *stop; /* the user's wish to end, or NULL */
};

/*
 * Makes a new folder of mode 0700 in `parent` (NULL: TMPDIR, or /var/tmp, or /tmp). 0, or -errno and `why`. To be ended
 * by work_close(), also after a failure.
 */
int work_open(struct work *w, const char *parent, struct buf *why);
/*
 * Makes the input: `what` is "random" (bytes of a fixed seed, none of them NUL), "zero", or a file that is used as it is
 * (linked to; nothing is written to it), of which `size` bytes are asked for, or all with 0. Says when there is not
 * enough room for it and a copy. 0, -EINTR, or -errno and `why`.
 */
int work_make_input(struct work *w, const char *what, uint64_t size, struct buf *why);
/* Writes the first `bytes` of the input to w->part; 0, -EINTR, or -errno and `why`. */
int work_make_part(struct work *w, uint64_t bytes, struct buf *why);
/*
 * Is the file `copy` the same as the first `bytes` of the input? 0; -EBADMSG and `why` says at which byte they part, or
 * -errno and `why`.
 */
int work_check_copy(const struct work *w, const char *copy, uint64_t bytes, struct buf *why);
/*
 * Appends the last line of what the last run complained, without "PROGRAM: " in front (NULL: as it is); nothing where it
 * did not.
 */
void work_complaint(const struct work *w, const char *program, struct buf *text);
/* Removes the folder with all that is in it, and frees. 0, or -errno and `why`. Harmless on a zeroed struct. */
int work_close(struct work *w, struct buf *why);

#endif
