/* SPDX-License-Identifier: MIT */
/* Tampers with calls: -e inject=SET:error=ENOSPC|retval=N|signal=S|delay_enter=D|delay_exit=D:when=N..M+K. */
#ifndef SCTRACE_TRACE_INJECT_H
#define SCTRACE_TRACE_INJECT_H

#include "base/map.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "syscall/filter.h"

struct buf;

struct trace_inject {
	struct filter calls;
	char *set; /* the calls as the user wrote them */
	bool met;  /* one of these calls was made */
	struct engine_tamper tamper;
	unsigned long first, last, step; /* when=: every `step`-th call from `first` to `last` (0: no limit) */
	struct map threads;              /* tid -> struct map: call -> number of times that the thread has made it */
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
/*
 * A function for engine_config.inject: `ctx` is the struct trace_injects. The last rule for a call applies. Each thread
 * counts each of its system calls separately (when=).
 */
bool trace_inject_ask(void *ctx, const struct event *enter, struct engine_tamper *t);
/* Adds to `stops` the calls that are tampered with. Threads must stop at these. */
void trace_injects_stops(const struct trace_injects *all, struct call_set *stops);
/*
 * If no call that a rule names was made, because programs of today make other calls instead, appends what trace_set_hint()
 * says. Only one such rule is explained.
 */
void trace_injects_hint(const struct trace_injects *all, struct buf *out);
/* Must be called when thread `tid` has ended, because another thread may get its id. */
void trace_injects_forget(struct trace_injects *all, pid_t tid);
void trace_injects_free(struct trace_injects *all);

#endif
