/* Chooses the measurements of `bench switch`, and makes all of them. */
#include "base/memory.h"
#include "base/near.h"
#include "bench/stop.h"
#include "bench/switch.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

static void say_unknown(const char *name, struct buf *why)
{
	struct near near;
	near_init(&near, name);
	for (size_t i = 0; switch_kind_at(i); i++)
		near_offer(&near, switch_kind_at(i)->name);
	buf_addf(why, "there is no kind of switch '%s'; sctrace bench switch --list lists them", name);
	near_say(&near, "", why);
}

int switch_check(char *const *names, size_t n, bool sized, struct buf *why)
{
	for (size_t i = 0; i < n; i++)
		if (!switch_kind_find(names[i])) {
			say_unknown(names[i], why);
			return -EINVAL;
		}
	for (size_t i = 0; i < n && sized; i++)
		if (switch_kind_find(names[i])->tasks == TASKS_USER) {
			buf_addf(why, "--size cannot be used with '%s', which is a switch at user level", names[i]);
			return -EINVAL;
		}
	return 0;
}

static bool is_named(const struct switch_kind *k, char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], k->name) == 0)
			return true;
	return n == 0;
}

size_t switch_choose(struct switch_result **results, char *const *names, size_t n, bool across, bool sized)
{
	size_t kinds = 0, chosen = 0;
	while (switch_kind_at(kinds))
		kinds++;
	*results = memory_zeroed(2 * kinds + 1, sizeof(**results));
	for (int two = 0; two <= (across ? 1 : 0); two++)
		for (size_t i = 0; i < kinds; i++) {
			const struct switch_kind *k = switch_kind_at(i);
			/*
			 * User-level switches have no working set. Kinds that use sched_yield(2) are measured only on
			 * one CPU.
			 */
			if (!is_named(k, names, n) || (k->tasks == TASKS_USER && (two || sized)) || (k->yields && two))
				continue;
			(*results)[chosen++] = (struct switch_result){.kind = k, .cpu = {0, two}};
		}
	return chosen;
}

int switch_policy(const struct switch_plan *plan, const struct switch_result *r)
{
	bool across = r->cpu[0] != r->cpu[1];
	return across && plan->policy.policy == SCHED_BATCH ? SCHED_OTHER : plan->policy.policy;
}

int switch_measure_all(const struct switch_plan *plan, struct switch_result *results, size_t n)
{
	int err = 0;
	for (size_t i = 0; i < n && !err && !stop_signal(); i++) {
		struct switch_result *r = &results[i];
		struct switch_plan one = *plan;
		one.progress.done = (double)i;
		one.progress.all = (double)n;
		one.progress.what = r->kind->name;
		one.cpu[1] = plan->cpu[r->cpu[1] ? 1 : 0];
		one.policy.policy = switch_policy(plan, r);
		err = switch_measure(&one, r);
	}
	return err;
}
