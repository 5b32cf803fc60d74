/* A program that patches its own call sites, which patch_aarch64.S contains, and that has the agent at its address. */
#ifndef PATCH_AARCH64_RIG_H
#define PATCH_AARCH64_RIG_H

#include "engine/patch/aarch64/encode.h"
#include "engine/patch/aarch64/resume.h"
#include "engine/patch/code/agent.h"

#include <asm/hwcap.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#ifndef PROT_BTI
#define PROT_BTI 0x10
#endif
#define ABOVE 512
#define BELOW 4096

struct state { /* patch_aarch64.S has the offsets */
	uint64_t x[31], sp, nzcv, fpsr;
	unsigned char q[32][16];
};
void rig_run(const struct state *in, struct state *out);
int64_t rig_call(uint64_t arg, int64_t nr);
extern uint32_t rig_site[], rig_call_site[];

static const struct variant {
	const char *name;
	const struct agent_labels *labels;
	unsigned long needs; /* HWCAP_*, or 0 */
} variants[] = {
	{"lse", &agent_labels[0], HWCAP_ATOMICS},
	{"excl", &agent_labels[1], 0},
};
#define VARIANTS (sizeof(variants) / sizeof(variants[0]))

static struct agent_data *const data = (struct agent_data *)AGENT_DATA;
static struct agent_slot *const slots = (struct agent_slot *)AGENT_STATS;
static unsigned char *stubs; /* a struct stub_head, then the stubs of rig_site and of rig_call_site */
static _Alignas(16) unsigned char stack[BELOW + ABOVE], stack_before[BELOW + ABOVE];
static struct agent_words words;
static int zero, null;

/* With the extension BTI, all code here is guarded: an indirect branch to an instruction without a landing pad faults. */
static inline int all_rights(void)
{
	return PROT_READ | PROT_WRITE | PROT_EXEC | (getauxval(AT_HWCAP2) & HWCAP2_BTI ? PROT_BTI : 0);
}

static inline void *map_at(uint64_t at, size_t size, int flags)
{
	return mmap((void *)at, size, all_rights(), flags | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

/* Kernels for small machines have addresses of 39 bits only. */
static inline bool has_address(uint64_t at)
{
	void *page = map_at(at, AGENT_PAGE, MAP_PRIVATE);
	if (page == (void *)at)
		munmap(page, AGENT_PAGE);
	return page == (void *)at;
}

static inline void make_writable(const uint32_t *code)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	assert_int_equal(mprotect((void *)((uintptr_t)code & -page), page, all_rights()), 0);
}

static inline void write_code(uint32_t *at, uint32_t code)
{
	*(volatile uint32_t *)at = code;
	__builtin___clear_cache((char *)at, (char *)(at + 1));
}

static inline int set_up(void **state)
{
	(void)state;
	assert_true(map_at(AGENT_CODE, AGENT_CODE_SIZE + AGENT_PAGE, MAP_PRIVATE) == (void *)AGENT_CODE);
	assert_true(map_at(AGENT_STATS, AGENT_STATS_SIZE, MAP_SHARED) == (void *)AGENT_STATS);
	for (uint64_t at = ((uint64_t)rig_site | 0xfffff) + 1; !stubs; at += 1 << 20)
		if (map_at(at, STUB_AREA, MAP_PRIVATE) == (void *)at)
			stubs = (unsigned char *)at;
	make_writable(rig_site);
	make_writable(rig_call_site);
	memcpy((void *)AGENT_CODE, agent_begin, (size_t)(agent_end - agent_begin));
	__builtin___clear_cache((char *)AGENT_CODE, (char *)AGENT_CODE + (agent_end - agent_begin));
	data->base = AGENT_BASE;
	data->words = (uint64_t)&words;
	data->code[0][0] = AGENT_CODE;
	data->code[0][1] = AGENT_LIMIT;
	zero = open("/dev/zero", O_RDONLY);
	null = open("/dev/null", O_WRONLY);
	return zero < 0 || null < 0;
}

/* Tells the agent how to treat the call. */
static inline void map_call(int64_t nr, unsigned flags)
{
	data->map[nr] = (uint32_t)(nr * SLOT_SIZE + SLOT_ALIGN) | flags;
	memset(&slots[nr], 0, sizeof(slots[nr]));
}

static inline void patch_site(uint32_t *site, size_t stub)
{
	uint64_t at = (uint64_t)stubs + stub;
	uint32_t code[STUB_SIZE / 4], jump;
	assert_true(encode_stub((unsigned char *)code, at, (uint64_t)stubs, (uint64_t)(site + 1), NULL, 0, false));
	memcpy((void *)at, code, sizeof(code));
	__builtin___clear_cache((char *)at, (char *)at + sizeof(code));
	assert_true(encode_branch(&jump, (uint64_t)site, at));
	write_code(site, jump);
}

static inline void patch(const struct variant *v)
{
	struct stub_head *head = (struct stub_head *)stubs;
	head->entry = AGENT_AT(v->labels->entry);
	head->exit = AGENT_AT(v->labels->exit);
	patch_site(rig_site, STUB_SIZE);
	patch_site(rig_call_site, 2 * STUB_SIZE);
}

static inline void unpatch(void)
{
	write_code(rig_site, SITE_CALL);
	write_code(rig_call_site, SITE_CALL);
}

static inline bool may_use(const struct variant *v)
{
	return (getauxval(AT_HWCAP) & v->needs) == v->needs;
}

#endif
