/* SPDX-License-Identifier: MIT */
/*
 * The recorder: C code that runs inside the traced program (see ring.h). The code is copied into the program as bytes,
 * so it must not need the rest of sctrace: it makes no library calls and has no constants in other sections and no
 * sanitizers. It does not use vector registers, because they hold the program's values during a system call.
 */
#include "engine/patch/code/ring.h"

#include <asm/unistd.h>
#include <linux/stat.h>
#include <stdbool.h>

#define IN_PROGRAM __attribute__((section("recorder_text"), used))
#define PART       static __attribute__((section("recorder_text"), noinline))
#define HELPER     static inline __attribute__((always_inline))

/* The same as the functions below, if some of the memory may be unreadable. */
PART uint64_t load_carefully(unsigned char *to, const void *memory, uint64_t addr, uint64_t n);
PART uint64_t load_text_carefully(unsigned char *to, const void *memory, uint64_t addr, uint64_t n);

#define COPY_NEXT(to, from, size) (__builtin_memcpy(to, from, size), (to) += (size), (from) += (size))

/* Copies `n` bytes. Without the empty assembly statement, a compiler might replace the loop by a call of memcpy(3). */
HELPER void copy_bytes(unsigned char *to, const unsigned char *from, uint64_t n)
{
	for (; n >= 16; n -= 16) {
		COPY_NEXT(to, from, 16);
		__asm__ volatile("" ::: "memory");
	}
	if (n & 8)
		COPY_NEXT(to, from, 8);
	if (n & 4)
		COPY_NEXT(to, from, 4);
	if (n & 2)
		COPY_NEXT(to, from, 2);
	if (n & 1)
		*to = *from;
}

/* The functions that syscall/capture.h needs. `memory` is NULL if all the memory can be read. */
PART uint64_t capture_load(void *at, const void *memory, uint64_t addr, uint64_t n)
{
	if (memory)
		return load_carefully(at, memory, addr, n);
	copy_bytes(at, (const unsigned char *)addr, n);
	return n;
}

HELPER uint64_t capture_text(void *at, const void *memory, uint64_t addr, uint64_t n)
{
	unsigned char *to = at;
	const unsigned char *from = (const unsigned char *)addr;
	uint64_t i = 0;
	if (memory)
		return load_text_carefully(to, memory, addr, n);
	while (i < n) {
		to[i] = from[i];
		__asm__ volatile("" ::: "memory");
		if (!to[i++])
			break;
	}
	return i;
}

PART int32_t capture_protocol(uint64_t fd);

#define CAPTURE_PART         PART
#define CAPTURE_HELPER       HELPER
#define CAPTURE_SURE         0
#define CAPTURE_WORD(c)      8
#define CAPTURE_TEXT_MOST(c) UINT64_MAX
#include "syscall/capture.h"

/*
 * Makes a call that the program has not made, if agent_ring.permits allows it. The agent contains the
 * instruction, so that the call does not stop.
 */
PART int64_t own_call(int64_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	return cpu_own_call(*(const uint64_t *)OWN_CALL_AT, nr, a, b, c, d, e, f);
}

/* Reads a link. Some processors lack readlink(2). */
HELPER int64_t read_link(const uint64_t path[4], char *text, uint64_t room)
{
#ifdef __NR_readlink
	return own_call(__NR_readlink, (uint64_t)path, (uint64_t)text, room, 0, 0, 0);
#else
	return own_call(__NR_readlinkat, (uint64_t)-100 /* AT_FDCWD */, (uint64_t)path, (uint64_t)text, room, 0, 0);
#endif
}

/*
 * Copies memory that cannot be read, perhaps: the kernel copies what can be read. It copies no part of a page if it cannot
 * read all bytes that it should, so it gets one page at a time. `memory` is the struct capture of the call. If the
 * kernel does not copy at all, sctrace must capture the memory.
 */
