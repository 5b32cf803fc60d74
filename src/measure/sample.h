/* One untraced run of a program, measured: nothing stops it between its start and its exit. */
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
	const int *cpus;                    /* run on these alone */
	size_t ncpus;
	/*
	 * Watch the births and deaths of its children and threads too, so that the peak is that of the largest process
	 * of the tree. Each birth and death is then a short stop. Waits for any child of the caller.
	 */
	bool follow;
	const volatile sig_atomic_t *stop; /* becomes non-zero when the user wants to end; may be NULL */
};

struct sample {
	int status;       /* as from wait(2) */
	uint64_t wall_ns; /* from the program's execve(2) until it was reaped; the stop at its exit taken out */
	uint64_t user_ns, system_ns; /* of the program and the children it waited for, from execve(2) on */
	uint64_t peak_rss_bytes;     /* VmHWM at the exit event; of the largest process with `follow`; 0: unknown */
	uint64_t processes;          /* how many there were; 1 without `follow` */
	uint64_t voluntary_switches, involuntary_switches;
	uint64_t minor_faults, major_faults;
	uint64_t block_in_bytes, block_out_bytes; /* device I/O charged to it, in getrusage(2)'s units of 512 bytes */
};

/*
 * Runs the program once. 0 and *s; -EINTR when *stop was set: the program and all its watched children were killed;
 * -ENOENT, -EACCES or another -errno, and `why` says what could not be done. A program that fails is no error here: see
 * s->status. Where tracing is not permitted the run is still measured, with peak_rss_bytes 0.
 */
int sample_take(const struct sample_spec *spec, struct sample *s, struct buf *why);

#endif
