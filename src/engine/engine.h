/* An engine runs or attaches to programs and tells what calls they make: as events, as counts, or both. */
#ifndef SCTRACE_ENGINE_ENGINE_H
#define SCTRACE_ENGINE_ENGINE_H

#include "event.h"
#include "tracee/spawn.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

struct buf;
struct summary;

/* What an engine can do, and what a user asks for. */
enum engine_caps {
	CAP_EVENTS = 1 << 0, /* every call as an event (traces, decoding, --by=fd and path, -e filters on results) */
	CAP_COUNTS = 1 << 1, /* counts and times per call */
	CAP_BY_PROCESS = 1 << 2, /* counts per process */
	CAP_BY_THREAD = 1 << 3,  /* counts per thread */
	CAP_ATTACH = 1 << 4,     /* running processes */
	CAP_FOLLOW = 1 << 5,     /* children */
	CAP_INJECT = 1 << 6,     /* tampering with calls */
	CAP_CGROUP = 1 << 7,     /* a whole control group */
	CAP_SYSTEM = 1 << 8,     /* every process */
	CAP_ERRNOS = 1 << 9,     /* errors counted by number (--errors) */
	CAP_STOPS = 1 << 10,     /* events of a call come while its thread stands still at that call (-k) */
};

/* A set of call numbers of the native architecture, bit by bit; calls beyond it are always in. */
#define CALL_SET_MAX 1024
struct call_set {
	uint64_t bits[CALL_SET_MAX / 64];
};

/* What a tampering rule does when its call comes; returned by engine_config.inject. */
struct engine_tamper {
	bool set_result; /* do not run the call; it gives `result` (negative errno for an error) */
	int64_t result;
	int signal; /* deliver this at entry, or 0 */
	uint64_t delay_enter_ns, delay_exit_ns;
};

struct engine_config {
	unsigned want;       /* CAP_* */
	struct spawn spawn;  /* pointers outlive start() */
	const pid_t *attach; /* processes to attach to, all threads of each */
	size_t nattach;
	const char *cgroup; /* CAP_CGROUP: its path */
	bool follow;        /* -f: children too */
	bool kill_on_exit;
	bool find_main;      /* tell the calls before main apart */
	unsigned string_max; /* bytes of a buffer that the decoders of events look at (-s) */
	bool names; /* what descriptors and processes are called is looked up at each event (-y, -P, --by=path) */
	bool times; /* events' cost_ns is wanted: it is measured at start, which takes some milliseconds */
	const struct call_set *only; /* events for these alone (the kernel need not stop for others), or NULL for all */
	/* Asked at every entry where CAP_INJECT is wanted; true fills `t`. May be NULL. */
	bool (*inject)(void *ctx, const struct event *enter, struct engine_tamper *t);
	void *inject_ctx;
	bool (*break_on)(void *ctx,
			 const struct event *ev); /* -b: asked at EV_EXEC, detach after it? CAP_INJECT; or NULL */
	void *break_ctx;
	/* Set by a signal handler of sctrace's: next() then gives -EINTR soon, however busy the traced are. May be NULL. */
	const volatile sig_atomic_t *woken;
	bool measure_only; /* neither events nor counts: wall, times, peak RSS, exit status of an untraced run */
};

/* What is known once everything ended. */
struct engine_result {
	int status;              /* of the started program, as from wait(2); 0 where only attached */
	uint64_t wall_ns;        /* from exec to exit of the started program */
	struct rusage usage;     /* of the started program and what it waited for */
	uint64_t peak_rss_bytes; /* VmHWM of the largest process at its exit event; 0: unknown */
	bool rss_is_largest;     /* several processes: the largest single one */
	uint64_t before_main;    /* calls before main (or the entry point) */
	enum { MAIN_UNKNOWN, MAIN_SYMBOL, MAIN_ENTRY } main_found;
	uint64_t lost;      /* calls that the kernel dropped (bpf) */
	uint64_t processes; /* how many were seen */
};

struct engine; /* an engine at work; its first member is `const struct engine_ops *ops` */

struct engine_ops {
	const char *name;
	const char *purpose; /* one line for --list-engines */
	unsigned caps;
	/*
	 * Can it run here and do `want` (CAP_*)? 0 (and `why` says with what, e.g. which arming), or -errno and `why` says
	 * why not. Cheap.
	 */
	int (*probe)(unsigned want, struct buf *why);
	/* Starts and attaches; 0 and *out, or -errno and `why`. EXIT codes: -ENOENT not found, -EACCES cannot be run.
	 */
	int (*start)(struct engine **out, const struct engine_config *config, struct buf *why);
	/*
	 * The next event: 1 and *ev, 0 when nothing is left, -EINTR when a signal to sctrace woke it, or -errno: it cannot go
	 * on, what was started has been killed, and what was attached to is let go by stop().
	 */
	int (*next)(struct engine *e, struct event *ev);
	/* Adds what was counted since the last call to `s`; 0 or -errno. Events' calls are not in it. */
	int (*collect)(struct engine *e, struct summary *s);
	/* Lets go of everything that was attached to, unharmed; what was started too unless kill_on_exit. 0, or -errno of a failure
	 * up to now that nobody was told of. */
	int (*detach)(struct engine *e);
	/* Sends `sig` to the started program and its descendants that are held, for our own death. */
	void (*kill)(struct engine *e, int sig);
	/* The result, valid after next() gave 0 or detach(); and a footer in words: which engine, what was subtracted.
	 */
	void (*result)(const struct engine *e, struct engine_result *r);
	void (*footer)(const struct engine *e, struct buf *text);
	/* Ends and frees all. */
	void (*stop)(struct engine *e);
};

struct engine {
	const struct engine_ops *ops;
};

/* Where one was not built, its probe says why. */
extern const struct engine_ops engine_ptrace, engine_patch, engine_bpf;

/* All engines that were built in, best first, NULL-terminated. */
const struct engine_ops *const *engine_list(void);
/* What --engine takes, for completion. */
#define ENGINE_WORDS "auto ptrace patch bpf"
/* Appends what of `want` the engine cannot do, in words that follow "cannot"; nothing where it can do all of it. */
void engine_lacks(const struct engine_ops *e, unsigned want, struct buf *out);
/* The engine called `name`, or NULL. */
const struct engine_ops *engine_find(const char *name);
/*
 * Chooses: the first engine whose caps cover `want` and which can run here. With `name` (not NULL, not "auto") that
 * one, or where it cannot do it, ptrace, and `note` says why. NULL and `note` says why when none can.
 */
const struct engine_ops *engine_choose(const char *name, unsigned want, struct buf *note);

#endif
