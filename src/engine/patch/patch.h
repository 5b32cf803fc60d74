/* The patch engine's own rooms: what they share. */
#ifndef SCTRACE_ENGINE_PATCH_PATCH_H
#define SCTRACE_ENGINE_PATCH_PATCH_H

#include "base/map.h"
#include "base/vec.h"
#include "engine/patch/code/agent.h"
#include "engine/patch/code/encode.h"
#include "engine/patch/code/relocate.h"
#include "engine/ptrace/filter.h"
#include "engine/ptrace/tracer.h"

#include <sys/user.h>

struct proc_status;

/* The shared memory that an image's calls are counted in, mapped on both sides. */
struct region {
	int refs;
	unsigned char *slots;                 /* AGENT_STATS_SIZE bytes; the program may scribble here: never trusted */
	int fd;                               /* the memory, while it is being set up, and as long as it is pooled */
	struct agent_slot *seen[AGENT_CALLS]; /* what collect took of them while they were in use, or NULL */
	uint16_t used;                        /* slots given out */
	int16_t call_of[AGENT_CALLS];         /* slot -> call number */
	struct summary_group *group;          /* where collect adds, or NULL until then */
	int64_t group_id;
	char group_name[32];
	bool discard; /* counts of a process that was not asked for */
	/* Memory of our own making, which images take one after the other, and the last of them (`crowded`) at the same time. */
	bool pooled, crowded;
	uint64_t exec_taken[(AGENT_EXECS + 63) / 64]; /* exec words in use */
};

/* Stubs live in pages near the code they serve. */
struct stub_page {
	uint64_t addr;
	uint32_t used; /* stubs given out */
	uint32_t max;
};

_Static_assert(RELOCATE_MAX <= STUB_MOVED_MAX, "what may move has room");

enum site_kind {
	SITE_NEW,
	SITE_SHORT,    /* jmp rel8 over the two bytes of the instruction */
	SITE_LONG,     /* jmp rel32 over it and what follows, which moved into the stub */
	SITE_REDIRECT, /* unchanged: each call stops once, and is sent to the stub */
	SITE_HOPELESS, /* unchanged: traced by ptrace */
};

/* One system call instruction. */
struct site {
	uint64_t ip; /* behind the instruction */
	uint64_t stub;
	enum site_kind kind;
	bool retry;    /* a long jump may be possible later */
	uint8_t moved; /* bytes of instructions that moved into the stub (SITE_LONG): these */
	uint8_t code[RELOCATE_MAX];
	uint32_t serial; /* the image's number when it was patched last */
	/* What was changed, so that it can be put back: hops of jumps through padding, and the site itself. */
	struct change {
		uint64_t addr;
		uint8_t len, old[5], new[5];
	} change[6]; /* the last one is the site itself */
	uint8_t nchanges;
};

/*
 * Who may be lied to by a program: it can change the code that is judged. So what was found out in its memory is believed for the
 * same user's programs alone, which it could do anything to anyway. With an ordinary user's sctrace all are that user's.
 */
struct owner {
	uint32_t uid, gid;
};

/* What was found out about a site of a file, so that the next image with that file need not find it out again. */
struct plan {
	struct owner owner;
	uint64_t offset; /* of the address behind the instruction, in the file */
	enum site_kind kind;
	uint8_t moved, code[RELOCATE_MAX];
	uint8_t nchanges;
	struct {
		int32_t delta; /* from the address behind the instruction */
		uint8_t len, old[5];
	} change[6];
};

/* A file that code was patched of. */
struct module {
	uint64_t dev, ino;
	VEC(struct plan) plans;
};

/* Padding that a jump was put into. */
struct gap_use {
	uint64_t lo;
	uint32_t used;
};

/* What the program's memory looks like: one mapping of executable memory. */
struct mapping {
	uint64_t lo, hi;
	uint64_t dev, ino;
	uint64_t file_offset;
	uint64_t base;  /* where the file's beginning is mapped, or 0 */
	bool patchable; /* executable, private, of a file, not writable */
};

enum image_state {
	IMAGE_NEW,      /* nothing of ours is in it */
	IMAGE_READY,    /* the agent is in place */
	IMAGE_FALLBACK, /* it cannot be: its calls are traced by ptrace */
};

