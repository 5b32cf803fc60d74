/* SPDX-License-Identifier: MIT */
/* Measures a run of a program whose calls are not traced. Without `follow`, nothing stops it before its exit. */
#ifndef SCTRACE_MEASURE_SAMPLE_H
#define SCTRACE_MEASURE_SAMPLE_H

#include "engine/engine.h"
#include "stats/summary.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;

struct sample_spec {
	char *const *argv;                  /* argv[0] is looked up in PATH */
	const char *dir;                    /* working directory; NULL: that of sctrace */
	int stdin_fd, stdout_fd, stderr_fd; /* -1: inherited from sctrace */
	const int *cpus;                    /* the program may run only on these CPUs; NULL: all */
	size_t ncpus;
	/*
	 * Also watch when children and threads start and exit, so that the peak memory is that of the largest process
	 * of the tree. The task is stopped for a short time at each such event. sample_take() then also reaps all other
	 * children of sctrace that exit, because it waits for any child.
	 */
	bool follow;
	/*
	 * Does not trace the program, which then behaves as it does without sctrace. Its peak memory is that of wait4(2),
	 * and is known only if it is larger than that of sctrace.
	 */
	bool untraced;
	uint64_t limit_ns;                 /* the program is killed if it runs longer; 0: no limit */
	const volatile sig_atomic_t *stop; /* *stop becomes non-zero when the user wants to stop; may be NULL */
};

struct sample {
	int status;                  /* wait status (wait(2)) */
	uint64_t wall_ns;            /* from execve(2) until the program was reaped, without the stop at its exit */
	uint64_t user_ns, system_ns; /* CPU time after execve(2) of the program and of the children that it waited
				      * for */
	uint64_t peak_rss_bytes;     /* VmHWM (proc_pid_status(5)) at the exit event; with `follow` or without
				      * tracing, that of the largest process; 0 if unknown */
	bool lost_privilege;         /* a set-user-ID program ran without its privileges, because it was traced */
	uint64_t processes;          /* number of processes in the tree; 1 without `follow` */
	uint64_t voluntary_switches, involuntary_switches;
	uint64_t minor_faults, major_faults;
	uint64_t block_in_bytes, block_out_bytes; /* device I/O of the program in bytes (getrusage(2) counts units of
						   * 512 bytes) */
};

/*
 * Runs the program once. Returns 0 and fills in *s; -EINTR if *stop was set, after killing the program and its watched
 * children; -ETIMEDOUT after killing them because of `limit_ns`; or another -errno (such as -ENOENT) with the reason in `why`. If the program fails, the result is still 0:
 * see s->status. If tracing is not permitted, the result is that of `untraced`.
 */
int sample_take(const struct sample_spec *spec, struct sample *s, struct buf *why);

/* A process that reads the output of a program and discards it, so that the program writes to a pipe. */

struct drain {
	int fd;     /* the end of the pipe for the program */
	int result; /* for drain_close() */
};

struct drained {
	uint64_t bytes; /* what the program has written; 0 if processes that it left behind may still write more */
	double cpu_s;   /* the CPU time that reading took */
};

/*
 * Starts the process. It is not a child of sctrace, and it continues until all writers have closed the pipe, because a
 * process that the program left behind must not be killed by SIGPIPE. Returns 0, or -errno with the reason in `why`.
 */
int drain_open(struct drain *d, struct buf *why);
/* Closes d->fd, and waits for a moment until everything has been read. */
void drain_close(struct drain *d, struct drained *result);

/* Runs a program once under the best engine that works on this machine, and counts and times its calls (call_count.c). */

struct count_spec {
	const char *engine; /* the engine to use; NULL: the best one */
	char *const *argv;
	const char *dir;                    /* working directory; NULL: that of sctrace */
	int stdin_fd, stdout_fd, stderr_fd; /* -1: inherited from sctrace */
	bool follow;                        /* also count the calls of the program's children */
	uint64_t limit_ns;                  /* all processes are killed if the run takes longer; 0: no limit */
	const volatile sig_atomic_t *stop;  /* *stop becomes non-zero when the user wants to stop; may be NULL */
	/* If not NULL, this function is called for each event (event.h), and calls are not counted. */
	void (*event)(void *ctx, struct event *ev);
	void *ctx;
	unsigned string_max; /* with `event`: the number of bytes of each buffer that decoders of the event read */
};

struct count {
	struct summary calls;
	struct engine_result result;
	double bytes_before_main; /* the bytes that calls before main moved; NAN if unknown */
	const char *engine;       /* the engine that was used */
	bool lost_privilege;      /* a set-user-ID program ran without its privileges, because it was traced */
	bool left;                /* processes still ran, from which the engine detached */
};

/* Frees what count_take() has stored in `c`. */
void count_free(struct count *c);
/* How long after the program's end the calls of children that it left behind, such as a daemon, are counted. */
#define COUNT_PATIENCE_NS 500000000ull

/*
 * Runs the program once until it and its followed children have exited, or until COUNT_PATIENCE_NS after its exit. Sets
 * a handler for SIGALRM. Returns 0 and fills in *c (free it with
 * count_free()); -EINTR if *stop was set, after killing the program and its followed children; -ETIMEDOUT after
 * killing them because of `limit_ns`; or another -errno with
 * the reason in `why`. The engine slows the program down: times outside of calls must be measured with sample_take().
 */
int count_take(const struct count_spec *spec, struct count *c, struct buf *why);

#endif
