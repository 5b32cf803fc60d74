/* SPDX-License-Identifier: MIT */
/* Messages of sctrace to its user: one line on standard error that begins with the program's name. */
#ifndef SCTRACE_BASE_DIAG_H
#define SCTRACE_BASE_DIAG_H

/* Exit statuses for sctrace's own errors and results. Otherwise sctrace exits with the status of the traced program. */
enum {
	EXIT_UNREADABLE = 1,   /* a saved run cannot be read, or attaching was refused */
	EXIT_USAGE = 2,        /* wrong usage */
	EXIT_GATE = 3,         /* a condition of --expect or --fail-if failed */
	EXIT_UNDECIDED = 4,    /* --fail-if cannot test a condition for any row, or --undecided was given */
	EXIT_OWN = 125,        /* sctrace itself failed */
	EXIT_CANNOT_RUN = 126, /* the program exists but could not be run */
	EXIT_NOT_FOUND = 127,  /* the program was not found */
};

/* Prints "sctrace: MESSAGE\n" with control bytes escaped. Only cmd/ and main.c may call these functions. */
void diag_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Prints "sctrace: note: MESSAGE\n", for facts that are not errors. */
void diag_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The reason of an error, for messages. */

/*
 * Returns the words of strerror(3) for `err` (ENOENT and others). If the user can remove the cause but the words do not
 * say how, returns a sentence that does. The string is static.
 */
const char *diag_error_text(int err);

#endif