/* struct kernel_sigaction (sigaction(2), "C library/kernel differences"), in words. */
enum { ACTION_HANDLER, ACTION_FLAGS, ACTION_RESTORER, ACTION_MASK, ACTION_WORDS };

/* One address space. Processes that share memory share it; a fork copies it. */
struct image {
	int refs;
	enum image_state state;
	struct region *region;
	uint32_t map[AGENT_CALLS]; /* as written to the program's agent_data, unless `off` */
	bool from_start;           /* armed since its first instruction: no thread is behind an unseen call */
	bool single_thread;        /* as written to agent_data */
	uint64_t entry;            /* where it began */
	uint64_t *exec_word;       /* when its execve(2) began (struct agent_tail), or NULL: the agent makes none */
	int blockers;              /* threads that block SIGSYS */
	int awaiting;              /* threads whose rt_sigreturn(2) the tracer must see */
	bool sealed;               /* the program has a seccomp filter of its own: no more calls of ours */
	bool minds_sigsys;         /* it set an action for SIGSYS, kept in sigsys_action */
	uint64_t sigsys_action[ACTION_WORDS]; /* which a forced SIGSYS may reset */
	bool guarded; /* that is agent_sigsys, in place of guarded_action, which the program knows of */
	uint64_t guarded_action[ACTION_WORDS];
	uint64_t
		blocking_handlers; /* SIGBIT() of the signals whose handlers run with SIGSYS blocked, but not with all */
	pid_t user;                /* a task that uses it */
	bool off;                  /* all calls go to the tracer while a process that is counted otherwise shares it */
	unsigned sharers;
	bool selected;      /* dispatch looks at the selector byte behind the slots */
	bool cleaned;       /* nothing of ours is in it any more */
	bool surveyed;      /* plan_apply_mapped() was here */
	struct owner owner; /* as its execve(2) began it */
	uint32_t serial;    /* counts patched sites */
	uint32_t
		copied_serial; /* a copy: sites with larger numbers may have been patched after the memory was copied */
	struct map sites;      /* by ip: struct site, owned */
	struct map stubs;      /* by the stub's address: struct site, borrowed */
	struct map hops;       /* by the address of each jump on the way to a stub: struct site, borrowed */
	VEC(struct gap_use) gaps;
	VEC(struct stub_page) pages;
	VEC(struct mapping) mappings;
};

/* The engine's own of a task. */
struct patch_task {
	bool armed;            /* calls from outside the agent stop, and are dealt with here */
	uint64_t completed_ip; /* behind the call that ended last under ptrace, or 0 */
	bool sigsys_blocked;   /* the program blocks SIGSYS in this thread */
	bool signalled;        /* a handler may be running, which may have blocked SIGSYS: its end must be seen */
	bool returns_blocked;  /* SIGSYS was blocked when a signal came, and is again when its handler returns */
	unsigned moved_frames; /* handlers that will return to instructions that moved */
	uint32_t serial;       /* the image's number when it ran on last */
	bool awaiting;         /* its rt_sigreturn(2) must be seen: because of those, or of an interrupted call */
	bool slow;             /* its current call runs under ptrace, unarmed */
	uint64_t step_hidden;  /* a single step that ends here is not the program's (hide_step), or 0 */
	bool redone;           /* it was sent back to before the call that it has stopped at (sigkill_guard_waited) */
	bool strict, pretend;  /* seccomp_mask.c: in seccomp's strict mode; the current call's result is to be 0 */
};

/* Where a thread was when its process was attached to. */
struct resume_point {
	pid_t tid;
	uint64_t ip; /* 0: not known */
};

/* How calls from outside the agent come to stop. */
enum arming {
	ARM_SUD,    /* Syscall User Dispatch: a SIGSYS before the call; set and taken off by us, thread by thread */
	ARM_FILTER, /* a seccomp filter: a stop at the call's entry; it stays, and descendants have it */
};

