/* A running trace: the data that the files of this command share. */
#ifndef SCTRACE_CMD_TRACE_TRACE_H
#define SCTRACE_CMD_TRACE_TRACE_H

#include "cmd/trace/opts.h"
#include "engine/engine.h"
#include "recording/read.h"
#include "trace/count.h"
#include "trace/fail.h"
#include "trace/folded.h"
#include "trace/io.h"
#include "trace/json.h"
#include "trace/pipeline.h"
#include "trace/recorder.h"
#include "trace/text.h"
#include "trace/totals.h"
#include "trace/truss.h"

struct trace {
	struct trace_opts o;
	char *const *program; /* its argv, or NULL */
	const struct engine_ops *ops;
	struct engine *engine;
	struct buf choice; /* the reason why the best engine was not chosen; empty: it was, or the user named one */
	struct call_set only, stops;     /* engine_config.only and .stops */
	bool shows;                      /* calls are shown one by one */
	bool by_events;                  /* calls are counted, or stacks aggregated, from events instead of by the
					  * engine */
	struct stack *stack;             /* walks stacks, or NULL */
	struct recording *recording;     /* the source of the events; NULL: `engine` is a live one */
	struct recording_writer *writer; /* --record, or NULL; */
	struct recording_head head;      /* of it */
	struct trace_recorder recorder;
	struct trace_outputs out;
	struct trace_pipeline pipeline;
	struct names_kept names; /* if the engine records all calls; otherwise unused */
	union {
		struct trace_text text;
		struct trace_json json;
		struct trace_truss truss;
	} shown;
	struct trace_count count;
	struct trace_folded folded;
	struct trace_io io;
	struct trace_totals totals;
	pid_t root;        /* the program, once its own execve(2) has succeeded */
	bool root_stopped; /* a signal stopped it */
	bool told_to_end;  /* a signal asked sctrace to end */
	struct trace_failure failure;
};

/*
 * Blocks the stop signals that a terminal sends to a whole job (Ctrl-Z, reading in the background), because a tracer
 * that stopped at once could not let the program stop. They are blocked after the program has started, which must not
 * inherit the mask, and unblocked when the program has stopped: then the shell sees that the job has stopped. If the
 * program ignores Ctrl-Z, it continues, and so does sctrace.
 */
void trace_hold_stops(void);
/* Stops sctrace until SIGCONT if such a signal is pending. */
void trace_suspend(void);

/*
 * Handles signals to sctrace from now on, and sets c->woken for the engine. Returns 0, or -errno, because without its
 * handler a signal would kill sctrace, first of all that of its own timer.
 */
int trace_signals_catch(struct trace *t, struct engine_config *c);
/*
 * Acts on received signals. Returns true if the loop must end. `kill_at`, 0 at first: when the program will be killed.
 */
bool trace_signals_serve(struct trace *t, uint64_t *kill_at);
/* Starts the timer for periodic work; it expires first after `first_us` if that is sooner (0: the normal interval). */
void trace_signals_tick(const struct trace *t, long first_us);

/* Decides from the options what is shown, what is counted from events, and at which calls the engine must stop. */
void trace_wire_wants(struct trace *t);
/* Connects the parts of the pipeline, with the options that each needs. The engine has been started. */
void trace_wire(struct trace *t);

/*
 * Opens the output files of the options, with `path` for the trace (NULL: standard error). Returns 0, or -errno with
 * the reason in `why`.
 */
int trace_open_outputs(struct trace *t, const char *path, struct buf *why);
/* Begins the recording, and adds the sink that records to the pipeline. */
void trace_record_begin(struct trace *t);
/* --last: writes the end of the recording now. */
void trace_save_last(struct trace *t);
/*
 * --last: a process has ended. Writes the end of the recording if that was the program, or a process that sctrace attached to, and it failed;
 * or if it was any process, and it crashed.
 */
void trace_record_end_of(struct trace *t, const struct event *death);
/* Ends the recording, and frees its writer. A failure is kept in t->failure. */
void trace_record_close(struct trace *t, const struct engine_result *result);
/*
 * No more events will come: ends the sinks, prints the tables, closes the outputs, and stops the engine. Returns 0, or
 * an exit status after a message: EXIT_OWN, or EXIT_GATE if --expect is not met.
 */
int trace_end(struct trace *t, struct engine_result *result);
/* Frees everything except the recording. */
void trace_free(struct trace *t);
/* Shows the calls (-c) and how files were used (--io), and saves both. */
void trace_io_show(struct trace *t, const struct engine_result *result);

/* Runs the engine until everything has ended. Returns the exit status of sctrace. */
int trace_run(struct trace *t);

#endif
