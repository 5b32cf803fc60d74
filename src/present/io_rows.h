/* Chooses the rows of the tables of --io, and shortens the names of the files in them. */
#ifndef SCTRACE_PRESENT_IO_ROWS_H
#define SCTRACE_PRESENT_IO_ROWS_H

#include "base/memory.h"
#include "run/run.h"

#include <stddef.h>

struct buf;

/* The rows of a table. The members of a row that are pointers are owned by the profile. */
struct io_rows {
	VEC(struct run_io_file) list;
	VEC(char *) names; /* those of the rows that stand for several pipes */
	size_t left;       /* number of rows that are not shown */
};

/*
 * Collects the rows: the files that took the most time. `most` is their number; 0: all files, and a row for each pipe.
 * The profile must outlive the rows. Free them with io_rows_free().
 */
struct io_rows io_rows_make(const struct run_io *io, size_t most);
void io_rows_free(struct io_rows *rows);
/*
 * Appends the end of the name, or all of it if it has at most `room` bytes. A last component that is too long loses its
 * middle. If other rows would look the same, shows the part before the end that they share and only little of the end:
 * "…/typing…pyc" and "…ipaddress…pyc". Does not show a part of a folder's name if the rest is enough.
 */
void io_short_name(const char *name, size_t room, const struct io_rows *rows, struct buf *out);

#endif
