/* SPDX-License-Identifier: MIT */
/*
 * Keeps plans (kept_plans.h) for later runs. Without them, each call site costs a stop and an analysis of its code, which
 * together can take longer than a short program. The plans are in sctrace-sites, in the folder of engine/costs.h. They are
 * valid for the file with the same device, inode and time of last change. They are used only for the program in which
 * they were learned: patching a site takes time, which is wasted if another program never reaches the site. Plans that
 * were learned from other users' programs are not kept.
 */
#ifndef SCTRACE_ENGINE_PATCH_IMAGE_KEPT_PLANS_H
#define SCTRACE_ENGINE_PATCH_IMAGE_KEPT_PLANS_H

#include "engine/patch/image/site.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct module;
struct patch;
struct plan;
struct kept_plans;

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

/* The files that the program has mapped, and what was learned about the call sites in them. */

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
/*
 * Adds a plan. Returns false if there are too many, or if it overlaps another plan for the same owner. Sets plan.instead in
 * the module's copy.
 */
bool module_add(struct patch *p, struct module *mod, const struct plan *plan);
void module_free_all(struct patch *p);

#endif
