/* SPDX-License-Identifier: MIT */
#include "cmd/trace/opts.h"

#include "base/buf.h"
#include "trace/files.h"
#include "trace/io.h"
#include "trace/seccomp.h"
#include "trace/tree.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The columns of the table of -c that completion offers for -U and -S. */
#define COLUMN_WORDS                                                                                                   \
	"syscall seconds calls errors percent avg min p50 p90 p99 max stddev bytes bytes_per_call "                    \
	"unfinished restarted waits waited cpu resolved"
/* The metrics that completion offers for --expect. */
#define EXPECT_WORDS "calls errors bytes seconds wall user system cpu peak_rss processes"
#define AT(member)   .offset = offsetof(struct trace_opts, member)

static const struct opt trace_table[] = {
	{.help = "What to trace:"},
	{'f', "follow-forks", NULL, opt_count,
	 "trace child processes as well; -ff: and write to separate files (--output-separately)", AT(follow)},
	{'p', "attach", "PID[,PID...]", trace_opt_pids,
	 "attach to running processes and all their threads; Ctrl-C detaches", 0, COMPLETE_PID},
	{0, "cgroup", "PATH", opt_string,
	 "with -c or -e trace=SET: count or print the calls of a control group (bpf engine)", AT(cgroup),
	 COMPLETE_FILE},
	{0, "all", NULL, opt_flag,
	 "with -c or -e trace=SET: count or print the calls of all processes on the system (bpf engine)", AT(all)},
	{0, "comm", "NAME[,NAME...]", trace_opt_comms,
	 "with --cgroup and --all: only processes with these names (15 characters at most)"},
	{0, "uid", "USER[,USER...]", trace_opt_uids, "with --cgroup and --all: only processes of these users", 0,
	 COMPLETE_USER},
	{'u', "user", "USER", opt_string, "run the program as USER, a name or UID:GID", AT(user), COMPLETE_USER},
	{'E', "env", "VAR[=VALUE]", trace_opt_env, "set VAR for the program, or remove it"},
	{0, "argv0", "NAME", opt_string, "use NAME as the program's first argument (argv[0])", AT(argv0)},
	{'D', "daemonize", NULL, opt_count,
	 "make the program the direct child of the shell; -DD: also put sctrace into its own process group; -DDD: into "
	 "its own session",
	 AT(daemonize)},
	{0, "kill-on-exit", NULL, opt_flag, "kill the program if sctrace dies", AT(kill_on_exit)},
	{'b', "detach-on", "execve", trace_opt_break, "detach from a process when it executes another program",
	 .complete = COMPLETE_WORDS, .words = "execve"},
	{'I', "interruptible", "N", opt_int,
	 "select the signals that sctrace reacts to: 1 and 2: all; 3: all except those that would end it; 4: all "
	 "except those and Ctrl-Z",
	 AT(interruptible), .min = 1, .max = 4},
	{0, "engine", "NAME", trace_opt_engine, "trace with this engine: auto, or one of --list-engines", 0,
	 COMPLETE_WORDS, ENGINE_WORDS},
	{0, "list-engines", NULL, opt_flag, "list the engines, and say which of them work on this machine",
	 AT(list_engines)},
	{0, "pin", NULL, opt_flag,
	 "keep tracer and program on one CPU: stops are faster, but the program behaves differently", AT(pin)},

	{.help = "Which calls:"},
	{'e', NULL, "EXPR", trace_opt_expr,
	 "trace=SET (or just SET), status=, errno=, signal=, fds=, inject=; a SET is a list of names, %groups, /regex, "
	 "all, none; !SET: all others",
	 .complete = COMPLETE_EXPR,
	 .words = "trace status errno signal inject fault trace-fds read write abbrev verbose raw quiet decode-fds "
		  "decode-pids namespace"},
	{0, "trace", "SET", trace_opt_named_expr,
	 "trace only these calls, such as openat,%network,/^sched_; !SET: all others; ?NAME: no error if NAME is "
	 "unknown",
	 .complete = COMPLETE_SET},
	{0, "status", "SET", trace_opt_named_expr, "print only calls with these results, such as failed,unfinished",
	 .complete = COMPLETE_LIST, .words = "successful failed unfinished unavailable detached"},
	{0, "errno", "LIST", trace_opt_named_expr,
	 "print only calls that failed with these errors, such as ENOENT,EACCES"},
	{0, "signal", "SET", trace_opt_named_expr, "print only these signals; none: no signals"},
	{'z', "successful-only", NULL, trace_opt_successful, "print only calls that succeeded"},
	{'Z', "failed-only", NULL, trace_opt_successful, "print only calls that failed"},
	{'P', "trace-path", "PATH", trace_opt_path,
	 "print only calls that use PATH; PATH/... stands for everything below PATH", .complete = COMPLETE_FILE},
	{0, "trace-fds", "LIST", trace_opt_named_expr, "print only calls that use these descriptors, such as 0,1,2"},
	{0, "slower", "DURATION", opt_duration,
	 "print only calls that took longer than this, such as 10ms (a number without a unit means microseconds)",
	 offsetof(struct trace_opts, select.slower_ns)},
	{0, "waited", NULL, opt_flag,
	 "print only calls that waited: their thread slept, or lost its CPU to another one",
	 offsetof(struct trace_opts, select.waited)},
	{0, "syscall-limit", "N", trace_opt_limit, "detach after N calls that these options select"},
	{0, "inject", "SET:ACTION", trace_opt_named_expr,
	 "tamper with calls: error=ENOSPC, retval=N, signal=S, delay_enter=D, delay_exit=D, each with :when=N+K",
	 .complete = COMPLETE_SET},
	{0, "fault", "SET[:ACTION]", trace_opt_named_expr, "the same as --inject; the default ACTION is error=ENOSYS",
	 .complete = COMPLETE_SET},

	{.help = "Format of a trace:"},
	{'o', "output", "FILE", opt_string, "write to FILE instead of standard error; |COMMAND writes to a command",
	 AT(output), COMPLETE_FILE},
	{0, "output-separately", NULL, opt_flag,
	 "write each thread, with -c the table of each process, to FILE.ID; in FILE, %e is the name of the program, %p "
	 "the process, %i the thread",
	 AT(separately)},
	{'A', "output-append-mode", NULL, opt_flag, "append to FILE", AT(append)},
	{'t', NULL, NULL, trace_opt_clock, "print the time of day; -tt: with microseconds; -ttt: since the Epoch"},
	{0, "absolute-timestamps", "[FORMAT]", trace_opt_clock,
	 "print the time of day (time) or the seconds since the Epoch (unix), with the precision s, ms, us or ns, such "
	 "as unix,ns",
	 .complete = COMPLETE_LIST, .words = "time unix none s ms us ns"},
	{0, "timestamps", "[FORMAT]", trace_opt_clock, NULL}, /* another name that strace has for it */
	{'r', NULL, NULL, trace_opt_precision, "print the time since the previous call", AT(times.relative)},
	{0, "relative-timestamps", "[PRECISION]", trace_opt_precision, "the same as -r, in s, ms, us or ns",
	 AT(times.relative), COMPLETE_WORDS, "s ms us ns"},
	{'T', NULL, "[WHAT]", trace_opt_durations,
	 "print the time spent in each call, without the cost of tracing; -T=waits: also mark calls that waited"},
	{0, "syscall-times", "[WHAT]", trace_opt_durations, "the same as -T; WHAT is waits, s, ms, us or ns",
	 .complete = COMPLETE_LIST, .words = "waits s ms us ns"},
	{'n', "syscall-number", NULL, opt_flag, "print the number of each call", AT(numbers)},
	{'i', "instruction-pointer", NULL, opt_flag, "print the address of each call", AT(addresses)},
	{'N', "arg-names", NULL, opt_flag, "print the names of arguments", AT(arg_names)},
	{'y', NULL, NULL, trace_opt_fd_names,
	 "print what descriptors refer to; -yy: also socket addresses and processes"},
	{0, "decode-fds", "[SET]", trace_opt_decode_fds,
	 "print what descriptors refer to; SET is a list of path (like -y), socket, dev, pidfd, eventfd and signalfd, "
	 "or all (like -yy)",
	 .complete = COMPLETE_LIST, .words = "path socket dev pidfd eventfd signalfd all none"},
	{'Y', NULL, NULL, opt_count, "print the names of processes after their numbers", AT(look.pid_names)},
	{0, "always-show-pid", NULL, opt_flag, "print the id of the thread before each line", AT(always_pid)},
	{0, "decode-pids", "SET", trace_opt_decode_pids,
	 "comm: the same as -Y; pidns: print the numbers of processes in sctrace's pid namespace as well",
	 .complete = COMPLETE_LIST, .words = "comm pidns all none"},
	{0, "namespace", "new", trace_opt_named_expr,
	 "print the namespaces that clone, clone3, unshare and setns enter", .complete = COMPLETE_WORDS,
	 .words = "new"},
	{'k', "stack-trace", NULL, opt_flag, "print the functions that led to each call", AT(stacks)},
	{0, "stacks", "folded[,time]", opt_string,
	 "print each stack once, with its number of calls or its time, for flame graphs", AT(folded)},
	{'s', "string-limit", "N", opt_int, "print at most N bytes of each string (default: 32)", AT(string_max),
	 .min = 0, .max = 1 << 24},
	{'x', "strings-in-hex", NULL, opt_count, "print strings with unprintable bytes in hex; -xx: all strings",
	 AT(hex)},
	{'v', "no-abbrev", NULL, opt_count, "print structures in full", AT(verbose_count)},
	{'a', "columns", "N", opt_int, "align results at column N (default: 40)", AT(column), .min = 0, .max = 1000},
	{'X', "const-print-style", "FORMAT", trace_opt_constants,
	 "print constants by name (abbrev), as numbers (raw) or as both (verbose)", .complete = COMPLETE_WORDS,
	 .words = "raw abbrev verbose"},
	{0, "read", "SET", trace_opt_named_expr,
	 "print all data that is read from these descriptors, such as 3,4 or all"},
	{0, "write", "SET", trace_opt_named_expr, "print all data that is written to these descriptors"},
	{0, "abbrev", "SET", trace_opt_named_expr, "abbreviate the structures of these calls only",
	 .complete = COMPLETE_SET},
	{0, "verbose", "SET", trace_opt_named_expr, "print the structures of these calls only",
	 .complete = COMPLETE_SET},
	{0, "raw", "SET", trace_opt_named_expr, "print the arguments of these calls as numbers",
	 .complete = COMPLETE_SET},
	{'q', NULL, NULL, trace_opt_quiet,
	 "print no messages about attaching; -qq: nor about exits; -qqq: print only calls and signals"},
	{0, "quiet", "[SET]", trace_opt_quiet, "omit these messages: attach, exit, thread-execve, all",
	 .complete = COMPLETE_LIST, .words = "attach exit thread-execve all"},
	{0, "json", NULL, trace_opt_json, "print one JSON object per line; see sctrace-trace(5)"},
	{0, "format", "FORMAT", trace_opt_format,
	 "json, csv or perfetto; with -c: text, wide, truss, strace, csv, markdown, json, html; with --io, --tree and "
	 "--files: text, csv, markdown, json, html; with --files also paths",
	 0, COMPLETE_WORDS, "text wide truss strace csv paths markdown json html perfetto"},
	{0, "color", "[WHEN]", opt_word, "use colours: auto (on a terminal), always, never", AT(color), COMPLETE_WORDS,
	 "auto always never"},

	{.help = "Recordings:"},
	{0, "record", "FILE", opt_string,
	 "record the calls in FILE for `sctrace show`; FILE contains the program's data", AT(record), COMPLETE_FILE},
	{0, "last", "AMOUNT", trace_opt_last,
	 "keep only the last 1000 calls, 64M (bytes) or 30s; write them if the program fails, and on SIGUSR1"},

	{.help = "Summaries:"},
	{'c', "summary-only", NULL, opt_flag, "count and time the calls instead of printing them", AT(count)},
	{'C', "summary", NULL, opt_flag, "print the calls and count them", AT(count_too)},
	{'S', "summary-sort-by", "COLUMN", trace_opt_sort, "sort by COLUMN; none: in order of appearance",
	 .complete = COMPLETE_WORDS, .words = COLUMN_WORDS " none"},
	{'U', "summary-columns", "LIST", trace_opt_columns,
	 "print these columns, such as seconds,calls,p90,bytes; +LIST adds them to the usual ones",
	 .complete = COMPLETE_LIST, .words = COLUMN_WORDS},
	{0, "by", "WHAT", opt_word, "count the calls for each process, thread, fd or path (implies -c)", AT(by),
	 COMPLETE_WORDS, "process thread fd path"},
	{0, "top", "N", trace_opt_top,
	 "print only the first N rows of the table, or of the files of --io; with --by, N rows without their calls; "
	 "all: all rows",
	 .complete = COMPLETE_WORDS, .words = "5 10 20 all"},
	{0, "io", NULL, opt_flag,
	 "print how each file, pipe and socket was used, and what could be improved: small requests, repeated reads, "
	 "...",
	 AT(io)},
	{0, "tree", NULL, opt_flag,
	 "print the processes as a tree: how each ended, its times and memory, and where a failure began (implies -f)",
	 AT(tree)},
	{0, "files", "[USES]", trace_opt_files,
	 "print what was done with each path; USES: only these, such as read,executed; --format=paths: a list for tar, "
	 "...",
	 .complete = COMPLETE_LIST, .words = FILES_WORDS},
	{0, "profile", "KIND", opt_word,
	 "print a seccomp filter that allows the calls of the program: seccomp for container runtimes, seccomp-bpf for "
	 "bwrap",
	 AT(profile), COMPLETE_WORDS, SECCOMP_WORDS},
	{0, "errors", NULL, opt_flag, "count the calls, and print which failed with which errors (implies -c)",
	 AT(errors)},
	{0, "hist", "CALL[,CALL...]", trace_opt_hist,
	 "count the calls, and print a histogram of the durations of each CALL (implies -c)", AT(hist), COMPLETE_SET},
	{0, "interval", "DURATION", opt_duration, "print a table at this interval (and on SIGUSR1)", AT(interval_ns),
	 .min = 10000000},
	{0, "expect", "CONDITIONS", trace_opt_expect,
	 "exit with status 3 unless these conditions hold, such as read<=100,main:errors=0,bytes(write)=1M; "
	 "main:calls<=20 counts from main (implies -c)",
	 .complete = COMPLETE_LIST, .words = EXPECT_WORDS},
	{0, "save", "FILE", opt_string, "save the summary for `sctrace report`", AT(save), COMPLETE_FILE},
	{'O', "summary-syscall-overhead", "DURATION", trace_opt_overhead,
	 "subtract DURATION from the time of each call instead of the measured cost of tracing"},
	{'w', "summary-wall-clock", NULL, trace_opt_nothing,
	 "accepted for compatibility: times are always wall-clock times"},
	{'F', NULL, NULL, trace_opt_nothing, NULL},
	{0, "pidns-translation", NULL, opt_flag, NULL, AT(look.outer_ids)}, /* strace's name of --decode-pids=pidns */
	{0, "seccomp-bpf", NULL, trace_opt_nothing, NULL},                  /* always on */
	{0, "stack-traces", NULL, opt_flag, NULL, AT(stacks)}, /* the name of -k in older versions of strace */
	{.help = "Other options:"},
	{0, "completion", "SHELL", opt_string, "print a completion script for SHELL: bash, zsh or fish", AT(completion),
	 COMPLETE_WORDS, "bash zsh fish"},
	{0},
};

