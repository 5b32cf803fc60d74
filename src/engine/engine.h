/* SPDX-License-Identifier: MIT */
/* An engine runs programs or attaches to them, and reports their system calls as events, as counts, or both. */
#ifndef SCTRACE_ENGINE_ENGINE_H
#define SCTRACE_ENGINE_ENGINE_H

#include "event.h"
#include "tracee/spawn.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

struct buf;
struct statx;
struct summary;

/* What an engine can do, and what a user requests. */
enum engine_caps {
	/*
	 * Each call is sent as an event (traces, decoding, --by=fd and path, -e filters on results). Together with CAP_COUNTS,
	 * all calls are counted, and those in engine_config.only are sent as events as well.
	 */
	CAP_EVENTS = 1 << 0,
	CAP_COUNTS = 1 << 1,     /* counts and times for each call */
	CAP_BY_PROCESS = 1 << 2, /* separate counts for each process */
	CAP_BY_THREAD = 1 << 3,  /* separate counts for each thread */
	CAP_ATTACH = 1 << 4,     /* attaching to running processes */
	CAP_FOLLOW = 1 << 5,     /* following children */
	CAP_INJECT = 1 << 6,     /* tampering with calls */
	CAP_CGROUP = 1 << 7,     /* tracing all processes of a control group */
	CAP_SYSTEM = 1 << 8,     /* tracing every process */
	CAP_ERRNOS = 1 << 9,     /* errors are counted by number (--errors) */
	CAP_STOPS = 1 << 10,     /* a thread stays stopped at its call while the events of the call are handled (-k) */
	CAP_BREAK = 1 << 12,     /* detaching from a process at its execve(2) (-b) */
	CAP_THREAD = 1 << 13,    /* attaching to one thread, and not to the other threads of its process */
	CAP_WAITS = 1 << 14,     /* events say which calls waited (call.wait) */
	CAP_WATCH = 1 << 15,     /* each call of a control group or of the system is sent as an event, with its paths */
	CAP_LEAVE = 1 << 16,     /* detaching from programs that the engine has started */
	CAP_MAIN = 1 << 11,      /* the calls before main are counted separately (engine_config.find_main) */
};

/* A bit set of call numbers of the native architecture. Numbers from CALL_SET_MAX on are always members of the set. */
#define CALL_SET_MAX 1024
struct call_set {
	uint64_t bits[CALL_SET_MAX / 64];
};

/* The effect of a tampering rule on a call; engine_config.inject fills it in. */
struct engine_tamper {
	bool set_result; /* do not run the call, but return `result` (a negative errno means an error) */
	int64_t result;
	int signal; /* deliver this signal at the entry; 0: none */
	uint64_t delay_enter_ns, delay_exit_ns;
};

/* Which times the events must have. */
enum engine_times {
	TIMES_NONE,
	TIMES_USUAL, /* the engine measures cost_ns at its start, which takes a few milliseconds */
	/*
	 * For predictions of savings. Before each call, the engine waits until its own writes have reached the cache,
	 * because the call would otherwise wait for them. The program takes longer than with TIMES_USUAL.
	 */
	TIMES_EXACT,
};

struct engine_config {
	unsigned want;       /* CAP_* */
	struct spawn spawn;  /* its pointers must stay valid after start() */
	const pid_t *attach; /* processes to attach to, with all their threads, and single threads (CAP_THREAD) */
	size_t nattach;
	const char *cgroup; /* with CAP_CGROUP: the path of the control group */
	/* With CAP_CGROUP and CAP_SYSTEM: only processes with one of these names and of one of these users; none: all. */
	const char *const *comms;
	size_t ncomms;
	const uid_t *uids;
	size_t nuids;
	bool follow; /* -f: follow children */
	bool kill_on_exit;
	bool may_detach;     /* sctrace may detach before the programs end, so no seccomp filter may stay in them */
	bool find_main;      /* report the calls before main separately, and EV_MAIN between them and the others */
	unsigned string_max; /* the number of bytes of a buffer that decoders read (-s) */
	bool verbose;        /* decoders show all arguments and variables of execve(2) (-v) */
	bool reports_attached; /* report each thread to which the engine attaches (EV_ATTACH), only the ptrace engine does */
	bool usage; /* measure the CPU time and the peak RSS of each process (EV_DEATH); costs a stop per process */
	/* Calls that the engine can count for each thread (collect()) need not be events, although `want` has CAP_EVENTS. */
	bool count_threads;
	bool names;      /* the names of descriptors and processes are looked up at each event (-y, -P, --by=path) */
	bool full_names; /* the addresses of sockets and the kinds of devices are looked up as well (-yy) */
	enum engine_times times;
	bool waits; /* events say which calls waited, if the engine can find it out. With CAP_WAITS in `want`, it must */
	/*
	 * The file to which the trace is written, if traced processes may write to it as well, for example a terminal. The
	 * engine then reports all earlier events before such a write. NULL: no process can write to it.
	 */
	const struct statx *output;
	/* Called before a thread continues or the engine waits: all events that are known were reported. May be NULL. */
	void (*idle)(void *ctx);
	void *idle_ctx;
	/*
	 * Send events only for these calls (threads need not stop at other calls); NULL: all. If `names` is set, and these are
	 * all calls that change names (trace_select_naming()), the patch engine need not stop at them.
	 */
	const struct call_set *only;
	/* The thread must stop at these calls, for CAP_INJECT or CAP_STOPS (reading its stack); NULL: all. */
	const struct call_set *stops;
	/* Called at each entry if CAP_INJECT is requested. Returns true after filling in `t`. May be NULL. */
	bool (*inject)(void *ctx, const struct event *enter, struct engine_tamper *t);
	void *inject_ctx;
	/* -b: called at EV_EXEC; if it returns true, the engine detaches from the process (CAP_BREAK). May be NULL. */
	bool (*break_on)(void *ctx, const struct event *ev);
	void *break_ctx;
	/* Set by a signal handler of sctrace: next() returns -EINTR soon, whatever the programs do. May be NULL. */
	const volatile sig_atomic_t *woken;
};

