/* A trace at work: what the files of this command share. */
#ifndef SCTRACE_CMD_TRACE_TRACE_H
#define SCTRACE_CMD_TRACE_TRACE_H

#include "cmd/trace/opts.h"
#include "engine/engine.h"
#include "recording/read.h"
#include "trace/count.h"
#include "trace/fail.h"
#include "trace/folded.h"
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
	struct buf
		choice; /* why this engine was chosen and not the best one; empty: it is the best, or the user named it */
	struct call_set only, stops;     /* engine_config.only and .stops */
	bool shows;                      /* calls are shown one by one */
	bool by_events;                  /* calls are counted, or stacks added up, from events and not by the engine */
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
	struct trace_totals totals;
	pid_t root;        /* the program, once its own execve(2) is past */
	bool root_stopped; /* a signal stopped it */
	bool told_to_end;  /* a signal asked sctrace to end */
	struct trace_failure failure;
};

/*
 * The stops that a terminal sends to all of a job (Ctrl-Z, reading in the background): a tracer that stopped at once could
 * not let the program stop. They are held back, from after the program's start on (it inherits no mask), and let through when
 * it has stopped by them: then the shell sees the job stop. One that ignores Ctrl-Z goes on, and so do we.
 */
void trace_hold_stops(void);
/* Stops here until SIGCONT if one is held back. */
void trace_suspend(void);

/*
 * Has signals to sctrace noted from here on, c->woken telling the engine. 0 or -errno: a signal without its handler would end us,
 * our own timer's first.
 */
int trace_signals_catch(struct trace *t, struct engine_config *c);
/* Does what the signals that came ask for; true: the loop ends. `kill_at`, 0 at first: when patience with the program ends. */
bool trace_signals_serve(struct trace *t, uint64_t *kill_at);
/* Starts the timer for what has to be done from time to time; first after `first_us` where that is sooner (0: as ever). */
void trace_signals_tick(const struct trace *t, long first_us);

/* Decides from the options what is shown, what is counted from events, and which calls the engine need stop at. */
void trace_wire_wants(struct trace *t);
/* Joins the pipeline's parts, each with what it needs of the options; the engine has started. */
void trace_wire(struct trace *t);

/* Opens what the options name for writing, `path` for the trace (NULL: standard error). 0, or -errno and `why`. */
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
 * No event will come: ends the sinks, prints the tables, closes the outputs, and stops the engine. 0, or an exit status after a message:
 * EXIT_OWN, or EXIT_GATE where --expect is not met.
 */
int trace_end(struct trace *t, struct engine_result *result);
/* Frees all but the recording. */
void trace_free(struct trace *t);

/* Runs the engine until all has ended; returns sctrace's exit status. */
int trace_run(struct trace *t);

#endif
