/*
 * The recorder: C code that runs inside the traced program (see ring.h). It is copied there as bytes, so it must not
 * need the rest of sctrace: it makes no library calls and has no constants in other sections and no sanitizers. It does
 * not use vector registers, because they hold the program's values during a system call.
 */
#include "engine/patch/code/ring.h"

#include <stdbool.h>

#define IN_PROGRAM __attribute__((section("recorder_text"), used))
#define HELPER     static inline __attribute__((always_inline))

/* Returns the row for the command in the table that begins at `from`, or the row that ends the table. */
HELPER const struct agent_command *command_row(unsigned from, uint64_t command)
{
	const struct agent_command *row = (const struct agent_command *)COMMANDS_AT + from;
	while (row->rule != RECIPE_END && row->command != (uint32_t)command)
		row++;
	return row;
}

HELPER bool may_record(const struct agent_scratch *r, const struct agent_recipe *recipe)
{
	for (unsigned i = 0; i < recipe->n; i++) {
		uint64_t v = r->args[recipe->op[i].arg];
		unsigned rule = recipe->op[i].rule;
		if (rule == RECIPE_IF_NULL && v)
			return false;
		if (rule == RECIPE_COMMAND &&
		    command_row(recipe->op[i].size, r->args[recipe->op[i].arg - 1])->rule == RECIPE_END)
			return false;
		if (rule == RECIPE_IF_APART && v && v == r->args[recipe->op[i].size])
			return false;
	}
	return true;
}

IN_PROGRAM struct agent_record *recorder_enter(struct agent_scratch *s)
{
	struct agent_ring *r = (struct agent_ring *)s->ring;
	const struct agent_recipe *recipe = (const struct agent_recipe *)RECIPES_AT + s->nr;
	uint64_t used = r->produced - __atomic_load_n(&r->consumed, __ATOMIC_ACQUIRE);
	uint32_t limit = r->limit, next = r->next;
	/* The program may have written to the ring. Values read from it are used only if they are within bounds. */
	if (limit > RING_DATA || next >= limit || used > limit - RECORD_HEAD || !may_record(s, recipe))
		return NULL;
	struct agent_record *rec = ring_record(r, next);
	rec->size = 0;
	rec->t0 = 0;
	rec->t1 = 0;
	rec->nr = s->nr;
	rec->args[0] = s->args[0];
	rec->args[1] = s->args[1];
	rec->args[2] = s->args[2];
	rec->args[3] = s->args[3];
	rec->args[4] = s->args[4];
	rec->args[5] = s->args[5];
	rec->ret = s->ret;
	rec->sp = s->sp;
	__atomic_store_n(&r->open, (uint64_t)next + 1, __ATOMIC_RELEASE);
	return rec;
}

/*
 * True if the result proves that the kernel has read the strings or structures passed to the call. The errors EBADF and
 * EINVAL, for example, may come before the kernel reads them.
 */
HELPER bool proves_read(int64_t result)
{
	/* EINTR ENOENT ECHILD EAGAIN EACCES EEXIST EXDEV ENOTDIR EISDIR ETXTBSY EROFS ELOOP ENOTEMPTY */
	const uint64_t low = 1ull << 2 | 1ull << 4 | 1ull << 10 | 1ull << 11 | 1ull << 13 | 1ull << 17 | 1ull << 18 |
			     1ull << 20 | 1ull << 21 | 1ull << 26 | 1ull << 30 | 1ull << 39 | 1ull << 40;
	uint64_t err = (uint64_t)-result;
	/* ETIMEDOUT ECONNREFUSED EINPROGRESS */
	return result >= 0 || (err < 64 ? low >> err & 1 : err == 110 || err == 111 || err == 115);
}

/*
 * The memory that an operation wants to capture: `len` bytes at `addr`. memory_needed() returns false if only sctrace can
 * find out whether the memory is readable.
 */
struct needed_memory {
	uint64_t addr, len;
};

