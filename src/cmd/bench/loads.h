/* The list of loads for bench latency and bench load. */
#ifndef SCTRACE_CMD_BENCH_LOADS_H
#define SCTRACE_CMD_BENCH_LOADS_H

#include "bench/loads.h"
#include "cli/opt.h"
#include "cmd/bench/bench.h"

#include <stdbool.h>

#define LOADS_MAX 32

struct load_list {
	struct load v[LOADS_MAX];
	char names[LOADS_MAX][64];
	size_t n;
};

/* Parses "none,net,suite+disk" into the struct load_list at the option's offset. */
opt_parse_fn bench_opt_loads;
/* Adds the load's work during the measurement, and the time of that. */
void bench_add_work(struct run_subject *to, const struct load *load);
/* Notes loads that are less than their names say: 'disk' in memory, 'suite' without operations that cannot run here. */
void bench_note_loads(struct bench_session *s, const struct load_list *l);
/* Fills the list from a string of sctrace's own. */
void bench_default_loads(struct load_list *l, const char *words);
/*
 * For bench_test.ready: returns false if the list was requested and has been printed, or if there are operands; *status
 * is then the exit status. `name` is the command, for the message.
 */
bool bench_loads_ready(bool list, const char *name, int nwords, char **words, int *status);

#define BENCH_LOADS_HELP "measure under these loads; + joins several at once (see --list)"

#endif
