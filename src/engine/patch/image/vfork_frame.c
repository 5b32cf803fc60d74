#include "engine/patch/image/vfork_frame.h"

#include "engine/patch/remote/remote.h"

extern const unsigned char agent_after_vfork[];
extern const unsigned char agent_record_vfork_after[], agent_record_loaded[], agent_record_child[], agent_record_end[];

static bool is_between(uint64_t ip, const unsigned char *from, const unsigned char *to)
{
	return ip >= AGENT_AT(from) && ip < AGENT_AT(to);
}

bool vfork_frame_is_kept(uint64_t ip)
{
	return is_between(ip, agent_after_vfork, agent_loaded) ||
	       is_between(ip, agent_record_vfork_after, agent_record_loaded);
}

bool vfork_frame_is_child(const struct user_regs_struct *r)
{
	return r->rax == 0 && (vfork_frame_is_kept(r->rip) || is_between(r->rip, agent_record_child, agent_record_end));
}

static uint64_t address(void)
{
	return AGENT_DATA + offsetof(struct agent_data, vfork_frame);
}

int vfork_frame_read(const struct task *task, struct agent_vfork_frame *kept)
{
	return remote_read(task->tid, address(), kept, sizeof(*kept));
}

void vfork_frame_release(const struct task *task)
{
	static const uint64_t none;
	remote_write(task->tid, address() + offsetof(struct agent_vfork_frame, taken), &none, sizeof(none));
}
