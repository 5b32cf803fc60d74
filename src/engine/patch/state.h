/*
 * The state that all parts of the patch engine share, and the words that they use.
 *
 * The engine counts and times system calls inside the traced program. Its words, in the order in which one leads to the next:
 *
 *   agent         The code and data that sctrace maps into the traced program (code/agent.S). The agent makes the program's
 *                 calls, and counts and times them.
 *   image         One address space of the traced program, from its execve(2), or the clone(2) that copied it, to its end.
 *   region        The memory that an image's calls are counted in. The program and sctrace both map it.
 *   slot          The counters of one call number in a region.
 *   arming        Making every call from outside the agent stop, either by Syscall User Dispatch (a signal is raised in place
 *                 of the call) or by a seccomp filter (a ptrace stop at the call's entry).
 *   forced SIGSYS The signal that Syscall User Dispatch raises. The kernel delivers it even to a thread that blocks or ignores
 *                 it, and then changes that thread's mask and action, which the engine must restore.
 *   site          The place of one `syscall` instruction. Its address here is that of the next instruction, where the call
 *                 returns to.
 *   stub          A piece of code of our own, one per site, that calls the agent and returns to the instruction after the site.
 *   patching      Overwriting a site with a jump to its stub. A short jump covers the two bytes of `syscall`; a long one also
 *                 covers instructions after it, which move into the stub. A site that cannot be patched is redirected: each
 *                 call stops once and is sent to the stub.
 *   padding       The unused bytes between two functions. A short jump cannot reach a stub, so it leads to padding.
 *   hop           One jump in padding, on the way from a short jump to the stub.
 *   plan          What was learned about a site of a file. The next image that maps the file patches that site without a stop.
 *   exec word     A word in the region, one per image, that holds the time when the image began execve(2). The agent cannot add
 *                 the time of a call that does not return; sctrace does, from this word.
 *   vfork frame   A child of vfork(2) runs on its parent's stack and overwrites the agent's frame there. The agent keeps a copy
 *                 of the frame in its data page meanwhile.
 *   stepping out  Moving a stopped thread out of the agent or a stub to where it would be without us, before a signal handler,
 *                 or the program once it is detached, can see where it is (threads/stepout.c).
 *   excursion     Sending a thread of an attached process to code of ours in a way that leads back by itself, even if sctrace
 *                 is killed meanwhile (remote/remote.c).
 *   fallback      An image that the agent cannot enter, or must leave: ptrace stops at all its calls.
 */
#ifndef SCTRACE_ENGINE_PATCH_STATE_H
#define SCTRACE_ENGINE_PATCH_STATE_H

#include "base/map.h"
#include "base/vec.h"
#include "engine/patch/code/agent.h"
#include "engine/ptrace/calls/filter.h"
#include "engine/ptrace/state/give_up.h"
#include "engine/ptrace/state/tracer.h"

#include <errno.h>
#include <sys/user.h>

struct agent_thread;
struct gap_use;
struct mapping;
struct record;
struct record_thread;
struct module;
struct region;
struct stub_page;

enum image_state {
	IMAGE_NEW,      /* the agent is not in it yet */
	IMAGE_READY,    /* the agent is in place */
	IMAGE_FALLBACK, /* its calls are traced by ptrace */
};

/*
 * Trust domain. A program can change its own code, so what was learned from one user's process is reused only for that user. If
 * sctrace is run by an ordinary user, all processes are that user's, and both numbers are 0.
 */
struct owner {
	uint32_t uid, gid;
};

/* The words of struct kernel_sigaction (sigaction(2), "C library/kernel differences"). */
enum { ACTION_HANDLER, ACTION_FLAGS, ACTION_RESTORER, ACTION_MASK, ACTION_WORDS };

#define SIGBIT(sig) (1ull << ((sig)-1))

/* How the image began. */
struct image_start {
	bool observed;      /* armed since its first instruction: no thread is in a call that was made before */
	uint64_t entry;     /* its first instruction, or 0: not known */
	struct owner owner; /* of the file that execve(2) loaded */
};

