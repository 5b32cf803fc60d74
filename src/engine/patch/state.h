/* SPDX-License-Identifier: MIT */
/*
 * The state that all parts of the patch engine share. The engine counts, times and records system calls inside the
 * traced program. docs/internals.md explains its terms: agent, image, region, slot, site, stub, hop, plan, stepping out.
 */
#ifndef SCTRACE_ENGINE_PATCH_STATE_H
#define SCTRACE_ENGINE_PATCH_STATE_H

#include "base/map.h"
#include "base/memory.h"
#include "engine/patch/code/agent.h"
#include "engine/patch/cpu.h"
#include "engine/ptrace/tracer.h"
#include "tracee/proc.h"

#include <errno.h>

struct image_targets;
struct gap_use;
struct kept_plans;
struct mapping;
struct record;
struct record_thread;
struct ring_group;
struct module;
struct often;
struct region;
struct site;
struct stub_page;
struct thread_table;
struct usage;

enum image_state {
	IMAGE_NEW,      /* the agent has not been put into the image yet */
	IMAGE_READY,    /* the agent has been put into the image */
	IMAGE_FALLBACK, /* the image's calls are traced by ptrace */
};

/*
 * Trust domain. A program can change its own code, so what was learned from one user's process is reused only for that
 * user. If sctrace is run by an ordinary user, all processes are that user's, and both numbers are 0.
 */
struct owner {
	uint32_t uid, gid;
};

/* The words of struct kernel_sigaction (sigaction(2), "C library/kernel differences"). */
enum { ACTION_HANDLER, ACTION_FLAGS, ACTION_RESTORER, ACTION_MASK, ACTION_WORDS };

#define SIGBIT(sig) (1ull << ((sig)-1))

/* How the image began. */
struct image_start {
	/*
	 * The image was armed before its first instruction, so no thread can be in a call that was made before arming.
	 */
	bool observed;
	/* sctrace attached to a process with signal handlers, so a handler may return to any instruction. */
	bool interrupted;
	/* The program ignores SIGTRAP, which a breakpoint of the engine would change. */
	bool no_traps;
	uint64_t entry;          /* address of the image's first instruction; 0: not known */
	struct owner owner;      /* the user of the process when the image began; {0, 0} if this user is unknown */
	char program[PROC_NAME]; /* short name of the program, or "" if it is not known */
	bool kept;               /* plans are kept for the program */
	struct usage *usage;     /* which calls the program makes, or NULL */
};

/* Where the calls of the image are counted, and which of them the agent makes. */
struct image_counters {
	struct region *region;
	uint32_t map[AGENT_CALLS]; /* copy of agent_data.map in the program; not valid while `off` is set */
	size_t known;              /* number of calls in patch.calls that were known when the map was last filled */
	bool single_thread;        /* copy of agent_data.single_thread in the program */
	struct agent_words *words; /* the image's words in the region; if NULL, the agent does not make execve(2) */
	uint64_t ring_room;        /* how many bytes for rings the program has mapped after the slots */
	uint64_t scratch_room;     /* how many bytes of scratch memory the program has mapped */
	/* The agent passes all calls to the tracer: `sharers` is not 0, or the image has fallen back to ptrace. */
	bool off;
	/* Number of processes that share the memory, but whose calls are counted elsewhere or not at all. */
	unsigned sharers;
	/* Number of processes whose calls are not counted, and which the agent tells apart from their parents. */
	unsigned apart;
};

/* What the engine must know about SIGSYS and seccomp in the program, because arming uses them. */
struct image_sigsys {
	bool sealed;  /* the program has a seccomp filter or is in strict mode, so sctrace must not make calls in it */
	int blockers; /* number of threads that block SIGSYS */
	int awaiting; /* number of threads whose rt_sigreturn(2) the tracer must see */
	bool ignored; /* the program ignored SIGSYS when the engine installed its handler; the tracer must see execve(2) */
	bool selected; /* Syscall User Dispatch reads the selector byte after the slots */
};

/* The signals with handlers, as last read from /proc. Used only for images with one thread and one process. */
struct image_handlers {
	bool known;
	bool unsteady;    /* the handlers may change without the engine's knowledge */
	uint64_t actions; /* agent_words.actions when /proc was read */
	uint64_t caught;  /* SIGBIT() of each signal that has a handler */
};

/* What the engine must know about a process's signal actions. */
struct image_actions {
	bool known; /* `sigsys` is the action that the kernel has, because the program or sigkill_guard.c has set it */
	uint64_t sigsys[ACTION_WORDS]; /* the action to restore when a forced SIGSYS has reset it */
	bool guarded; /* the kernel's action is agent_sigsys; the program must see `guarded_action` instead */
	uint64_t guarded_action[ACTION_WORDS];
	/* SIGBIT() of each signal whose handler runs with SIGSYS blocked, but not with all signals blocked. */
	uint64_t blocking_handlers;
};

