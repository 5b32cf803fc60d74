#include "engine/patch/image/module.h"

#include "base/memory.h"
#include "engine/patch/remote/maps.h"
#include "tracee/served.h"

#include <stdlib.h>

/* Limits, because a program may map any number of files. Beyond them, each image decides anew about its sites. */
#define MODULES_MAX 1024
#define PLANS_MAX   16384 /* limit on the number of plans of all files together */

struct module *module_find(const struct patch *p, const struct mapping *m)
{
	for (size_t i = 0; i < p->modules.n; i++)
		if (p->modules.v[i]->dev == m->dev && p->modules.v[i]->ino == m->ino)
			return p->modules.v[i];
	return NULL;
}

/* Most files are on the same device. */
static bool is_served(const struct patch *p, pid_t pid, uint64_t dev)
{
	for (size_t i = 0; i + 1 < p->modules.n; i++)
		if (p->modules.v[i]->dev == dev)
			return p->modules.v[i]->served;
	return served_device(pid, dev);
}

struct module *module_of(struct patch *p, const struct task *task, const struct mapping *m)
{
	struct module *mod = module_find(p, m);
	if (mod || p->modules.n >= MODULES_MAX)
		return mod;
	mod = memory_zeroed(1, sizeof(*mod));
	vec_push(&p->modules, mod);
	mod->dev = m->dev;
	mod->ino = m->ino;
	mod->served = is_served(p, task->tid, m->dev);
	if (p->kept && !mod->served)
		mod->changed = maps_changed(task->tid, m);
	return mod;
}

/* Do the changes of the two plans overlap? Images choose their padding independently, and may choose the same bytes. */
static bool overlaps(const struct plan *a, const struct plan *b)
{
	for (int i = 0; i < a->nchanges; i++)
		for (int k = 0; k < b->nchanges; k++) {
			int64_t x = (int64_t)a->offset + a->change[i].delta;
			int64_t y = (int64_t)b->offset + b->change[k].delta;
			if (x < y + b->change[k].len && y < x + a->change[i].len)
				return true;
		}
	return a->offset == b->offset;
}

/* No image uses both a plan with a long jump and another plan for the same site, so these may overlap. */
static bool is_instead(const struct plan *plan, const struct plan *x)
{
	return x->kind == SITE_LONG && plan->kind != SITE_LONG && x->offset == plan->offset;
}

/* Returns false if the plan overlaps another one. Otherwise sets plan->instead. */
static bool has_room(const struct module *mod, struct plan *plan)
{
	plan->instead = false;
	for (size_t i = 0; i < mod->plans.n; i++) {
		const struct plan *x = &mod->plans.v[i];
		if (x->owner.uid != plan->owner.uid || x->owner.gid != plan->owner.gid)
			continue;
		if (is_instead(plan, x))
			plan->instead = true;
		else if (overlaps(x, plan))
			return false;
	}
	return true;
}

bool module_add(struct patch *p, struct module *mod, const struct plan *plan)
{
	struct plan copy = *plan;
	if (p->nplans >= PLANS_MAX || !has_room(mod, &copy))
		return false;
	vec_push(&mod->plans, copy);
	p->nplans++;
	return true;
}

void module_free_all(struct patch *p)
{
	for (size_t i = 0; i < p->modules.n; i++) {
		vec_free(&p->modules.v[i]->plans);
		free(p->modules.v[i]);
	}
	vec_free(&p->modules);
}