HELPER bool memory_needed(const struct agent_scratch *r, uint64_t string_max, unsigned rule, unsigned arg,
			  uint64_t size, struct needed_memory *w)
{
	int64_t result = r->result;
	uint64_t n = 0;
	bool known = true;
	w->addr = r->args[arg];
	if (rule == RECIPE_OUT)
		n = result >= 0 ? size : 0;
	else if (rule == RECIPE_OUT_BYTES || rule == RECIPE_OUT_ALL) {
		n = result > 0 ? (uint64_t)result : 0;
		n = rule == RECIPE_OUT_ALL ? n * size : n < string_max ? n : string_max;
	} else if (rule == RECIPE_IN_BYTES) {
		n = r->args[arg + 1];
		n = n < string_max ? n : string_max;
		known = result >= 0 && (uint64_t)result >= n;
	} else if (rule == RECIPE_IN_SIZED) {
		n = (uint32_t)r->args[arg + 1];
		n = n < size ? n : size;
		known = proves_read(result);
	} else if (rule == RECIPE_IN_ARRAY) {
		n = (uint64_t)(uint32_t)r->args[arg + 1] * size;
		known = proves_read(result);
	} else if (rule == RECIPE_IN) {
		n = size;
		known = proves_read(result);
	} else if (rule == RECIPE_ON_ERROR) {
		n = result < 0;
		known = false;
	} else if (rule == RECIPE_FUTEX_TIME) {
		/* FUTEX_WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2 (futex(2)) */
		uint32_t op = (uint32_t)r->args[1] & 127;
		n = op == 0 || op == 6 || op == 9 || op == 11 || op == 13 ? size : 0;
		known = proves_read(result);
	} else if (rule == RECIPE_EPOLL_EVENT) {
		n = size;
		/* The kernel reads the structure before it checks anything else. */
		known = result != -14 /* EFAULT */ && (uint32_t)r->args[1] != 2;
	}
	w->len = w->addr ? n : 0;
	return known || !w->len;
}

HELPER void copy_bytes(unsigned char *to, const unsigned char *from, uint64_t n)
{
	uint64_t i = 0;
	for (; i + 8 <= n; i += 8) {
		uint64_t word;
		__builtin_memcpy(&word, from + i, 8);
		__builtin_memcpy(to + i, &word, 8);
		__asm__ volatile("" ::: "memory");
	}
	for (; i < n; i++) {
		to[i] = from[i];
		__asm__ volatile("" ::: "memory");
	}
}

/* Copies a string with its NUL. Returns its length, or 0 if it is longer than `most`. */
HELPER uint64_t copy_string(unsigned char *to, const unsigned char *from, uint64_t most)
{
	for (uint64_t i = 0; i < most; i++) {
		to[i] = from[i];
		__asm__ volatile("" ::: "memory");
		if (!to[i])
			return i + 1;
	}
	return 0;
}

/* The position of a record's next capture. */
struct place {
	struct agent_record *rec;
	uint64_t at, room;
};

/* Reserves room for the capture of `len` bytes at `addr`. Returns NULL if there is no room. */
HELPER unsigned char *put(struct place *p, uint64_t addr, uint64_t len)
{
	struct agent_capture *c = (struct agent_capture *)(void *)((unsigned char *)p->rec + p->at);
	if (len > RECORD_MOST || p->at + sizeof(*c) + len > p->room)
		return NULL;
	c->addr = addr;
	c->len = (uint32_t)len;
	p->at += sizeof(*c) + ((len + 7) & ~7ull);
	return (unsigned char *)(c + 1);
}

HELPER bool put_copy(struct place *p, uint64_t addr, uint64_t len)
{
	unsigned char *to = put(p, addr, len);
	if (to)
		copy_bytes(to, (const unsigned char *)addr, len);
	return to;
}

HELPER bool put_string(const struct agent_scratch *r, struct place *p, unsigned arg, unsigned error)
{
	uint64_t addr = r->args[arg];
	if (!addr)
		return true;
	/*
	 * readlink(2) checks the size of its buffer first. The size is the second argument after the path, and it is an
	 * int.
	 */
	bool read = proves_read(r->result) || (error && r->result == -(int64_t)error && (int32_t)r->args[arg + 2] > 0);
	if (!read || p->at + sizeof(struct agent_capture) >= p->room)
		return false;
	struct agent_capture *c = (struct agent_capture *)(void *)((unsigned char *)p->rec + p->at);
	uint64_t len = copy_string((unsigned char *)(c + 1), (const unsigned char *)addr, p->room - p->at - sizeof(*c));
	return len && put(p, addr, len);
}