/* A process that runs in its parent's memory, but has signal actions of its own, for example after vfork(2). */
struct image_borrower {
	pid_t pid;
	struct image_actions actions;
	uint64_t faults[2]; /* like agent_data.fault; FAULT_INHERITED: the same as there */
	bool apart;         /* its calls are not counted, and the agent tells it apart from its parent */
};
#define FAULT_INHERITED (UINT64_MAX - 1)

/* The call sites of the image. */
struct image_sites {
	/*
	 * Number of decisions about sites and of patches so far. Each site has the number of its last decision or
	 * patch.
	 */
	uint32_t serial;
	uint32_t copied_serial; /* in a copied image: sites with larger numbers may have been patched after the copy */
	struct map by_ip;       /* struct site by its address; owns the sites */
	struct map by_stub;     /* struct site by the address of its stub */
	struct map by_hop;      /* struct site by the address of each jump on the way to its stub */
	VEC(struct gap_use) gaps;
	VEC(struct stub_page) pages;
	VEC(struct image_targets) targets;
	bool surveyed;                     /* plan_apply_mapped() has been called */
	uint64_t followed[AGENT_FOLLOWED]; /* copy of the first column of agent_data.followed */
	/* A row of agent_data.followed was removed: the tracer must see each rt_sigreturn(2). */
	bool unfollowed;
};

/* One address space. Processes that share memory share the image; fork(2) copies it. */
struct image {
	int refs;
	enum image_state state;
	pid_t user; /* a task that runs in the image, or that ran in it */
	/*
	 * Address range of the code for unattended setup, which may still be running. If hi is 0, the code is not
	 * running. If lo is 0, unattended setup was never tried.
	 */
	struct {
		uint64_t lo, hi;
	} setup;
	bool cleaned; /* the agent has been unmapped */
	struct image_start start;
	struct image_counters counters;
	/* agent_slot.entered of each slot at the last usage_begin(). Empty if it need not be compared (usage.c). */
	VEC(uint64_t) entered;
	struct image_sigsys sigsys;
	uint64_t watch;               /* copy of agent_data.watch */
	bool has_thread_pointer;      /* a call that sets the thread pointer has stopped (waits_note_call()) */
	uint64_t rseq;                /* the value of agent_data.rseq when the agent was set up, or the last one */
	uint64_t blocking;            /* copy of agent_data.blocking */
	struct image_actions actions; /* the signal actions of all processes except borrowers (image_actions_of) */
	VEC(struct image_borrower) borrowers;
	struct image_handlers handlers;
	struct image_sites sites;
	struct {
		uint64_t calls;  /* calls that ran under ptrace although the image had the agent */
		uint64_t others; /* image_count_calls() at the first of them */
	} slow;
	struct thread_table *threads;  /* copy of the program's table of threads that record, or NULL */
	VEC(uint64_t) scratches_taken; /* bit set of the scratch memories in use */
	struct ring_group *ring_group; /* limits the memory of the rings; NULL: sctrace's own group */
	bool unnamed;                  /* names of descriptors are not recorded (record/naming.c) */
	bool shares;                   /* another process has the same descriptors or the same current directory */
	unsigned contended;            /* number of stops because several threads have the same thread pointer */
	uint64_t ring_bytes;           /* size of the rings and scratch memories in use, */
	uint64_t ring_most;            /* and its limit because of RLIMIT_AS; 0: unknown */
	VEC(struct mapping) mappings;  /* executable memory, as last read; empty: must be read again */
};

/* What the engine knows about a thread. */
struct patch_task {
	bool armed;            /* calls from outside the agent stop, and the engine handles them */
	uint64_t completed_ip; /* the address after the call that ended last under ptrace, or 0 */
	bool sigsys_blocked;   /* the program blocks SIGSYS in this thread */
	bool signalled;        /* a handler that blocks SIGSYS may be running; the tracer must see its return */
	/* SIGSYS was blocked when a handler was called, and will be blocked again when this handler returns. */
	bool returns_blocked;
	/* Number of handlers that will return to instructions that moved into a stub, without agent_data.followed. */
	unsigned moved_frames;
	uint32_t serial; /* image_sites.serial when the task was last resumed */
	bool awaiting;   /* the tracer must see the thread's rt_sigreturn(2) (image_note_frames) */
	/* With ARM_KNOCK: number of handlers that are running. The instruction by which they return is not patched. */
	unsigned handlers;
	bool slow;            /* the current call runs under ptrace, and the task is not armed */
	uint64_t slow_ip;     /* the address after the instruction at which the last such call was to be made */
	uint64_t step_hidden; /* A single step that ends at this address is not reported to the program; 0: none. */
	/* The task is resumed by a single step, which ends at the first instruction of a handler (stepout_of_frame()). */
	bool steps;
	/* The task is stopped at a call, and was moved back so that it makes this call again (sigkill_guard_waited). */
	bool redone;
	uint64_t delayed_ns; /* withdraw.c: CLOCK_MONOTONIC time at which the current call was first delayed, or 0 */
	bool strict;         /* arm.c: the program believes that it is in seccomp's strict mode */
	struct record_thread *recorded; /* the thread's ring, or NULL */
	struct lane *lane;              /* the thread's lane (image/region.h), or NULL */
	bool pretend;                   /* arm.c: the result of the current call will be set to 0 */
};

