/* Plain data that engines produce and sinks consume. No functions. */
#ifndef SCTRACE_EVENT_H
#define SCTRACE_EVENT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct syscall_desc;

/* A system call as the kernel saw it. */
struct call {
	uint32_t arch; /* AUDIT_ARCH_* (linux/audit.h); x32 calls keep the x32 bit in `nr` */
	bool foreign;  /* not through the program's own interface: int $0x80 in a 64-bit program */
	int64_t nr;
	const struct syscall_desc *desc; /* description of `nr`, found by the source of the event; NULL: unknown call */
	uint64_t args[6];
	uint64_t ip, sp;
	/* The following members are valid after the call has ended. */
	int64_t result; /* as the kernel returned it: negative errno if `error` */
	bool error;
	int err;              /* positive errno; one of syscall/restart.h if it was interrupted */
	uint64_t enter_ns;    /* CLOCK_MONOTONIC */
	uint64_t duration_ns; /* as measured, with the tracing cost */
	uint64_t cost_ns;     /* the calibrated tracing cost in `duration_ns` */
	uint64_t spread_ns;   /* standard deviation of that calibration */
	bool restart;         /* this entry continues an interrupted call */
};

enum event_kind {
	EV_ENTER = 1, /* a call begins */
	EV_EXIT,      /* it returned; see call.result */
	EV_VANISH,    /* it will not return: the task ended, or execve(2) removed it */
	EV_SIGNAL,    /* a signal is about to be delivered */
	EV_STOP,      /* a group-stop begins because of a signal; always reported for the started program */
	EV_CONT,      /* the group-stop ends */
	EV_NEW_TASK,  /* `tid` has created `child` */
	EV_EXEC,      /* a new program image; `child` is the tid that called execve(2), and is now `tid` */
	EV_DEATH,     /* `tid` has ended; `status` as from wait(2) */
	EV_NOTE,      /* `text` is a message for the user */
};

struct mem;

/* One event. Its task stays stopped until the next event is requested. */
struct event {
	enum event_kind kind;
	pid_t tid, pid;        /* thread, and process (thread group) */
	uint64_t time_ns;      /* CLOCK_MONOTONIC */
	struct call call;      /* EV_ENTER, EV_EXIT, EV_VANISH */
	bool launch;           /* EV_ENTER: the execve(2) that starts the program; sctrace's own code makes it */
	uint64_t ip;           /* EV_SIGNAL: address of the thread's next instruction; 0: unknown */
	siginfo_t sig;         /* EV_SIGNAL, EV_STOP (only si_signo) */
	pid_t child;           /* EV_NEW_TASK, EV_EXEC */
	bool is_thread;        /* EV_NEW_TASK: the child is a thread of the same process */
	int status;            /* EV_DEATH */
	bool is_process;       /* EV_DEATH: it was the last thread, so the process has ended */
	const char *text;      /* EV_NOTE; owned by the engine */
	const struct mem *mem; /* the task's memory, valid until the next event; NULL if there is none */
};

#endif
