/*
 * sctrace: a system-call tracer and a comparator of I/O strategies.
 *
 * A map of the source. Calls go down only; neighbours on a floor meet in event.h and stats/summary.h.
 *
 *   main.c        this map; which command is meant
 *   cmd/          a command each: its options, its wiring, its exit status
 *   trace/        events to lines, JSON, tables: selection, descriptors and paths, the sinks
 *   compare/      comparing I/O strategies: plan, run, judge, warn, explain
 *   cli/          the option table: parsing, --help, completion
 *   bench/        what a call, a switch, a time slice, a wake-up costs here
 *   measure/      runs and samples; resident set; what machine this is
 *   strategy/     the table of copy strategies (the programs are in examples/)
 *   engine/       who watches a program: ptrace (always right), patch (fast), bpf (privileged)
 *   run/          saved runs (JSON)
 *   out/          tables, csv, markdown, json, SVG, HTML
 *   stats/        histograms, quantiles, bootstrap, and the summary that all share
 *   decode/       a call's arguments as text or JSON
 *   stack/        whose code made the call
 *   tracee/       starting and reading the traced
 *   arch/         registers <-> call
 *   syscall/      the calls: number, name, arguments, groups; filter expressions
 *   base/         buffers, vectors, maps, clocks, sizes; no domain words
 */
#include "base/diag.h"
#include "base/json.h"
#include "base/memory.h"
#include "cmd/cmd.h"

#include <string.h>

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
};

static const struct command commands[] = {
	{"compare", cmd_compare},
	{"bench", cmd_bench},
	{"report", cmd_report},
};

/* A command that showed what it could has failed where it was short of memory for some of it. */
static int checked(int status)
{
	if (status != 0 || !memory_ran_out())
		return status;
	diag_error("memory ran out: what was shown may lack something");
	return EXIT_OWN;
}

int main(int argc, char **argv)
{
	json_note_failures();
	/* A command's name counts as the very first argument alone: `sctrace ./compare` traces a program. */
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands); i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return checked(commands[i].run(argc - 1, argv + 1));
	return checked(cmd_trace(argc, argv));
}
