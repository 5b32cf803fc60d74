/*
 * The recorder: C code that runs inside the traced program (see ring.h). The code is copied into the program as bytes,
 * so it must not need the rest of sctrace: it makes no library calls and has no constants in other sections and no
 * sanitizers. It does not use vector registers, because they hold the program's values during a system call.
 */
#include "engine/patch/code/ring.h"

#include <asm/unistd.h>
#include <stdbool.h>

#define IN_PROGRAM __attribute__((section("recorder_text"), used))
#define PART       static __attribute__((section("recorder_text"), noinline))
#define HELPER     static inline __attribute__((always_inline))

/* The same as the functions below, if some of the memory may be unreadable. */
PART uint64_t load_carefully(unsigned char *to, const void *memory, uint64_t addr, uint64_t n);
PART uint64_t load_text_carefully(unsigned char *to, const void *memory, uint64_t addr, uint64_t n);

/* The functions that syscall/capture.h needs. `memory` is NULL if all the memory can be read. */
HELPER uint64_t capture_load(void *at, const void *memory, uint64_t addr, uint64_t n)
{
	unsigned char *to = at;
	const unsigned char *from = (const unsigned char *)addr;
	uint64_t i = 0;
	if (memory)
		return load_carefully(to, memory, addr, n);
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

#define CAPTURE_PART   PART
#define CAPTURE_HELPER HELPER
#define CAPTURE_SURE   0
#include "syscall/capture.h"

/*
 * Makes a call that the program has not made, if agent_ring.permits allows it. The agent contains the
 * instruction, so that the call does not stop.
 */
PART int64_t own_call(int64_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	return cpu_own_call(*(const uint64_t *)OWN_CALL_AT, nr, a, b, c, d, e, f);
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

HELPER bool may_record(const struct capture *c, const struct agent_recipe *recipe)
{
	for (unsigned i = 0; i < recipe->n; i++) {
		unsigned arg = recipe->op[i].arg;
		const struct memory_need *n = &c->tables->needs[recipe->op[i].need];
		n = n->rule == MEMORY_COMMAND ? command_need(c, n, arg) : n;
		if (n && n->rule == MEMORY_MISSING)
			return false;
		for (unsigned k = 0; recipe->apart && k < i; k++)
			if (c->args[arg] && c->args[arg] == c->args[recipe->op[k].arg])
				return false;
	}
	return true;
}

/* Returns the size of a record's head. */
HELPER uint64_t head_of(const struct agent_recipe *recipe)
{
	return RECORD_HEAD_LEAST + recipe->nargs * sizeof(uint64_t);
}

/*
 * Describes the captures of a record at `off`, if `used` bytes of the ring are in use. The last record may end after the
 * data.
 */
HELPER struct capture capture_in(const struct agent_scratch *s, const struct agent_recipe *recipe, uint32_t off,
				 uint64_t used)
{
	struct agent_ring *r = (struct agent_ring *)s->ring;
	uint64_t free_bytes = r->limit - used, last = r->end - off, head = head_of(recipe);
	uint64_t room = off + free_bytes >= r->limit ? last : free_bytes;
	struct capture c = {.tables = (const struct memory_tables *)MEMORY_AT,
			    .args = s->args,
			    .nr = s->nr,
			    .string_max = r->string_max,
			    .bytes = (unsigned char *)ring_record(r, off),
			    .head = head,
			    .at = head,
			    .room = room < RECORD_MOST ? room : RECORD_MOST};
	return c;
}

/*
 * Captures memory that the system call may change or discard. Returns false if there is no room in the ring. If the
 * copying faults, the ring is unchanged, because the record is not open yet, and threads/patch_signals.c makes the call from
 * the stub.
 */
HELPER bool capture_all_before(const struct agent_scratch *s, struct capture *c, const struct agent_recipe *recipe)
{
	c->before = 1;
	c->frame_mask = s->sp + BELOW_PROGRAM + UC_MASK;
	for (unsigned i = 0; i < recipe->n; i++)
		if (!capture_before(c, &c->tables->needs[recipe->op[i].need], recipe->op[i].arg))
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
	if (fence == FENCE_STORES)
		cpu_wait_all();
	else if (fence == FENCE_LOADS)
		cpu_wait_loads();
}

HELPER void clear(uint64_t table, uint32_t rows)
{
	for (uint32_t row = 0; row < rows; row++)
		((volatile uint32_t *)table)[row] = 0;
}

/* Removes the notes about the descriptors that the call closes (ring.h). */
HELPER void forget_closed(const struct agent_scratch *s, const struct agent_recipe *recipe, uint32_t permits)
{
	uint32_t fd = recipe->closes && recipe->closes != CLOSES_MANY ? (uint32_t)s->args[recipe->closes - 1] : 0;
	if (recipe->closes == CLOSES_MANY)
		clear(ELSEWHERE_AT, ELSEWHERE_ROWS);
	else if (recipe->closes)
		*(volatile uint32_t *)elsewhere_row(fd) = 0;
	if (recipe->closes == CLOSES_MANY && permits & RING_PERMITS_NAMING)
		clear(NAMED_AT, NAMED_ROWS);
	else if (recipe->closes && permits & RING_PERMITS_NAMING)
		*(volatile uint32_t *)named_row(fd) = 0;
}

enum { F_GETFD = 1, EBADF = 9 };

/*
 * Must sctrace see the beginning of the call? It need not see that the name of a descriptor changes if earlier records contain
 * this name, or if the descriptor is not open (MARK_ABSENT). The only command of prctl(2) that changes a name is PR_SET_NAME.
 * Returns MARK_ABSENT, 1 or 0.
 */
HELPER uint8_t announces(const struct agent_scratch *s, const struct agent_recipe *recipe, uint32_t permits)
{
	enum { PR_SET_NAME = 15 };
	if (!recipe->announces || (s->nr == __NR_prctl && (uint32_t)s->args[0] != PR_SET_NAME))
		return 0;
	if (recipe->names != NAMES_SOCKET && (!recipe->closes || recipe->closes == CLOSES_MANY))
		return 1;
	uint32_t fd = (uint32_t)s->args[recipe->names == NAMES_SOCKET ? 0 : recipe->closes - 1];
	if (permits & RING_PERMITS_NAMING && *(const volatile uint32_t *)named_row(fd) == fd + 1)
		return 0;
	bool absent = permits & RING_PERMITS_TESTING && own_call(__NR_fcntl, fd, F_GETFD, 0, 0, 0, 0) == -EBADF;
	return absent ? MARK_ABSENT : 1;
}

/*
 * Looks at the descriptor of a call that has failed with EBADF: the file may also have been open for another use. Returns
 * MARK_ABSENT, 0, or 1 if sctrace must look.
 */
HELPER uint8_t bad_descriptor(const struct agent_scratch *s, const struct agent_recipe *recipe, uint32_t permits)
{
	if (s->result != -EBADF || !recipe->fd)
		return 0;
	if (recipe->fd == FD_SEVERAL || !(permits & RING_PERMITS_TESTING))
		return 1;
	return own_call(__NR_fcntl, s->args[recipe->fd - 1], F_GETFD, 0, 0, 0, 0) == -EBADF ? MARK_ABSENT : 0;
}

/* Writes the path of the link in /proc that stands for a descriptor. The text is not a constant in another section. */
HELPER void write_link(uint64_t path[4], uint32_t fd)
{
	char *at = (char *)path + 14;
	uint32_t power = 1;
	path[0] = 0x65732f636f72702f; /* "/proc/se" */
	path[1] = 0x00002f64662f666c; /* "lf/fd/" */
	while (fd / power >= 10)
		power *= 10;
	for (; power; power /= 10)
		*at++ = (char)('0' + fd / power % 10);
	*at = 0;
}

/*
 * Is the target of a link the name in full of its descriptor? If it ends in " (deleted)", sctrace finds out what that means. Sockets
 * and some anonymous files have longer names.
 */
HELPER bool is_name(const char *text, uint64_t n, uint32_t permits)
{
	uint32_t first = n > 4 ? *(const uint32_t *)(const void *)text : 0;
	return text[n - 1] != ')' && (text[0] == '/' || first == 0x65706970 /* "pipe" */ ||
				      first == 0x6b636f73 /* "sock" */ || !(permits & RING_NAMES_IN_FULL));
}

/*
 * Captures the addresses of a socket. Returns false if sctrace must look them up: not an internet socket, one whose address the
 * kernel may yet choose without a call that is known to change names, or one that waits for its connection.
 */
PART bool put_socket(struct capture *c, uint32_t fd)
{
	enum { SOL_SOCKET = 1, SO_PROTOCOL = 38, TCP = 6, UDP = 17 };
	enum { TCP_INFO = 11, SYN_SENT = 2, CLOSED = 7, AF_INET = 2, AF_INET6 = 10, ENOTCONN = 107 };
	struct captured *to = (struct captured *)(void *)(c->bytes + c->at);
	struct captured_socket *at = (struct captured_socket *)(void *)(to + 1);
	uint32_t size = sizeof(at->protocol), state = 0, one = 1;
	if (c->room - c->at < sizeof(*to) + sizeof(*at))
		return false;
	at->protocol = 0;
	at->nlocal = at->npeer = sizeof(at->local);
	own_call(__NR_getsockopt, fd, SOL_SOCKET, SO_PROTOCOL, (uint64_t)&at->protocol, (uint64_t)&size, 0);
	if ((at->protocol != TCP && at->protocol != UDP) ||
	    own_call(__NR_getsockname, fd, (uint64_t)at->local, (uint64_t)&at->nlocal, 0, 0, 0) < 0)
		return false;
	int64_t peer = own_call(__NR_getpeername, fd, (uint64_t)at->peer, (uint64_t)&at->npeer, 0, 0, 0);
	const uint16_t *local = (const uint16_t *)(const void *)at->local; /* the family, then the port */
	at->npeer = peer < 0 ? 0 : at->npeer;
	if ((local[0] != AF_INET && local[0] != AF_INET6) || at->nlocal > sizeof(at->local) ||
	    at->npeer > sizeof(at->peer) || (peer < 0 && peer != -ENOTCONN))
		return false;
	if (at->protocol == TCP &&
	    own_call(__NR_getsockopt, fd, TCP, TCP_INFO, (uint64_t)&state, (uint64_t)&one, 0) < 0)
		return false;
	if (at->protocol == UDP ? !local[1] : state == SYN_SENT || (state == CLOSED && local[1]))
		return false;
	to->addr = fd;
	to->len = sizeof(*at);
	to->before = CAPTURED_SOCKET;
	c->at += sizeof(*to) + sizeof(*at);
	return true;
}

/*
 * Finds out whether a descriptor refers to a device. This does not ask the server of a remote file system or of FUSE, which
 * may not answer, and which would see a request that the program does not make.
 */
HELPER bool put_device(struct captured_name *name, uint32_t fd)
{
	enum { DONT_SYNC = 0x4000, EMPTY_PATH = 0x1000, TYPE = 1 };
	struct {
		uint32_t start[7];
		uint16_t mode, pad;
		uint32_t middle[24], major, minor, end[30];
	} at; /* struct statx */
	_Static_assert(sizeof(at) == 256 && offsetof(__typeof__(at), major) == 128, "statx(2)");
	at.end[0] = 0; /* the empty path; the kernel reads it before it writes */
	if (own_call(__NR_statx, fd, (uint64_t)at.end, EMPTY_PATH | DONT_SYNC, TYPE, (uint64_t)&at, 0) < 0)
		return false;
	name->mode = at.mode;
	name->rdev = (at.minor & 0xff) | (uint64_t)at.major << 8 | (uint64_t)(at.minor & ~0xffu) << 12; /* makedev(3) */
	return true;
}

/* Captures the name of a descriptor. Returns false if sctrace must look it up. */
PART bool put_name(struct capture *c, uint32_t fd, uint32_t permits)
{
	struct captured *to = (struct captured *)(void *)(c->bytes + c->at);
	struct captured_name *name = (struct captured_name *)(void *)(to + 1);
	uint64_t path[4], head = offsetof(struct captured_name, text);
	uint64_t from = c->at + sizeof(*to) + head, room = from < c->room ? smaller(c->room - from, CAPTURE_PAGE) : 0;
	if (!(permits & RING_PERMITS_NAMING) || !room)
		return false;
	write_link(path, fd);
	int64_t n = own_call(89 /* readlink */, (uint64_t)path, (uint64_t)name->text, room, 0, 0, 0);
	if (n <= 0 || (uint64_t)n == room || !is_name(name->text, (uint64_t)n, permits))
		return false;
	name->rdev = 0;
	name->mode = 0;
	if (permits & RING_NAMES_IN_FULL && !put_device(name, fd))
		return false;
	to->addr = fd;
	to->len = (uint32_t)(head + (uint64_t)n);
	to->before = CAPTURED_NAME;
	c->at += sizeof(*to) + ((to->len + 7) & ~7u);
	return c->at <= c->room && (name->text[0] != 's' || !(permits & RING_NAMES_IN_FULL) || put_socket(c, fd));
}

/* Descriptors that a call has created, and whose names are in its record. */
struct created {
	uint32_t n, fd[2];
};

/* Captures the names of the descriptors that the call has created. Returns false if sctrace must look names up. */
HELPER bool put_names(const struct agent_scratch *s, const struct agent_recipe *recipe, struct capture *c,
		      uint32_t permits, struct created *made)
{
	enum { F_DUPFD = 0, F_DUPFD_CLOEXEC = 1030 };
	uint32_t command = (uint32_t)s->args[1];
	made->n = 0;
	if (recipe->names == NAMES_SOCKET && permits & RING_PERMITS_NAMING &&
	    (s->result >= 0 || s->result == -115 /* EINPROGRESS */)) {
		made->fd[0] = (uint32_t)s->args[0];
		made->n = put_name(c, made->fd[0], permits);
		volatile uint32_t *row = (volatile uint32_t *)named_row(made->fd[0]);
		bool named = *row == made->fd[0] + 1;
		if (!made->n) /* the next call that changes its name stops before it is made */
			*row = 0;
		return made->n || !named;
	}
	if (!recipe->asks || s->result < 0 ||
	    (recipe->names == NAMES_COMMAND && command != F_DUPFD && command != F_DUPFD_CLOEXEC))
		return true;
	if (recipe->names == NAMES_MESSAGE) {
		const struct capture_message *m = (const struct capture_message *)s->args[1];
		uint64_t n = s->nr == __NR_recvmsg ? 1 : smaller((uint64_t)s->result, IOVECS_MOST), control = 0;
		for (uint64_t i = 0; i < n; i++)
			control |= m[i].controllen;
		return !control;
	}
	if (recipe->names == NAMES_PAIR) {
		const uint32_t *pair = (const uint32_t *)s->args[s->nr == __NR_socketpair ? 3 : 0];
		made->fd[made->n++] = pair[0];
		made->fd[made->n++] = pair[1];
	} else if (recipe->names)
		made->fd[made->n++] = (uint32_t)s->result;
	for (uint32_t i = 0; i < made->n; i++)
		if (!put_name(c, made->fd[i], permits))
			return false;
	return made->n;
}

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

/* Reads a word of the thread's control block (glibc's tcbhead_t). */
#define CONTROL_BLOCK(offset)                                                                                          \
	({                                                                                                             \
		uint64_t word_;                                                                                        \
		__asm__ volatile("movq %%fs:%c1, %0" : "=r"(word_) : "i"(offset));                                     \
		word_;                                                                                                 \
	})

/* See `arm` in agent.S. */
HELPER void arm(struct agent_scratch *s)
{
	uint64_t rseq = ((volatile struct agent_data *)AGENT_DATA)->rseq, self = rseq ? CONTROL_BLOCK(0) : 0;
	s->armed = 0;
	if (!self || self != CONTROL_BLOCK(16))
		return;
	volatile uint64_t *cs = (volatile uint64_t *)(self + rseq);
	s->armed = (uint64_t)cs;
	if (!*cs)
		*cs = AGENT_SECTION;
}

/*
 * Does the kernel look at rseq_cs after the call although the thread has kept its CPU? That is so for RELEASING_CALLS and for
 * a close(2) that is like them. At calls that create a thread or a process (clone, fork, vfork, clone3), sctrace stops it.
 */
HELPER bool is_disturbed(uint64_t nr)
{
	return (nr >= 56 && nr <= 58) || nr == 435 || nr == 9 || nr == 11 || nr == 25 || nr == 31 || nr == 33 ||
	       nr == 67 || nr == 166 || nr == 292 || nr == 436 || nr == 334 ||
	       (nr == 3 && ((volatile struct agent_data *)AGENT_DATA)->watch & WATCH_CLOSES);
}

/* Returns MARK_*: whether the thread has lost its CPU since arm(). */
HELPER uint8_t judge(const struct agent_scratch *s)
{
	volatile uint64_t *cs = (volatile uint64_t *)s->armed;
	uint64_t now = cs ? *cs : 0;
	if (now == AGENT_SECTION)
		*cs = 0;
	if (!cs || (!now && is_disturbed(s->nr)))
		return 0;
	return now ? MARK_JUDGED : MARK_JUDGED | MARK_WAITED;
}

/* After rseq(2): notes where the areas of threads are. agent_rseq lets only calls pass that agree with earlier ones. */
HELPER void note_rseq(const struct agent_scratch *s)
{
	volatile struct agent_data *data = (volatile struct agent_data *)AGENT_DATA;
	if (s->nr == __NR_rseq && s->result == 0 && data->watch & WATCH_WAITS)
		data->rseq = s->args[0] + 8 /* rseq_cs in struct rseq */ - CONTROL_BLOCK(0);
}

IN_PROGRAM struct agent_record *recorder_enter(struct agent_scratch *s)
{
	struct agent_ring *r = (struct agent_ring *)s->ring;
	const struct agent_recipe *recipe = (const struct agent_recipe *)RECIPES_AT + s->nr;
	uint64_t used = r->produced - __atomic_load_n(&r->consumed, __ATOMIC_ACQUIRE);
	uint32_t limit = r->limit, next = r->next;
	/* The program may have written to the ring. Values read from it are used only if they are within bounds. */
	if (limit > RING_DATA || r->end > RING_END || next >= limit)
		return NULL;
	if (used > limit - RECORD_HEAD_MOST)
		return lacks_room(r, used);
	struct capture c = capture_in(s, recipe, next, used);
	if (recipe->before && !may_record(&c, recipe))
		return NULL;
	if (recipe->before && !capture_all_before(s, &c, recipe))
		return lacks_room(r, used);
	struct agent_record *rec = ring_record(r, next);
	rec->size = 0;
	rec->before = (uint16_t)c.at;
	rec->nr = (uint16_t)s->nr;
	rec->head = (uint8_t)c.head;
	rec->marks = announces(s, recipe, r->permits) | can_write_to_output(s, recipe);
	rec->t0 = 0;
	rec->t1 = 0;
	rec->ret = s->ret;
	rec->sp = s->sp;
	for (unsigned i = 0; i < recipe->nargs; i++)
		rec->args[i] = s->args[i];
	__atomic_store_n(&r->open, (uint64_t)next + 1, __ATOMIC_RELEASE);
	forget_closed(s, recipe, r->permits);
	if (rec->marks & 1)
		s->kind = KIND_ANNOUNCED;
	arm(s);
	wait_before_t0(recipe->fence);
	return rec;
}

IN_PROGRAM uint64_t recorder_leave(struct agent_scratch *s)
{
	struct agent_ring *r = (struct agent_ring *)s->ring;
	const struct agent_recipe *recipe = (const struct agent_recipe *)RECIPES_AT + s->nr;
	struct agent_record *rec = (struct agent_record *)s->record;
	const uint8_t marks = judge(s);
	struct created made;
	uint32_t off = (uint32_t)(s->record - s->ring - RING_HEAD), limit = r->limit, taken;
	note_rseq(s);
	if (limit > RING_DATA || r->end > RING_END || off >= limit)
		return 1;
	const uint8_t bad = rec->marks & MARK_ABSENT ? 0 : bad_descriptor(s, recipe, r->permits);
	rec->marks = (rec->marks & MARK_ABSENT) | (bad & MARK_ABSENT) | marks;
	if (bad == 1)
		return 1;
	uint64_t used = r->produced - __atomic_load_n(&r->consumed, __ATOMIC_ACQUIRE);
	struct capture c = capture_in(s, recipe, off, used);
	c.at = rec->before;
	c.result = s->result;
	c.tries = s->result < 0 && r->permits & RING_PERMITS_READING;
	c.memory = c.tries ? &c : NULL;
	if (c.at < c.head || c.at > c.room)
		return 1;
	for (unsigned i = 0; i < recipe->n; i++)
		if (!capture_after(&c, &c.tables->needs[recipe->op[i].need], recipe->op[i].arg))
			return 1;
	if (!put_names(s, recipe, &c, r->permits, &made))
		return 1;
	rec->size = (uint16_t)c.at;
	r->next = ring_step(off, (uint32_t)c.at, limit, &taken);
	/* The order matters: record_step_out() may find the thread between these writes. */
	__atomic_store_n(&r->produced, r->produced + taken, __ATOMIC_RELEASE);
	__atomic_store_n(&r->open, 0, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < made.n; i++) /* sctrace can find the names only now */
		*(volatile uint32_t *)named_row(made.fd[i]) = made.fd[i] + 1;
	__atomic_store_n(&s->busy, SCRATCH_IDLE, __ATOMIC_RELEASE);
	return 0;
}