/* Where its calls are counted, and which of them the agent makes. */
struct image_counters {
	struct region *region;
	uint32_t map[AGENT_CALLS]; /* agent_data.map of the program, unless `off` */
	bool single_thread;        /* agent_data.single_thread of the program */
	struct agent_words *words; /* in the region, or NULL: then the agent does not make execve(2) */
	unsigned rings;            /* rings that the program has mapped behind the slots */
	bool off;                  /* the agent hands all calls over, because of sharers */
	unsigned sharers;          /* processes in the same memory whose calls are counted elsewhere, or not at all */
};

/* What the engine must know about SIGSYS and seccomp in the program, because arming uses them. */
struct image_sigsys {
	bool sealed;  /* the program has a seccomp filter or is in strict mode: it may not make calls for us */
	int blockers; /* threads that block SIGSYS */
	int awaiting; /* threads whose rt_sigreturn(2) the tracer must see */
	bool known;   /* `action` is the kernel's: the program, or sigkill_guard.c, has set it */
	uint64_t action[ACTION_WORDS]; /* restored when a forced SIGSYS has reset it */
	bool guarded; /* the action in force is agent_sigsys; the program must see `guarded_action` instead */
	uint64_t guarded_action[ACTION_WORDS];
	/* SIGBIT() of the signals whose handlers run with SIGSYS blocked, but not with everything blocked. */
	uint64_t blocking_handlers;
	bool selected; /* Syscall User Dispatch looks at the selector byte after the slots */
};

/* For which signals the process has handlers, as /proc told last. Only for an image with one thread and one process. */
struct image_handlers {
	bool known;
	bool unsteady;    /* it may change without the engine's knowledge */
	uint64_t actions; /* agent_words.actions at that time */
	uint64_t caught;  /* SIGBIT() of the signals */
};

/*
 * The program's handler for SIGSEGV or SIGBUS. Our code in the program may raise these signals, and sctrace discards them. But if the
 * program ignores or blocks the signal, the kernel resets the handler (force_sig_info_to_task() in kernel/signal.c), and sctrace
 * restores it.
 */
struct image_fault {
	bool known;       /* false: it had a handler when it was attached to, and has not changed its action since */
	uint64_t handler; /* 0: SIG_DFL, 1: SIG_IGN */
};

/* Its call sites. */
struct image_sites {
	uint32_t serial; /* number of sites decided or patched so far; each site has the number of its last change */
	uint32_t
		copied_serial; /* in a copied image: sites with larger numbers may have been patched after the memory was copied */
	struct map by_ip;   /* struct site, owned */
	struct map by_stub; /* the stub's address: struct site, borrowed */
	struct map by_hop;  /* the address of each jump on the way to the stub: struct site, borrowed */
	VEC(struct gap_use) gaps;
	VEC(struct stub_page) pages;
	bool surveyed; /* plan_apply_mapped() has been called */
};

/* One address space. Processes that share memory share the image; fork(2) copies it. */
struct image {
	int refs;
	enum image_state state;
	pid_t user;   /* a task that runs in it, or did */
	bool cleaned; /* the agent has been unmapped */
	struct image_start start;
	struct image_counters counters;
	struct image_sigsys sigsys;
	struct image_fault faults[2]; /* SIGSEGV, SIGBUS */
	struct image_handlers handlers;
	struct image_sites sites;
	struct agent_thread
		*threads; /* a copy of the program's table of threads that record (record/ring.h), or NULL */
	VEC(struct mapping) mappings; /* executable memory, as last read; empty: to be read again */
};

/* What the engine knows about a thread. */
struct patch_task {
	bool armed;            /* calls from outside the agent stop, and are handled here */
	uint64_t completed_ip; /* the address after the call that ended last under ptrace, or 0 */
	bool sigsys_blocked;   /* the program blocks SIGSYS in this thread */
	bool signalled;        /* a handler that has blocked SIGSYS may be running: its return must be seen */
	bool returns_blocked;  /* SIGSYS was blocked when a signal came, and will be again when its handler returns */
	unsigned moved_frames; /* handlers that will return to instructions that moved into a stub */
	uint32_t serial;       /* image_sites.serial when it was resumed last */
	bool awaiting;         /* the tracer must see its rt_sigreturn(2) (image_note_frames) */
	bool slow;             /* its current call runs under ptrace, unarmed */
	uint64_t step_hidden;  /* a single step that ends here is not reported to the program, or 0 */
	bool redone;           /* it was sent back to before the call that it has stopped at (sigkill_guard_waited) */
	bool strict;           /* seccomp_mask.c: in seccomp's strict mode, as far as the program knows */
	struct record_thread *recorded; /* its ring, or NULL */
	bool pretend;                   /* seccomp_mask.c: the current call's result will be set to 0 */
};