struct patch {
	struct tracer t; /* first */
	enum arming arming;
	struct call_filter filter; /* with ARM_FILTER */
	double tick_ns;
	uint64_t tsc0, ns0; /* both clocks, read together at the start */
	struct tracer_cost fast;
	unsigned ways; /* SCTRACE_PATCH */
	bool debug;
	VEC(struct region *) regions;
	bool no_pool;  /* programs cannot open memory of ours */
	bool deceived; /* a program had other code where ours was to be: waits for such are short from then on */
	VEC(struct module *) modules;
	size_t nplans;   /* of all of them */
	uint64_t rights; /* sctrace's own capabilities, where knows_rights (plan.c) */
	bool knows_rights;
	size_t nsites;         /* of all images */
	struct module *loader; /* the one that new images begin in, and where in it they begin */
	uint64_t loader_entry;
	VEC(struct resume_point) resume_points;
	int watchdog_fd;    /* a socket to the watchdog, or -1 */
	VEC(int16_t) calls; /* numbers that the agent was asked for so far, for the next image */
	bool seccomp_seen;  /* some process set a filter */
	uint32_t
		filters; /* so many has a process that set none: sctrace's, or those of who was attached to, and ours */
	/* For the footer. */
	uint64_t images, fallback_images, patched, redirected;
	struct buf fallback_why;
};

enum { WAY_SHORT = 1, WAY_LONG = 2, WAY_REDIRECT = 4 };

static inline bool site_is_patched(const struct site *s)
{
	return s->kind == SITE_SHORT || s->kind == SITE_LONG;
}

static inline struct patch *patch_of(struct tracer *t)
{
	return (struct patch *)t;
}

/* NULL also for a task without process: there was no memory for it. */
static inline struct image *image_of(const struct task *task)
{
	return task->proc ? task->proc->image : NULL;
}

static inline struct patch_task *patch_task_of(const struct task *task)
{
	return task->data;
}

/* remote.c: having the program make calls. The task is in a signal- or event-stop, not in a syscall-stop. */
/* Reads and writes the program's memory, page protections notwithstanding; all of it or -EFAULT. */
int remote_read(pid_t tid, uint64_t addr, void *buf, size_t n);
/* The memory as a file, open until remote_release(), which is to be called before the task can get another; or -errno. */
int remote_open(pid_t tid);
void remote_release(void);
int remote_write(pid_t tid, uint64_t addr, const void *buf, size_t n);
/* The same by such a descriptor; where it fails, or is none, and the thread is stopped, by ptrace(2). */
int remote_write_by(int fd, pid_t tid, uint64_t addr, const void *buf, size_t n);
/*
 * Waits for the next stop of a task that was just made to run. 0, -ESRCH where it ended (which is kept, or still waited for), or
 * -EFAULT: none came, and it was stopped where it is.
 */
int remote_next_stop(struct tracer *t, struct task *task, int *status);
/*
 * Runs code from `ip` to the next int3 with registers `r`, all signals held off; `r` holds the registers there.
 * Afterwards the caller sets the registers it wants. 0, -ESRCH where the task died (its end is still waited for), or -EFAULT where
 * it did not come to the int3: it is stopped where it is.
 */
int remote_run(struct tracer *t, struct task *task, struct user_regs_struct *r);
/*
 * The same in a process that was attached to, in code that has the way back (agent.S, `back`): whatever is refused us on the way,
 * or if we die, the thread is soon where it was, and what it was.
 */
struct excursion {
	uint64_t start;  /* where the code begins */
	uint64_t halt;   /* behind a call in it that the thread is to be stopped at, or 0 */
	uint64_t masked; /* behind its last call */
	uint64_t back;   /* where its struct agent_back is */
	struct user_regs_struct saved;
	uint64_t mask;
};
/* The thread with registers `r` to `start`, and on: 1 at `halt`, 0 at the last call, `r` the registers there; or as remote_run. */
int remote_excursion(struct tracer *t, struct task *task, struct excursion *d, struct user_regs_struct *r);
/* From `halt` on to the last call; 0 or as remote_run. */
int remote_excursion_on(struct tracer *t, struct task *task, struct excursion *d, struct user_regs_struct *r);
/* From the last call back to where it was, in an event-stop; 0 or as remote_run. Before that the code stays as it is. */
int remote_excursion_end(struct tracer *t, struct task *task, const struct excursion *d);
/* One call in a copy of agent_call at `at`, by the thread with registers `r`: r->rbx is its result. */
int remote_excursion_call(struct tracer *t, struct task *task, uint64_t at, struct user_regs_struct *r);
/*
 * One call through the agent. The task ends up in a syscall-exit-stop, its registers as they were; not to be used where a
 * call of its own is to be restarted. The result, or -errno; -EFAULT also where the call did not come back.
 */
