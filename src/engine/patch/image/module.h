/* The files that the program has mapped, and what was learned about the call sites in them. */
#ifndef SCTRACE_ENGINE_PATCH_IMAGE_MODULE_H
#define SCTRACE_ENGINE_PATCH_IMAGE_MODULE_H

#include "engine/patch/image/site.h"

/* What was learned about one site of a file. */
struct plan {
	struct owner owner;
	char program[PROC_NAME]; /* short name of the program in which it was learned, or "" */
	uint64_t offset;         /* the address after the call instruction, as an offset in the file */
	int16_t call; /* number of the system call that was made there when the plan was made; -1: none below AGENT_CALLS */
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
	bool served;     /* the file comes from a server, which may not answer (tracee/served.h) */
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
