/* SPDX-License-Identifier: MIT */
/*
 * sctrace: a system-call tracer and a comparator of I/O strategies.
 *
 * A map of the source. A folder uses only folders below it in this list; tests/lint/folders says which. How the parts
 * work together: docs/internals.md.
 *
 *   main.c                  this map; calls the command that argv[1] names
 *   cmd/show/               `sctrace show`
 *   cmd/trace/              `sctrace PROGRAM`: its options, how its parts are connected, its exit status
 *   cmd/compare/            `sctrace compare`: its options, its steps, its exit status
 *   cmd/bench/              `sctrace bench`
 *   cmd/report/             `sctrace report`
 *   cmd/                    code that several commands use: the input, writing the output, displaying a run
 *
 *   compare/                compares I/O strategies: plans, runs, judges, warns, explains; the table of copy strategies (the
 *                           programs are in examples/)
 *   trace/                  turns events into lines, JSON and tables: selection, descriptors and paths, the sinks
 *   present/                shows runs to people: tables, charts, sentences, in every format
 *   bench/results/          fills in the runs of the bench tests: the method, the subjects, the notes
 *   bench/                  measures the cost of calls, context switches, time slices and wake-ups
 *   cli/                    the option table: parsing, --help, completion
 *   measure/                measures programs: runs and samples, the resident set, the description of the machine
 *   io/                     how a program uses its files (--io): descriptors, offsets, costs, findings
 *   recording/              recordings (--record): the writer, the reader, and the names and memory in them
 *   run/                    a run as typed data (machine, subjects, samples, calls): judging, merging, JSON
 *   out/                    tables, CSV, Markdown, JSON, SVG, HTML
 *
 *   engine/patch/           the patch engine (fast): its start and end; clone, exec, attach, detach; its notes below tables
 *   engine/patch/x86_64/stepout.c  moves a thread out of the agent (threads/threads.h)
 *   engine/patch/aarch64/stepout.c  the same for aarch64
 *   engine/patch/threads/   decides what to do with a thread that has stopped at a call or with a signal
 *   engine/patch/record/    makes events from the calls that the program's threads have recorded in their rings
 *   engine/patch/x86_64/site_patch.c  chooses and writes the jump at a call, for x86-64
 *   engine/patch/aarch64/site_patch.c  the same for aarch64
 *   engine/patch/image/     an address space: its counters, its call sites, and the agent in it
 *   engine/patch/remote/    reads and changes the program's memory and mappings, and runs code in the program
 *   engine/patch/arm/       makes calls from outside the agent stop
 *   engine/patch/state.h    the data that these folders share
 *   engine/patch/x86_64/    what depends on the processor: the agent's machine code, stubs, jumps, moved instructions
 *   engine/patch/aarch64/   the same for aarch64
 *   engine/patch/code/      what the agent and sctrace share: the layout of their data; the code that writes records
 *   engine/patch/cpu.h      the boundary between the folder of a processor and the other folders of engine/patch
 *   engine/patch/aarch64/cpu_aarch64.h  implements it for aarch64
 *   engine/patch/aarch64/encode.h  writes stubs and branches
 *   engine/patch/x86_64/cpu_x86_64.h  implements it for x86-64
 *   engine/patch/x86_64/encode.h  writes stubs and jumps
 *   engine/bpf/             the bpf engine (privileged)
 *   engine/ptrace/          the ptrace engine (works everywhere). loop.c gets the wait statuses (wait.c); tasks.c and attach.c
 *                           follow threads; calls.c follows calls. The patch engine is built on these.
 *   engine/                 the interface of an engine, and the list of engines
 *
 *   stack/                  finds the functions that led to a call
 *   decode/                 shows a call's arguments as text or JSON
 *   stats/                  histograms, quantiles, the bootstrap, and the summary of calls
 *   arch/                   reads and changes registers: calls, results, breakpoints
 *   tracee/                 starts programs, and reads their memory and /proc
 *   syscall/                the table of calls (number, name, arguments, groups); filter expressions
 *   event.h                 the events that engines report
 *   base/                   buffers, vectors, maps, clocks, sizes; nothing about tracing
 */
#include "base/buf.h"
#include "base/diag.h"
#include "base/memory.h"
#include "base/words.h"
#include "cmd/cmd.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Returns the command of this name, or NULL. */
static const struct command *find(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (strcmp(name, commands[i].name) == 0)
			return &commands[i];
	return NULL;
}

static int no_help(const char *name)
{
	auto_buf similar = {0};
	struct near near = {.word = name};
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		near_offer(&near, commands[i].name);
	near_say(&near, "sctrace help ", &similar);
	diag_error("help: sctrace has no command '%s'%s (see sctrace --help)", name, buf_str(&similar));
	return EXIT_USAGE;
}

/* `sctrace help` and `sctrace help COMMAND` are the same as `sctrace --help` and `sctrace COMMAND --help`. */
static int help(int argc, char **argv)
{
	char *args[] = {argv[0], (char *)"--help", NULL};
	const struct command *c = argc > 2 ? find(argv[2]) : NULL;
	if (argc > 2 && !c)
		return no_help(argv[2]);
	return c ? c->run(2, args) : cmd_trace(2, args);
}

/*
 * If sctrace was started with one of the descriptors 0 to 2 closed, the first file that it opens would get this number:
 * messages would be written to that file, and a program that inherits it would find it closed. A descriptor that cannot
 * be used in its direction behaves as a closed one (EBADF), and is closed again when a program is executed.
 */
static void reserve_standard_descriptors(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC) < 0)
			return;
}

int main(int argc, char **argv)
{
	reserve_standard_descriptors();
	json_set_alloc_funcs(memory_get, free); /* so that no function of jansson fails for lack of memory */
	/* Only the first argument can name a command. `sctrace ./compare` traces a program that is called "compare". */
	const struct command *c = argc > 1 ? find(argv[1]) : NULL;
	if (c)
		return c->run(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "help") == 0 && argc < 4)
		return help(argc, argv);
	return cmd_trace(argc, argv);
}
