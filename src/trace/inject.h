/* Tampers with calls: -e inject=SET:error=ENOSPC|retval=N|signal=S|delay_enter=D|delay_exit=D:when=N..M+K. */
#ifndef SCTRACE_TRACE_INJECT_H
#define SCTRACE_TRACE_INJECT_H

#include "base/map.h"
#include "base/vec.h"
#include "engine/engine.h"
#include "syscall/filter.h"

struct buf;

struct trace_inject {
	struct filter calls;
	struct engine_tamper tamper;
	unsigned long first, last, step; /* when=: every `step`-th call from `first` to `last` (0: no limit) */
	struct map seen;                 /* tid -> number of times the call was made */
};

/* A list of rules. Zeros mean that there are no rules. */
struct trace_injects {
	VEC(struct trace_inject *) rules;
};

/*
 * Parses `value` of the option of -e whose name is the `len` bytes at `name`. Returns 1; 0 if the name is neither
 * inject nor fault; or -EINVAL with the reason in `why` and the offset of the mistake in *at. error=ENOSYS is the
 * default for fault.
 */
int trace_inject_parse(struct trace_injects *all, const char *name, size_t len, const char *value, size_t *at,
		       struct buf *why);
/* A function for engine_config.inject: `ctx` is the struct trace_injects. */
bool trace_inject_ask(void *ctx, const struct event *enter, struct engine_tamper *t);
/* Adds to `stops` the calls that are tampered with. Threads must stop at these. */
void trace_injects_stops(const struct trace_injects *all, struct call_set *stops);
void trace_injects_free(struct trace_injects *all);

#endif
