/* Measures one untraced run of a program. Nothing stops the program between its start and its exit. */
#ifndef SCTRACE_MEASURE_SAMPLE_H
#define SCTRACE_MEASURE_SAMPLE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;

struct sample_spec {
	char *const *argv;                  /* argv[0] is looked up in PATH */
	const char *dir;                    /* working directory, or NULL */
	int stdin_fd, stdout_fd, stderr_fd; /* -1: inherited */
	const int *cpus;                    /* run only on these */
	size_t ncpus;
	/*
	 * Also watches the creation and exit of children and threads, so that the peak is that of the largest process
	 * in the tree. Each creation and exit then causes a short stop. Waits for any child of the caller.
	 */
	bool follow;
	const volatile sig_atomic_t *stop; /* becomes non-zero when the user wants to stop; may be NULL */
};

struct sample {
	int status;       /* as from wait(2) */
	uint64_t wall_ns; /* from the program's execve(2) until it was reaped, without the stop at its exit */
	uint64_t user_ns, system_ns; /* of the program and the children that it waited for, since execve(2) */
	uint64_t peak_rss_bytes;     /* VmHWM at the exit event, with `follow` that of the largest process; 0:
				      * unknown */
	uint64_t processes;          /* number of processes; 1 without `follow` */
	uint64_t voluntary_switches, involuntary_switches;
	uint64_t minor_faults, major_faults;
	uint64_t block_in_bytes, block_out_bytes; /* device I/O that was charged to it, in bytes; getrusage(2) counts
						   * units of 512 bytes */
};

/*
 * Runs the program once. Returns 0 and fills in *s; -EINTR if *stop was set, after killing the program and its watched
 * children; or another -errno, such as -ENOENT or -EACCES, with the reason in `why`. A program that fails is not an
 * error here: see s->status. If tracing is not permitted, the run is still measured, but peak_rss_bytes is 0.
 */
int sample_take(const struct sample_spec *spec, struct sample *s, struct buf *why);

#endif