PART uint64_t load_carefully(unsigned char *to, const void *memory, uint64_t addr, uint64_t n)
{
	uint64_t done = 0, pid = (uint64_t)own_call(__NR_getpid, 0, 0, 0, 0, 0, 0);
	while (done < n) {
		uint64_t left = CAPTURE_PAGE - (addr + done) % CAPTURE_PAGE;
		struct capture_iovec here = {(uint64_t)(to + done), n - done < left ? n - done : left};
		struct capture_iovec there = {addr + done, here.len};
		int64_t got = own_call(__NR_process_vm_readv, pid, (uint64_t)&here, 1, (uint64_t)&there, 1, 0);
		if (got < 0 && got != -14 /* EFAULT */)
			((struct capture *)(uintptr_t)memory)->full = 1;
		if (got <= 0)
			break;
		done += (uint64_t)got;
	}
	return done;
}

#define TEXT_AT_ONCE 256 /* most strings are short */

PART uint64_t load_text_carefully(unsigned char *to, const void *memory, uint64_t addr, uint64_t n)
{
	uint64_t done = 0;
	while (done < n) {
		uint64_t left = TEXT_AT_ONCE - (addr + done) % TEXT_AT_ONCE, want = n - done < left ? n - done : left;
		uint64_t got = load_carefully(to + done, memory, addr + done, want);
		for (uint64_t i = 0; i < got; i++)
			if (!to[done + i])
				return done + i + 1;
		done += got;
		if (got < want)
			break;
	}
	return done;
}

/*
 * Finds the rules of the arguments, for a call whose memory the recorder must look at before it is made. Returns false if
 * sctrace must see the call.
 */
HELPER bool may_record(struct agent_scratch *s, const struct capture *c, const struct agent_recipe *recipe)
{
	struct memory_rule_of *to = s->op;
	for (unsigned i = 0; i < recipe->n; i++) {
		unsigned arg = recipe->op[i].arg;
		const struct memory_need *n = &c->tables->needs[recipe->op[i].need];
		n = n->rule == MEMORY_COMMAND ? command_need(c, n, arg) : n;
		if (n && n->rule == MEMORY_MISSING)
			return false;
		for (unsigned k = 0; recipe->apart && k < i; k++)
			if (c->args[arg] && c->args[arg] == c->args[recipe->op[k].arg])
				return false;
		if (n) {
			to->need = (uint8_t)(n - c->tables->needs);
			to->copy = n->copy;
			to++->arg = arg & 15;
		}
	}
	s->ops = s->op;
	s->nops = (uint64_t)(to - s->op);
	return true;
}

/* Returns the size of a record's head. */
HELPER uint64_t head_of(const struct agent_recipe *recipe)
{
	return RECORD_HEAD_LEAST + recipe->nargs * sizeof(uint64_t);
}

/*
 * Describes the captures of a record at `off`, if `used` bytes of the ring are in use. The last record may end after the
 * data. Assigns to each member, because gcc may call memset(3) for those that an initialiser leaves out.
 */
HELPER struct capture capture_in(const struct agent_scratch *s, const struct agent_recipe *recipe, uint32_t off,
				 uint64_t used)
{
	struct agent_ring *r = (struct agent_ring *)s->ring;
	uint64_t free_bytes = r->limit - used, last = r->end - off;
	uint64_t room = off + free_bytes >= r->limit ? last : free_bytes;
	struct capture c;
	c.tables = (const struct memory_tables *)MEMORY_AT;
	c.args = s->args;
	c.result = 0;
	c.nr = s->nr;
	c.string_max = r->string_max;
	c.frame_mask = 0;
	c.bytes = (unsigned char *)ring_record(r, off);
	c.head = c.at = head_of(recipe);
	c.room = room < RECORD_MOST ? room : RECORD_MOST;
	c.before = c.word = c.tries = c.full = 0;
	c.asks = 0;
	c.protocol = CAPTURE_UNKNOWN;
	c.unfinished = false;
	c.memory = NULL;
	return c;
}

/*
 * Captures memory that the system call may change or discard. Returns false if there is no room in the ring. If the
 * copying faults, the ring is unchanged, because the record is not open yet, and threads/patch_signals.c makes the call from
 * the stub.
 */
