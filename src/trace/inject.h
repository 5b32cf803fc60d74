/* Tampering with calls: -e inject=SET:error=ENOSPC|retval=N|signal=S|delay_enter=D|delay_exit=D:when=N..M+K. */
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
	unsigned long first, last, step; /* when: the first, the last (0: no end), every step-th in between */
	struct map seen;                 /* tid -> how often the call came, as a number */
};

/* Zero-initialised tampers with nothing. */
struct trace_injects {
	VEC(struct trace_inject *) rules;
};

/* Reads one rule ("fault=" has error=ENOSYS where nothing else is said); 0, or -EINVAL, `why` and *at in `text`. */
int trace_inject_parse(struct trace_injects *all, const char *text, bool fault, size_t *at, struct buf *why);
/* For engine_config.inject; ctx is the struct trace_injects. */
bool trace_inject_ask(void *ctx, const struct event *enter, struct engine_tamper *t);
void trace_injects_free(struct trace_injects *all);

#endif