int64_t remote_call(struct tracer *t, struct task *task, uint64_t nr, const uint64_t args[6]);

/* image.c */
struct image *image_new(void);
/*
 * Of a child whose parent ran on last when the image's number was `sure`. Without the sites where there would be too many of them in
 * all: then the child is to be traced by ptrace (IMAGE_FALLBACK).
 */
struct image *image_copy(struct patch *p, const struct image *from, uint32_t copied_serial);
void image_put(struct patch *p, struct image *img);
/* Puts the agent into a new image; `at` is code of the program that may be overwritten for a moment. 0 or -errno. */
int image_setup(struct patch *p, struct task *task, uint64_t at);
/* Gives the image of `task` counters of its own, which it shared with another so far. */
int image_own_region(struct patch *p, struct task *task);
/*
 * Makes the agent handle call `nr`; false where it must go to the tracer. Empties the call's slot where the agent asked
 * for that. `refused`: the agent has just handed this very call over, so where it is mapped its arguments were at
 * fault.
 */
bool image_map_call(struct patch *p, struct task *task, int64_t nr, bool refused);
/*
 * Tells the agent whether its updates need a lock: not while the image has one thread and its slots to itself. To be
 * called before another thread or process can run.
 */
void image_set_single_thread(struct task *task, bool single_thread);
/* The task blocks SIGSYS now, or not any more. */
void image_note_blocked(struct task *task, bool blocked);
/* The handler of `sig` runs with SIGSYS blocked from here on, or does not. */
void image_note_handler(struct task *task, int sig, bool blocks);
/* A handler is about to run in the task, or has returned: must the tracer see the next return? */
void image_note_frames(struct task *task);
/* The task leaves the image that it runs in. */
void image_forget_task(const struct task *task);
/* Sends all calls to the tracer, or back to the agent. */
void image_switch(struct patch *p, struct image *img, bool off);
/* The slot at an address in the program, or NULL where it is none. */
struct agent_slot *image_slot(const struct image *img, uint64_t slot_addr);

/* In the first stop of a child that has a copy of its parent's image: an exec word of its own, and locked updates. */
void image_begin_child(struct task *task);

/* region.c */
/* Counters whose memory is yet to come; NULL: no memory. */
struct region *region_new(struct patch *p, const struct task *task);
/* Counters in memory of our own that the program may open under `path` (SETUP_PATH bytes), or NULL. */
struct region *region_from_pool(struct patch *p, const struct task *task, char *path);
/* Is the region's memory what task `tid` has mapped at AGENT_STATS? */
bool region_is_there(const struct region *r, pid_t tid);
/* Sizes, seals and maps the memory behind descriptor `their_fd` of the program. 0 or -errno. */
int region_adopt(struct region *r, pid_t tid, int their_fd);
/* An image uses it no more. */
void region_put(struct patch *p, struct region *r);
/* The slot of `nr`, made at first use: its map entry. 0 where all are given out. */
uint32_t region_entry(struct region *r, int64_t nr);
struct agent_slot *region_slot(const struct region *r, unsigned i);
/* An exec word, zeroed, or NULL; to be given back. */
uint64_t *region_take_exec(struct region *r);
void region_give_exec(struct region *r, const uint64_t *word);
/* Where the program finds a word of the region, or 0 for NULL. */
uint64_t region_address(const struct region *r, const uint64_t *word);
/*
 * Empties the histogram of call `nr`, a bucket of which is half full. Whoever else writes to it does so with a lock: a
 * thread that is alone with it is the one that has stopped here.
 */
void region_empty(struct patch *p, struct region *r, int64_t nr);
/* Adds what all regions counted since the last time to p->t.counts. */
void region_collect_all(struct patch *p);
/* Turns dispatch off in all processes that were attached to, as the watchdog does after us. */
void region_switch_off(struct patch *p);
void region_free_all(struct patch *p);
/* The sum of calls counted in all regions. */
uint64_t region_calls(struct patch *p);

