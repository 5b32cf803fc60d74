/* SPDX-License-Identifier: MIT */
/* Plans: what was learned about the call sites of files, so that the next image need not stop at each site. */
#ifndef SCTRACE_ENGINE_PATCH_IMAGE_IMAGE_PLAN_H
#define SCTRACE_ENGINE_PATCH_IMAGE_IMAGE_PLAN_H

#include "engine/patch/image/site.h"
#include "engine/patch/remote/remote.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kept_plans;
struct module;
struct plan;
struct proc_status;

/* Code that is written with the loader's sites while the image has no memory for stubs yet (unattended.c). */
struct plan_extra {
	uint64_t addr;             /* address of unused bytes, all 0, which `code` will overwrite */
	const unsigned char *code; /* the code, `n` bytes, at most PLAN_EXTRA_MAX */
	size_t n;
	/* The buffer to which the stubs are copied instead of to the program; at most PLAN_EXTRA_STUBS bytes. */
	unsigned char *stubs;
	size_t nstubs; /* number of bytes of stubs */
	bool written;  /* set if the code and the sites were written; otherwise nothing was written */
};
#define PLAN_EXTRA_MAX   1024
#define PLAN_EXTRA_STUBS (PLAN_BATCH * STUB_SIZE)
/* The number of sites patched together: one call reads all their bytes, and one call writes each run of bytes. */
#define PLAN_BATCH 32

/*
 * Must be called before a new image runs its first instruction, which is at `entry`. `s` is the /proc/PID/status of its
 * process. Notes the owner and the program of the image, and adds the plans that were kept for the program to the loader's
 * module.
 */
void plan_begin(struct patch *p, struct task *task, const struct proc_status *s, uint64_t entry);
/*
 * The same for the image of a process that sctrace attaches to. `s` is the /proc/PID/status of the process's first thread.
 * All calls are then expected of the program, because those that it made before are not known.
 */
void plan_begin_attached(struct patch *p, struct task *task, const struct proc_status *s);
/* Remembers what was decided about a site in mapping `m`, where call `nr` was made, for the next images. */
void plan_remember(struct patch *p, struct task *task, const struct site *s, const struct mapping *m, int64_t nr);
/* Returns the end of the part of padding [lo, hi) of `m` that plans for this image use; `lo`: none. */
uint64_t plan_used_until(const struct patch *p, const struct image *img, const struct mapping *m, uint64_t lo,
			 uint64_t hi);
/* Called after a decision about a site in mapping `m`. If `m` has the image's first instruction, it is the loader. */
void plan_note_loader(struct patch *p, struct task *task, const struct mapping *m);
/* Returns where the last `n` bytes of the loader's code are in an image that begins at `entry`, or 0. */
uint64_t plan_loader_room(const struct patch *p, uint64_t entry, size_t n);
/* Patches the loader's known sites in a new image that begins at `entry`. Also writes `extra` if it is not NULL. */
void plan_apply_loader(struct patch *p, struct task *task, uint64_t entry, struct plan_extra *extra);
/*
 * Patches the known sites that the program probably uses (usage.c) in all files that the loader has mapped. Called at a
 * stop that cannot be avoided anyway; `ip` is the address after the call that has stopped. Does nothing if it was already
 * called for the image. Patches nothing if the call was not made by the loader: other programs, such as binary
 * translators, may map a file to read it.
 */
void plan_apply_mapped(struct patch *p, struct task *task, uint64_t ip);
/* While attaching, after resume_point_note(): patches the known sites in all files that are mapped. */
void plan_apply_attached(struct patch *p, struct task *task);
/*
 * Called when a call has stopped at `ip`, which is not yet a site of the image. Applies the file's plans for that site,
 * if there is one, and for all sites whose calls the program probably makes (usage.c). Returns whether the image now has
 * a site at `ip`.
 */
bool plan_apply(struct patch *p, struct task *task, const struct mapping *m, uint64_t ip);
/* Reads the plans that earlier runs have kept (kept_plans.c), unless this run excludes some kinds of jumps. */
void plan_open_kept(struct patch *p);
/* Keeps the plans for later runs (kept_plans.c), and frees them. */
void plan_free_all(struct patch *p);

/*
 * Keeps plans for later runs. Without them, each call site costs a stop and an analysis of its code, which
 * together can take longer than a short program. The plans are in sctrace-sites, in the folder of engine/costs.h. They are
 * valid for the file with the same device, inode and time of last change. They are used only for the program in which
 * they were learned: patching a site takes time, which is wasted if another program never reaches the site. Plans that
 * were learned from other users' programs are not kept (kept_plans.c).
 */

/* The number of plans that are kept. If there are more, those that were not used for the longest time are removed. */
#define KEPT_PLANS_MAX 1024

/*
 * Reads the kept plans. `rights` are sctrace's own capabilities: plans that a run with other capabilities has kept are
 * not used. Returns NULL if nothing can be kept. The caller frees the result with kept_plans_close().
 */
struct kept_plans *kept_plans_open(uint64_t rights);
/* Does nothing if `k` is NULL. */
void kept_plans_close(struct kept_plans *k);
/* Can this plan of the module be kept? */
bool kept_plans_suit(const struct module *mod, const struct plan *plan);
/* Are there plans for the program with this short name that kept_plans_add() has not added yet? */
bool kept_plans_exist(struct kept_plans *k, const char *program);
/* The agent makes the calls at the sites of these plans from the start of the next image (image_expect_call()). */
void kept_plans_expect_calls(struct patch *p, const char *program);
/* Adds the plans in p->kept for the module's file and the program with this short name to `mod`. */
void kept_plans_add(struct patch *p, struct module *mod, const char *program);
/* Writes the plans of these modules that can be kept, and earlier ones that were not used or overlapped others. */
void kept_plans_save(const struct kept_plans *k, struct module *const *mods, size_t n);

/* The files that the program has mapped, and what was learned about the call sites in them (image_plan.c). */

/* What was learned about one site of a file. */
struct plan {
	struct owner owner;
	char program[PROC_NAME]; /* short name of the program in which it was learned, or "" */
	uint64_t offset;         /* the address after the call instruction, as an offset in the file */
	int16_t call; /* number of the system call that was made there when the plan was made; -1: none below AGENT_NUMBERS */
	bool instead; /* there is another plan for the site, with a long jump; this one is for images that cannot have it */
	/* The following members are as in struct site. */
	enum site_kind kind;
	uint8_t why, moved, code[RELOCATE_MAX];
	uint8_t nchanges;
	struct {
		int32_t delta; /* distance of the change from the address after the call instruction */
		uint8_t len, old[5];
	} change[6];
};

/* A file with patched code. */
struct module {
	uint64_t dev, ino;
	bool served;     /* the file comes from a server, which may not answer (tracee/mem.h) */
	int64_t changed; /* time of the file's last change (maps_changed), or 0 if it is not needed or not known */
	VEC(struct plan) plans;
};

/* Returns the module of the mapped file, or NULL. */
struct module *module_find(const struct patch *p, const struct mapping *m);
/* Returns the module of a mapped file, and creates it at the first use. Returns NULL if there are too many modules. */
struct module *module_of(struct patch *p, const struct task *task, const struct mapping *m);
/* Adds a plan, and sets `instead` in its copy. Returns false if there are too many, or if it overlaps another. */
bool module_add(struct patch *p, struct module *mod, const struct plan *plan);
void module_free_all(struct patch *p);

#endif