HELPER bool capture_all_before(const struct agent_scratch *s, struct capture *c)
{
	c->before = 1;
	c->frame_mask = s->sp + BELOW_PROGRAM + UC_MASK;
	for (const struct memory_rule_of *op = s->ops; op < s->ops + s->nops; op++)
		if (!capture_before(c, &c->tables->needs[op->need], op->arg))
			return false;
	return true;
}

/*
 * Reading the clock does not wait for the instructions before it. A store to the ring can take 100 ns, because sctrace
 * has read the ring on another CPU. The kernel would wait for it at its first locked instruction. FENCE_STORES waits for
 * the stores, but then the program takes longer.
 */
HELPER void wait_before_t0(uint8_t fence)
{
	if (fence == FENCE_LOADS)
		cpu_wait_loads();
	else if (fence == FENCE_STORES)
		cpu_wait_all();
}

HELPER void clear(uint64_t table, uint32_t rows)
{
	for (uint32_t pair = 0; pair < rows / 2; pair++)
		((volatile uint64_t *)table)[pair] = 0;
}

/* Removes all notes about names, because names have changed. */
HELPER void forget_names(void)
{
	__atomic_fetch_add((uint32_t *)NAMED_SERIAL, 1, __ATOMIC_SEQ_CST); /* before the rows change (note_name()) */
	__atomic_fetch_add((uint32_t *)NAMED_TURN, 1, __ATOMIC_SEQ_CST);
	clear(NAMED_AT, NAMED_ROWS);
}

/*
 * Removes the notes about the descriptors that the call closes (ring.h). What was captured of other descriptors before, when
 * NAMED_SERIAL was s->serial, remains true.
 */
HELPER void forget_closed(struct agent_scratch *s, const struct agent_recipe *recipe, uint32_t permits)
{
	uint32_t fd = recipe->closes && recipe->closes != CLOSES_MANY ? (uint32_t)s->args[recipe->closes - 1] : 0;
	if (recipe->closes == CLOSES_MANY)
		clear(ELSEWHERE_AT, ELSEWHERE_ROWS);
	else if (recipe->closes)
		*(volatile uint32_t *)elsewhere_row(fd) = 0;
	if (!recipe->closes || !(permits & RING_PERMITS_NAMING))
		return;
	if (recipe->closes == CLOSES_MANY) {
		forget_names();
		return;
	}
	*(volatile uint32_t *)named_row(fd) = 0; /* also before the number changes, because of put_made() */
	const uint32_t before = __atomic_fetch_add((uint32_t *)NAMED_SERIAL, 1, __ATOMIC_SEQ_CST);
	s->serial += before == s->serial;
	*(volatile uint32_t *)named_row(fd) = 0;
}

enum { F_GETFD = 1, ENOENT = 2, EBADF = 9 };

/*
 * Looks at the descriptor of a call that has failed with EBADF: the file may also have been open for another use. Returns
 * MARK_ABSENT, 0, or 1 if sctrace must look.
 */
HELPER uint8_t bad_descriptor(const struct agent_scratch *s, const struct agent_recipe *recipe, uint32_t permits)
{
	if (s->result != -EBADF || !recipe->fd || recipe->fd == FD_CWD)
		return 0;
	if (recipe->second || !(permits & RING_PERMITS_TESTING))
		return 1;
	return own_call(__NR_fcntl, s->args[recipe->fd - 1], F_GETFD, 0, 0, 0, 0) == -EBADF ? MARK_ABSENT : 0;
}

#include "engine/patch/code/recorder_names.h"
#include "engine/patch/code/recorder_uring.h"

/* Can the call write to the output of the trace? Of the requests of ioctl(2), only TIOCSTI makes the terminal echo. */
HELPER bool can_write_to_output(const struct agent_scratch *s, const struct agent_recipe *recipe)
{
	uint32_t fd = recipe->writes ? (uint32_t)s->args[recipe->writes - 1] : 0;
	return recipe->writes && *(const uint32_t *)elsewhere_row(fd) != fd + 1 &&
	       (s->nr != __NR_ioctl || (uint32_t)s->args[1] == 0x5412 /* TIOCSTI */);
}