/* The position of a thread when its process was attached to. */
struct resume_point {
	pid_t tid;
	uint64_t ip; /* 0: unknown */
};

/* How calls from outside the agent are made to stop. */
enum arming {
	/* Syscall User Dispatch: SIGSYS is raised before the call; the tracer turns it on and off for each thread. */
	ARM_SUD,
	/* A seccomp filter: tasks stop at a call's entry; it cannot be removed, and descendants inherit it. */
	ARM_FILTER,
	/*
	 * Nothing makes calls stop. Instead, all call sites of an image are patched before it continues (image/scan.c), and
	 * the agent calls for the tracer if it does not make a call. For attached processes, if CPU_KNOCKS is set.
	 */
	ARM_KNOCK,
};

/* What the agent does with a call: it makes the call, or makes it and writes a record, or passes it to the tracer. */
enum record_way { RECORD_PASSES, RECORD_WRITES, RECORD_STOPS };

/* Why a call stops the thread, although the image has the agent. patch.c has a text for each reason. */
enum stop_reason {
	STOP_FIRST,   /* the site was not known */
	STOP_WATCHED, /* sctrace had removed the call from the map, or the call was not known */
	STOP_SURVEY, /* at this stop, sctrace patched the libraries that a new program has loaded (plan_apply_mapped()) */
	STOP_SITE,   /* the site cannot be patched */
	STOP_REQUIRED,  /* the call has no recipe, or the options require a stop */
	STOP_ARGUMENTS, /* the agent does not make the call, or not with these arguments */
	STOP_RESTART,   /* a signal had interrupted the call */
	STOP_FULL,      /* the ring was full */
	STOP_NO_RING,   /* the thread has no ring */
	STOP_CONTENDED, /* other threads have the same thread pointer */
	STOP_ASKED,     /* sctrace completed the record */
	STOP_ANNOUNCED, /* sctrace had to see the beginning of the call */
	STOP_SHARED,    /* processes whose calls are not counted together use the same memory */
	STOP_FOREIGN,   /* the call was not made through the 64-bit interface */
	STOP_FALLBACK,  /* the image has fallen back to ptrace */
	STOP_REASONS
};

/* Why a thread steps out: what will see the thread's position. */
enum stepout_for {
	STEPOUT_UNSEEN,  /* nothing: the thread stays in the agent or stub */
	STEPOUT_PROGRAM, /* a signal handler, or the program after it was detached */
	STEPOUT_CAUGHT,  /* a signal handler, which will certainly run */
	/*
	 * A signal handler whose return sctrace may not see: of an attached process (sctrace may have been killed), or of
	 * a child of vfork(2) that is not traced. If the native address is in the middle of a long jump, the handler
	 * sees, and returns to, the moved instruction in the stub.
	 */
	STEPOUT_HANDLER,
	STEPOUT_CORE, /* a core dump: the thread does not run again, and a call in which it waits stays unfinished */
};

/* The kinds of jumps by which a site can be patched. SCTRACE_PATCH in the environment can exclude some. */
enum { WAY_SHORT = 1, WAY_LONG = 2, WAY_REDIRECT = 4 };

struct patch {
	struct tracer t; /* the first member, so that patch_of() works */
	enum arming arming;
	struct call_filter filter; /* used with ARM_FILTER */
	/* Baseline number of seccomp filters in a process: those that it inherited, plus sctrace's. */
	uint32_t filters;
	bool seccomp_seen; /* some traced process has set a filter */
	int watchdog_fd;   /* a socket to the watchdog (arm/watchdog.c), or -1 */
	bool attaching;    /* sctrace has stopped the threads of the processes that it attaches to */
	unsigned ways;     /* WAY_*: the kinds that SCTRACE_PATCH allows */
	bool debug;        /* SCTRACE_DEBUG */
	/* A program has changed the agent's code. From then on, sctrace waits less long for threads in this code. */
	bool code_changed;

