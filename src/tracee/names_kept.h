/*
 * Names of descriptors that are looked up in /proc once, and not at each call: for calls that follow each other fast. The caller drops
 * them when they may have changed.
 */
#ifndef SCTRACE_TRACEE_NAMES_KEPT_H
#define SCTRACE_TRACEE_NAMES_KEPT_H

#include "base/map.h"
#include "tracee/names.h"

/* Initialise with names_keep(). `names` is for those who ask; it refers to this structure, which must not move. */
struct names_kept {
	struct names names; /* names_live, but for `fd` */
	struct map fds;     /* thread and descriptor -> struct kept_name, owned */
	uint64_t drops;     /* a name is kept until this number changes */
};

void names_keep(struct names_kept *k);
/* What was looked up so far does not count any more. */
void names_kept_drop(struct names_kept *k);
void names_kept_free(struct names_kept *k);

#endif
