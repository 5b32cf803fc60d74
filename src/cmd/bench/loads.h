/* The list of loads of bench latency and bench load. */
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

/* Parses a list such as "none,net,suite+disk" into the struct load_list at the option's offset. */
opt_parse_fn bench_opt_loads;
/* Fills the list from `words`, a constant string. */
void bench_default_loads(struct load_list *l, const char *words);
/*
 * Implements the member `ready` of struct bench_test. If `list` is set, prints the list of loads and returns false. If
 * there are operands, prints a message, which contains `name`, and returns false. *status is then the exit status.
 */
bool bench_loads_ready(bool list, const char *name, int nwords, char **words, int *status);

#define BENCH_LOADS_HELP "measure under these loads; A+B runs several at once (see --list)"

#endif