static const char *const trace_usage[] = {
	"[OPTIONS] [--] PROGRAM [ARG...]",
	"[OPTIONS] -p PID[,PID...]",
	"compare | bench | report | show | help ...   (each has its own --help)",
	NULL,
};

static const char *const trace_examples[] = {
	"sctrace -f PROGRAM",
	"print the system calls of a program and its children",
	"sctrace -c PROGRAM",
	"count and time them",
	"sctrace -k -p PID",
	"print what each thread of a process waits for",
	"sctrace --tree make -j8",
	"print the processes of a command, and which made it fail",
	"sctrace -f --files PROGRAM",
	"print which files it reads, writes, executes or misses",
	NULL,
};

const struct opt_command trace_command = {
	.name = "sctrace",
	.usage = trace_usage,
	.about = "Prints the system calls of a program; with -c, counts and times them.",
	.table = trace_table,
	.examples = trace_examples,
	.epilog = "The exit status is that of the program. See sctrace(1), sctrace-trace(5).",
	.stop_at_operand = true,
};

static const struct opt truss_table[] = {
	{'a', NULL, NULL, trace_opt_nothing, "print the arguments of execve (they are always printed)"},
	{'c', NULL, NULL, opt_flag, "count and time the calls instead of printing them", AT(count)},
	{'d', NULL, NULL, trace_opt_clock, "print the time since the start"},
	{'D', NULL, NULL, trace_opt_precision,
	 "print the duration of each call, and for other events the time since the previous event", AT(times.relative)},
	{'e', NULL, NULL, opt_count, "print the environment of execve", AT(verbose_count)},
	{'f', NULL, NULL, opt_count, "trace child processes as well", AT(follow)},
	{'H', NULL, NULL, opt_flag, "print thread ids", AT(truss_thread_ids)},
	{'o', NULL, "FILE", opt_string, "write to FILE instead of standard error", AT(output), COMPLETE_FILE},
	{'p', NULL, "PID", trace_opt_pids, "attach to a running process", 0, COMPLETE_PID},
	{'s', NULL, "N", opt_int, "print at most N bytes of each string (default: 32)", AT(string_max), .min = 0,
	 .max = 1 << 24},
	{'S', NULL, NULL, opt_flag, "print no signals", offsetof(struct trace_opts, select.by_signal)},
	{'t', "trace", "SET", trace_opt_named_expr, "trace only these calls"},
	{0, "format", "FORMAT", trace_opt_format,
	 "with -c: truss (the default), text, wide, strace, csv, markdown, json, html", 0, COMPLETE_WORDS,
	 "text wide truss strace csv markdown json html"},
	{0, "engine", "NAME", trace_opt_engine, "trace with this engine: auto, or one of sctrace --list-engines"},
	{0},
};