/*
 * Captures a vector of buffers. The vector is copied first, and the buffers are those in the copy, so changes by
 * another thread have no effect.
 */
HELPER bool put_iovec(const struct agent_scratch *r, struct place *p, uint64_t string_max, unsigned arg, bool out)
{
	uint64_t n = r->args[arg + 1], left = r->result > 0 ? (uint64_t)r->result : 0, sum = 0;
	if (!r->args[arg] || !n || (out && r->result < 0))
		return true;
	if (r->result < 0 || n > IOVECS_MOST)
		return false;
	const struct agent_iovec *v = (const struct agent_iovec *)(void *)put(p, r->args[arg], n * sizeof(*v));
	if (!v)
		return false;
	copy_bytes((unsigned char *)(uintptr_t)v, (const unsigned char *)r->args[arg], n * sizeof(*v));
	for (uint64_t i = 0; i < n; i++) {
		uint64_t shown = !out || v[i].len < left - sum ? v[i].len : left - sum;
		if (shown > left - sum)
			return false; /* the kernel may not have read the whole buffer */
		sum += shown;
		shown = shown < string_max ? shown : string_max;
		if (shown && !put_copy(p, v[i].base, shown))
			return false;
	}
	return true;
}

/* Appends the captures of one operation. Returns false if sctrace must capture the memory instead. */
HELPER bool capture(const struct agent_scratch *r, struct place *p, uint64_t string_max, unsigned rule, unsigned arg,
		    unsigned size)
{
	struct needed_memory w = {0};
	if (rule == RECIPE_COMMAND) {
		const struct agent_command *row = command_row(size, r->args[arg - 1]);
		rule = row->rule;
		size = row->size;
	}
	if (rule < RECIPE_STRING)
		return true;
	if (rule == RECIPE_STRING)
		return put_string(r, p, arg, size);
	if (rule == RECIPE_IN_IOVEC || rule == RECIPE_OUT_IOVEC)
		return put_iovec(r, p, string_max, arg, rule == RECIPE_OUT_IOVEC);
	return memory_needed(r, string_max, rule, arg, size, &w) && (!w.len || put_copy(p, w.addr, w.len));
}

IN_PROGRAM uint64_t recorder_leave(struct agent_scratch *s)
{
	struct agent_ring *r = (struct agent_ring *)s->ring;
	const struct agent_recipe *recipe = (const struct agent_recipe *)RECIPES_AT + s->nr;
	struct agent_record *rec = (struct agent_record *)s->record;
	uint32_t off = (uint32_t)(s->record - s->ring - RING_HEAD), limit = r->limit, taken;
	if (limit > RING_DATA || off >= limit)
		return 1;
	uint64_t free_bytes = limit - (r->produced - __atomic_load_n(&r->consumed, __ATOMIC_ACQUIRE));
	/* A record that ends at the end of the data may also use the room after the data. */
	uint64_t room = off + free_bytes >= limit ? RECORD_MOST : free_bytes;
	struct place p = {.rec = rec, .at = RECORD_HEAD, .room = room < RECORD_MOST ? room : RECORD_MOST};
	for (unsigned i = 0; i < recipe->n; i++)
		if (!capture(s, &p, r->string_max, recipe->op[i].rule, recipe->op[i].arg, recipe->op[i].size))
			return 1;
	rec->size = (uint32_t)p.at;
	r->next = ring_step(off, (uint32_t)p.at, limit, &taken);
	/* The order matters: record_step_out() may find the thread between these writes. */
	__atomic_store_n(&r->produced, r->produced + taken, __ATOMIC_RELEASE);
	__atomic_store_n(&r->open, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&s->busy, SCRATCH_IDLE, __ATOMIC_RELEASE);
	return 0;
}
