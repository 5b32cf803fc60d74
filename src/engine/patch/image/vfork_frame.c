#include "engine/patch/image/vfork_frame.h"

#include "engine/patch/code/ring.h"
#include "engine/patch/remote/remote.h"

#include <string.h>

bool vfork_frame_is_kept(uint64_t ip)
{
	return agent_is_between(ip, AGENT_VFORK_PATH->after, agent_released) ||
	       agent_is_between(ip, agent_record_vfork_after, agent_record_released);
}

bool vfork_frame_is_child(const struct user_regs_struct *r)
{
	return r->rax == 0 && (agent_is_between(r->rip, AGENT_VFORK_PATH->after, agent_loaded) ||
			       agent_is_between(r->rip, agent_record_vfork_after, agent_record_end));
}

bool vfork_frame_has_room(uint64_t ip)
{
	return ip >= AGENT_AT(agent_record_lowered) || agent_is_between(ip, agent_lowered, agent_loaded);
}

uint64_t vfork_frame_reserved(const struct user_regs_struct *r)
{
	bool as_kind = agent_is_between(r->rip, agent_record_flagged, agent_record_entering) ||
		       agent_is_between(r->rip, agent_record_refuse, agent_record_given);
	if (agent_is_between(r->rip, agent_taken, agent_got))
		return (r->rdx & 0xff) == 0 ? r->r11 : 0;
	if (agent_is_between(r->rip, agent_got, agent_marked))
		return r->r11;
	if (agent_is_between(r->rip, agent_marked, AGENT_VFORK_PATH->after))
		return r->r9;
	return as_kind && r->rcx & KEPT_FIRST ? r->rcx : 0;
}

static bool exists(uint64_t number)
{
	return number - KEPT_FIRST < KEPT_FRAMES;
}

/* Reads the words of a kept frame: the frame itself, and the program's r9. */
static int read_words(const struct task *task, uint64_t number, uint64_t words[KEPT_WORDS])
{
	uint64_t all[KEPT_WORDS][KEPT_FRAMES];
	int err = exists(number) ? remote_read(task->tid, AGENT_DATA_AT(kept), all, sizeof(all)) : -EINVAL;
	for (int i = 0; err == 0 && i < KEPT_WORDS; i++)
		words[i] = all[i][number - KEPT_FIRST];
	return err;
}

int vfork_frame_read(const struct task *task, uint64_t number, struct agent_frame *kept)
{
	uint64_t words[KEPT_WORDS];
	int err = read_words(task, number, words);
	if (err == 0)
		memcpy(kept, words, sizeof(*kept));
	return err;
}

int vfork_frame_restore_r9(const struct task *task, struct user_regs_struct *r)
{
	uint64_t words[KEPT_WORDS];
	int err = 0;
	if (vfork_frame_is_kept(r->rip) || agent_is_between(r->rip, agent_marked, AGENT_VFORK_PATH->after)) {
		err = read_words(task, r->r9, words);
		r->r9 = err < 0 ? r->r9 : words[KEPT_R9];
	} else if (agent_is_between(r->rip, agent_released, agent_loaded) ||
		   agent_is_between(r->rip, agent_record_released, agent_record_loaded))
		r->r9 = r->r11;
	return err;
}

int vfork_frame_note_fs(const struct task *task, const struct user_regs_struct *r)
{
	const uint64_t at = AGENT_DATA_AT(kept) + 8 * (KEPT_FRAMES * KEPT_FS + r->r9 - KEPT_FIRST);
	if (!vfork_frame_is_kept(r->rip) || !exists(r->r9))
		return -EINVAL;
	return remote_write(task->tid, at, &r->fs_base, sizeof(r->fs_base));
}

void vfork_frame_release(const struct task *task, uint64_t number)
{
	static const uint8_t none;
	if (exists(number))
		remote_write(task->tid, AGENT_DATA_AT(taken) + number - KEPT_FIRST, &none, sizeof(none));
}
