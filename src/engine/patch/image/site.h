/* SPDX-License-Identifier: MIT */
/* Finds the call sites of an image, and restores them. */
#ifndef SCTRACE_ENGINE_PATCH_IMAGE_SITE_H
#define SCTRACE_ENGINE_PATCH_IMAGE_SITE_H

#include "engine/patch/state.h"

/* Code inside one cache line changes at once for threads that may be executing it. */
#define CACHE_LINE 64

enum site_kind {
	SITE_NEW,
	SITE_SHORT, /* a short jump over the two bytes of the instruction */
	SITE_LONG,  /* a long jump over the call instruction and the instructions after it; these moved into the stub */
	SITE_EARLY, /* a long jump over an instruction before the call; it and those after it moved into the stub */
	SITE_REDIRECT, /* unchanged: each call stops once and is sent to the stub */
	SITE_HOPELESS, /* unchanged: the calls are traced by ptrace */
};

/* Why a site is not patched, or not by a long jump. */
enum site_why {
	WHY_NONE,
	WHY_NO_FILE,
	WHY_NO_CALL,
	WHY_RESTORER,
	WHY_FORBIDDEN,
	WHY_NO_STUB,
	WHY_NO_PADDING,
	WHY_NOT_WRITABLE,
	WHY_NO_BOUNDS,
	WHY_GARBLED,
	WHY_NOT_SEARCHABLE,
	WHY_AFTER,
	WHY_BEFORE,
	WHY_BRANCH,
	WHY_COMPUTED,
	WHY_ADDRESS,
	WHY_SECOND,
	WHY_USED,
	WHY_PAGE,
	WHY_LINE,
	WHY_RETURNS,
	WHYS
};

/* A site that is not patched, and at which at least SITE_OFTEN calls stopped. */
struct often {
	char file[64]; /* name of the file without its folder; the program can choose it */
	uint64_t ino, offset;
	uint64_t stops;
	uint8_t why; /* enum site_why */
};
#define SITE_OFTEN      1000
#define SITES_OFTEN_MAX 64

/* One system call instruction. */
struct site {
	uint64_t ip;   /* the address after the instruction */
	uint64_t stub; /* address of its stub, or 0 */
	enum site_kind kind;
	bool retry;                 /* a long jump may become possible later */
	uint8_t why;                /* enum site_why */
	uint32_t stops;             /* number of calls that stopped because the site is redirected */
	uint32_t often;             /* 1 + the site's index in patch.often, or 0 */
	uint8_t moved;              /* number of bytes that moved into the stub (SITE_LONG, SITE_EARLY) */
	uint8_t code[RELOCATE_MAX]; /* the bytes that moved */
	uint32_t serial;            /* number of the site's last decision or patch (image_sites.serial) */
	/* The overwritten bytes, so that they can be restored: the hops first, and the site itself last. */
	struct change {
		uint64_t addr;
		uint8_t len, old[5], new[5];
	} change[6];
	uint8_t nchanges;
};

/* Padding that contains a hop. */
struct gap_use {
	uint64_t lo;
	uint32_t used; /* number of bytes in use */
};

/* One or more pages of stubs, near the code that jumps to these stubs. In place of the first stub is a struct stub_head. */
struct stub_page {
	uint64_t addr;
	uint32_t used; /* number of stubs in use, with the head */
	uint32_t max;  /* number of stubs that have room, with the head */
};

/* The addresses to which jumps may lead in a mapped file (relocate_targets_free()). */
struct image_targets {
	uint64_t base, dev, ino;
	struct targets *targets; /* NULL: they cannot be found */
};

static inline bool site_is_patched(const struct site *s)
{
	return s->kind == SITE_SHORT || s->kind == SITE_LONG || s->kind == SITE_EARLY;
}

/* Returns the address to which the last jump on the way to the stub leads. */
static inline uint64_t site_target(const struct site *s)
{
	return s->stub + (s->kind == SITE_EARLY ? STUB_EARLY : 0);
}

/* Returns the site whose stub contains `addr`, or NULL. */
struct site *site_of_stub(const struct image *img, uint64_t addr);
/* Returns the site with a long jump from which the instruction at `ip` moved into a stub, or NULL. */
const struct site *site_moved_from(const struct image *img, uint64_t ip);
/* Can a jump at one of the two addresses reach the other? */
bool site_is_near(uint64_t a, uint64_t b);
/* Does memory still contain the bytes that a change wrote (`new`), or the bytes from before the change (!new)? */
bool site_bytes_are(const struct task *task, const struct change *c, bool new);
/*
 * Adds `size` bytes at `addr`, which the program has mapped for stubs, to the image, and writes the head there. Returns the
 * area, which is valid until the next one is added, or NULL if the memory cannot be written.
 */