/* The results of a run, which are complete when all tasks have ended. */
struct engine_result {
	/* exit status of the started program, as from wait(2); 0 if sctrace only attached */
	int status;
	uint64_t wall_ns;        /* time from exec to exit of the started program */
	struct rusage usage;     /* resource usage of the started program and the children that it waited for */
	uint64_t peak_rss_bytes; /* the largest peak RSS (VmHWM) of a process, read at its exit event; 0: unknown */
	bool rss_is_largest;     /* there were several processes; peak_rss_bytes is that of the largest process */
	uint64_t before_main;    /* calls before main (or before the entry point) that the engine has counted */
	/* counts, by name, of these calls; NULL if the engine does not have them; valid until stop() */
	const struct summary *before;
	enum { MAIN_UNKNOWN, MAIN_SYMBOL, MAIN_ENTRY } main_found;
	uint64_t lost;       /* calls that the kernel could not count (bpf) */
	uint64_t processes;  /* number of processes whose calls are counted */
	uint64_t threads;    /* number of threads of these processes; 0: unknown */
	uint64_t unfollowed; /* number of children of these processes that were not traced (no -f) */
};

struct engine; /* a running engine; its first member is `const struct engine_ops *ops` */

struct engine_ops {
	const char *name;
	const char *purpose; /* one line for --list-engines */
	unsigned caps;
	/*
	 * Checks whether the engine works here and can do `want` (CAP_*). Returns 0, with details in `why` (such as how
	 * calls are intercepted), or -errno with the reason in `why`. The check is cheap.
	 */
	int (*probe)(unsigned want, struct buf *why);
	/*
	 * Starts the program and attaches to processes. Returns 0 and sets *out, or -errno with the reason in `why`.
	 * -ENOENT means that the program was not found, and -EACCES that it cannot be executed; sctrace has an exit
	 * status for each of these errors.
	 */
	int (*start)(struct engine **out, const struct engine_config *config, struct buf *why);
	/*
	 * Gets the next event. Returns 1 and fills in *ev. Returns 0 if no event will follow, -EINTR if sctrace
	 * received a signal, or another -errno if tracing cannot continue. In the last case, the started programs have
	 * been killed, and stop() will detach from the attached processes.
	 */
	int (*next)(struct engine *e, struct event *ev);
	/*
	 * Adds to `s` what was counted since the previous call of this function. System calls that were sent as events
	 * are not included. Returns 0 or -errno.
	 */
	int (*collect)(struct engine *e, struct summary *s);
	/*
	 * Detaches from all attached processes without harming them, and also from started processes unless
	 * kill_on_exit is set. Returns 0, or -errno of a failure that has not been reported yet. Afterwards, next()
	 * still gives the events that occurred before the detaching.
	 */
	int (*detach)(struct engine *e);
	/* Returns true if what was started cannot run without sctrace, so detach() would end it. NULL: always false. */
	bool (*is_needed)(const struct engine *e);
	/* Sends `sig` to the started program and its traced descendants, if sctrace must end before they have ended. */
	void (*kill)(struct engine *e, int sig);
	/*
	 * result() and footer() may be called after next() has returned 0, or after detach(). footer() appends a text
	 * with the engine's name and with the cost that was subtracted from the times.
	 */
	void (*result)(const struct engine *e, struct engine_result *r);
	void (*footer)(const struct engine *e, struct buf *text);
	/*
	 * If many calls were slower than usual, appends a text that says how many, and why. NULL: it never does. The footer
	 * contains the same text.
	 */
	void (*slowness)(const struct engine *e, struct buf *text);
	/* Ends the engine and frees everything. */
	void (*stop)(struct engine *e);
};

struct engine {
	const struct engine_ops *ops;
};

/* An engine that was not built is also declared here; its probe() says why it is missing. */
extern const struct engine_ops engine_ptrace, engine_patch, engine_bpf;

/* Returns all engines of this build in order of preference, ending with NULL. */
const struct engine_ops *const *engine_list(void);
/* Some processes of `attach` have ended: the note about them (their number, that of all, their ids). */
#define ENGINE_SOME_ENDED "cannot attach to %zu of %zu processes, which do not exist or have ended: %s"
/* Values of --engine, for completion. */
#define ENGINE_WORDS "auto ptrace patch bpf"
/* Returns the engine with this name, or NULL if `name` is NULL, "auto" or unknown. */
const struct engine_ops *engine_find(const char *name);
/* Checks that `name` is "auto" or the name of an engine. Returns 0, or -EINVAL with the reason in `why`. */
int engine_check(const char *name, struct buf *why);
/*
 * Chooses the first engine that can do `want` and works here. If `name` is neither NULL nor "auto", chooses that
 * engine; if that engine cannot do `want` or does not work here, chooses ptrace and gives the reason in `note`. Returns
 * NULL with the reason, and the name of an engine that can do `want`, in `note` if no engine is suitable.
 */
const struct engine_ops *engine_choose(const char *name, unsigned want, struct buf *note);
/*
 * Appends to `out` why the engine `chosen` is used, and not the best engine: what of `want` the best engine cannot do.
 * Appends nothing if the best engine can do `want`, or if the user has named an engine (`name` is neither NULL nor
 * "auto").
 */
void engine_say_choice(const struct engine_ops *chosen, const char *name, unsigned want, struct buf *out);

#endif
