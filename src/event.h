/* Plain data: what engines give and sinks take. No functions. */
#ifndef SCTRACE_EVENT_H
#define SCTRACE_EVENT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct syscall_desc;

/* A system call as the kernel saw it. */
struct call {
	uint32_t arch; /* AUDIT_ARCH_* (linux/audit.h); x32 calls keep their bit in `nr` */
	bool foreign;  /* by another door than the program's own: int $0x80 in a 64-bit program */
	int64_t nr;
	const struct syscall_desc *desc; /* of `nr`, found by the source of the event; NULL: nothing is known of it */
	uint64_t args[6];
	uint64_t ip, sp;
	/* From here on known once it has ended. */
	int64_t result; /* as the kernel left it: negative errno where `error` */
	bool error;
	int err;              /* positive errno; one of syscall/restart.h if it was interrupted */
	uint64_t enter_ns;    /* CLOCK_MONOTONIC */
	uint64_t duration_ns; /* as measured, tracing cost included */
	uint64_t cost_ns;     /* calibrated cost contained in it */
	uint64_t spread_ns;   /* standard deviation of that calibration */
	bool restart;         /* this entry continues a call that was interrupted */
};

enum event_kind {
	EV_ENTER = 1, /* a call begins */
	EV_EXIT,      /* it came back; call.result tells how */
	EV_VANISH,    /* it will not come back: the task ended or exec took it away */
	EV_SIGNAL,    /* a signal is about to be delivered */
	EV_STOP,      /* a group-stop begins (a signal stopped the process); of the started program always told */
	EV_CONT,      /* it ends */
	EV_BIRTH,     /* `child` was born of `tid` */
	EV_EXEC,      /* a new program image; `child` is the tid that called, which is now `tid` */
	EV_DEATH,     /* `tid` is gone, `status` as from wait(2) */
	EV_NOTE,      /* `text`: something the user should know */
};

struct mem;

/* One thing that happened. Its task stays stopped until the next one is asked for. */
struct event {
	enum event_kind kind;
	pid_t tid, pid;        /* thread and process (thread group) */
	uint64_t time_ns;      /* CLOCK_MONOTONIC */
	struct call call;      /* EV_ENTER, EV_EXIT, EV_VANISH */
	bool launch;           /* EV_ENTER: the execve(2) that starts the program; code of sctrace makes it */
	uint64_t ip;           /* EV_SIGNAL: the next instruction of the thread; 0: unknown */
	siginfo_t sig;         /* EV_SIGNAL, EV_STOP (si_signo alone) */
	pid_t child;           /* EV_BIRTH, EV_EXEC */
	bool is_thread;        /* EV_BIRTH: the child is a thread of the same process */
	int status;            /* EV_DEATH */
	bool is_process;       /* EV_DEATH: the last thread, so the process ended */
	const char *text;      /* EV_NOTE; owned by the engine */
	const struct mem *mem; /* the task's memory, valid until the next event; NULL where there is none */
};

#endif
