/* Starts a program so that it can be traced from its first instruction. */
#ifndef SCTRACE_TRACEE_SPAWN_H
#define SCTRACE_TRACEE_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct buf;

/* How the program is started. The caller owns all pointers. Initialise with SPAWN_INIT. */
struct spawn {
	char *const *argv;    /* argv[0] is looked up in PATH unless it contains a slash; NULL: start nothing */
	const char *argv0;    /* argv[0] as the program sees it, or NULL */
	char *const *envp;    /* or NULL for sctrace's environment */
	const char *user;     /* run as this user (-u), or NULL */
	const char *work_dir; /* or NULL */
	int stdin_fd, stdout_fd, stderr_fd; /* -1: inherited */
	const int *cpus;                    /* pin the program (with `pin_tracer` also the tracer) to these CPUs */
	size_t ncpus;
	bool pin_tracer;
	bool daemonize; /* -D: this process becomes the program, and the tracer continues as its grandchild */
	/*
	 * Called in the child just before execve(2), or NULL. Returns 0 or -errno. May make only async-signal-safe
	 * calls.
	 */
	int (*before_exec)(void *ctx);
	void *before_exec_ctx;
};

#define SPAWN_INIT                                                                                                     \
	{                                                                                                              \
		.stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1                                                       \
	}

/* A child that waits for spawn_go(). Its next calls lead to the execve(2) of the program. */
struct spawned {
	pid_t pid;
	int go_fd;  /* spawn_go() writes to this; if it is closed without that, the child exits */
	int err_fd; /* delivers the errno if the program cannot be executed, and end of file once it runs */
};

/*
 * Finds the program and forks. Returns 0 and fills in *out; or -ENOENT (no such program), -EACCES (a directory, or no
 * permission), or another -errno, with a sentence in `why` that names the program.
 */
int spawn_start(const struct spawn *s, struct spawned *out, struct buf *why);
/* Lets the child continue to execve(2). Returns 0 or -errno. */
int spawn_go(struct spawned *p);
/*
 * Waits until the program runs or its start has failed. Returns 0, or the errno of the failure. A child without
 * spawn_go() exits with EXIT_OWN. Closes the pipes.
 */
int spawn_finish(struct spawned *p);

/*
 * The environment of this process with `n` changes: NAME=VALUE sets a variable and NAME removes it; the last change of
 * a name counts. The caller frees the array but not its strings. NULL if memory ran out.
 */
char **spawn_environment(const char *const *changes, size_t n);

/*
 * Finds `name` like execvp(3): unchanged if it contains a slash, otherwise along PATH (of `envp`, or of this process).
 * Returns a malloc'ed path, or NULL with *err = ENOENT or EACCES.
 */
char *spawn_find(const char *name, char *const *envp, int *err);

/*
 * The reason in words why execve(2) of `name` (found along PATH of this process) failed with `err`. ENOENT for an
 * existing program means that its interpreter is missing, which is named after #! or is the dynamic loader.
 */
const char *spawn_error(const char *name, int err);

/* The exit status for a failed start, as in shells: 127 if not found, 126 if it cannot be executed, otherwise 125. */
int spawn_status(int err);

#endif