static const char *const truss_usage[] = {"[-acDdefHS] [-o FILE] [-s N] [-t SET] PROGRAM [ARG...]",
					  "[-acDdefHS] [-o FILE] [-s N] [-t SET] -p PID", NULL};

const struct opt_command truss_command = {
	.name = "truss",
	.usage = truss_usage,
	.about = "Prints the system calls of a program, with the options and the format of FreeBSD's truss.",
	.table = truss_table,
	.epilog = "This is sctrace under the name truss; see sctrace(1).",
	.stop_at_operand = true,
};

static const struct {
	bool in_truss; /* true if truss has the letter, and false if strace has it */
	char letter;
	const char *meaning;
} other[] = {
	{true, 'H', "prints thread ids"},
	{true, 'd', "prints the time since the start; use -r, or -ttt for the time since the Epoch"},
	{false, 'C', "prints calls and a summary"},
	{false, 'E', "changes the program's environment"},
	{false, 'P', "prints the calls that use a path"},
	{false, 'T', "prints the time spent in each call"},
	{false, 'U', "selects the columns of the summary"},
	{false, 'i', "prints the address of each call"},
	{false, 'k', "prints stacks"},
	{false, 'n', "prints the number of each call"},
	{false, 'q', "omits messages"},
	{false, 'r', "prints the time since the previous call"},
	{false, 'u', "runs the program as another user"},
	{false, 'v', "prints structures in full"},
	{false, 'w', "selects wall-clock time, which is always used"},
	{false, 'x', "prints strings in hex"},
	{false, 'y', "prints what descriptors refer to"},
	{false, 'z', "prints successful calls"},
	{false, 'Z', "prints failed calls"},
};