/* Notes that the ring, of which `used` bytes are in use, lacks room for a record. */
HELPER struct agent_record *lacks_room(struct agent_ring *r, uint64_t used)
{
	r->lacks = used ? RING_FULL : RING_TOO_SMALL;
	return NULL;
}

/* See `arm` in agent.S. */
HELPER void arm(struct agent_scratch *s, bool waits)
{
	if (!CPU_MARKS_WAITS && !waits)
		return; /* agent_scratch.armed is always 0 */
	const uint64_t rseq = ((volatile struct agent_data *)AGENT_DATA)->rseq, cs = rseq ? cpu_area(rseq) : 0;
	s->armed = cs;
	if (cs)
		cpu_change_area(cs, 0, AGENT_SECTION);
}

/*
 * Does the kernel look at rseq_cs after the call although the thread has kept its CPU? That is so for RELEASING_CALLS and for
 * a close(2) that is like them. At calls that create a thread or a process (clone, fork, vfork, clone3), sctrace stops it.
 */
HELPER bool is_disturbed(uint64_t nr)
{
	return cpu_releases(nr) || nr == __NR_io_uring_enter ||
	       (nr == __NR_close && ((volatile struct agent_data *)AGENT_DATA)->watch & WATCH_CLOSES);
}

/* Returns MARK_*: whether the thread has lost its CPU since arm(). */
HELPER uint8_t judge(const struct agent_scratch *s)
{
	if (!s->armed)
		return 0;
	const uint64_t now = cpu_change_area(s->armed, AGENT_SECTION, 0);
	if (!now && is_disturbed(s->nr))
		return 0;
	return now ? MARK_JUDGED : MARK_JUDGED | MARK_WAITED;
}

/* After rseq(2): notes where the areas of threads are. agent_rseq lets only calls pass that agree with earlier ones. */
HELPER void note_rseq(const struct agent_scratch *s)
{
	volatile struct agent_data *data = (volatile struct agent_data *)AGENT_DATA;
	if (CPU_JUDGES_WAITS && s->nr == __NR_rseq && s->result == 0 && data->watch & WATCH_WAITS)
		data->rseq = cpu_note_area(s->args[0] + 8 /* rseq_cs in struct rseq */);
}

/* Writes the head of the record at `next`, and opens it. Writes all arguments, if there are no captures yet. */
HELPER struct agent_record *open_record(struct agent_ring *r, const struct agent_scratch *s, uint64_t row,
					uint32_t next, uint64_t head, uint64_t before, uint8_t marks)
{
	struct agent_record *rec = ring_record(r, next);
	const uint64_t first = before << 16 | row << 32 | head << 48 | (uint64_t)marks << 56;
	_Static_assert(offsetof(struct agent_record, before) == 2 && offsetof(struct agent_record, nr) == 4 &&
			       offsetof(struct agent_record, head) == 6 && offsetof(struct agent_record, marks) == 7,
		       "the size, 0, and the next members, as one number");
	__builtin_memcpy(rec, &first, sizeof(first));
	rec->t0 = 0;
	rec->t1 = 0;
	rec->ret = s->ret;
	rec->sp = s->sp;
	for (uint64_t i = 0; before == head && i < 6; i += 2) { /* two registers at a time */
		const uint64_t a = s->args[i], b = s->args[i + 1];
		rec->args[i] = a;
		rec->args[i + 1] = b;
		__asm__ volatile("" ::: "memory");
	}
	for (uint64_t i = 0; before != head && i < (head - RECORD_HEAD_LEAST) / sizeof(uint64_t); i++)
		rec->args[i] = s->args[i];
	__atomic_store_n(&r->open, (uint64_t)next + 1, __ATOMIC_RELEASE);
	return rec;
}