	/* Length of a tick of the time stamp counter, in nanoseconds. */
	double tick_ns;
	uint64_t waits;          /* WATCH_WAITS if the agent can find out whether calls wait, and WATCH_CLOSES; or 0 */
	uint64_t tsc0, ns0;      /* time stamp counter and clock, read together at the start */
	struct tracer_cost fast; /* cost of a call that the agent makes */

	/* Counters. */
	VEC(struct region *) regions;
	bool no_pool; /* programs cannot open memory that sctrace has created */
	/* Usual calls, and those that the agent was asked to make. The next image's agent makes them from the start. */
	VEC(int16_t) calls;

	uint64_t recorded;              /* number of recorded calls that were reported */
	bool count_threads;             /* engine_config.count_threads, and calls are recorded */
	struct record *record;          /* set if whole calls are recorded, otherwise NULL */
	const unsigned char *recorder;  /* what each image has from RECORDER_CODE on, up to the recipes' end, or NULL */
	char recorder_path[SETUP_PATH]; /* a sealed file with these bytes, which programs can open, or "" */
	uint8_t record_way[AGENT_CALLS]; /* enum record_way */
	/* The call numbers of the rows from AGENT_NUMBERS on; 0: free. They never change, because slots and records contain only the row. */
	int32_t others[AGENT_OTHERS];
	bool only_native;      /* the kernel certainly has no other ABI for 64-bit programs, such as x32 */
	unsigned scratch_size; /* size of a thread's scratch memory */
	unsigned ring_pages;   /* size of the ring that the first thread of a new image gets */

	/* Sites. */
	VEC(struct module *) modules; /* files, and the plans of their sites */
	size_t nplans;                /* number of plans of all files */
	struct kept_plans *kept;      /* plans of earlier runs, or NULL */
	bool learned;                 /* this run has made plans that can be kept */
	struct map usages;            /* struct usage by map_key() of the program's short name */
	VEC(struct often) often;      /* sites at which many calls stopped */
	size_t nsites;                /* number of sites of all images */
	uint64_t unproven;            /* places that were not patched, because they may be data (image/scan.c) */
	struct module *loader;        /* the file that contains the first instruction of new images, or NULL */
	uint64_t loader_entry;        /* offset of that instruction in the file */
	uint64_t loader_end;          /* offset of the end of the last page of that file's code */
	bool attended;                /* unattended setup is not possible on this machine */
	bool root;                    /* sctrace runs as root, so it may trace programs of several users */
	uint64_t rights;              /* sctrace's own capabilities (capabilities(7)) */
	VEC(struct resume_point) resume_points;

	/* The footer of the report shows these numbers. */
	uint64_t images, fallback_images;
	uint64_t agent_calls; /* calls that the agent has counted */
	uint64_t slow_calls;  /* calls that were made under ptrace in images that have the agent */
	uint32_t stops[STOP_REASONS][AGENT_CALLS];
	struct buf fallback_why; /* the reason for the first fallback */
};

/* Notes that a call with this number has stopped. */
static inline void patch_note_stop(struct patch *p, enum stop_reason why, int64_t nr)
{
	p->stops[why][nr >= 0 && nr < AGENT_NUMBERS ? nr : AGENT_CALLS - 1]++;
}

/* Returns the row of call number `nr`, or -1 if it has none. A number that no call has gets the row of agent_row() if that is free. */
static inline int patch_row(struct patch *p, int64_t nr)
{
	const unsigned row = agent_row((uint64_t)nr);
	if (nr >= 0 && nr < AGENT_NUMBERS)
		return (int)row;
	int32_t *number = &p->others[row - AGENT_NUMBERS];
	if (!*number && nr == (int32_t)nr && cpu_has_no_call(nr, p->only_native))
		*number = (int32_t)nr;
	return *number == nr ? (int)row : -1;
}

/* Returns the call number of a row. */
static inline int64_t patch_number(const struct patch *p, unsigned row)
{
	return row < AGENT_NUMBERS ? (int64_t)row : p->others[row - AGENT_NUMBERS];
}

static inline struct patch *patch_of(struct tracer *t)
{
	return (struct patch *)t;
}

/* Returns the image that the task runs in, or NULL if the task's clone(2) has not been reported yet. */
static inline struct image *image_of(const struct task *task)
{
	return task->proc ? task->proc->image : NULL;
}

/* Returns the engine's state of the task, or NULL before the task's first stop. */
static inline struct patch_task *patch_task_of(const struct task *task)
{
	return task->data;
}

#endif
