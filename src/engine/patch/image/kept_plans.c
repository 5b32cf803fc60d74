/* SPDX-License-Identifier: MIT */
#include "engine/patch/image/image_plan.h"

#include "base/buf.h"
#include "base/map.h"
#include "base/memory.h"
#include "engine/costs.h"
#include "engine/patch/image/image.h"
#include "engine/patch/remote/remote.h"
#include "tracee/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "sctrace-sites"

/* The file consists of its head and entries. */
struct head {
	char machine[160];
	uint64_t rights;
	uint64_t entry_size; /* sizeof(struct entry) */
};

enum entry_state {
	ENTRY_UNUSED,   /* its program or its file was not seen in this run */
	ENTRY_ADDED,    /* its plan was added to a module */
	ENTRY_OVERLAPS, /* its plan overlaps another one */
	ENTRY_STALE,    /* its file has changed */
};

struct entry {
	uint64_t dev, ino;
	int64_t changed;
	struct plan plan;
	enum entry_state state; /* in the file: ENTRY_UNUSED */
};

struct kept_plans {
	int folder;
	struct head head;
	struct entry *entries;
	size_t n;
	struct map spent; /* contains map_key() of the short names of programs without unused entries */
};

/* Could the engine have made this plan? */
static bool is_possible(const struct plan *plan)
{
	static const struct {
		uint8_t changes_min, changes_max, moved_min, moved_max;
	} limits[] = {
		[SITE_SHORT] = {CPU_JUMPS_MIN, 6, 0, 0},
		[SITE_LONG] = {1, 1, 1, RELOCATE_MAX},
		[SITE_EARLY] = {1, 1, 5, RELOCATE_EARLY_MAX},
		[SITE_REDIRECT] = {0, 0, 0, 0},
	};
	if (plan->owner.uid || plan->owner.gid || plan->call < -1 || plan->call >= AGENT_NUMBERS || plan->why >= WHYS ||
	    plan->kind < SITE_SHORT || plan->kind > SITE_REDIRECT || plan->nchanges < limits[plan->kind].changes_min ||
	    plan->nchanges > limits[plan->kind].changes_max || plan->moved < limits[plan->kind].moved_min ||
	    plan->moved > limits[plan->kind].moved_max)
		return false;
	for (int i = 0; i < plan->nchanges; i++)
		if (plan->change[i].len != (i == 0 ? CPU_JUMP_SIZE : 2))
			return false;
	return true;
}

/* Reads the entries if the file is complete, and valid for this machine and this sctrace. */
static void read_entries(struct kept_plans *k, int fd)
{
	struct head head;
	struct stat st;
	if (fstat(fd, &st) < 0 || read(fd, &head, sizeof(head)) != (ssize_t)sizeof(head) ||
	    memcmp(&head, &k->head, sizeof(head)) != 0)
		return;
	size_t size = (size_t)st.st_size - sizeof(head);
	if (size % sizeof(*k->entries) || size > KEPT_PLANS_MAX * sizeof(*k->entries))
		return;
	k->entries = memory_get(size);
	if (read(fd, k->entries, size) == (ssize_t)size)
		k->n = size / sizeof(*k->entries);
	for (size_t i = 0; i < k->n; i++)
		if (k->entries[i].state != ENTRY_UNUSED || !is_possible(&k->entries[i].plan))
			k->n = 0;
}

struct kept_plans *kept_plans_open(uint64_t rights)
{
	auto_buf machine = {0};
	struct kept_plans *k = memory_zeroed(1, sizeof(*k));
	k->folder = kept_folder();
	if (k->folder >= 0)
		kept_describe_machine(&machine);
	bool ok = machine.len && machine.len < sizeof(k->head.machine);
	if (ok) {
		memcpy(k->head.machine, buf_str(&machine), machine.len);
		k->head.rights = rights;
		k->head.entry_size = sizeof(struct entry);
		int fd = openat(k->folder, NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd >= 0) {
			read_entries(k, fd);
			close(fd);
		}
	}
	if (ok)
		return k;
	kept_plans_close(k);
	return NULL;
}

void kept_plans_close(struct kept_plans *k)
{
	if (!k)
		return;
	if (k->folder >= 0)
		close(k->folder);
	free(k->entries);
	map_free(&k->spent);
	free(k);
}

bool kept_plans_suit(const struct module *mod, const struct plan *plan)
{
	return mod->changed && plan->program[0] && !plan->owner.uid && !plan->owner.gid;
}

static bool is_unused(const struct entry *e, const char *program)
{
	return e->state == ENTRY_UNUSED && strncmp(e->plan.program, program, PROC_NAME) == 0;
}

bool kept_plans_exist(struct kept_plans *k, const char *program)
{
	size_t i = 0;
	if (map_get(&k->spent, map_key(program)))
		return false;
	while (i < k->n && !is_unused(&k->entries[i], program))
		i++;
	if (i < k->n)
		return true;
	map_put(&k->spent, map_key(program), k);
	return false;
}

void kept_plans_expect_calls(struct patch *p, const char *program)
{
	for (size_t i = 0; i < p->kept->n; i++)
		if (is_unused(&p->kept->entries[i], program))
			image_expect_call(p, p->kept->entries[i].plan.call);
}

void kept_plans_add(struct patch *p, struct module *mod, const char *program)
{
	for (size_t i = 0; i < p->kept->n; i++) {
		struct entry *e = &p->kept->entries[i];
		if (!is_unused(e, program) || e->ino != mod->ino || e->dev != mod->dev || !mod->changed)
			continue;
		if (e->changed != mod->changed)
			e->state = ENTRY_STALE;
		else
			e->state = module_add(p, mod, &e->plan) ? ENTRY_ADDED : ENTRY_OVERLAPS;
	}
}

/* Appends an entry, unless there are too many. */
static void put_entry(struct buf *out, const struct entry *from)
{
	struct entry e;
	if (out->len >= sizeof(struct head) + KEPT_PLANS_MAX * sizeof(e))
		return;
	memset(&e, 0, sizeof(e)); /* also the bytes between its members */
	e.dev = from->dev;
	e.ino = from->ino;
	e.changed = from->changed;
	memcpy(&e.plan, &from->plan, sizeof(e.plan));
	buf_add(out, &e, sizeof(e));
}

void kept_plans_save(const struct kept_plans *k, struct module *const *mods, size_t n)
{
	auto_buf out = {0};
	buf_add(&out, &k->head, sizeof(k->head));
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < mods[i]->plans.n; j++) {
			const struct plan *plan = &mods[i]->plans.v[j];
			if (kept_plans_suit(mods[i], plan))
				put_entry(&out,
					  &(struct entry){mods[i]->dev, mods[i]->ino, mods[i]->changed, *plan, 0});
		}
	for (size_t i = 0; i < k->n; i++)
		if (k->entries[i].state == ENTRY_UNUSED || k->entries[i].state == ENTRY_OVERLAPS)
			put_entry(&out, &k->entries[i]);
	kept_replace(k->folder, NAME, out.s, out.len);
}

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
	return mem_served_device(pid, dev);
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
