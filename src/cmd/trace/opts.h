/* SPDX-License-Identifier: MIT */
/* The settings of the tracer, and the tables of options that set them. */
#ifndef SCTRACE_CMD_TRACE_OPTS_H
#define SCTRACE_CMD_TRACE_OPTS_H

#include "base/memory.h"
#include "cli/opt.h"
#include "out/summary_table.h"
#include "recording/write.h"
#include "run/condition.h"
#include "run/field.h"
#include "trace/inject.h"
#include "trace/line.h"
#include "trace/look.h"
#include "trace/select.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;

/* The defaults of -s and -a. More bytes are recorded than shown, because `sctrace show` may be asked for more. */
enum { STRINGS_SHOWN = 32, STRINGS_RECORDED = 1024, RESULT_COLUMN = 40 };

enum trace_format { TRACE_TEXT, TRACE_JSON, TRACE_CSV, TRACE_PERFETTO };

/* The settings that the options fill in. Initialise with zeros and trace_opts_init(). All strings point into argv. */
struct trace_opts {
	bool truss; /* sctrace was started as "truss", and has the options and the layouts of FreeBSD's truss */

	/* Which processes are traced, and how. */
	int follow;           /* 1: -f; 2: -ff */
	VEC(pid_t) pids;      /* -p: processes and, without -f, single threads */
	const char *cgroup;   /* the control group to trace, or NULL */
	bool all;             /* trace every process of the system */
	struct strings comms; /* --comm: with these two, only processes with these names */
	VEC(uid_t) uids;      /* --uid: and of these users */
	const char *user, *argv0;
	VEC(const char *) env; /* -E VAR=VAL sets a variable, and -E VAR removes it */
	int daemonize;         /* 1: -D; 2: -DD, in a new process group; 3: -DDD, in a new session */
	bool kill_on_exit, pin;
	bool break_execve;  /* -b execve */
	int interruptible;  /* -I; 0: the default */
	const char *engine; /* name of the engine; NULL: chosen automatically */
	bool list_engines;
	const char *completion;

	/* Which calls are shown. */
	struct trace_select select;
	struct trace_injects injects;

	/* How calls are shown. */
	enum trace_format format;
	const char *output;      /* -o, or NULL: standard error */
	bool append, separately; /* -A, --output-separately */
	int column;              /* -a */
	int string_max, hex, verbose_count;
	struct trace_look look;
	struct trace_times times; /* -t, -r, -T */
	bool numbers, addresses, arg_names, always_pid;
	const char *color;
	bool stacks;
	const char *folded; /* --stacks=folded: the weight of a stack, "calls" or "time"; or NULL */
	bool truss_thread_ids;

	/* Recordings. */
	const char *record;  /* --record: name of the file, or NULL */
	int string_recorded; /* bytes of each string that are recorded */
	bool diff;           /* --diff of `sctrace show` */
	bool last_set;       /* --last: keep only the end of the recording */
	struct recording_last last;
	/* The part of a recording that `sctrace show` shows. */
	int show_last;               /* the last calls of each thread; 0: all */
	uint64_t since_ns, until_ns; /* since the start of the recording */
	VEC(pid_t) show_pids;
	VEC(pid_t) show_tids;

	/* Summaries. */
	uint64_t limit;        /* --syscall-limit: detach after this many selected calls; 0: no limit */
	bool count, count_too; /* -c, -C */
	struct summary_view view;
	bool top_set;   /* --top was given */
	const char *by; /* --by: process, thread, fd or path; or NULL */
	const char *hist, *save;
	bool errors;
	bool io, tree, html; /* --io, --tree, --format=html */
	const char *profile; /* --profile: one of SECCOMP_WORDS, or NULL */
	unsigned files;      /* --files: a combination of enum files_use; 0: not given */
	bool paths;          /* --format=paths */
	struct conditions expect;
	uint64_t interval_ns;
	bool overhead_set; /* -O was given: its value replaces the measured cost */
	uint64_t overhead_ns;
};

void trace_opts_init(struct trace_opts *o);
void trace_opts_free(struct trace_opts *o);
/* Parsers for options that only the tracer has (opt_values.c). The settings are a struct trace_opts. */
opt_parse_fn trace_opt_break, trace_opt_columns, trace_opt_comms, trace_opt_uids, trace_opt_decode_fds,
	trace_opt_decode_pids, trace_opt_fd_names, trace_opt_constants, trace_opt_clock, trace_opt_durations,
	trace_opt_engine, trace_opt_env, trace_opt_expect, trace_opt_expr, trace_opt_files, trace_opt_format,
	trace_opt_hist, trace_opt_json, trace_opt_last, trace_opt_limit, trace_opt_named_expr, trace_opt_nothing,
	trace_opt_overhead, trace_opt_path, trace_opt_pids, trace_opt_precision, trace_opt_quiet, trace_opt_top,
	trace_opt_show_ids, trace_opt_sort, trace_opt_successful;
/* The command of the tracer, with the options of strace or with those of truss. */
extern const struct opt_command trace_command, truss_command;
/* Returns what `letter` means in the other command, for the message "unknown option"; NULL: nothing. */
const char *trace_other_dialect(bool truss, char letter);
/* Returns true if sctrace must see each call to count, because the counts of the engine are not enough. */
bool trace_opts_need_events(const struct trace_opts *o);
/* Returns true if the calls of a control group or of the whole system are printed. */
bool trace_opts_watch(const struct trace_opts *o);
/* Returns true if each thread, or with -c each process, has its own file (-ff). */
bool trace_opts_separate(const struct trace_opts *o);
/* Returns the option of a view other than the table of -c that is printed at the end (such as "--tree"), or NULL. */
const char *trace_opts_page(const struct trace_opts *o);
/* Returns how many bytes of each buffer are read from the program's memory: for dumps of data, more than -s says. */
unsigned trace_string_max(const struct trace_opts *o);
/* Appends the options that have no effect, because -c or --io prints no lines: "-t, -k"; nothing if there are none. */
void trace_opts_unused(const struct trace_opts *o, struct buf *out);
/* Options that do not agree, and the message that says so. */
struct option_rule {
	bool wrong;
	const char *says;
};
/* Returns 0, or -EINVAL with `subject` and the first message that applies in `why`. */
int option_rules(const struct option_rule *rules, size_t n, const char *subject, struct buf *why);
/* Checks that the options agree. `program`: a program was named. Returns 0, or -EINVAL with the reason in `why`. */
int trace_opts_check(struct trace_opts *o, bool program, struct buf *why);

#endif