/* maps.c */
/* Reads /proc/PID/maps; keeps what is executable. 0 or -errno. */
int maps_read(pid_t pid, struct image *img);
const struct mapping *maps_find(const struct image *img, uint64_t addr);
/* A free place of `size` bytes within 2 GiB of `near`, or 0. */
uint64_t maps_gap(pid_t pid, uint64_t near, size_t size);
/* `n` bytes that no code is in: what fills up the last page of some file's code; 0 where there are none. */
uint64_t maps_room(pid_t pid, size_t n);

/* ranges.c */
/* The code that may be patched, of `n` mappings: at most AGENT_RANGES rows [lo, hi), then one of zeroes. Returns how many. */
size_t ranges_of(const struct mapping *m, size_t n, uint64_t (*rows)[2]);
/* Tells the agent of the code that img->mappings has now. */
void ranges_tell(const struct task *task);
/* The task is about to make call `nr` with registers `r`: where that maps code anew, it is put back as it was. */
void ranges_watch(struct task *task, int64_t nr, const struct user_regs_struct *r);

/* site.c */
/* The site behind whose instruction `ip` is: decides at first sight, patches where possible. NULL: no memory. */
struct site *site_visit(struct patch *p, struct task *task, uint64_t ip);
/* Makes a site findable by its stub and by the jumps that lead there. */
void site_index(struct image *img, struct site *s);
/* The padding that the jumps of a patched site are in is used. */
void site_note_gaps(struct image *img, const struct site *s);
/* Can a jump at one reach the other? */
bool site_is_near(uint64_t a, uint64_t b);
/* With SCTRACE_DEBUG: what was decided, and why. */
void site_say(const struct patch *p, const struct task *task, const struct site *s, const char *why);
/* The site whose stub `addr` lies in, or NULL. */
struct site *site_of_stub(const struct image *img, uint64_t addr);
/*
 * In the first stop of a child with a copy of its parent's memory: sites that were patched while the copy was made, by way of
 * another thread, are looked at, and forgotten where the copy has them not.
 */
void site_check_copied(struct patch *p, struct task *task);
/* Puts a site back as it was, and the padding that leads from it to its stub where no other thread can be in there. */
void site_restore(const struct task *task, const struct site *s, bool hops);
/* Puts everything back as it was. */
void site_restore_all(struct task *task);
/*
 * rt_sigreturn(2) is over and the thread may be at one of the instructions that moved from behind a call: sends it to where
 * they are; was that so?
 */
bool site_follow_moved(struct task *task);
/* The site from behind which the instruction at `ip` moved into a stub, or NULL. */
const struct site *site_moved_from(const struct image *img, uint64_t ip);

/* plan.c: what is known of files */
/* A new image, before its first instruction: whose it is. */
void plan_note_owner(struct task *task);
/* The site was decided; the next image with the file `m` is of need not find out again. */
void plan_remember(struct patch *p, struct task *task, const struct site *s, const struct mapping *m);
/* Up to where sites that are known to the image use the padding [lo, hi) of the file mapped there; lo where they do not. */
uint64_t plan_used_until(const struct patch *p, const struct image *img, const struct mapping *m, uint64_t lo,
			 uint64_t hi);
/* Whose site the first one of an image is, is the loader's; where it begins tells where its sites are. */
void plan_note_loader(struct patch *p, struct task *task, const struct mapping *m);
/* Patches the sites of the loader that are known, in a new image that it is mapped in at `entry`'s place. */
void plan_apply_loader(struct patch *p, struct task *task, uint64_t entry);
/*
 * A stop that cannot be avoided, behind a call at `ip`. Is that the loader at work, the known sites of what it has mapped so far
 * are patched with it. Once an image: what others map they may read instead of run, as translators of code do.
 */
void plan_apply_mapped(struct patch *p, struct task *task, uint64_t ip);
/* The first stop in a file that is known: its sites are patched at once; was the one at `ip` among them? */
bool plan_apply(struct patch *p, struct task *task, const struct mapping *m, uint64_t ip);
void plan_free_all(struct patch *p);

/* stepout.c */
/*
 * The task, in a signal-delivery- or event-stop, may be in our code: puts it where it would be natively and settles the
 * books. Where the signal is not `caught`, no code of the program's looks: it stays where it is.
 */
