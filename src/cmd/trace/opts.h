/* The settings of the tracer, and the option table that fills them in. */
#ifndef SCTRACE_CMD_TRACE_OPTS_H
#define SCTRACE_CMD_TRACE_OPTS_H

#include "base/vec.h"
#include "cli/opt.h"
#include "out/summary_table.h"
#include "recording/keep.h"
#include "run/condition.h"
#include "trace/inject.h"
#include "trace/look.h"
#include "trace/select.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;

enum trace_format { TRACE_TEXT, TRACE_JSON, TRACE_PERFETTO };

/* Filled in by the options. Initialise with zeros and trace_opts_init(). All strings point into argv. */
struct trace_opts {
	bool truss; /* the options and layouts of FreeBSD's truss */

	/* whose */
	int follow; /* -f; 2: -ff */
	VEC(pid_t) pids;
	const char *cgroup; /* a control group, or NULL */
	bool all;           /* every process of the system */
	const char *user, *argv0;
	VEC(const char *) env; /* -E VAR=VAL sets a variable, -E VAR removes it */
	int daemonize;         /* -D; -DD: in a process group of its own; -DDD: in a session of its own */
	bool kill_on_exit, pin;
	bool break_execve;  /* -b execve */
	int interruptible;  /* -I; 0: the default */
	const char *engine; /* or NULL */
	bool list_engines;
	const char *completion;

	/* which */
	struct trace_select select;
	struct trace_injects injects;

	/* how shown */
	enum trace_format format;
	const char *output; /* -o, or NULL */
	bool append;
	int column; /* -a */
	int string_max, hex, verbose_count;
	struct trace_look look;
	int clock; /* -t -tt -ttt */
	bool relative, durations, numbers, addresses;
	int fd_names, pid_names;
	const char *color;
	bool stacks;
	const char *folded; /* --stacks=folded, weighted by "calls" or "time" */
	bool truss_thread_ids;

	/* recordings */
	const char *record;  /* --record: the file, or NULL */
	int string_recorded; /* limit for strings in it */
	bool diff;           /* show --diff */
	bool last_set;       /* --last: keep only the end of the recording */
	struct recording_last last;

	/* summaries */
	bool count, count_too; /* -c, -C */
	struct summary_view view;
	const char *by; /* process, thread, fd, path; or NULL */
	const char *hist, *save;
	bool errors;
	bool io, html; /* --io, --format=html */
	struct conditions expect;
	uint64_t interval_ns;
	bool overhead_set; /* -O: this value replaces the measured cost */
	uint64_t overhead_ns;
};

void trace_opts_init(struct trace_opts *o);
void trace_opts_free(struct trace_opts *o);
/* The tracer's command in strace's dialect and in truss's. */
extern const struct opt_command trace_command, truss_command;
/* The meaning of `letter` in the other dialect, for the message "unknown option", or NULL. */
const char *trace_other_dialect(bool truss, char letter);
/* True if counting needs to see each call, so that the counts of the engine are not enough. */
bool trace_opts_need_events(const struct trace_opts *o);
/* The number of bytes of a buffer that are read: more than -s says if data is dumped. */
unsigned trace_string_max(const struct trace_opts *o);
/*
 * Checks for options that contradict each other. Returns 0, or -EINVAL with the reason in `why`. `program`: a program
 * was named.
 */
int trace_opts_check(struct trace_opts *o, bool program, struct buf *why);

#endif
