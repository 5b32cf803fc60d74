#include "engine/patch/image/resume_point.h"

#include <sys/ptrace.h>

void resume_point_note(struct patch *p, const struct task *task)
{
	struct user_regs_struct r = {0}; /* an ip of 0 means that the thread may be anywhere */
	if (task->stopped)
		ptrace_retry(PTRACE_GETREGS, task->tid, NULL, &r);
	vec_push(&p->resume_points, (struct resume_point){task->tid, r.rip});
}

void resume_point_forget(struct patch *p, const struct task *task)
{
	for (size_t i = 0; i < p->resume_points.n; i++)
		if (p->resume_points.v[i].tid == task->tid)
			p->resume_points.v[i--] = p->resume_points.v[--p->resume_points.n];
}

bool resume_point_may_be_in(const struct patch *p, uint64_t lo, uint64_t hi)
{
	for (size_t i = 0; i < p->resume_points.n; i++)
		if (!p->resume_points.v[i].ip || (p->resume_points.v[i].ip >= lo && p->resume_points.v[i].ip < hi))
			return true;
	return false;
}