void stepout(struct patch *p, struct task *task, bool caught);
/* Is `ip` right behind the agent's own system call instruction? */
bool stepout_at_call(uint64_t ip);
/* Will the kernel restart the call that the registers tell of, or make EINTR of it? */
bool stepout_restart_pending(const struct user_regs_struct *r);
/* Is `ip` in our code? */
bool stepout_needed(const struct task *task, uint64_t ip);
/*
 * The child of a call made by the agent, in its first stop: leaves the agent without counting the parent's call, where it was
 * lent its parent's memory, and with `copied` where it has a copy.
 */
void stepout_child(struct task *task, bool copied);
/* An execve(2) made by the agent replaced `img`: books its end, which nobody comes back to do. */
void stepout_exec(const struct image *img);

#define SUD_SIGSYS  2 /* si_code SYS_USER_DISPATCH (asm-generic/siginfo.h) */
#define SIGBIT(sig) (1ull << ((sig)-1))

/* dispatch.c: a call from outside the agent has stopped */
/*
 * A stop of that kind, with registers `r`, which are spoilt: patches the site, or has the call made under ptrace. Of `call` arch and nr
 * are set.
 */
enum tracer_verdict dispatch_stop(struct patch *p, struct task *task, const struct call *call,
				  struct user_regs_struct *r);
/* Did the call that the task stopped at raise this signal? The program may send itself one that says so. Then *r: its registers. */
bool dispatch_is_forced(const struct task *task, const siginfo_t *si, struct user_regs_struct *r);
/* A thread that blocked SIGSYS before one was forced does so again. Did it? */
bool dispatch_block_again(const struct task *task);
/* `sig` is about to be delivered: does its handler run with SIGSYS blocked? */
void dispatch_note_delivery(struct task *task, int sig);
/* The action of `sig` is, or is about to be, this one. */
void dispatch_note_action(struct task *task, int sig, const uint64_t action[ACTION_WORDS]);
/* The same by a SIGSYS that was forced (ARM_SUD): leaves the program's mask and action as they were. */
enum tracer_verdict dispatch_forced(struct patch *p, struct task *task, const siginfo_t *si,
				    struct user_regs_struct *r);
/* Does a call with these arguments install a seccomp filter? */
bool dispatch_sets_filter(int64_t nr, uint64_t arg0, uint64_t arg1);
/* A SIGSYS of the program's own is about to be delivered to an armed thread. */
void dispatch_mend_own(struct patch *p, struct task *task, const siginfo_t *si);
/* Has call `nr`, whose instruction ends at r->rip, made there, unarmed and traced; on_syscall_stop arms again. */
void dispatch_run_slow(const struct patch *p, struct task *task, struct user_regs_struct *r, int64_t nr);

/* arm.c */
/* How tasks are to be armed here for `want` (CAP_*): 0 and *how, or -errno; `why` says with what, or why not. */
int arm_choose(unsigned want, enum arming *how, struct buf *why);
/* Lets calls of the task from outside the agent stop, or not. */
void arm_task(const struct patch *p, struct task *task, bool on);
/* The filter that the program installs; to be freed by call_filter_free(). 0 or -ENOMEM. */
int arm_filter_build(struct call_filter *f);
/* What our filter's stops carry as SECCOMP_RET_DATA: of filters that say the same, the newest one's counts (seccomp(2)). */
#define ARM_FILTER_MARK 0x5c7a
/* Is the task in a seccomp stop, and whose? Sets arch and nr of `call`. */
enum arm_stop { ARM_STOP_NONE, ARM_STOP_OURS, ARM_STOP_THEIRS };
enum arm_stop arm_read_stop(pid_t tid, struct call *call);
/* Has the process seccomp filters that are neither ours nor those we were started with? */
bool arm_is_filtered(const struct patch *p, const struct proc_status *s);
/* A filter of the program's own wants a tracer that it has not: ENOSYS, as natively (seccomp(2), SECCOMP_RET_TRACE). */
void arm_answer_theirs(pid_t tid);

/* seccomp_mask.c: with a filter of ours, what the program is told of seccomp */
/* A call has entered (task->call) under ptrace. */
void seccomp_mask_enter(const struct patch *p, struct task *task);
/* It is at its end, and its result has not been looked at yet. */
void seccomp_mask_exit(struct task *task);

