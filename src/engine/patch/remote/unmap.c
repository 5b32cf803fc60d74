#include "engine/patch/remote/unmap.h"

#include "engine/patch/remote/maps.h"
#include "engine/patch/remote/remote.h"
#include "engine/ptrace/attach.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>

#define CALL_MAX 512 /* limit on the size of agent_call */

bool unmap_areas(struct patch *p, struct task *task, const struct area *v, size_t n)
{
	unsigned char old[CALL_MAX];
	size_t len = (size_t)(agent_call_end - agent_call);
	uint64_t room = maps_room(task->tid, len);
	uint64_t at = room ? room : tracer_entry_point(task->tid);
	if (!at || len > sizeof(old) || !task->stopped || remote_read(task->tid, at, old, len) < 0 ||
	    remote_write(task->tid, at, agent_call, len) < 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		const uint64_t args[6] = {v[i].addr, v[i].size};
		struct user_regs_struct r;
		if (task->stopped && ptrace_retry(PTRACE_GETREGS, task->tid, NULL, &r) == 0)
			remote_excursion_call(&p->t, task, at, &r, SYS_munmap, args);
	}
	if (!task->stopped)
		return false;
	remote_write(task->tid, at, old, len);
	return true;
}
