/* The inside of `sctrace bench sched`: measuring here, tables and picture there. */
#ifndef SCTRACE_CMD_BENCH_SCHED_H
#define SCTRACE_CMD_BENCH_SCHED_H

#include "bench/sched.h"
#include "cmd/bench/bench.h"

/* All runs of one number of processes. */
struct sched_size {
	size_t procs;
	struct sched_run *runs;
	size_t n; /* runs that came to their end; or one that was interrupted, where none did */
};

/* bench_sched_out.c: adds tables, results, notes and the picture of `n` sizes to the session. */
void bench_sched_report(struct bench_session *s, const struct sched_plan *p, const struct sched_size *sizes, size_t n);

#endif
