/* SPDX-License-Identifier: MIT */
/* How a call is patched: both `svc` and the branch to the stub have four bytes. */
#include "engine/patch/image/site.h"
#include "engine/patch/remote/remote.h"

#include <string.h>

/*
 * Unwinders recognise the frame of a signal by these instructions (aarch64_fallback_frame_state() in libgcc), because the vDSO,
 * to which handlers return, has no unwind table for them. So rt_sigreturn(2) stops, unlike on x86-64.
 */
static bool is_restorer(const struct task *task, uint64_t ip)
{
	static const unsigned char restorer[] = CPU_RESTORER;
	unsigned char code[sizeof(restorer)];
	return remote_read(task->tid, ip - sizeof(code), code, sizeof(code)) == 0 &&
	       memcmp(code, restorer, sizeof(code)) == 0;
}

enum site_why site_patch(struct patch *p, struct task *task, struct site *s, const struct mapping *m)
{
	struct change *c = &s->change[0];
	*c = (struct change){.addr = s->ip - CPU_CALL_SIZE, .len = CPU_JUMP_SIZE};
	if (!m || !m->patchable)
		return WHY_NO_FILE;
	if (remote_read(task->tid, c->addr, c->old, c->len) < 0 || !cpu_is_call(c->old))
		return WHY_NO_CALL;
	if (is_restorer(task, s->ip))
		return WHY_RESTORER;
	if (!(p->ways & WAY_SHORT))
		return WHY_FORBIDDEN;
	if (!encode_jump(c->new, c->len, c->addr, s->stub))
		return WHY_NO_STUB;
	if (!site_write_stub(task, s) || remote_write(task->tid, c->addr, c->new, c->len) < 0)
		return WHY_NOT_WRITABLE;
	s->nchanges = 1;
	s->kind = SITE_SHORT;
	return WHY_NONE;
}

bool site_patch_again(struct task *task, struct site *s)
{
	return remote_write(task->tid, s->change[0].addr, s->change[0].new, s->change[0].len) == 0;
}