/* sud.c: arming by Syscall User Dispatch */
/*
 * Lets calls from outside the agent stop (on), or not; 0 or -errno. `selector`: address of a byte that turns it off
 * while it is 0, or 0 for none.
 */
int sud_arm(pid_t tid, bool on, uint64_t selector);
/* Can this kernel do it? 0, or -errno and `why`. */
int sud_probe(struct buf *why);

/* attach.c: putting the agent into running processes, and taking it out again */
/* All tasks that the tracer has seized stop; the agent goes in, and they go on. 0 or -errno. */
int patch_attach_all(struct patch *p);
/* The task stopped at a call: it is behind none that was made before the agent came. */
void resume_point_forget(struct patch *p, const struct task *task);
/* May a thread be behind a call made before the agent came, with its next instruction in [lo, hi)? */
bool resume_point_may_be_in(const struct patch *p, uint64_t lo, uint64_t hi);
/*
 * A task about to be let go may have a SIGSYS of ours pending, which would end it: takes it, and sends the task back to
 * before its call.
 */
void patch_settle_pending(struct patch *p, struct task *task);
/* Restores the code and unmaps what was mapped, by way of `task`. Once per image. */
void patch_clean(struct patch *p, struct task *task);
/* The agent cannot go in after all: unmaps what setup says in `r` that it has mapped (agent.S), the stubs' room at `stubs`. */
void patch_unmap_setup(struct patch *p, struct task *task, const struct user_regs_struct *r, uint64_t stubs);
/*
 * A small process that outlives us: when we are gone it turns dispatch off in all images, whose selector bytes it was
 * handed. 0 or -errno.
 */
int patch_start_watchdog(struct patch *p);
void patch_watch(struct patch *p, int fd);

/* sigkill_guard.c: SIGSYS has a handler of ours where we may die and the process lives on */
/* The image is new or was just attached to; the task may run in the agent. Where that fails it is not guarded. */
void sigkill_guard_install(struct patch *p, struct task *task);
/*
 * tracer_ops' waited: a stop that was waited for has lost its signal, should we die now (wait_task_stopped() in kernel/exit.c), and
 * its call would return its own number. So the thread is sent back to before it at once.
 */
void sigkill_guard_waited(struct tracer *t, pid_t tid, int status);
/*
 * All is over: lets those go to before their calls whose SIGSYS could not be waited for. Else it is delivered when we are gone, and
 * ends who blocked it as it came, whose handler the kernel has taken away (force_sig_info_to_task).
 */
void sigkill_guard_rescue(struct patch *p);
/*
 * Gives the program its own action back; also before a SIGSYS of its own is delivered, whose handler's flags and mask count: then
 * the task `delivers` at the stop that it ends up in.
 */
void sigkill_guard_remove(struct patch *p, struct task *task, bool delivers);
/* The program's call of rt_sigaction(2) is over: what it is told of SIGSYS is its own action. */
void sigkill_guard_mask(struct task *task);

/* children.c: tracer_ops' functions of these names */
void patch_on_birth(struct tracer *t, struct task *parent, struct task *child, uint64_t flags);
void patch_on_first_stop(struct tracer *t, struct task *task);
void patch_on_exec(struct tracer *t, struct task *task);
void patch_on_death(struct tracer *t, struct task *task);
/* Are the task's calls counted, or must at least be let through? A filter stays in force where nobody asked for the counts. */
bool patch_is_served(const struct patch *p, const struct task *task);
/* All calls from the task's memory go to the tracer, or where there is none are made without the agent. */
void patch_refuse_all(const struct task *task);
/* Notes whether the thread blocks SIGSYS. A filter does not care. */
void patch_note_mask(const struct patch *p, struct task *task);
/* Would a forced SIGSYS or SIGTRAP be missed by the process? Then `why` says so. */
bool patch_minds_signals(const struct patch *p, const struct proc_status *s, struct buf *why);
struct patch_task *patch_give_data(struct task *task);

/* patch.c */
/* Gives up on the agent in this image: from now on its calls are traced by ptrace. */
void image_fall_back(struct patch *p, struct task *task, const char *why);
/* Takes over a running child of ours, stopped as t.current afterwards; 0 or -errno */
int patch_adopt(struct patch *p, pid_t pid);

/* calibrate.c */
int patch_calibrate(struct patch *p);

#endif
