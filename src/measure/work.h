/* SPDX-License-Identifier: MIT */
/* The work directory of a comparison: creates the input, checks the copies, and deletes everything at the end. */
#ifndef SCTRACE_MEASURE_WORK_H
#define SCTRACE_MEASURE_WORK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct buf;

struct work {
	char *dir; /* absolute path */
	/* Paths of files in `dir`; `part` is the first part of the input, `errors` the standard error of a run. */
	char *in, *out, *part, *errors;
	char *output;                      /* standard output of a run, if it is needed */
	uint64_t size;                     /* size of the input in bytes */
	char *source;                      /* absolute path of the user's file, which is the input; NULL: none */
	bool random;                       /* without `source`: random bytes, not zero bytes */
	bool linked;                       /* the input is a link to `source` */
	struct stat made;                  /* state of the input when work_note_input() was called */
	const volatile sig_atomic_t *stop; /* *stop becomes non-zero when the user wants to stop; may be NULL */
};

/*
 * Creates the work directory with mode 0700 in `parent` or, if `parent` is NULL, in TMPDIR, /var/tmp or /tmp. Returns
 * 0, or -errno with the reason in `why`. Call work_close() afterwards, also after an error. Until then, `w` must not be
 * moved, because the directory is also deleted if memory runs out (memory_on_exhaustion()).
 */
int work_open(struct work *w, const char *parent, struct buf *why);
/* Returns true if `what` is "random" or "zero", and not the name of a file. */
bool work_makes_input(const char *what);
/*
 * Creates the input. `what` is "random" (bytes from a fixed seed, without NUL), "zero", or the name of a file. With
 * `copy`, or if `size` is not 0 and smaller than the file, the input is a copy of the beginning of that file, which
 * shares its blocks if the file system permits this. Otherwise, it is a link to the file, and is only for programs that
 * never change their input. Checks that the device has enough room for the input and a copy. Returns 0, -EINTR, or
 * another -errno with the reason in `why`.
 */
int work_make_input(struct work *w, const char *what, uint64_t size, bool copy, struct buf *why);
/* Remembers the state of the input, for work_restore_input(). */
void work_note_input(struct work *w);
/*
 * Creates the input again if a program has changed, replaced or removed it since work_note_input(). Returns 0 if the
 * input was not changed, 1 if it was, -EINTR, or another -errno with the reason in `why`.
 */
int work_restore_input(struct work *w, struct buf *why);
/* Removes a file, or a directory with everything in it. */
void work_remove(const char *path);
/* Writes the first `bytes` of the input to w->part. Returns 0, -EINTR, or another -errno with the reason in `why`. */
int work_make_part(struct work *w, uint64_t bytes, struct buf *why);
/*
 * Compares the file `copy` with the first `bytes` of the input. Returns 0 if they are equal; -EBADMSG with the position
 * of the first difference in `why`; or another -errno with the reason in `why`.
 */
int work_check_copy(const struct work *w, const char *copy, uint64_t bytes, struct buf *why);
/* Appends the last line of the last run's standard error, without "PROGRAM: " at its start. */
void work_complaint(const struct work *w, const char *program, struct buf *text);
/*
 * Appends what the last run wrote to standard error, each line after a newline and two blanks: the first lines, and the
 * last one, because programs name the error at the beginning or at the end.
 */
void work_errors(const struct work *w, struct buf *text);
/* Deletes the directory and frees `w`, which may be zeroed. Returns 0, or -errno with the reason in `why`. */
int work_close(struct work *w, struct buf *why);

/* Removes files from the page cache, and finds out how much of a file is still in the page cache. */

/*
 * Writes the dirty pages of `path` to the device, and removes the file from the page cache by posix_fadvise(2) with
 * POSIX_FADV_DONTNEED. If `everything`, also writes to /proc/sys/vm/drop_caches, if that is permitted. Returns 0 or
 * -errno.
 */
int cache_drop(const char *path, bool everything);
/* Returns the share (0 to 1) of the file's pages that are in the page cache (mincore(2)), or -1 if unknown. */
double cache_resident(const char *path);

#endif
