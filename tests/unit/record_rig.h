/* SPDX-License-Identifier: MIT */
/* A thread that records its calls: it runs the recorder in this process, with a ring and a reader of its own. */
#ifndef RECORD_RIG_H
#define RECORD_RIG_H

#include "engine/patch/record/reader.h"
#include "engine/patch/record/record.h"
#include "syscall/call_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

/* The data of one thread, which is in this process, for the recorder and for the reader. */
struct rig {
	struct agent_ring *ring;
	struct agent_scratch scratch;
	struct record_reader reader;
	uint64_t clock;
};

#define UNRECORDABLE 15 /* the value of agent_recipe.n */
static struct agent_recipe *recipes;
static struct memory_tables *tables;
static struct rig rig;

static inline void *map(void *at, size_t n)
{
	void *p = mmap(at, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED_NOREPLACE : 0), -1,
		       0);
	assert_true(p != MAP_FAILED);
	return p;
}

/* agent_own_call, which agent.S has in programs. */
#ifdef __x86_64__
#define MAKE_CALL "syscall"
#else
#define MAKE_CALL "svc #0"
#endif
void rig_own_call(void);
__asm__(".pushsection .text\n\t.type rig_own_call, %function\nrig_own_call:\n\t" MAKE_CALL "\n\tret\n\t.popsection");

static inline int set_up_all(void **state)
{
	(void)state;
	*(uint64_t *)((char *)map((void *)(uintptr_t)RECORDER_CODE, AGENT_PAGE) + (OWN_CALL_AT - RECORDER_CODE)) =
		(uint64_t)(uintptr_t)rig_own_call;
	recipes = map((void *)(uintptr_t)RECIPES_AT, RECIPES_ROOM);
	map((void *)(uintptr_t)AGENT_DATA, AGENT_PAGE);
	map((void *)(uintptr_t)ELSEWHERE_AT, THREADS_AT + THREADS_ROOM - ELSEWHERE_AT);
	tables = map((void *)(uintptr_t)MEMORY_AT, RECIPES_AT - MEMORY_AT);
	recipe_memory(tables, true);
	for (int64_t nr = 0; nr < 512; nr++) {
		const struct syscall_desc *d = syscall_lookup(syscall_native_arch(), nr);
		if (!d || !recipe_of(d, nr, false, tables, &recipes[nr]))
			recipes[nr].n = UNRECORDABLE;
	}
	return 0;
}

static inline bool is_recordable(int64_t nr)
{
	return recipes[nr].n != UNRECORDABLE;
}

/* `limit` and `end` are those of struct agent_ring. */
static inline void set_up_ring(uint32_t limit, uint32_t end)
{
	reader_free(&rig.reader);
	if (!rig.ring)
		rig.ring = map(NULL, RING_SIZE);
	memset(rig.ring, 0, RING_SIZE);
	rig.ring->limit = limit;
	rig.ring->end = end;
	rig.ring->string_max = 32;
	rig.scratch = (struct agent_scratch){.ring = (uint64_t)(uintptr_t)rig.ring};
	rig.reader = (struct record_reader){.ring = rig.ring, .limit = limit, .end = end};
}

static inline void set_up(uint32_t limit)
{
	set_up_ring(limit, RING_END);
}

/* Calls the recorder's entry function as agent.S does. Returns false if the call must stop, so that sctrace sees it. */
static inline bool enter(int64_t nr, const uint64_t args[6])
{
	rig.scratch.nr = (uint64_t)nr;
	memcpy(rig.scratch.args, args, sizeof(rig.scratch.args));
	struct agent_record *r = recorder_enter(&rig.scratch);
	if (!r)
		return false;
	rig.scratch.record = (uint64_t)(uintptr_t)r;
	r->t0 = ++rig.clock;
	return true;
}

static inline uint64_t leave(int64_t result)
{
	struct agent_record *r = (struct agent_record *)(uintptr_t)rig.scratch.record;
	rig.scratch.result = r->result = result;
	r->t1 = ++rig.clock;
	return recorder_leave(&rig.scratch);
}

/* Reads the captures of a record, as they were before the call or after it. */
static inline ssize_t read_captures(const struct agent_record *r, bool before, uint64_t addr, void *buf, size_t n)
{
	const struct captured_list list = record_captures(r);
	return captured_read(&(struct captured_memory){&list, before, 0}, addr, buf, n);
}

static inline struct record_item take(void)
{
	struct record_item it = reader_peek(&rig.reader);
	if (it.kind != RECORD_NONE)
		reader_pop(&rig.reader);
	return it;
}

#endif
