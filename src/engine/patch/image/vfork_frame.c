#include "engine/patch/image/vfork_frame.h"

#include "engine/patch/remote/remote.h"

bool vfork_frame_is_kept(uint64_t ip)
{
	return agent_is_between(ip, AGENT_VFORK_PATH->after, agent_loaded) ||
	       agent_is_between(ip, agent_record_vfork_after, agent_record_loaded);
}

bool vfork_frame_is_child(const struct user_regs_struct *r)
{
	return r->rax == 0 &&
	       (vfork_frame_is_kept(r->rip) || agent_is_between(r->rip, agent_record_child, agent_record_end));
}

bool vfork_frame_has_room(uint64_t ip)
{
	return ip >= AGENT_AT(agent_record_lowered) || agent_is_between(ip, agent_lowered, agent_loaded);
}

int vfork_frame_read(const struct task *task, struct agent_vfork_frame *kept)
{
	return remote_read(task->tid, AGENT_DATA_AT(vfork_frame), kept, sizeof(*kept));
}

void vfork_frame_release(const struct task *task)
{
	static const uint64_t none;
	remote_write(task->tid, AGENT_DATA_AT(vfork_frame.taken), &none, sizeof(none));
}