/* Does recorder_enter() for any call. recorder_leave() can do without leave_any() unless the call concerns names, rseq(2) or an io_uring. */
PART struct agent_record *enter_any(struct agent_scratch *s)
{
	struct agent_ring *r = (struct agent_ring *)s->ring;
	const unsigned row = agent_row(s->nr);
	const struct agent_recipe *recipe = (const struct agent_recipe *)RECIPES_AT + row;
	uint64_t used = r->produced - __atomic_load_n(&r->consumed, __ATOMIC_ACQUIRE);
	uint32_t limit = r->limit, next = r->next;
	s->usual = 0;
	s->ops = recipe->op;
	s->nops = recipe->n;
	/* The program may have written to the ring. Values read from it are used only if they are within bounds. */
	if (limit > RING_DATA || r->end > RING_END || next >= limit)
		return NULL;
	if (used > limit - RECORD_HEAD_MOST)
		return lacks_room(r, used);
	struct capture c = capture_in(s, recipe, next, used);
	if (recipe->before && !may_record(s, &c, recipe))
		return NULL;
	if (recipe->announces && ends_names(s, r->permits))
		return NULL;
	if (recipe->before && !capture_all_before(s, &c))
		return lacks_room(r, used);
	if (s->nr == __NR_io_uring_enter && !put_uring(s, &c))
		return c.full ? lacks_room(r, used) : NULL;
	const uint32_t permits = r->permits;
	const uint8_t known = name_all_used(s, recipe, &c, permits);
	if (c.full && (permits & (RING_NAMES_EACH_TIME | RING_PERMITS_RENAMING) || c.full > 1))
		return lacks_room(r, used);
	if (known == REFUSED)
		return NULL;
	const uint8_t marks = announces(s, recipe, known, permits) | can_write_to_output(s, recipe);
	if (known & KNOWS_LACK && !(marks & 1)) /* at a stop, sctrace looks the name up */
		*(volatile uint32_t *)NAMED_LACKING = 1;
	struct agent_record *rec = open_record(r, s, row, next, c.head, c.at, marks);
	forget_closed(s, recipe, permits);
	if (marks & 1)
		s->kind = KIND_ANNOUNCED;
	s->room = smaller(limit - next, limit - used);
	const bool special = s->nr == __NR_rseq || s->nr == __NR_io_uring_enter;
	if (!marks && !recipe->asks && !(permits & RING_PERMITS_NAMING) && !special && c.at < s->room)
		s->usual = (uint32_t)c.at;
	arm(s, recipe->waits);
	wait_before_t0(recipe->fence);
	return rec;
}

/*
 * Captures memory after the call. If `tries` is set, the kernel copies it (load_carefully()). Returns false if sctrace must
 * capture it.
 */
PART bool capture_all_after(const struct agent_scratch *s, struct capture *c, uint32_t at, bool tries)
{
	const struct agent_ring *r = (const struct agent_ring *)s->ring;
	c->at = at;
	c->tries = tries;
	c->memory = tries ? c : NULL;
	c->asks = (r->permits & RING_PERMITS_TESTING) != 0;
	if (tries && !(r->permits & RING_PERMITS_READING))
		return false;
	for (const struct memory_rule_of *op = s->ops; op < s->ops + s->nops; op++)
		if (!capture_after(c, &c->tables->needs[op->need], op->arg))
			return false;
	return true;
}

