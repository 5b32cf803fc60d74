/* Names while a recording is made: asked of the live source, kept while they hold, and written to the recording. */
#ifndef SCTRACE_RECORDING_ASKED_H
#define SCTRACE_RECORDING_ASKED_H

#include "base/map.h"
#include "recording/write.h"
#include "tracee/names.h"

/* Initialise with recording_asked_init(); free with recording_asked_free(). */
struct recording_asked {
	struct names names; /* to be asked */
	const struct names *live;
	struct recording_writer *writer;
	struct map answers; /* in this block: recording_name_key() -> struct answer */
	uint64_t block;
	uint64_t changes; /* how often names may have changed */
	uint64_t now_ns;
};

void recording_asked_init(struct recording_asked *a, const struct names *live, struct recording_writer *writer);
void recording_asked_free(struct recording_asked *a);
/* An event of this block begins, at `now_ns`. */
void recording_asked_event(struct recording_asked *a, uint64_t block, uint64_t now_ns);
/* From now on descriptors and processes may be called something else. */
void recording_asked_changed(struct recording_asked *a);

#endif
