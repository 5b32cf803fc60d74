/* SPDX-License-Identifier: MIT */
#include "bench/place.h"

#include "base/buf.h"
#include "bench/kid.h"
#include "run/run.h"

#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEFAULT_PRIO 50 /* of the real-time policies */

int cpu_list_allowed(struct cpu_list *l)
{
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return -errno;
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set))
			vec_push(l, i);
	return 0;
}

static bool cpu_list_has(const struct cpu_list *l, int cpu)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i] == cpu)
			return true;
	return false;
}

/* Appends the CPUs `first` to `last`. This process must be allowed to use each of them. */
static int add_range(struct cpu_list *l, long first, long last, struct buf *why)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof(set), &set);
	for (long i = first; i <= last; i++) {
		if (i >= CPU_SETSIZE || !CPU_ISSET((int)i, &set)) {
			struct cpu_list have = {0};
			cpu_list_allowed(&have);
			buf_addf(why,
				 "CPU %ld does not exist, or this process is not allowed to use it; the usable CPUs "
				 "are ",
				 i);
			cpu_list_format(why, &have);
			vec_free(&have);
			return -EINVAL;
		}
		if (cpu_list_has(l, (int)i)) {
			buf_addf(why, "CPU %ld is named twice", i);
			return -EINVAL;
		}
		vec_push(l, (int)i);
	}
	return 0;
}

int cpu_list_parse(struct cpu_list *l, const char *text, struct buf *why)
{
	const char *p = text;
	do {
		char *end;
		if (!isdigit((unsigned char)*p))
			goto bad;
		long first = strtol(p, &end, 10);
		long last = first;
		if (*end == '-') {
			p = end + 1;
			if (!isdigit((unsigned char)*p))
				goto bad;
			last = strtol(p, &end, 10);
		}
		if (last < first || (*end && *end != ','))
			goto bad;
		int err = add_range(l, first, last, why);
		if (err)
			return err;
		p = *end ? end + 1 : NULL;
	} while (p);
	return 0;
bad:
	buf_addf(why, "'%s' is not a list of CPUs; write for example '0', '0,2' or '0-3'", text);
	return -EINVAL;
}

void cpu_list_format(struct buf *out, const struct cpu_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		size_t j = i;
		while (j + 1 < l->n && l->v[j + 1] == l->v[j] + 1)
			j++;
		buf_addf(out, "%s%d", i ? "," : "", l->v[i]);
		if (j > i)
			buf_addf(out, "-%d", l->v[j]);
		i = j;
	}
}

int place_pin(const int *cpus, size_t n)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	for (size_t i = 0; i < n; i++)
		CPU_SET(cpus[i], &set);
	return sched_setaffinity(0, sizeof(set), &set) < 0 ? -errno : 0;
}

static const struct {
	const char *name;
	int policy;
} policies[] = {
	{"other", SCHED_OTHER},
	{"batch", SCHED_BATCH},
	{"fifo", SCHED_FIFO},
	{"rr", SCHED_RR},
};

static int policy_by_name(const char *name)
{
	for (size_t i = 0; i < sizeof(policies) / sizeof(*policies); i++)
		if (strcmp(policies[i].name, name) == 0)
			return policies[i].policy;
	return -1;
}

const char *place_policy_name(int policy)
{
	for (size_t i = 0; i < sizeof(policies) / sizeof(*policies); i++)
		if (policies[i].policy == policy)
			return policies[i].name;
	return "?";
}

int place_set_policy(const struct place_policy *p)
{
	struct sched_param param = {.sched_priority = p->prio};
	if (sched_setscheduler(0, p->policy, &param) < 0)
		return -errno;
	/*
	 * On Linux, setpriority(2) with `who` 0 changes the calling thread. POSIX says that it changes the calling
	 * process.
	 */
	if ((p->policy == SCHED_OTHER || p->policy == SCHED_BATCH) && p->nice &&
	    setpriority(PRIO_PROCESS, 0, p->nice) < 0)
		return errno == EACCES ? -EPERM : -errno;
	return 0;
}

/* Applies `p` to a child, to find out whether it is permitted. Returns 0 or -errno. */
static int try_policy(const struct place_policy *p)
{
	pid_t kid = kid_fork();
	if (kid < 0)
		return kid;
	if (kid == 0)
		_exit(-place_set_policy(p));
	int status = kid_wait(kid);
	return status >= 0 && WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
}

int place_choose_policy(struct place_policy *p, const char *name, int otherwise, int prio, struct run *run,
			struct buf *why)
{
	*p = (struct place_policy){.policy = name ? policy_by_name(name) : otherwise};
	bool real_time = p->policy == SCHED_FIFO || p->policy == SCHED_RR;
	if (prio && !real_time) {
		buf_addf(why, "--prio needs --policy fifo or --policy rr; the policy '%s' has no priorities",
			 place_policy_name(p->policy));
		return -ERANGE;
	}
	if (real_time)
		p->prio = prio ? prio : DEFAULT_PRIO;
	int err = try_policy(p);
	if (err) {
		run_note(run, "the policy %s is not permitted (%s), so %s was used", place_policy_name(p->policy),
			 strerror(-err), place_policy_name(otherwise));
		*p = (struct place_policy){.policy = otherwise};
	}
	return 0;
}

void place_permit_nice(const struct place_policy *p, int *nice, size_t n, struct run *run)
{
	for (size_t i = 0; i < n; i++) {
		struct place_policy try = *p;
		try.nice = nice[i];
		int err = try_policy(&try);
		if (err) {
			run_note(run, "nice %d is not permitted (%s), so 0 was used", nice[i], strerror(-err));
			nice[i] = 0;
		}
	}
}

int place_lock_memory(void)
{
	return mlockall(MCL_CURRENT | MCL_FUTURE) < 0 ? -errno : 0;
}