struct stub_page *site_add_page(struct task *task, uint64_t addr, uint32_t size);
/* Writes the site's stub into the program's memory. */
bool site_write_stub(struct task *task, const struct site *s);

/*
 * Patches a site that has a stub, at address s->ip of mapping `m` (or NULL). Returns WHY_NONE, or the reason why that is not
 * possible. Each processor implements this function and the next one in its folder (cpu.h).
 */
enum site_why site_patch(struct patch *p, struct task *task, struct site *s, const struct mapping *m);
/* Writes the jumps of a patched site again. Returns false if the memory cannot be written. */
bool site_patch_again(struct task *task, struct site *s);

/* Adds a site to the tables by address, stub and hop. The image owns the site from then on. */
void site_add(struct patch *p, struct image *img, struct site *s);
/* Adds a site to the tables by stub and hop, after the engine has decided how to patch it. */
void site_index(struct image *img, struct site *s);
/* Removes the site's hops from the table sites.by_hop, and forgets the site's changes. */
void site_unindex(struct image *img, struct site *s);
/* Adds to the image's list which bytes of padding the hops of this patched site occupy. */
void site_note_gaps(struct image *img, const struct site *s);
/* Copies all sites of an image to a new one. */
void site_copy_all(struct patch *p, struct image *img, const struct image *from);
void site_free_all(struct patch *p, struct image *img);

/*
 * Called at the first stop of a child with a copy of its parent's memory. Other threads of the parent may have patched
 * sites while the copy was made; checks these sites, and removes those that are not patched in the copy.
 */
void site_check_copied(struct patch *p, struct task *task);
/* Restores a site. With `hops`, also restores the padding up to its stub, which no other thread may be executing. */
void site_restore(const struct task *task, const struct site *s, bool hops);
/* Restores all sites of the task's image. */
void site_restore_all(struct task *task);
/* Does the same while threads may be executing the code. Leaves sites that cannot be restored at once. */
void site_restore_running(struct task *task);
/* After rt_sigreturn(2): if the thread is at an instruction that has moved into a stub, sends it there. */
bool site_follow_moved(struct task *task);
/* Does the same for the registers `r` of a thread of this image. */
bool site_follow_registers(const struct image *img, struct cpu_regs *r);
/*
 * Returns the native address of an instruction in the stub of a long jump: of one that has moved there, of that after the call,
 * or of the program's call instruction. 0: `ip` is the address of none of them. A handler may return to these addresses.
 */
uint64_t site_native_of(const struct image *img, uint64_t ip);
/*
 * Called for a thread that has not made its rt_sigreturn(2): if the agent has replaced the address to which the handler
 * returns, in the signal's frame at the stack pointer `sp`, restores it (agent_data.followed).
 */
void site_restore_frame(const struct task *task, uint64_t sp);
/* Sets the native state before the call: the thread is at the site. The call's number must be in CPU_NR. */
void site_set_before_call(struct cpu_regs *r, const struct site *s);
/* With SCTRACE_DEBUG, prints what was decided about a site, and why. `known`: the decision was kept in a plan. */
void site_say(const struct patch *p, const struct task *task, const struct site *s, bool known);
/* Adds lines to the footer about the sites in p->often at which most calls stopped. */
void site_say_often(const struct patch *p, struct buf *text);

/*
 * The positions of threads when their process was attached to. A thread that was in a call returns to the instruction
 * after the call. Until the thread has returned, the instructions at that position must not move into a stub.
 */

/* Notes the position of a task. If the task is not stopped, it may be anywhere. */
void resume_point_note(struct patch *p, const struct task *task);
/* Forgets a position: the task has stopped at a call that it made after the agent was mapped. */
void resume_point_forget(struct patch *p, const struct task *task);
/* May a thread still be in a call that it made before the agent was mapped, and return into [lo, hi)? */
bool resume_point_may_be_in(const struct patch *p, uint64_t lo, uint64_t hi);

/* Called when a call has stopped at a site: decides how the site can be patched, and patches it (visit.c). */

/*
 * Returns the site of the instruction that ends at `ip` and makes call `nr`. At the first call at the site, decides how to
 * patch it, and patches it if possible. Returns NULL if the image has too many sites.
 */
struct site *visit_site(struct patch *p, struct task *task, uint64_t ip, int64_t nr);

/*
 * With ARM_KNOCK: patches all sites of the stopped task's image that are not patched yet (scan.c). If that is not possible, ptrace
 * traces the image.
 */
void scan_image(struct patch *p, struct task *task);
/* Can there be new code, or the original code at sites, after this call? */
bool scan_is_due(const struct call *c);

#endif
