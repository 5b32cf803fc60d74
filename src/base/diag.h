/* What sctrace says to its user about itself: one line, on standard error, beginning with the program's name. */
#ifndef SCTRACE_BASE_DIAG_H
#define SCTRACE_BASE_DIAG_H

/* Exit statuses of sctrace's own (otherwise the traced program's status). */
enum {
	EXIT_UNREADABLE = 1,   /* an unreadable saved run, a refused attach */
	EXIT_USAGE = 2,        /* wrong usage */
	EXIT_OWN = 125,        /* sctrace itself failed */
	EXIT_CANNOT_RUN = 126, /* the program is there and could not be run */
	EXIT_NOT_FOUND = 127,  /* no such program */
};

/* Only cmd/ and main.c call these. "sctrace: MESSAGE\n"; control bytes in what is printed are escaped. */
void diag_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same with "note: " in front: something the user should know that is no failure. */
void diag_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