/* Does recorder_leave() for any call. `marks` is what judge() has returned. */
PART uint64_t leave_any(struct agent_scratch *s, uint8_t marks)
{
	struct agent_ring *r = (struct agent_ring *)s->ring;
	struct agent_record *rec = (struct agent_record *)s->record;
	const struct agent_recipe *recipe = (const struct agent_recipe *)RECIPES_AT + agent_row(s->nr);
	struct created made;
	uint32_t off = (uint32_t)(s->record - s->ring - RING_HEAD), limit = r->limit, taken;
	note_rseq(s);
	note_uring(s);
	if (limit > RING_DATA || r->end > RING_END || off >= limit)
		return 1;
	const uint8_t bad = rec->marks & MARK_ABSENT ? 0 : bad_descriptor(s, recipe, r->permits);
	rec->marks = (rec->marks & MARK_ABSENT) | (bad & MARK_ABSENT) | marks;
	if (bad == 1)
		return 1;
	uint64_t used = r->produced - __atomic_load_n(&r->consumed, __ATOMIC_ACQUIRE);
	struct capture c = capture_in(s, recipe, off, used);
	const uint32_t before = rec->before;
	c.result = s->result;
	if (before < c.head || before > c.room)
		return 1;
	/* The call may not have read all this memory, so it may be unreadable: process_vm_readv(2) copies it without a fault. */
	const bool tries = s->result < 0 && r->permits & RING_PERMITS_READING;
	if (!capture_all_after(s, &c, before, tries) && (tries || c.full || !capture_all_after(s, &c, before, true)))
		return 1;
	struct uring_row *const u = s->nr == __NR_io_uring_enter ? uring_of(s) : NULL;
	if (u && !put_completions(&c, u))
		return 1;
	const uint32_t permits = r->permits;
	if (recipe->names == NAMES_RENAME && permits & RING_PERMITS_NAMING && s->result >= 0)
		forget_names();
	if (!put_names(s, recipe, &c, permits, &made))
		return 1;
	rec->size = (uint16_t)c.at;
	r->next = ring_step(off, (uint32_t)c.at, limit, &taken);
	/* The order matters: record_step_out() may find the thread between these writes. */
	__atomic_store_n(&r->produced, r->produced + taken, __ATOMIC_RELEASE);
	__atomic_store_n(&r->open, 0, __ATOMIC_RELEASE);
	note_used(s, recipe, rec, permits); /* sctrace can find the names only now */
	for (uint32_t i = 0; i < made.n && !(permits & RING_NAMES_EACH_TIME); i++)
		note_name(made.fd[i], made.paired[i], made.serial);
	__atomic_store_n(&s->busy, SCRATCH_IDLE, __ATOMIC_RELEASE);
	return 0;
}

/*
 * From here on: a shorter way for the usual calls, those that programs make most. Nothing is captured before such a call, and
 * its record changes no tables of names or descriptors. enum memory_copy says what is captured after it. All other calls go to
 * the functions above, and so does a call that turns out to be unusual when it has returned.
 */
#define COPY_MOST 4096 /* if more bytes are to be copied, the rule is followed */
/* Records of usual calls begin before this offset, even if the program has overwritten agent_ring.limit. */
#define USUAL_END (RING_DATA & ~0xfffu)
_Static_assert(USUAL_END + RECORD_HEAD_MOST + RECIPE_OPS * (sizeof(struct captured) + COPY_MOST) <= RING_END, "room");

/*
 * Is the call a usual one? If it can write, or if names are wanted, it must also be certain that it does not write to the output
 * of the trace, and that the name of its descriptor is known.
 */
HELPER bool is_usual(const struct agent_scratch *s, const struct agent_recipe *recipe, const struct agent_ring *r)
{
	const bool seldom = recipe->asks || recipe->names || recipe->announces || recipe->before || recipe->others ||
			    recipe->second || recipe->closes;
	if (!seldom && !recipe->writes && !recipe->fd)
		return true;
	if (seldom || can_write_to_output(s, recipe))
		return false;
	if (!recipe->fd || !(r->permits & RING_PERMITS_NAMING))
		return true;
	if (recipe->fd == FD_CWD || r->permits & RING_NAMES_EACH_TIME)
		return false;
	return is_named((uint32_t)s->args[recipe->fd - 1]);
}

/* Returns the size of a string with its NUL, or a number above COPY_MOST. */
HELPER uint64_t count_text(uint64_t addr)
{
	const char *text = (const char *)addr;
	uint64_t n = 0;
	while (n <= COPY_MOST && text[n++])
		__asm__ volatile("" ::: "memory"); /* a compiler would call strlen(3) in place of a loop without it */
	return n;
}

