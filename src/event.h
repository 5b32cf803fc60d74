/* SPDX-License-Identifier: MIT */
/* Plain data that engines produce and sinks consume. No functions. */
#ifndef SCTRACE_EVENT_H
#define SCTRACE_EVENT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct syscall_desc;
struct uring_batch;

/* Whether the thread lost its CPU during a call: it slept, or it was preempted. */
enum call_wait {
	WAIT_UNKNOWN, /* the engine cannot know it */
	WAIT_NO,
	WAIT_YES,
};

/* A system call as the kernel saw it. */
struct call {
	uint32_t arch; /* AUDIT_ARCH_* (linux/audit.h); x32 calls keep the x32 bit in `nr` */
	bool foreign;  /* not made through the program's usual interface: int $0x80 in a 64-bit program */
	int64_t nr;
	const struct syscall_desc *desc; /* description of `nr`, which the event's source fills in; NULL: unknown */
	uint64_t args[6];
	uint64_t ip, sp;
	/* The following members are valid after the call has ended. */
	int64_t result; /* what the kernel returned; a negative errno if `error` is set */
	bool error;
	int err;              /* positive errno; a value of syscall/restart.h if a signal interrupted the call */
	uint64_t enter_ns;    /* CLOCK_MONOTONIC */
	uint64_t duration_ns; /* duration of the call as measured, including the cost of tracing; 0: not measured */
	uint64_t cost_ns;     /* the part of `duration_ns` that is the cost of tracing, as calibrated */
	uint64_t spread_ns;   /* standard deviation of that calibration */
	enum call_wait wait;
	bool restart; /* this entry continues an interrupted call */
	/*
	 * EV_EXIT: a signal came after EV_ENTER, but before the thread made the call. The thread will make it after the
	 * signal handler, so the result is an ERESTARTNOINTR of which the kernel knows nothing. A sink that has not
	 * passed the call on yet discards it.
	 */
	bool withdrawn;
	bool injected; /* sctrace determined the result, and the kernel did not perform the call (-e inject) */
	bool delayed;  /* sctrace delayed the start or the end of the call (-e inject) */
};

enum event_kind {
	EV_ENTER = 1, /* a call begins */
	EV_EXIT,      /* a call has returned; see call.result */
	EV_VANISH,    /* a call will never return: its task ended, or execve(2) removed the task */
	EV_SIGNAL,    /* a signal is about to be delivered */
	EV_STOP,      /* a group-stop begins because of a signal; always reported for the started program */
	EV_CONT,      /* a group-stop ends */
	EV_NEW_TASK,  /* `tid` has created `child` */
	EV_EXEC,      /* a new program image; the thread that called execve(2) was `child`, and now is `tid` */
	EV_DEATH,     /* `tid` has ended; `status` has the form of wait(2) */
	EV_CALL,      /* a whole call, in place of EV_ENTER and EV_EXIT: no other event lies between the two */
	EV_NOTE,      /* `text` is a message for the user */
	EV_ATTACH, /* sctrace has attached to `tid`, which waits in `call` unless call.nr is negative; not recorded */
	EV_MAIN,   /* the started program has reached its main or its entry point (engine_config.find_main) */
};

struct mem;

/*
 * What a descriptor refers to: the target of its link in /proc/PID/fd. The descriptor AT_FDCWD stands for the current directory.
 * The text is not terminated and not escaped.
 */
struct event_name {
	int fd;
	uint16_t mode; /* st_mode of the file; 0: unknown */
	bool deleted;  /* `text` ends in " (deleted)" because the file was deleted, not because of its name */
	uint64_t rdev; /* st_rdev of the file, if `mode` is known */
	uint64_t ticks,
		time_ns; /* when the name was looked up; the engine sets `time_ns` before it passes the event on */
	const char *text;
	size_t len;
	const char *full; /* the name of a socket with its addresses (names.fd_in_full), terminated; NULL: unknown */
	/* The name is that of the descriptor `of`, which an earlier event has told; the members above except the times are 0. */
	bool is_copy;
	int of;
};

#define EVENT_NAMES_MOST 16
struct event_names {
	unsigned n;
	struct event_name v[EVENT_NAMES_MOST];
};

/* One event. Its task stays stopped until the next event is requested. */
struct event {
	enum event_kind kind;
	pid_t tid, pid;   /* the thread, and its process (thread group) */
	uint64_t time_ns; /* CLOCK_MONOTONIC; EV_CALL: when the call returned (call.enter_ns: when it began) */
	struct call call; /* EV_ENTER, EV_EXIT, EV_VANISH, EV_CALL */
	bool launch;      /* EV_ENTER: the execve(2) that starts the program, made by sctrace's child */
	uint64_t ip;      /* EV_SIGNAL: address of the thread's next instruction; 0: unknown */
	siginfo_t sig;    /* EV_SIGNAL, EV_STOP (only si_signo) */
	pid_t child;      /* EV_NEW_TASK, EV_EXEC */
	bool is_thread;   /* EV_NEW_TASK: the child is a thread of the same process */
	int status;       /* EV_DEATH */
	bool is_process;  /* EV_DEATH: `tid` was the last thread of its process, so the process has ended */
	/*
	 * EV_DEATH of a process, if engine_config.usage is set: its CPU time and its peak RSS (VmHWM), as measured when its
	 * leader ended; 0: unknown.
	 */
	uint64_t cpu_ns, peak_rss_bytes;
	const char *text;      /* EV_NOTE: the message; owned by the engine */
	const char *comm;      /* name of the thread when the call ended; NULL: the engine does not know it */
	const struct mem *mem; /* the task's memory, valid until the next event; NULL if there is none */
	/* EV_ENTER, EV_CALL: 1 + a descriptor in the arguments that is not open before the call; 0: it is not known */
	uint32_t absent;
	/*
	 * If the engine has recorded names; or NULL. EV_EXIT, EV_CALL: those of the descriptors that the call has created, or
	 * whose names it has changed. EV_ENTER: those of the descriptors whose names the call will change.
	 */
	const struct event_names *names;
	const struct event_names *names_before; /* EV_CALL: `names` of EV_ENTER */
	/* Set by the pipeline: what the call says about a ring of io_uring (tracee/uring.h), or NULL. */
	const struct uring_batch *uring;
	const struct mem *entry_mem; /* EV_CALL: the task's memory before the call; `mem` is that after the call */
	/*
	 * EV_CALL: the memory of the call, if the engine has captured it: `ncaptured` bytes of struct captured
	 * (syscall/rules.h), each followed by its bytes. Or NULL.
	 */
	const unsigned char *captured;
	size_t ncaptured;
};

#endif