/* Where a thread was when its process was attached to. */
struct resume_point {
	pid_t tid;
	uint64_t ip; /* 0: not known */
};

/* How calls from outside the agent are made to stop. */
enum arming {
	ARM_SUD, /* Syscall User Dispatch: a SIGSYS before the call; the tracer sets and clears it thread by thread */
	ARM_FILTER, /* a seccomp filter: a stop at the call's entry; it cannot be removed, and descendants inherit it */
};

/* How the agent treats a call: makes it, makes it and writes a record, or hands it over. */
enum record_way { RECORD_PASSES, RECORD_WRITES, RECORD_STOPS };

/* What will see where a thread is that steps out. */
enum stepout_for {
	STEPOUT_UNSEEN,  /* nothing: the thread stays in the agent or stub */
	STEPOUT_PROGRAM, /* a signal handler, or the program after it was detached */
	STEPOUT_CORE,    /* a core dump: the thread does not run again, and a call that it waits in stays unfinished */
};

/* Ways to put a site on the fast path that SCTRACE_PATCH allows. */
enum { WAY_SHORT = 1, WAY_LONG = 2, WAY_REDIRECT = 4 };

struct patch {
	struct tracer t; /* first, so that patch_of() works */
	enum arming arming;
	struct call_filter filter; /* with ARM_FILTER */
	uint32_t filters;          /* baseline number of seccomp filters in a process: those it inherited, plus ours */
	bool seccomp_seen;         /* some traced process has set a filter */
	int watchdog_fd;           /* a socket to the watchdog (arm/watchdog.c), or -1 */
	unsigned ways;             /* WAY_*: what SCTRACE_PATCH allows */
	bool debug;                /* SCTRACE_DEBUG */
	bool deceived; /* a program has changed our code in it: from then on we wait less long for such code */

	/* The clock: ticks of the time stamp counter. */
	double tick_ns;
	uint64_t tsc0, ns0; /* both clocks, read together at the start */
	struct tracer_cost fast;

	/* Counters. */
	VEC(struct region *) regions;
	bool no_pool; /* programs cannot open memory of ours */
	VEC(int16_t)
	calls; /* call numbers that the agent was asked for so far; the next image has them from the start */

	struct record *record; /* whole calls are recorded, or NULL */
	const unsigned char
		*recorder; /* what each image has at RECORDER_CODE, RECORDER_ROOM + RECIPES_ROOM bytes; or NULL */
	uint8_t record_way[AGENT_CALLS]; /* enum record_way */

	/* Sites. */
	VEC(struct module *) modules; /* files, and the plans of their sites */
	size_t nplans;                /* of all files */
	size_t nsites;                /* of all images */
	struct module *loader;        /* the file that new images begin in, or NULL */
	uint64_t loader_entry;        /* the offset in it where they begin */
	bool root;                    /* sctrace runs as root, so it may trace programs of several users */
	uint64_t rights;              /* sctrace's own capabilities (capabilities(7)) */
	VEC(struct resume_point) resume_points;

	/* For the footer. */
	uint64_t images, fallback_images;
	struct buf fallback_why; /* why the first one fell back */
};

static inline struct patch *patch_of(struct tracer *t)
{
	return (struct patch *)t;
}

/*
 * What the engine knows must be complete: without a site's hops, for example, a thread could not be taken out of them. So tracing
 * ends if memory for it ran out (!ok). Returns `ok`.
 */
static inline bool patch_had_memory(struct patch *p, bool ok)
{
	if (!ok)
		tracer_give_up(&p->t, -ENOMEM, "cannot continue tracing");
	return ok;
}

/* The image that the task runs in; NULL if its clone(2) is not known yet, or memory ran out. */
static inline struct image *image_of(const struct task *task)
{
	return task->proc ? task->proc->image : NULL;
}

/* NULL before the task's first stop, or if memory ran out. */
static inline struct patch_task *patch_task_of(const struct task *task)
{
	return task->data;
}

#endif