const char *trace_other_dialect(bool truss, char letter)
{
	for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++)
		if (other[i].letter == letter && other[i].in_truss != truss)
			return other[i].meaning;
	return NULL;
}

void trace_opts_init(struct trace_opts *o)
{
	*o = (struct trace_opts){.string_max = -1, .column = RESULT_COLUMN};
}

void trace_opts_free(struct trace_opts *o)
{
	vec_free(&o->pids);
	vec_free(&o->env);
	vec_free(&o->show_pids);
	vec_free(&o->uids);
	strings_clear(&o->comms);
	vec_free(&o->show_tids);
	trace_select_free(&o->select);
	trace_injects_free(&o->injects);
	trace_look_free(&o->look);
	conditions_free(&o->expect);
}

unsigned trace_string_max(const struct trace_opts *o)
{
	const struct look_fds *r = &o->look.read, *w = &o->look.write;
	bool dumps = r->all || r->fds.n || r->negated || w->all || w->fds.n || w->negated;
	unsigned max = (unsigned)(o->record ? o->string_recorded : o->string_max);
	if (o->io && max < IO_LINE_MAX)
		max = IO_LINE_MAX;
	if (o->tree && max < TRACE_TREE_STRING)
		max = TRACE_TREE_STRING;
	return dumps ? UINT_MAX : max;
}

