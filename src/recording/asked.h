/*
 * The names of descriptors, processes and interfaces while a recording is made. They are looked up on the live system,
 * cached for a short time, and written to the recording.
 */
#ifndef SCTRACE_RECORDING_ASKED_H
#define SCTRACE_RECORDING_ASKED_H

#include "base/map.h"
#include "recording/write.h"
#include "tracee/names.h"

/* Initialise with recording_asked_init(); free with recording_asked_free(). */
struct recording_asked {
	struct names names; /* pass this to the code that needs names */
	const struct names *live;
	struct recording_writer *writer;
	struct map answers; /* recording_name_key() -> struct answer; only names that the current block contains */
	uint64_t block;
	uint64_t changes; /* incremented when names may have changed */
	uint64_t now_ns;
};

void recording_asked_init(struct recording_asked *a, const struct names *live, struct recording_writer *writer);
void recording_asked_free(struct recording_asked *a);
/* Must be called before each event: the event belongs to `block` and has the time `now_ns`. */
void recording_asked_event(struct recording_asked *a, uint64_t block, uint64_t now_ns);
/* Must be called when the names of descriptors or processes may have changed: they are then looked up again. */
void recording_asked_changed(struct recording_asked *a);

#endif
