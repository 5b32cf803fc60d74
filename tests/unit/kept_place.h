/* SPDX-License-Identifier: MIT */
/* A folder of its own for the files that sctrace keeps (engine/costs.h). Included by the tests of these files. */
#ifndef SCTRACE_TESTS_UNIT_KEPT_PLACE_H
#define SCTRACE_TESTS_UNIT_KEPT_PLACE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct place {
	char dir[64], file[96];
};

/* Makes the folder, and sets XDG_RUNTIME_DIR to it. `name` is the name of the tested file. Returns 0 or -1. */
static int make_place_for(const char *name, void **state)
{
	static struct place p;
	snprintf(p.dir, sizeof(p.dir), "/tmp/sctrace-kept-XXXXXX");
	if (!mkdtemp(p.dir))
		return -1;
	snprintf(p.file, sizeof(p.file), "%s/%s", p.dir, name);
	*state = &p;
	return setenv("XDG_RUNTIME_DIR", p.dir, 1);
}

static int remove_place(void **state)
{
	const struct place *p = *state;
	unlink(p->file);
	return rmdir(p->dir); /* fails if anything was left in the folder */
}

#endif
