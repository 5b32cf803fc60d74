/* The work directory of a comparison: makes the input, checks copies, and cleans up. */
#ifndef SCTRACE_MEASURE_WORK_H
#define SCTRACE_MEASURE_WORK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct buf;

struct work {
	char *dir; /* absolute */
	char *in, *out, *part,
		*errors; /* files in it; `part` holds the beginning of the input, `errors` the messages of a run */
	uint64_t size;   /* size of the input in bytes */
	bool has_nul;    /* the input contains NUL bytes */
	const volatile sig_atomic_t *stop; /* becomes non-zero when the user wants to stop, or NULL */
};

/*
 * Creates a folder of mode 0700 in `parent` (NULL: TMPDIR, or else /var/tmp, or else /tmp). Returns 0, or -errno with
 * the reason in `why`. Call work_close() afterwards, also after a failure.
 */
int work_open(struct work *w, const char *parent, struct buf *why);
/*
 * Makes the input. `what` is "random" (bytes from a fixed seed, without NUL), "zero", or a file, which is only linked
 * to and never written, and of which `size` bytes are used (0: all). Checks that there is room for it and a copy.
 * Returns 0, -EINTR, or -errno with the reason in `why`.
 */
int work_make_input(struct work *w, const char *what, uint64_t size, struct buf *why);
/* Writes the first `bytes` of the input to w->part. Returns 0, -EINTR, or -errno with the reason in `why`. */
int work_make_part(struct work *w, uint64_t bytes, struct buf *why);
/*
 * Compares the file `copy` with the first `bytes` of the input. Returns 0 if they are equal, -EBADMSG with the first
 * differing byte in `why`, or -errno with the reason in `why`.
 */
int work_check_copy(const struct work *w, const char *copy, uint64_t bytes, struct buf *why);
/*
 * Appends the last line that the last run wrote to standard error, without the prefix "PROGRAM: " (NULL: as it is).
 * Appends nothing if there is none.
 */
void work_complaint(const struct work *w, const char *program, struct buf *text);
/*
 * Removes the folder with its contents, and frees memory. Returns 0, or -errno with the reason in `why`. Does nothing
 * for a zeroed struct.
 */
int work_close(struct work *w, struct buf *why);

#endif
