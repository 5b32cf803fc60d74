#include "engine/patch/image/kept_plans.h"

#include "base/buf.h"
#include "base/memory.h"
#include "engine/kept.h"
#include "engine/patch/image/module.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "sctrace-sites"

/* The file consists of its head, a row for each module, and the plans of the first module, the second and so on. */
struct head {
	char machine[160];
	uint64_t rights;
	uint32_t plan_size; /* sizeof(struct plan) */
	uint32_t rows;
};

struct row {
	uint64_t dev, ino;
	int64_t changed;
	uint64_t plans; /* number of plans */
};

struct kept_plans {
	int folder;
	struct head head;
	struct buf file; /* the contents of the file, or empty */
};

static const struct row *rows_of(const struct kept_plans *k)
{
	return (const struct row *)(const void *)(k->file.s + sizeof(struct head));
}

static size_t number_of_rows(const struct kept_plans *k)
{
	return k->file.len ? ((const struct head *)(const void *)k->file.s)->rows : 0;
}

static const struct plan *first_plan(const struct kept_plans *k)
{
	return (const struct plan *)(const void *)(rows_of(k) + number_of_rows(k));
}

/* Could the engine have made this plan? */
static bool is_possible(const struct plan *plan)
{
	static const struct {
		uint8_t changes_min, changes_max, moved_min, moved_max;
	} limits[] = {
		[SITE_SHORT] = {2, 6, 0, 0},
		[SITE_LONG] = {1, 1, 3, RELOCATE_MAX},
		[SITE_EARLY] = {1, 1, 5, RELOCATE_EARLY_MAX},
		[SITE_REDIRECT] = {0, 0, 0, 0},
	};
	if (plan->owner.uid || plan->owner.gid || plan->kind < SITE_SHORT || plan->kind > SITE_REDIRECT ||
	    plan->nchanges < limits[plan->kind].changes_min || plan->nchanges > limits[plan->kind].changes_max ||
	    plan->moved < limits[plan->kind].moved_min || plan->moved > limits[plan->kind].moved_max)
		return false;
	for (int i = 0; i < plan->nchanges; i++)
		if (plan->change[i].len != (i == 0 ? 5 : 2))
			return false;
	return true;
}

/* Is the file complete, and valid for this machine and this sctrace? */
static bool is_valid(const struct kept_plans *k)
{
	const struct head *head = (const struct head *)(const void *)k->file.s;
	size_t plans = 0;
	if (k->file.len < sizeof(*head) || memcmp(head, &k->head, offsetof(struct head, rows)) != 0 ||
	    head->rows > KEPT_PLANS_MAX || k->file.len < sizeof(*head) + head->rows * sizeof(struct row))
		return false;
	for (size_t i = 0; i < head->rows && plans <= KEPT_PLANS_MAX; i++)
		plans += rows_of(k)[i].plans <= KEPT_PLANS_MAX ? rows_of(k)[i].plans : KEPT_PLANS_MAX + 1;
	if (k->file.len != sizeof(*head) + head->rows * sizeof(struct row) + plans * sizeof(struct plan))
		return false;
	for (size_t i = 0; i < plans; i++)
		if (!is_possible(first_plan(k) + i))
			return false;
	return true;
}

static void read_file(struct kept_plans *k)
{
	const size_t most = sizeof(struct head) + KEPT_PLANS_MAX * (sizeof(struct row) + sizeof(struct plan));
	int fd = openat(k->folder, NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, buf_room(&k->file, most), most);
	if (fd >= 0)
		close(fd);
	k->file.len = n > 0 ? (size_t)n : 0;
	if (!is_valid(k))
		buf_free(&k->file);
}

struct kept_plans *kept_plans_open(uint64_t rights)
{
	struct buf machine = {0};
	struct kept_plans *k = memory_zeroed(1, sizeof(*k));
	k->folder = kept_folder();
	if (k->folder >= 0)
		kept_describe_machine(&machine);
	bool ok = machine.len && machine.len < sizeof(k->head.machine);
	if (ok) {
		memcpy(k->head.machine, buf_str(&machine), machine.len);
		k->head.rights = rights;
		k->head.plan_size = sizeof(struct plan);
		read_file(k);
	}
	buf_free(&machine);
	if (ok)
		return k;
	kept_plans_close(k);
	return NULL;
}

void kept_plans_close(struct kept_plans *k)
{
	if (k && k->folder >= 0)
		close(k->folder);
	if (k)
		buf_free(&k->file);
	free(k);
}

void kept_plans_find(const struct kept_plans *k, struct module *mod)
{
	const struct plan *plan = first_plan(k);
	for (size_t i = 0; i < number_of_rows(k); plan += rows_of(k)[i++].plans) {
		const struct row *row = &rows_of(k)[i];
		if (row->dev == mod->dev && row->ino == mod->ino && row->changed == mod->changed)
			for (size_t n = 0; n < row->plans; n++)
				vec_push(&mod->plans, plan[n]);
	}
}

/* What kept_plans_save() writes. */
struct output {
	struct buf rows, plans;
	size_t nrows, nplans;
};

static void add_plan(struct output *out, struct row *row, const struct plan *plan)
{
	if (out->nplans >= KEPT_PLANS_MAX || plan->owner.uid || plan->owner.gid)
		return;
	buf_add(&out->plans, plan, sizeof(*plan));
	out->nplans++;
	row->plans++;
}

static void add_row(struct output *out, const struct row *row)
{
	if (!row->plans)
		return;
	buf_add(&out->rows, row, sizeof(*row));
	out->nrows++;
}

static void add_module(struct output *out, const struct module *mod)
{
	struct row row = {mod->dev, mod->ino, mod->changed, 0};
	for (size_t i = 0; mod->changed && i < mod->plans.n; i++)
		add_plan(out, &row, &mod->plans.v[i]);
	add_row(out, &row);
}

static bool contains(struct module *const *mods, size_t n, const struct row *row)
{
	for (size_t i = 0; i < n; i++)
		if (mods[i]->dev == row->dev && mods[i]->ino == row->ino)
			return true;
	return false;
}

/* Adds the kept plans of files that this run has not mapped. */
static void add_others(struct output *out, const struct kept_plans *k, struct module *const *mods, size_t n)
{
	const struct plan *plan = first_plan(k);
	for (size_t i = 0; i < number_of_rows(k); plan += rows_of(k)[i++].plans) {
		const struct row *old = &rows_of(k)[i];
		struct row row = {old->dev, old->ino, old->changed, 0};
		for (size_t j = 0; j < old->plans && !contains(mods, n, old); j++)
			add_plan(out, &row, &plan[j]);
		add_row(out, &row);
	}
}

void kept_plans_save(const struct kept_plans *k, struct module *const *mods, size_t n)
{
	struct output out = {.nrows = 0};
	struct buf file = {0};
	struct head head = k->head;
	for (size_t i = 0; i < n; i++)
		add_module(&out, mods[i]);
	add_others(&out, k, mods, n);
	head.rows = (uint32_t)out.nrows;
	buf_add(&file, &head, sizeof(head));
	buf_add(&file, buf_str(&out.rows), out.rows.len);
	buf_add(&file, buf_str(&out.plans), out.plans.len);
	kept_replace(k->folder, NAME, file.s, file.len);
	buf_free(&file);
	buf_free(&out.rows);
	buf_free(&out.plans);
}
