/* SPDX-License-Identifier: MIT */
/* Starts a program in such a way that it can be traced from its first instruction. */
#ifndef SCTRACE_TRACEE_SPAWN_H
#define SCTRACE_TRACEE_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct buf;

/* How the program is to be started. All pointers belong to the caller. Initialise it with SPAWN_INIT. */
struct spawn {
	char *const *argv;    /* argv[0] is looked up in PATH unless it contains a slash; NULL: start nothing */
	const char *argv0;    /* argv[0] that the program receives; NULL: the same */
	char *const *envp;    /* NULL: sctrace's environment */
	const char *user;     /* user of the program (-u): a name, or UID:GID; NULL: sctrace's */
	const char *work_dir; /* NULL: sctrace's working directory */
	int stdin_fd, stdout_fd, stderr_fd; /* -1: inherited from sctrace */
	const int *cpus;                    /* CPUs on which the program may run, and the tracer as well if
					     * `pin_tracer` */
	size_t ncpus;
	bool pin_tracer;
	bool daemonize; /* -D: this process executes the program, and the tracer continues in a grandchild */
	/*
	 * The child calls these functions, which must be async-signal-safe, before execve(2): the first one while it
	 * still has the capabilities of sctrace, and the second one as `user`. They return 0 or -errno, and may be NULL.
	 */
	int (*before_user)(void *ctx), (*before_exec)(void *ctx);
	void *before_ctx;
};

#define SPAWN_INIT                                                                                                     \
	{                                                                                                              \
		.stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1                                                       \
	}

/* A child that waits for spawn_go(). After spawn_go(), its next calls prepare and make the execve(2). */
struct spawned {
	pid_t pid;
	int go_fd;  /* spawn_go() writes to this pipe; if the pipe is closed before that, the child exits */
	int err_fd; /* the child sends an errno through this pipe if execve(2) fails; end of file means success */
};

/*
 * Finds the program and forks. Returns 0 and fills in *out. Otherwise returns -ENOENT (no such program), -EACCES (a
 * directory, or no permission) or another -errno, and `why` contains a sentence that names the program.
 */
int spawn_start(const struct spawn *s, struct spawned *out, struct buf *why);
/* Lets the child call execve(2). Returns 0 or -errno. */
int spawn_go(struct spawned *p);
/*
 * Waits until the program has been executed, or has failed to start. Returns 0, or the positive errno of the failure.
 * Closes the pipes. A child for which spawn_go() was not called exits with EXIT_OWN.
 */
int spawn_finish(struct spawned *p);

/* Pins the calling thread to the CPUs of `s`, if there are any. Returns 0 or -errno. */
int spawn_pin(const struct spawn *s);

/*
 * Returns the environment of this process with `n` changes. "NAME=VALUE" sets a variable, and "NAME" removes it. If a
 * name occurs several times, its last change is used. The caller frees the array, but not its strings.
 */
char **spawn_environment(const char *const *changes, size_t n);

/*
 * Looks `name` up as execvp(3) does: in PATH (of `envp`, or of this process if `envp` is NULL), unless it contains a
 * slash. Returns a path, which the caller frees, or NULL with *err set to ENOENT or EACCES. If `name` contains a
 * slash, *err can also be EISDIR or another error of stat(2) or access(2).
 */
char *spawn_find(const char *name, char *const *envp, int *err);

/*
 * Returns a text that says why execve(2) of `name` (looked up in PATH) failed with `err`. If the program exists, ENOENT
 * means that its interpreter is missing: the one after #!, or the dynamic loader.
 */
const char *spawn_error(const char *name, int err);

/* Returns the exit status for a failed start, as shells do: 127 if not found, 126 if not executable, else 125. */
int spawn_status(int err);

#endif
