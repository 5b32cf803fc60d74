/* SPDX-License-Identifier: MIT */
/* A running trace: the data that the files of this folder share. */
#ifndef SCTRACE_CMD_TRACE_CMD_TRACE_H
#define SCTRACE_CMD_TRACE_CMD_TRACE_H

#include "cmd/trace/opts.h"
#include "engine/engine.h"
#include "recording/read.h"
#include "trace/count.h"
#include "trace/files.h"
#include "trace/io.h"
#include "trace/json.h"
#include "trace/out.h"
#include "trace/pipeline.h"
#include "trace/seccomp.h"
#include "trace/text.h"
#include "trace/totals.h"
#include "trace/trace_recorder.h"
#include "trace/trace_stack.h"
#include "trace/tree.h"
#include "trace/truss.h"
#include "trace/waiting.h"

#include <linux/stat.h>
#include <sys/stat.h>
#include <sys/utsname.h>

struct trace {
	struct trace_opts o;
	char *const *program; /* command line of the program to start, or NULL */
	const struct engine_ops *ops;
	struct engine *engine;
	struct strings selection;    /* the options that select calls, also those with which a recording was made */
	struct buf choice;           /* why no better engine was chosen; empty: it is the best, or was named */
	struct call_set only, stops; /* calls that must be events, and calls at which threads must stop */
	bool follows_names;    /* the engine reports each call that changes names, and the names that it records */
	bool few;              /* the views of the options need only the calls in `only`, not all calls */
	bool shows;            /* calls are shown one by one */
	bool several;          /* several threads may exist when the trace begins */
	bool counts_requests;  /* the engine counts the calls, and a sink counts the requests of io_uring */
	struct call_set rings; /* if `counts_requests`: the calls that must be events for it */
	bool by_events;        /* a sink counts calls or aggregates stacks; otherwise the engine counts */
	bool count_threads;    /* with by_events: the engine counts some calls for each thread */
	struct stack *stack;   /* walks the stacks of stopped threads; or NULL */
	struct recording *recording;     /* the source of the events; NULL: a live engine */
	const char *recording_name;      /* the name of its file as the user wrote it */
	struct recording_writer *writer; /* writes the recording of --record; or NULL */
	struct recording_head head;      /* beginning of that recording */
	struct trace_recorder recorder;
	struct trace_outputs out;
	struct utsname machine; /* this machine */
	struct statx output;    /* the file to which calls are printed, if the program can write to it as well */
	struct trace_pipeline pipeline;
	struct names_kept names; /* names of descriptors; used only if the patch engine reports all calls */
	union {
		struct trace_text text;
		struct trace_json json;
		struct trace_csv csv;
		struct trace_truss truss;
	} shown;
	struct trace_count count;
	struct trace_folded folded;
	struct trace_io io;
	struct trace_tree tree;
	struct trace_files files;
	struct trace_seccomp seccomp;
	struct trace_totals totals;
	struct trace_waiting waiting; /* the states of threads before sctrace attached to them, for -k -p */
	struct buf waiting_calls;     /* the calls in progress when sctrace ended, for -c -p */
	pid_t root;                   /* process id of the program, set when its execve(2) has succeeded; 0 before */
	bool root_stopped;            /* a signal has stopped the program */
	bool asked;                   /* SIGUSR1 has been noticed, but not yet answered */
	bool told_to_end;             /* sctrace has received a signal to end */
	struct trace_failure failure;
};

/*
 * Blocks the stop signals that a terminal sends to all processes of a job (SIGTSTP from Ctrl-Z, SIGTTIN). If such a
 * signal stopped sctrace at once, sctrace could not let the program stop. The signals are blocked after the program has
 * started, because the program must not inherit the mask. They are unblocked when the program has stopped; then sctrace
 * stops too, and the shell sees that the job has stopped. If the program ignores Ctrl-Z, both continue.
 */
void trace_hold_stops(void);

/*
 * Begins to handle signals to sctrace, and sets c->woken for the engine. Returns 0, or -errno if a handler cannot be
 * installed. Without its handler, a signal would end sctrace; the first would be that of sctrace's own timer.
 */
int trace_signals_catch(struct trace *t, struct engine_config *c);
/*
 * Acts on the signals that sctrace has received. Returns true if the loop must end. *kill_at must be 0 at first; it
 * becomes the time (clock_ns()) at which the program will be killed.
 */
bool trace_signals_serve(struct trace *t, uint64_t *kill_at);
/*
 * If sctrace has received SIGUSR1, prints the table so far, or saves the last calls. Must be called each time when the
 * engine's next() has returned -EINTR. It does so soon, because the engine does not sleep until SIGUSR1 has been answered.
 * `all_reported` means that the engine has reported all calls, because tracing has ended.
 */
void trace_signals_answer(struct trace *t, bool all_reported);
/* Returns true if sctrace has received a signal that the terminal sends for Ctrl-C or Ctrl-\. */
bool trace_signals_typed(void);
/* Starts the timer for periodic work. If `first_us` is not 0, it first expires after at most that time. */
void trace_signals_tick(const struct trace *t, long first_us);

/* Decides from the options what is shown, what is counted from events, and at which calls threads must stop. */
void trace_wire_wants(struct trace *t);
/*
 * If the engine counts the calls and can report some of them as well, makes it report those that concern the rings of
 * io_uring: only sctrace can count the requests in these rings.
 */
void trace_wire_requests(struct trace *t, struct engine_config *c);
/* Builds the pipeline: initialises its sinks with the options that each needs. The engine must have been started. */
void trace_wire(struct trace *t);

/* Prints a note about options that have no effect. */
void trace_say_unused(const struct trace *t);
/* If waits matter: prints a note about calls of which it is not known whether they waited. */
void trace_say_unjudged(const struct trace *t);
/* After the last event: if no call was selected or tampered with, and programs of today make none, says so. */
void trace_hint(const struct trace *t);
/* Opens the outputs and, for a live trace with stacks, the walker of stacks. Returns 0, or EXIT_OWN after a message. */
int trace_open_outputs(struct trace *t);
/* Implements --last: writes the last part of the recording to its file now. */
void trace_save_last(struct trace *t);
/*
 * Implements --last: must be called when a process has ended. Writes the last part of the recording to its file in two
 * cases: if the process has crashed, or if it has failed and is the program or a process that sctrace attached to.
 */
void trace_record_end_of(struct trace *t, const struct event *ev);
/* Ends the recording and frees its writer. If this fails, the reason is in t->failure. */
void trace_record_close(struct trace *t, const struct engine_result *result);
/*
 * Must be called after the last event. Ends the sinks, prints the tables, closes the outputs, and stops the engine.
 * Returns 0, or an exit status after a message: EXIT_OWN, or EXIT_GATE if a condition of --expect does not hold.
 */
int trace_end(struct trace *t, struct engine_result *result);
/* Frees everything except t->recording. */
void trace_free(struct trace *t);
/* Implements --profile=seccomp: prints the profile (page.c). */
void trace_show_seccomp(struct trace *t);
/* If no table is printed, whose footer would say it, prints notes that say what of io_uring was not seen (page.c). */
void trace_say_unseen(const struct trace *t);
/* For --io and --format=html: displays the calls (-c) and how files were used (--io), and saves both. */
void trace_page_show(struct trace *t, const struct engine_result *result);

/* Runs the engine until all traced processes have ended. Returns the exit status of sctrace. */
int trace_run(struct trace *t);

#endif
