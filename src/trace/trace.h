/* A trace at work: what the files of the tracer's command share. */
#ifndef SCTRACE_TRACE_TRACE_H
#define SCTRACE_TRACE_TRACE_H

#include "base/map.h"
#include "decode/decode.h"
#include "engine/engine.h"
#include "stack/stack.h"
#include "stats/summary.h"
#include "syscall/life.h"
#include "trace/opts.h"
#include "trace/out.h"

#include <stdbool.h>
#include <stdint.h>

/* What is known of a traced task between its events. */
struct trace_task {
	pid_t tid, pid;
	bool in_call;
	bool selected;   /* the call in progress is wanted */
	bool line_open;  /* its beginning was written and it has not ended */
	bool unfinished; /* another task's line came between */
	int given;       /* arguments written so far */
	bool more;       /* arguments are still to come */
	struct decode_memo memo;
	struct call real; /* what an i386 program asked socketcall(2) and its like for, as it was at entry */
	bool is_inside;
	size_t column;    /* where the line stands */
	struct buf text;  /* a line that waits for its call's end */
	struct buf stack; /* taken at the entry of a call that leaves none behind */
	uint64_t enter_ns;
	/* Counting by events. */
	struct call_life life;       /* its tag is the group of the call, NULL if it is not selected */
	struct summary_group *group; /* of --by */
	struct trace_out *out;       /* -ff: its own */
};

struct trace;

/* A way to show events. Members may be NULL. */
struct trace_sink {
	void (*begin)(struct trace *t);
	void (*enter)(struct trace *t, struct trace_task *k, const struct event *ev);
	void (*leave)(struct trace *t, struct trace_task *k, const struct event *ev); /* EV_EXIT, EV_VANISH */
	void (*other)(struct trace *t, struct trace_task *k,
		      const struct event *ev); /* signals, stops, births, deaths */
	void (*end)(struct trace *t);
};

struct trace {
	struct trace_opts o;
	char *const *program;          /* argv of the program, or NULL */
	const struct trace_sink *sink; /* NULL: nothing is shown, only counted */
	struct trace_out out;
	struct map tasks; /* tid -> struct trace_task */
	size_t ntasks, tasks_seen;
	struct trace_task *open; /* whose line is open in `out` */
	uint64_t start_ns, last_ns;
	int64_t real_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	bool colour;
	pid_t root;        /* the program, once its own execve(2) is past */
	bool root_stopped; /* a signal stopped it */
	bool any;          /* something was written (JSON's commas) */

	const struct engine_ops *ops;
	struct engine *engine;
	struct call_set only;
	bool by_events; /* counting is done here, from events */
	struct summary summary, period;
	struct map groups; /* hash of name and id -> struct summary_group of `summary` */
	struct stack *stack;
	struct stack_folded folded;
	struct buf why; /* the first failure of the trace itself */
	int err;        /* its -errno */
};

extern const struct trace_sink trace_text_sink, trace_json_sink, trace_perfetto_sink, trace_truss_sink;

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

/* A call's name; a 64-bit program's int $0x80, whose numbers are others, has #32 behind it, as in the table of -c. */
void trace_call_name(const struct call *c, struct buf *out);
/* The output of a task: the common one, or its own under -ff. */
struct trace_out *trace_output(struct trace *t, struct trace_task *k);
/* Keeps the first failure that the user must be told. */
void trace_fail(struct trace *t, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Runs the engine until all has ended; returns sctrace's exit status. */
int trace_run(struct trace *t);

/* Counting (trace_count.c): from events, where by_events; tables. */
void trace_count_enter(struct trace *t, struct trace_task *k, const struct event *ev);
void trace_count_leave(struct trace *t, struct trace_task *k, const struct event *ev);
/* The same events of a call that is not selected: they tell what became of one that was interrupted. */
void trace_count_unselected(struct trace *t, struct trace_task *k, const struct event *ev);
/* The task runs another program: its calls count under that name. */
void trace_count_exec(struct trace *t, struct trace_task *k, const struct event *ev);
/* The task is gone, or all has ended: what was interrupted never came back. */
void trace_count_gone(struct trace *t, struct trace_task *k);
/* Takes what the engine counted, prints the table of what came since the last one (`final`: of everything). */
void trace_count_period(struct trace *t);
void trace_count_so_far(struct trace *t);
void trace_count_final(struct trace *t, const struct engine_result *r);

/* Stacks (trace_stack.c). */
int trace_stack_open(struct trace *t, struct buf *why);
/* At a call's entry: keeps the stack where the call will take it away (exit, execve). */
void trace_stack_enter(struct trace *t, struct trace_task *k, const struct event *ev);
void trace_stack_lines(struct trace *t, struct trace_task *k, const struct event *ev, struct buf *out);
void trace_stack_json(struct trace *t, struct trace_task *k, const struct event *ev, struct buf *out);
void trace_stack_fold(struct trace *t, struct trace_task *k, const struct event *ev);
void trace_stack_end(struct trace *t);

#endif