const char *trace_opts_page(const struct trace_opts *o)
{
	return o->io ? "--io" : o->tree ? "--tree" : o->files ? "--files" : o->profile ? "--profile" : NULL;
}

bool trace_opts_watch(const struct trace_opts *o)
{
	return (o->cgroup || o->all) && !o->count;
}

bool trace_opts_separate(const struct trace_opts *o)
{
	return (o->follow > 1 || o->separately) && !o->truss;
}

bool trace_opts_need_events(const struct trace_opts *o)
{
	bool grouped = o->by && (strcmp(o->by, "fd") == 0 || strcmp(o->by, "path") == 0);
	return trace_opts_page(o) || grouped || trace_select_needs_exit(&o->select) || o->select.paths.n ||
	       o->select.fds.n || o->injects.rules.n || o->limit || o->count_too;
}

void trace_opts_unused(const struct trace_opts *o, struct buf *out)
{
	const struct {
		bool given;
		const char *letter;
	} of_lines[] = {
		{o->times.clock, "-t"},
		{o->times.relative, "-r"},
		{o->times.durations, "-T"},
		{o->numbers, "-n"},
		{o->addresses, "-i"},
		{o->look.fd_names, "-y"},
		{o->look.pid_names, "-Y"},
		{o->arg_names, "-N"},
		{o->stacks, "-k"},
		{o->string_max != STRINGS_SHOWN, "-s"},
		{o->hex, "-x"},
		{o->verbose_count, "-v"},
		{o->column != RESULT_COLUMN, "-a"},
		{o->look.constants != CONSTANTS_NAMED, "-X"},
		{o->look.namespaces, "-e namespace"},
		{o->look.read.fds.n || o->look.read.all, "-e read"},
		{o->look.write.fds.n || o->look.write.all, "-e write"},
		{o->look.abbrev.given, "-e abbrev"},
		{o->look.verbose.given, "-e verbose"},
		{o->look.raw.given, "-e raw"},
	};
	bool no_lines =
		o->count || (trace_opts_page(o) && !o->count_too && !o->record); /* -k adds stacks to a recording */
	for (size_t i = 0; no_lines && !o->truss && i < sizeof(of_lines) / sizeof(*of_lines); i++)
		if (of_lines[i].given)
			buf_addf(out, "%s%s", out->len ? ", " : "", of_lines[i].letter);
}
