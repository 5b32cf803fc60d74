/*
 * sctrace: a system-call tracer and a comparator of I/O strategies.
 *
 * A map of the source. A folder uses only folders below it; tests/lint/folders says which.
 *
 *   main.c                  this map; which command is meant
 *   cmd/show/               `sctrace show`
 *   cmd/trace/              `sctrace PROGRAM`: its options, its wiring, its exit status
 *   cmd/compare/            `sctrace compare`: the same
 *   cmd/bench/              `sctrace bench`
 *   cmd/report/             `sctrace report`
 *   cmd/                    what the commands share: writing the output, showing a run
 *
 *   compare/                comparing I/O strategies: plan, run, judge, warn, explain
 *   trace/                  events to lines, JSON, tables: selection, descriptors and paths, the sinks
 *   present/                runs for people: tables, charts, sentences, in every format
 *   bench/                  measures the cost of calls, context switches, time slices and wake-ups
 *   cli/                    the option table: parsing, --help, completion
 *   measure/                runs and samples; resident set; what machine this is
 *   strategy/               the table of copy strategies (the programs are in examples/)
 *   io/                     how a program uses its files (--io): descriptors, offsets, costs, findings
 *   recording/              recordings (--record): writer, reader, names and memory that are kept
 *   run/                    a run as typed data: machine, subjects, samples, calls; judged, merged, written and read as JSON
 *   out/                    tables, csv, markdown, json, SVG, HTML
 *
 *   engine/patch/           the patch engine (fast): its start, its end, its footer
 *   engine/patch/life/      clone, exec, attach, detach
 *   engine/patch/threads/   what to do with a thread that has stopped at a call or with a signal
 *   engine/patch/record/    whole calls: what the program's threads have written into their rings, as events
 *   engine/patch/image/     an address space: its counters, its call sites, and the agent in it
 *   engine/patch/remote/    the program's memory and mappings, and code that runs in it
 *   engine/patch/arm/       making calls from outside the agent stop
 *   engine/patch/state.h    what these folders share, and a glossary
 *   engine/patch/code/      the machine code that goes into the program: the agent, stubs, jumps
 *   engine/bpf/             the bpf engine (privileged)
 *   engine/ptrace/          the ptrace engine (always works): its start, its end, its footer
 *   engine/ptrace/loop/     the stop loop: wait statuses, the next event, starting, detaching
 *   engine/ptrace/tasks/    new and ending tasks, execve(2), signals, attaching, resuming and detaching
 *   engine/ptrace/calls/    a call under ptrace: its events, its counts, tampering with it
 *   engine/ptrace/wait/     waiting for stops and ends
 *   engine/ptrace/state/    the state of a tracer, its events, giving up; the patch engine uses it as well
 *   engine/                 the interface of an engine, and the list of engines
 *
 *   stack/                  the functions that led to a call
 *   decode/                 a call's arguments as text or JSON
 *   stats/                  histograms, quantiles, bootstrap, and the summary that all share
 *   arch/                   converts between registers and calls
 *   tracee/                 starting programs, and reading their memory and /proc
 *   syscall/                the calls: number, name, arguments, groups; filter expressions
 *   event.h                 what engines report
 *   base/                   buffers, vectors, maps, clocks, sizes; no domain words
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
	{"show", cmd_show},
};

/* A command that ran out of memory for some of its output has failed. */
static int checked(int status)
{
	if (status != 0 || !memory_ran_out())
		return status;
	diag_error("memory ran out: the output may be incomplete");
	return EXIT_OWN;
}

int main(int argc, char **argv)
{
	json_note_failures();
	/* A command's name counts only as the very first argument: `sctrace ./compare` traces a program. */
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands); i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return checked(commands[i].run(argc - 1, argv + 1));
	return checked(cmd_trace(argc, argv));
}
