/*
 * The recorder: C code that runs inside the traced program (see ring.h). The code is copied into the program as bytes,
 * so it must not need the rest of sctrace: it makes no library calls and has no constants in other sections and no
 * sanitizers. It does not use vector registers, because they hold the program's values during a system call.
 */
#include "engine/patch/code/ring.h"

#include <stdbool.h>

#define IN_PROGRAM __attribute__((section("recorder_text"), used))
#define PART       static __attribute__((section("recorder_text"), noinline))
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
		if (rule == RECIPE_COMMAND &&
		    command_row(recipe->op[i].size, r->args[recipe->op[i].arg - 1])->rule == RECIPE_END)
			return false;
		if (rule == RECIPE_IF_APART && v && v == r->args[recipe->op[i].size])
			return false;
	}
	return true;
}

/* Does the result prove that the kernel has read the call's strings and structures? EBADF, for example, does not. */
HELPER bool proves_read(int64_t result)
{
	/* EINTR ENOENT ECHILD EAGAIN EACCES EEXIST EXDEV ENOTDIR EISDIR ETXTBSY EROFS ELOOP ENOTEMPTY */
	const uint64_t low = 1ull << 2 | 1ull << 4 | 1ull << 10 | 1ull << 11 | 1ull << 13 | 1ull << 17 | 1ull << 18 |
			     1ull << 20 | 1ull << 21 | 1ull << 26 | 1ull << 30 | 1ull << 39 | 1ull << 40;
	uint64_t err = (uint64_t)-result;
	/* ETIMEDOUT ECONNREFUSED EINPROGRESS */
	return result >= 0 || (err < 64 ? low >> err & 1 : err == 110 || err == 111 || err == 115);
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

/* Copies a string with its NUL, or its first `most` bytes if it is longer. Returns the number of bytes. */
HELPER uint64_t copy_text(unsigned char *to, const unsigned char *from, uint64_t most)
{
	uint64_t i = 0;
	while (i < most) {
		to[i] = from[i];
		__asm__ volatile("" ::: "memory");
		if (!to[i++])
			break;
	}
	return i;
}

/* The position of a record's next capture. */
struct place {
	struct agent_record *rec;
	uint64_t at, room;
	uint32_t before; /* 1: the call has not been made */
};

/* Returns the size of a record's head. */
HELPER uint64_t head_of(const struct agent_recipe *recipe)
{
	return RECORD_HEAD_LEAST + recipe->nargs * sizeof(uint64_t);
}

/*
 * Returns the room after the head of a record at `off`, if `used` bytes are in use. The last record may end after the
 * data.
 */
HELPER struct place place_in(const struct agent_ring *r, const struct agent_recipe *recipe, uint32_t off, uint64_t used)
{
	uint64_t free_bytes = r->limit - used;
	uint64_t room = off + free_bytes >= r->limit || free_bytes > RECORD_MOST ? RECORD_MOST : free_bytes;
	struct place p = {.rec = ring_record((struct agent_ring *)r, off), .at = head_of(recipe), .room = room};
	return p;
}

/* Reserves room for the capture of `len` bytes at `addr`. Returns NULL if there is no room. */
PART unsigned char *put(struct place *p, uint64_t addr, uint64_t len)
{
	struct agent_capture *c = (struct agent_capture *)(void *)((unsigned char *)p->rec + p->at);
	if (len > RECORD_MOST || p->at + sizeof(*c) + len > p->room)
		return NULL;
	c->addr = addr;
	c->len = (uint32_t)len;
	c->before = p->before;
	p->at += sizeof(*c) + ((len + 7) & ~7ull);
	return (unsigned char *)(c + 1);
}

PART bool put_copy(struct place *p, uint64_t addr, uint64_t len)
{
	unsigned char *to = put(p, addr, len);
	if (to)
		copy_bytes(to, (const unsigned char *)addr, len);
	return to;
}

/* Captures `len` bytes at `addr`. If `addr` is NULL or `len` is 0, there is nothing to capture. */
HELPER bool put_any(struct place *p, uint64_t addr, uint64_t len)
{
	return !addr || !len || put_copy(p, addr, len);
}

/* Returns the room for the bytes of the next capture. The address that they will have is *to. */
HELPER uint64_t room_for(const struct place *p, unsigned char **to)
{
	uint64_t head = p->at + sizeof(struct agent_capture);
	*to = (unsigned char *)p->rec + head;
	return head < p->room ? p->room - head : 0;
}

/* Captures a string with its NUL, or its first `most` bytes if it is longer. Returns false if there is no room. */
PART bool put_text(struct place *p, uint64_t addr, uint64_t most)
{
	unsigned char *to;
	uint64_t room = room_for(p, &to), limit = most < room ? most : room;
	uint64_t n = limit ? copy_text(to, (const unsigned char *)addr, limit) : 0;
	return n && (n == most || !to[n - 1]) && put(p, addr, n);
}

/* Does the result prove that the kernel has read this string? `error` is the size of the RECIPE_STRING (ring.h). */
HELPER bool proves_string(const struct agent_scratch *r, unsigned arg, unsigned error)
{
	/* getxattr(2) looks for the file before it reads the name, so ENOENT proves nothing about the name. */
	if (error == 61 /* ENODATA */)
		return r->result >= 0 || r->result == -61 || r->result == -95 /* EOPNOTSUPP */;
	/* ESRCH ENXIO ENODEV */
	if (r->result == -3 || r->result == -6 || r->result == -19)
		return true;
	/* readlink(2) first checks the size of its buffer, an int, which is the second argument after the path. */
	return proves_read(r->result) || (error && r->result == -(int64_t)error && (int32_t)r->args[arg + 2] > 0);
}

HELPER bool put_string(const struct agent_scratch *r, struct place *p, unsigned arg, unsigned error)
{
	return !r->args[arg] || (proves_string(r, arg, error) && put_text(p, r->args[arg], UINT64_MAX));
}

/* Captures at most `most` pointers up to a NULL, and at most `bytes` bytes of each string that they point at. */
HELPER bool put_pointers(struct place *p, uint64_t addr, uint64_t most, uint64_t bytes)
{
	unsigned char *to;
	uint64_t room = room_for(p, &to) / sizeof(uint64_t), n = 0;
	uint64_t *pointers = (uint64_t *)(void *)to;
	while (n < room && n < most) {
		pointers[n] = ((const uint64_t *)addr)[n];
		__asm__ volatile("" ::: "memory");
		if (!pointers[n++])
			break;
	}
	if (!n || (n < most && pointers[n - 1]) || !put(p, addr, n * sizeof(uint64_t)))
		return false;
	for (uint64_t i = 0; bytes && i < n && pointers[i]; i++)
		if (!put_text(p, pointers[i], bytes))
			return false;
	return true;
}

/* Captures an argument of execve(2) if `rule` is one of the rules for execve(2). */
HELPER bool put_exec(struct place *p, uint64_t addr, uint64_t string_max, unsigned rule, uint64_t size)
{
	if (rule == RECIPE_PATH)
		return put_text(p, addr, UINT64_MAX);
	if (rule == RECIPE_POINTERS)
		return put_pointers(p, addr, UINT64_MAX, 0);
	return rule != RECIPE_STRINGS || put_pointers(p, addr, size, string_max + 1);
}

/* Captures the lengths of the addresses in `n` messages of recvmmsg(2), but at most `most`. */
HELPER bool put_lengths(struct place *p, uint64_t addr, uint64_t n, uint64_t most)
{
	addr += offsetof(struct agent_message, namelen);
	for (uint64_t i = 0; i < n && i < most; i++, addr += sizeof(struct agent_message))
		if (!put_any(p, addr, sizeof(uint32_t)))
			return false;
	return true;
}

/*
 * Returns true if a struct clone_args of `size` bytes contains an array of thread ids (linux/sched.h), which is not
 * captured. Only programs that restore processes use it.
 */
HELPER bool chooses_ids(const uint64_t *args, uint64_t size)
{
	enum { SET_TID_SIZE = 9 }; /* the tenth member */
	return size / sizeof(*args) > SET_TID_SIZE && args[SET_TID_SIZE];
}

/*
 * Captures memory that the system call may change or discard. Returns false if there is no room in the ring. If the
 * copying faults, the ring is unchanged, because the record is not open yet, and threads/signals.c makes the call from
 * the stub.
 */
HELPER bool capture_before(const struct agent_scratch *s, struct place *p, const struct agent_recipe *recipe,
			   uint64_t string_max)
{
	for (unsigned i = 0; i < recipe->n; i++) {
		uint64_t addr = s->args[recipe->op[i].arg], n = 0;
		unsigned rule = recipe->op[i].rule;
		if (addr && !put_exec(p, addr, string_max, rule, recipe->op[i].size))
			return false;
		if (rule == RECIPE_CHANGED)
			n = recipe->op[i].size;
		else if (rule == RECIPE_FD_SET)
			n = fd_set_size(s->args[0]);
		else if (rule == RECIPE_CLONE_ARGS) {
			uint64_t size = s->args[recipe->op[i].arg + 1];
			if (addr && chooses_ids((const uint64_t *)addr, size))
				return false;
			n = size < recipe->op[i].size ? size : recipe->op[i].size;
		} else if (rule == RECIPE_FRAME_MASK) {
			addr = s->sp + BELOW_PROGRAM + UC_MASK;
			n = sizeof(uint64_t);
		} else if (rule == RECIPE_OUT_MSG && addr) {
			addr += offsetof(struct agent_message, namelen);
			n = sizeof(uint32_t);
		} else if (rule == RECIPE_OUT_MMSG && addr &&
			   !put_lengths(p, addr, (uint32_t)s->args[recipe->op[i].arg + 1], recipe->op[i].size))
			return false;
		if (!put_any(p, addr, n))
			return false;
	}
	return true;
}

/*
 * rdtsc does not wait for the instructions before it (Intel SDM, volume 2, RDTSC). lfence waits for these instructions,
 * but not until the values that they have stored reach the cache. A store to the ring can take 100 ns, because sctrace
 * has read the ring on another CPU. The kernel would wait for it at its first locked instruction. mfence waits for the
 * stores, but then the program takes longer.
 */
HELPER void wait_before_t0(uint8_t fence)
{
	if (fence == FENCE_STORES)
		__asm__ volatile("mfence\n\tlfence" : : : "memory");
	else if (fence == FENCE_LOADS)
		__asm__ volatile("lfence" : : : "memory");
}

IN_PROGRAM struct agent_record *recorder_enter(struct agent_scratch *s)
{
	struct agent_ring *r = (struct agent_ring *)s->ring;
	const struct agent_recipe *recipe = (const struct agent_recipe *)RECIPES_AT + s->nr;
	uint64_t used = r->produced - __atomic_load_n(&r->consumed, __ATOMIC_ACQUIRE);
	uint32_t limit = r->limit, next = r->next;
	/* The program may have written to the ring. Values read from it are used only if they are within bounds. */
	if (limit > RING_DATA || next >= limit || used > limit - RECORD_HEAD_MOST || !may_record(s, recipe))
		return NULL;
	struct place p = place_in(r, recipe, next, used);
	p.before = 1;
	if (!capture_before(s, &p, recipe, r->string_max))
		return NULL;
	struct agent_record *rec = p.rec;
	rec->size = 0;
	rec->before = (uint16_t)p.at;
	rec->nr = (uint16_t)s->nr;
	rec->head = (uint8_t)head_of(recipe);
	rec->marks = 0;
	rec->t0 = 0;
	rec->t1 = 0;
	rec->ret = s->ret;
	rec->sp = s->sp;
	for (unsigned i = 0; i < recipe->nargs; i++)
		rec->args[i] = s->args[i];
	__atomic_store_n(&r->open, (uint64_t)next + 1, __ATOMIC_RELEASE);
	if (recipe->announces)
		s->kind = KIND_ANNOUNCED;
	wait_before_t0(recipe->fence);
	return rec;
}

/*
 * For an operation on memory that the call reads, returns how many bytes are captured. Sets *known to false if only
 * sctrace can find out whether the memory is readable.
 */
HELPER uint64_t bytes_needed_in(const struct agent_scratch *r, uint64_t string_max, unsigned rule, unsigned arg,
				uint64_t size, bool *known)
{
	uint64_t n = recipe_bytes(rule, arg, size, r->args, r->result, string_max);
	*known = proves_read(r->result) || (r->nr == 13 /* rt_sigaction */ && r->result == -22 /* EINVAL */ &&
					    r->args[3] == sizeof(uint64_t)); /* the signal has no action */
	if (rule == RECIPE_IN_BYTES) {
		*known = r->result >= 0 && (uint64_t)r->result >= n;
	} else if (rule == RECIPE_FUTEX_TIME) {
		/* FUTEX_WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2 (futex(2)) */
		uint32_t op = (uint32_t)r->args[1] & 127;
		n = op == 0 || op == 6 || op == 9 || op == 11 || op == 13 ? size : 0;
	} else if (rule == RECIPE_EPOLL_EVENT) {
		/* The kernel reads the structure before it checks anything else, except for EPOLL_CTL_DEL (2). */
		*known = r->result != -14 /* EFAULT */;
		n = (uint32_t)r->args[1] == 2 ? 0 : size;
	}
	return n;
}

/*
 * For an operation on memory that the call writes, returns how many bytes are captured. For RECIPE_OUT_SIZED, `before`
 * is the length that the program passed to the call.
 */
HELPER uint64_t bytes_needed_out(const struct agent_scratch *r, uint64_t string_max, unsigned rule, unsigned arg,
				 uint64_t size, uint32_t before)
{
	uint64_t most = recipe_bytes(rule, arg, size, r->args, r->result, string_max);
	if (rule != RECIPE_OUT_SIZED || !most)
		return most;
	const uint32_t *after = (const uint32_t *)r->args[arg + 1];
	uint64_t n = after && r->args[arg] ? *after : 0;
	n = n < before ? n : before;
	return n < most ? n : most;
}

/*
 * Captures the buffer of a socket's call that transferred `n` bytes. Returns false if the buffer may contain a netlink
 * message, because only sctrace can find out whether it does.
 */
PART bool put_sock_bytes(struct place *p, uint64_t string_max, uint64_t addr, uint64_t n)
{
	if (addr && n >= sizeof(uint32_t) && may_be_netlink(*(const uint32_t *)addr, n))
		return false;
	return put_any(p, addr, n < string_max ? n : string_max);
}

/*
 * Captures a vector of `n` buffers, to or from which the call transferred `done` bytes. The vector is copied first, and
 * the buffers' addresses are read from the copy, so changes by another thread have no effect.
 */
PART bool put_vector(struct place *p, uint64_t string_max, uint64_t addr, uint64_t n, uint64_t done, bool out,
		     bool socket)
{
	if (!addr || !n)
		return true;
	if (n > IOVECS_MOST)
		return false;
	const struct agent_iovec *v = (const struct agent_iovec *)(void *)put(p, addr, n * sizeof(*v));
	if (!v)
		return false;
	copy_bytes((unsigned char *)(uintptr_t)v, (const unsigned char *)addr, n * sizeof(*v));
	for (uint64_t i = 0; i < n; i++) {
		uint64_t shown = v[i].len < done ? v[i].len : done;
		if (!out && shown < v[i].len)
			return false; /* the kernel may not have read the whole buffer */
		done -= shown;
		if (socket ? !put_sock_bytes(p, string_max, v[i].base, shown)
			   : !put_any(p, v[i].base, shown < string_max ? shown : string_max))
			return false;
	}
	return true;
}

HELPER bool put_iovec(const struct agent_scratch *r, struct place *p, uint64_t string_max, unsigned arg, bool out)
{
	if (r->result < 0)
		return out || !r->args[arg] || !r->args[arg + 1];
	return put_vector(p, string_max, r->args[arg], r->args[arg + 1], (uint64_t)r->result, out, false);
}

/*
 * Captures a message of which the call transferred `done` bytes. If `size` is the size of struct mmsghdr, the structure
 * itself contains the number of bytes that were transferred.
 */
PART bool put_message(struct place *p, uint64_t string_max, uint64_t addr, uint64_t size, uint64_t done, bool out)
{
	const struct agent_message *m = (const struct agent_message *)(void *)put(p, addr, size);
	if (!m)
		return false;
	copy_bytes((unsigned char *)(uintptr_t)m, (const unsigned char *)addr, size);
	if (size > MESSAGE_SIZE)
		done = m->bytes;
	uint64_t control = m->controllen < CONTROL_LEAST ? CONTROL_LEAST : m->controllen;
	return put_any(p, m->name, m->namelen < ADDRESS_MOST ? m->namelen : ADDRESS_MOST) &&
	       put_any(p, m->controllen ? m->control : 0, control < CONTROL_MOST ? control : CONTROL_MOST) &&
	       put_vector(p, string_max, m->iov, m->iovlen, done, out, true);
}

HELPER bool put_messages(const struct agent_scratch *r, struct place *p, uint64_t string_max, unsigned rule,
			 unsigned arg)
{
	uint64_t addr = r->args[arg], n = r->result > 0 ? (uint64_t)r->result : 0;
	bool out = rule == RECIPE_OUT_MSG || rule == RECIPE_OUT_MMSG;
	if (r->result < 0)
		return out || !addr;
	if (rule == RECIPE_MSG || rule == RECIPE_OUT_MSG)
		return put_message(p, string_max, addr, MESSAGE_SIZE, n, out);
	if (!out && n < (uint32_t)r->args[arg + 1])
		return false; /* the kernel did not read the other messages */
	for (uint64_t i = 0; i < n; i++, addr += sizeof(struct agent_message))
		if (!put_message(p, string_max, addr, sizeof(struct agent_message), 0, out))
			return false;
	return true;
}

/*
 * Captures the last argument of pselect6(2), a pointer with a size, and the signal set at that pointer. The kernel's
 * set has 8 bytes, and the decoder shows only these.
 */
HELPER bool put_sigset_pair(const struct agent_scratch *r, struct place *p, uint64_t addr)
{
	const uint64_t *pair;
	if (!addr)
		return true;
	if (!proves_read(r->result) || !put_copy(p, addr, 2 * sizeof(uint64_t)))
		return false;
	pair = (const uint64_t *)(const void *)((const unsigned char *)p->rec + p->at) - 2;
	return put_any(p, *pair, sizeof(uint64_t));
}

HELPER bool put_sock(const struct agent_scratch *r, struct place *p, uint64_t string_max, unsigned rule, unsigned arg)
{
	uint64_t addr = r->args[arg], n = r->args[arg + 1], done = r->result > 0 ? (uint64_t)r->result : 0;
	if (rule == RECIPE_OUT_SOCK_BYTES)
		return put_sock_bytes(p, string_max, addr, n < done ? n : done);
	return !addr || (r->result >= 0 && done >= n && put_sock_bytes(p, string_max, addr, n));
}

/* True if an operation captures memory that the call writes or changes. */
HELPER bool is_written(unsigned rule)
{
	return rule == RECIPE_CHANGED || rule == RECIPE_FD_SET || rule == RECIPE_OUT || rule == RECIPE_OUT_BYTES ||
	       rule == RECIPE_OUT_ALL || rule == RECIPE_OUT_SIZED;
}

/* Returns the value of the record's first capture. For RECIPE_OUT_SIZED, this is the length before the call. */
HELPER uint32_t length_before(const struct agent_record *rec, uint64_t head)
{
	const struct agent_capture *c = (const struct agent_capture *)(const void *)((const unsigned char *)rec + head);
	return rec->before > head ? *(const uint32_t *)(const void *)(c + 1) : 0;
}

/* Captures the id of a new thread and the descriptor for it. The first capture is the struct clone_args before the call. */
HELPER bool put_clone_results(const struct agent_scratch *r, struct place *p, uint64_t head)
{
	const struct agent_capture *c =
		(const struct agent_capture *)(const void *)((const unsigned char *)p->rec + head);
	const struct agent_clone_args *args = (const struct agent_clone_args *)(const void *)(c + 1);
	if (r->result < 0 || p->rec->before < head + sizeof(*c) + sizeof(*args))
		return true;
	return (!(args->flags & AGENT_PARENT_SETTID) || put_any(p, args->parent_tid, sizeof(int32_t))) &&
	       (!(args->flags & AGENT_PIDFD) || put_any(p, args->pidfd, sizeof(int32_t)));
}

/*
 * Appends the captures of one operation to a record whose head has `head` bytes. Returns false if sctrace must capture
 * the memory instead.
 */
HELPER bool capture(const struct agent_scratch *r, struct place *p, uint64_t head, uint64_t string_max, unsigned rule,
		    unsigned arg, unsigned size)
{
	uint64_t addr = r->args[arg];
	bool known;
	if (rule == RECIPE_COMMAND) {
		const struct agent_command *row = command_row(size, r->args[arg - 1]);
		rule = row->rule;
		size = row->size;
	}
	if (rule < RECIPE_CHANGED)
		return true;
	if (rule == RECIPE_STRING)
		return put_string(r, p, arg, size);
	if (rule == RECIPE_IN_IOVEC || rule == RECIPE_OUT_IOVEC)
		return put_iovec(r, p, string_max, arg, rule == RECIPE_OUT_IOVEC);
	if (rule == RECIPE_SOCK_BYTES || rule == RECIPE_OUT_SOCK_BYTES)
		return put_sock(r, p, string_max, rule, arg);
	if (rule == RECIPE_SIGSET_PAIR)
		return put_sigset_pair(r, p, addr);
	if (rule == RECIPE_CLONE_ARGS)
		return put_clone_results(r, p, head);
	if (rule == RECIPE_CLONE_TID)
		return r->result < 0 || !clone_writes(r->args[0]) || put_any(p, addr, sizeof(int32_t));
	if (rule >= RECIPE_MSG)
		return put_messages(r, p, string_max, rule, arg);
	if (rule == RECIPE_ON_ERROR)
		return !addr || r->result >= 0;
	if (is_written(rule))
		return put_any(p, addr, bytes_needed_out(r, string_max, rule, arg, size, length_before(p->rec, head)));
	uint64_t n = bytes_needed_in(r, string_max, rule, arg, size, &known);
	return !addr || !n || (known && put_copy(p, addr, n));
}

IN_PROGRAM uint64_t recorder_leave(struct agent_scratch *s)
{
	struct agent_ring *r = (struct agent_ring *)s->ring;
	const struct agent_recipe *recipe = (const struct agent_recipe *)RECIPES_AT + s->nr;
	struct agent_record *rec = (struct agent_record *)s->record;
	uint32_t off = (uint32_t)(s->record - s->ring - RING_HEAD), limit = r->limit, taken;
	if (limit > RING_DATA || off >= limit)
		return 1;
	uint64_t used = r->produced - __atomic_load_n(&r->consumed, __ATOMIC_ACQUIRE);
	struct place p = place_in(r, recipe, off, used);
	const uint64_t head = p.at;
	p.at = rec->before;
	if (p.at < head || p.at > p.room || (recipe->asks && s->result >= 0))
		return 1;
	for (unsigned i = 0; i < recipe->n; i++)
		if (!capture(s, &p, head, r->string_max, recipe->op[i].rule, recipe->op[i].arg, recipe->op[i].size))
			return 1;
	rec->size = (uint16_t)p.at;
	r->next = ring_step(off, (uint32_t)p.at, limit, &taken);
	/* The order matters: record_step_out() may find the thread between these writes. */
	__atomic_store_n(&r->produced, r->produced + taken, __ATOMIC_RELEASE);
	__atomic_store_n(&r->open, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&s->busy, SCRATCH_IDLE, __ATOMIC_RELEASE);
	return 0;
}
