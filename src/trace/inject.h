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
	unsigned long first, last, step; /* when: the first, the last (0: unlimited), and every step-th in between */
	struct map seen;                 /* tid -> number of times the call was made */
};

/* Zeros tamper with nothing. */
struct trace_injects {
	VEC(struct trace_inject *) rules;
};

/*
 * Parses one rule ("fault=" means error=ENOSYS unless something else is given). Returns 0, or -EINVAL with the reason
 * in `why` and its offset in *at.
 */
int trace_inject_parse(struct trace_injects *all, const char *text, bool fault, size_t *at, struct buf *why);
/* For engine_config.inject; ctx is the struct trace_injects. */
bool trace_inject_ask(void *ctx, const struct event *enter, struct engine_tamper *t);
void trace_injects_free(struct trace_injects *all);

#endif
