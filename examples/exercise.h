/* SPDX-License-Identifier: MIT */
/* What the exercises of sctrace-buffering(7) share: -f runs the fixed version instead of the one with the fault. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* True if -f was given. Sets *in to the file that was named, or to "in". */
static inline bool exercise_fixed(int argc, char **argv, const char **in)
{
	bool fixed = argc > 1 && strcmp(argv[1], "-f") == 0;
	*in = argc > 1 + fixed ? argv[1 + fixed] : "in";
	if (argc > 2 + fixed)
		errx(2, "usage: %s [-f] [FILE]", program_invocation_short_name);
	return fixed;
}

static inline int exercise_open(const char *name, int flags)
{
	int fd = open(name, flags, 0666);
	if (fd < 0)
		err(1, "cannot open '%s'", name);
	return fd;
}