/* Returns how many bytes to copy of the memory at `addr`, or a number above COPY_MOST if the rule must be followed. */
HELPER uint64_t count_usual(const struct agent_scratch *s, const struct memory_rule_of *op, uint64_t addr)
{
	const uint64_t result = (uint64_t)s->result, most = ((const struct agent_ring *)s->ring)->string_max;
	const unsigned copy = op->copy;
	if (s->result < 0) {
		if (copy == COPY_TEXT && s->result == -ENOENT)
			return addr ? count_text(addr) : 0;
		return copy == COPY_RESULT || copy == COPY_FILLED ? 0 : UINT64_MAX;
	}
	if (__builtin_expect(copy == COPY_RESULT, 1))
		return smaller(result, most);
	if (__builtin_expect(copy == COPY_WRITTEN, 1)) {
		const uint64_t n = smaller(s->args[op->arg + 1], most);
		return n <= result ? n : UINT64_MAX;
	}
	if (copy == COPY_TEXT || copy == COPY_LATER_TEXT)
		return addr ? count_text(addr) : 0;
	if (copy == COPY_FILLED || copy == COPY_READ)
		return ((const struct memory_tables *)MEMORY_AT)->needs[op->need].size;
	return copy == COPY_FAILED ? 0 : UINT64_MAX;
}

IN_PROGRAM struct agent_record *recorder_enter(struct agent_scratch *s)
{
	struct agent_ring *r = (struct agent_ring *)s->ring;
	const struct agent_recipe *recipe = (const struct agent_recipe *)RECIPES_AT + s->nr;
	const uint64_t used = r->produced - __atomic_load_n(&r->consumed, __ATOMIC_ACQUIRE), limit = r->limit;
	const uint32_t next = r->next;
	const int64_t left = (int64_t)(limit - next), unused = (int64_t)(limit - used);
	const int64_t room = left < unused ? left : unused;
	if (s->nr >= AGENT_NUMBERS || next >= USUAL_END || room <= (int64_t)RECORD_HEAD_MOST || !is_usual(s, recipe, r))
		return enter_any(s);
	const uint64_t head = head_of(recipe);
	const uint8_t fence = recipe->fence;
	const bool waits = recipe->waits;
	s->usual = (uint32_t)head;
	s->room = (uint64_t)room;
	s->ops = recipe->op;
	s->nops = recipe->n;
	struct agent_record *rec = open_record(r, s, s->nr, next, head, head, 0);
	arm(s, waits);
	wait_before_t0(fence);
	return rec;
}

IN_PROGRAM uint64_t recorder_leave(struct agent_scratch *s)
{
	const uint8_t marks = judge(s);
	if (!s->usual || s->result == -EBADF)
		return leave_any(s, marks);
	struct agent_ring *r = (struct agent_ring *)s->ring;
	struct agent_record *rec = (struct agent_record *)s->record;
	uint64_t at = s->usual;
	for (const struct memory_rule_of *op = s->ops, *end = op + s->nops; op < end; op++) {
		const uint64_t addr = s->args[op->arg], n = count_usual(s, op, addr);
		struct captured *to = (struct captured *)((unsigned char *)rec + at);
		if (n > COPY_MOST)
			return leave_any(s, marks);
		if (!addr || !n)
			continue;
		at += sizeof(*to) + ((n + 7) & ~7ull);
		if (at >= s->room)
			return leave_any(s, marks);
		to->addr = addr;
		to->len = (uint32_t)n;
		to->before = 0;
		copy_bytes((unsigned char *)(to + 1), (const unsigned char *)addr, n);
	}
	rec->marks = marks;
	rec->size = (uint16_t)at;
	r->next += (uint32_t)at;
	__atomic_store_n(&r->produced, r->produced + at, __ATOMIC_RELEASE);
	__atomic_store_n(&r->open, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&s->busy, SCRATCH_IDLE, __ATOMIC_RELEASE);
	return 0;
}
