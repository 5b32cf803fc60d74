/* Starting a program so that it can be traced from its very first instruction. */
#ifndef SCTRACE_TRACEE_SPAWN_H
#define SCTRACE_TRACEE_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct buf;

/* How the program is started. All pointers are the caller's. Initialise with SPAWN_INIT. */
struct spawn {
	char *const *argv;    /* argv[0] is looked up in PATH unless it has a slash; NULL: nothing is started */
	const char *argv0;    /* what the program is told its name is, or NULL */
	char *const *envp;    /* or NULL for sctrace's own */
	const char *user;     /* run as this user (-u), or NULL */
	const char *work_dir; /* or NULL */
	int stdin_fd, stdout_fd, stderr_fd; /* -1: inherited */
	const int *cpus;                    /* pin the program (and, with `pin_tracer`, the tracer) to these CPUs */
	size_t ncpus;
	bool pin_tracer;
	bool daemonize; /* -D: this process becomes the program, and the tracer goes on as its grandchild */
	/* Run in the child right before execve(2), or NULL: 0 or -errno. Async-signal-safe calls alone. */
	int (*before_exec)(void *ctx);
	void *before_exec_ctx;
};

#define SPAWN_INIT                                                                                                     \
	{                                                                                                              \
		.stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1                                                       \
	}

/* A child that waits to be let go; its next calls lead to the one execve(2) of the program. */
struct spawned {
	pid_t pid;
	int go_fd;  /* spawn_go() writes here; closed without it, the child ends */
	int err_fd; /* gives the errno when the program could not be run; end of file once it runs */
};

/*
 * Finds the program and forks. 0 and *out; or -ENOENT (no such program), -EACCES (a directory, no permission), or
 * another -errno, with `why` a sentence naming the program.
 */
int spawn_start(const struct spawn *s, struct spawned *out, struct buf *why);
/* Lets the child go on to execve(2); 0 or -errno. */
int spawn_go(struct spawned *p);
/*
 * The errno of a failed start, or 0 when the program runs; waits for that. A child that was not let go ends, with EXIT_OWN. Closes
 * the pipes.
 */
int spawn_finish(struct spawned *p);

/*
 * The environment of this process with `n` changes: NAME=VALUE sets, NAME takes away, and the last one of a name counts. The array is to
 * be freed, the strings are not. NULL: memory ran out.
 */
char **spawn_environment(const char *const *changes, size_t n);

/*
 * Finds `name` as execvp(3) does: with a slash as it is, otherwise along PATH (of `envp`, or of this process). Returns
 * a malloc'ed path, or NULL with *err = ENOENT or EACCES.
 */
char *spawn_find(const char *name, char *const *envp, int *err);

/*
 * Why execve(2) of `name` (found along PATH of this process) failed with `err`, in words: ENOENT of a program that is there
 * is its interpreter's, which stands behind #! or is the dynamic loader.
 */
const char *spawn_error(const char *name, int err);

/* The exit status that tells of it, as shells do: 127 not found, 126 not to be run; 125 for all else. */
int spawn_status(int err);

/* Ends a child of ours and waits for its end; where it may not be ended it is not waited for. */
void spawn_kill(pid_t pid);

#endif
