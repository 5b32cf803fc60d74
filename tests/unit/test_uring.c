/* SPDX-License-Identifier: MIT */
/* Tests of how the rings of io_uring are read: rings in prepared memory, and the calls that use them. */
#include "tracee/uring.h"

#include "decode/decode.h"
#include "decode/emit.h"

#include "trace_events.h"

#define BASE    0x100000u
#define RING    (BASE + 0x0)
#define SQES    (BASE + 0x4000)
#define VECTORS (BASE + 0x8000)
#define PARAMS  (BASE + 0x9000)
#define ARGS    (BASE + 0xa000)
#define FD      5

/* Where the parts of the ring are. */
enum { SQ_HEAD = 0, SQ_TAIL = 4, CQ_HEAD = 8, CQ_TAIL = 12, SQ_MASK = 16, CQ_MASK = 20, CQES = 64, SQ_ARRAY = 0x1000 };
enum {
	FLAG_SQPOLL = 2,
	FLAG_SQE128 = 1 << 10,
	FLAG_CQE32 = 1 << 11,
	FLAG_NO_MMAP = 1 << 14,
	FLAG_NO_SQARRAY = 1 << 16
};
enum { OP_NOP, OP_READV, OP_READ = 22, OP_WRITE = 23, OP_RECV = 27 };

struct fixture {
	struct uring u;
	unsigned char memory[0x10000];
	bool hidden; /* /proc does not show the ring */
	unsigned asked;
	uint32_t flags, sq_entries, cq_entries;
	uint64_t now;
	struct names names;
	struct mem mem;
};

static ssize_t ring_read(void *ctx, uint64_t addr, void *buf, size_t n)
{
	struct fixture *f = ctx;
	if (addr < BASE || addr >= BASE + sizeof(f->memory))
		return -EFAULT;
	size_t have = BASE + sizeof(f->memory) - addr;
	n = n < have ? n : have;
	memcpy(buf, f->memory + (addr - BASE), n);
	return (ssize_t)n;
}

static bool ring_name(void *ctx, pid_t tid, int fd, struct buf *out)
{
	struct fixture *f = ctx;
	(void)tid;
	f->asked++;
	if (f->hidden || fd != FD)
		return false;
	buf_addf(out, "%x %x %x %d %d %d %d %d %d %d %d", RING, RING, SQES, (f->flags & FLAG_SQPOLL) != 0, SQ_HEAD,
		 SQ_TAIL, SQ_MASK, CQ_HEAD, CQ_TAIL, CQ_MASK, CQES);
	return true;
}

static void store(struct fixture *f, uint64_t addr, const void *from, size_t n)
{
	memcpy(f->memory + (addr - BASE), from, n);
}

static void set(struct fixture *f, uint64_t addr, uint32_t v)
{
	store(f, addr, &v, sizeof(v));
}

static uint32_t value(const struct fixture *f, uint64_t addr)
{
	uint32_t v;
	memcpy(&v, f->memory + (addr - BASE), sizeof(v));
	return v;
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	*state = f;
	f->sq_entries = 4;
	f->cq_entries = 8;
	f->now = 1000;
	f->names = (struct names){.ring = ring_name, .ctx = f};
	f->mem = (struct mem){.read = ring_read, .ctx = f};
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	uring_free(&f->u);
	free(f);
	return 0;
}

static const struct uring_batch *tell(struct fixture *f, enum event_kind kind, pid_t tid, long nr,
				      const uint64_t args[4], int64_t result)
{
	struct event ev = call_event(kind, tid, nr, args[0], args[1], args[2], result);
	ev.call.args[3] = args[3];
	ev.mem = &f->mem;
	ev.time_ns = f->now += 10;
	assert_true(uring_concerns(&ev));
	return uring_call(&f->u, &ev, &f->names);
}

static const struct uring_batch *begins(struct fixture *f, uint32_t n)
{
	return tell(f, EV_ENTER, 100, SYS_io_uring_enter, (uint64_t[]){FD, n, 0, 0}, 0);
}

static const struct uring_batch *ends(struct fixture *f, uint32_t n, int64_t result)
{
	return tell(f, EV_EXIT, 100, SYS_io_uring_enter, (uint64_t[]){FD, n, 0, 0}, result);
}

/* The program creates the ring. */
static void create(struct fixture *f, uint32_t flags)
{
	struct uring_params p = {.sq_entries = f->sq_entries, .cq_entries = f->cq_entries, .flags = flags};
	f->flags = flags;
	p.sq.head = SQ_HEAD;
	p.sq.tail = SQ_TAIL;
	p.sq.mask = SQ_MASK;
	p.sq.array = SQ_ARRAY;
	p.cq.head = CQ_HEAD;
	p.cq.tail = CQ_TAIL;
	p.cq.mask = CQ_MASK;
	p.cq.cqes = CQES;
	if (flags & FLAG_NO_MMAP) {
		p.cq.address = RING;
		p.sq.address = SQES;
	}
	store(f, PARAMS, &p, sizeof(p));
	set(f, RING + SQ_MASK, f->sq_entries - 1);
	set(f, RING + CQ_MASK, f->cq_entries - 1);
	tell(f, EV_ENTER, 100, SYS_io_uring_setup, (uint64_t[]){f->sq_entries, PARAMS, 0, 0}, 0);
	tell(f, EV_EXIT, 100, SYS_io_uring_setup, (uint64_t[]){f->sq_entries, PARAMS, 0, 0}, FD);
}

/* The program adds a request. The entries are used in the opposite order, unless there is no array. */
static void request(struct fixture *f, uint8_t opcode, int32_t fd, uint64_t user_data, uint32_t length)
{
	struct {
		uint8_t opcode, flags;
		uint16_t priority;
		int32_t fd;
		uint64_t offset, address;
		uint32_t length, op_flags;
		uint64_t user_data, rest[3];
	} sqe = {.opcode = opcode,
		 .fd = fd,
		 .offset = 100,
		 .address = VECTORS,
		 .length = length,
		 .user_data = user_data};
	uint32_t tail = value(f, RING + SQ_TAIL), at = tail & (f->sq_entries - 1);
	uint32_t entry = f->flags & FLAG_NO_SQARRAY ? at : f->sq_entries - 1 - at;
	set(f, RING + SQ_ARRAY + 4 * at, f->flags & FLAG_NO_SQARRAY ? UINT32_MAX : entry);
	store(f, SQES + entry * (f->flags & FLAG_SQE128 ? 128 : 64), &sqe, sizeof(sqe));
	set(f, RING + SQ_TAIL, tail + 1);
}

/* The kernel takes `n` requests. */
static void take(struct fixture *f, uint32_t n)
{
	set(f, RING + SQ_HEAD, value(f, RING + SQ_HEAD) + n);
}

/* The kernel adds a completion, and the program takes it. */
static void complete(struct fixture *f, uint64_t user_data, int32_t result, uint32_t flags)
{
	struct {
		uint64_t user_data;
		int32_t result;
		uint32_t flags;
	} cqe = {user_data, result, flags};
	uint32_t tail = value(f, RING + CQ_TAIL), at = tail & (f->cq_entries - 1);
	store(f, RING + CQES + at * (f->flags & FLAG_CQE32 ? 32 : 16), &cqe, sizeof(cqe));
	set(f, RING + CQ_TAIL, tail + 1);
	set(f, RING + CQ_HEAD, tail + 1);
}

static void completion_is(const struct uring_batch *b, size_t i, uint64_t user_data, int opcode, int32_t result)
{
	assert_true(i < b->completions.n);
	const struct uring_completion *c = &b->completions.v[i];
	assert_int_equal(c->user_data, user_data);
	assert_int_equal(c->result, result);
	assert_int_equal(c->known, opcode >= 0);
	if (opcode >= 0)
		assert_int_equal(c->request.opcode, opcode);
}

/* Requests and completions of several rounds, so that both rings wrap around. */
static void rounds(struct fixture *f)
{
	for (uint64_t round = 0; round < 7; round++) {
		for (uint64_t i = 0; i < 3; i++)
			request(f, OP_READ, 7, 10 * round + i, 4096);
		const struct uring_batch *b = begins(f, 3);
		assert_int_equal(b->sight, URING_SEEN);
		assert_int_equal(b->requests.n, 3);
		for (uint64_t i = 0; i < 3; i++) {
			const struct uring_request *q = &b->requests.v[i];
			assert_int_equal(q->opcode, OP_READ);
			assert_int_equal(q->file, 7);
			assert_int_equal(q->offset, 100);
			assert_int_equal(q->bytes, 4096);
			assert_int_equal(q->user_data, 10 * round + i);
		}
		take(f, 3);
		for (uint64_t i = 3; i-- > 0;)
			complete(f, 10 * round + i, i ? 4096 : -5, 0);
		b = ends(f, 3, 3);
		assert_int_equal(b->completions.n, 3);
		completion_is(b, 0, 10 * round + 2, OP_READ, 4096);
		completion_is(b, 2, 10 * round, OP_READ, -5);
		assert_int_equal(b->completions.v[0].ns, 10);
	}
}

static void requests_meet_their_completions(void **state)
{
	create(*state, 0);
	rounds(*state);
}

static void all_layouts_are_read(void **state)
{
	struct fixture *f = *state;
	static const uint32_t layouts[] = {FLAG_NO_SQARRAY, FLAG_SQE128, FLAG_CQE32, FLAG_NO_MMAP,
					   FLAG_NO_SQARRAY | FLAG_SQE128 | FLAG_CQE32 | FLAG_NO_MMAP};
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
		memset(f->memory, 0, sizeof(f->memory));
		create(f, layouts[i]);
		rounds(f);
	}
}

/* sctrace has attached to the program, whose ring has been used for some time. */
static void a_ring_of_an_attached_process_is_found(void **state)
{
	struct fixture *f = *state;
	f->hidden = true;
	create(f, 0);
	f->hidden = false;
	uring_free(&f->u);
	f->u = (struct uring){0};
	/* The array is not where this test has it, but behind the completions: 64 + 8 * 16 = 192. */
	set(f, RING + 192 + 4, 1);
	request(f, OP_NOP, -1, 0, 0);
	take(f, 1);
	complete(f, 1, 0, 0);
	request(f, OP_RECV, 9, 2, 10);
	set(f, RING + 192 + 4, 2);
	const struct uring_batch *b = begins(f, 1);
	assert_int_equal(b->requests.n, 1);
	assert_int_equal(b->requests.v[0].opcode, OP_RECV);
	take(f, 1);
	complete(f, 2, 10, 0);
	b = ends(f, 1, 1);
	assert_int_equal(b->completions.n, 1);
	completion_is(b, 0, 2, OP_RECV, 10);
}

static void a_ring_that_is_not_found_is_reported(void **state)
{
	struct fixture *f = *state;
	struct buf said = {0};
	f->hidden = true;
	for (int i = 0; i < 50; i++) {
		assert_int_equal(begins(f, 1)->sight, URING_UNKNOWN);
		assert_int_equal(ends(f, 1, 1)->completions.n, 0);
	}
	assert_int_equal(f->asked, 16);
	uring_say(&f->u, &said);
	assert_non_null(strstr(buf_str(&said), "50 calls of io_uring_enter"));
	buf_free(&said);
}

static void what_the_kernel_has_not_taken_is_submitted_again(void **state)
{
	struct fixture *f = *state;
	create(f, 0);
	request(f, OP_READ, 7, 1, 10);
	request(f, OP_WRITE, 7, 1, 10);
	assert_int_equal(begins(f, 2)->requests.n, 2);
	take(f, 1);
	complete(f, 1, 10, 0);
	completion_is(ends(f, 2, 1), 0, 1, OP_READ, 10);
	assert_int_equal(begins(f, 1)->requests.n, 1);
	ends(f, 1, -11);
	assert_int_equal(begins(f, 1)->requests.n, 1);
	take(f, 1);
	complete(f, 1, 9, 0);
	const struct uring_batch *b = ends(f, 1, 1);
	assert_int_equal(b->completions.n, 1);
	completion_is(b, 0, 1, OP_WRITE, 9);
}

/* The program takes completions without a call, and they are seen at the next call. */
static void completions_without_a_call_are_seen_later(void **state)
{
	struct fixture *f = *state;
	create(f, 0);
	request(f, OP_READ, 7, 1, 10);
	begins(f, 1);
	take(f, 1);
	assert_int_equal(ends(f, 1, 1)->completions.n, 0);
	complete(f, 1, 10, 0);
	begins(f, 0);
	completion_is(ends(f, 0, 0), 0, 1, OP_READ, 10);
	/* More of them than there is room for. */
	for (uint64_t i = 0; i < 11; i++)
		complete(f, i, 0, 0);
	begins(f, 0);
	const struct uring_batch *b = ends(f, 0, 0);
	assert_int_equal(b->completions.n, 8);
	assert_int_equal(b->missed, 3);
	completion_is(b, 0, 3, -1, 0);
	assert_int_equal(f->u.missed, 3);
}

static void count_left(void *ctx, const struct uring_request *q)
{
	*(uint64_t *)ctx += q->user_data;
}

static void one_request_can_have_several_completions(void **state)
{
	struct fixture *f = *state;
	create(f, 0);
	request(f, OP_RECV, 7, 1, 0);
	begins(f, 1);
	take(f, 1);
	complete(f, 1, 10, URING_MORE);
	complete(f, 1, 20, URING_MORE);
	complete(f, 1, -105, 0);
	complete(f, 1, 30, 0);
	const struct uring_batch *b = ends(f, 1, 1);
	assert_int_equal(b->completions.n, 4);
	completion_is(b, 1, 1, OP_RECV, 20);
	completion_is(b, 2, 1, OP_RECV, -105);
	completion_is(b, 3, 1, -1, 30);
	uint64_t left = 0; /* a request that will have more of them has not been left without one */
	request(f, OP_RECV, 7, 5, 0);
	request(f, OP_RECV, 7, 6, 0);
	begins(f, 2);
	take(f, 2);
	complete(f, 5, 10, URING_MORE);
	ends(f, 2, 2);
	uring_each_left(&f->u, count_left, &left);
	assert_int_equal(left, 6);
}

static void vectors_are_added_up(void **state)
{
	struct fixture *f = *state;
	const uint64_t vectors[] = {0x1000, 10, 0x2000, 32};
	create(f, 0);
	store(f, VECTORS, vectors, sizeof(vectors));
	request(f, OP_READV, 7, 1, 2);
	const struct uring_batch *b = begins(f, 1);
	assert_int_equal(b->requests.v[0].bytes, 42);
	/* A recording needs exactly what was read. */
	bool read = false;
	for (size_t i = 0; i < b->reads.n; i++)
		read |= b->reads.v[i].addr == VECTORS && b->reads.v[i].n == 32 &&
			memcmp(b->bytes.s + b->reads.v[i].at, vectors, 32) == 0;
	assert_true(read);
}

static void registered_files_lead_to_descriptors(void **state)
{
	struct fixture *f = *state;
	const int32_t fds[] = {30, 31, -1};
	struct {
		uint32_t offset, unused;
		uint64_t fds;
	} update = {1, 0, ARGS + 0x100};
	create(f, 0);
	store(f, ARGS, fds, sizeof(fds));
	tell(f, EV_EXIT, 100, SYS_io_uring_register, (uint64_t[]){FD, 2, ARGS, 3}, 0);
	request(f, OP_READ, 1, 1, 10);
	f->memory[SQES - BASE + 3 * 64 + 1] = URING_FIXED_FILE;
	assert_int_equal(begins(f, 1)->requests.v[0].file, 31);
	ends(f, 1, -11);
	set(f, ARGS + 0x100, 44);
	store(f, ARGS + 0x200, &update, sizeof(update));
	tell(f, EV_EXIT, 100, SYS_io_uring_register, (uint64_t[]){FD, 6, ARGS + 0x200, 1}, 1);
	assert_int_equal(begins(f, 1)->requests.v[0].file, 44);
	ends(f, 1, -11);
	tell(f, EV_EXIT, 100, SYS_io_uring_register, (uint64_t[]){FD, 3, 0, 0}, 0);
	const struct uring_batch *b = begins(f, 1);
	assert_int_equal(b->requests.v[0].file, -1);
	assert_int_equal(b->requests.v[0].fd, 1);
}

/* A thread can register a ring, and use its index. Another thread cannot. */
static void registered_rings_belong_to_a_thread(void **state)
{
	enum { REGISTERED_RING = 1 << 4, REGISTER_RING_FDS = 20 };
	struct fixture *f = *state;
	const struct {
		uint32_t index, unused;
		uint64_t fd;
	} x = {3, 0, FD};
	create(f, 0);
	store(f, ARGS, &x, sizeof(x));
	tell(f, EV_EXIT, 100, SYS_io_uring_register, (uint64_t[]){FD, REGISTER_RING_FDS, ARGS, 1}, 1);
	request(f, OP_READ, 7, 1, 10);
	const uint64_t args[] = {3, 1, 0, REGISTERED_RING};
	assert_int_equal(tell(f, EV_ENTER, 101, SYS_io_uring_enter, args, 0)->sight, URING_UNKNOWN);
	assert_int_equal(tell(f, EV_ENTER, 100, SYS_io_uring_enter, args, 0)->requests.n, 1);
	take(f, 1);
	complete(f, 1, 10, 0);
	completion_is(tell(f, EV_EXIT, 100, SYS_io_uring_enter, args, 1), 0, 1, OP_READ, 10);
}

/* Two threads wait for completions of the same ring. Each completion is reported once. */
static void threads_share_a_ring(void **state)
{
	struct fixture *f = *state;
	const uint64_t args[] = {FD, 0, 1, 1};
	create(f, 0);
	request(f, OP_READ, 7, 1, 10);
	request(f, OP_READ, 7, 2, 10);
	begins(f, 2);
	tell(f, EV_ENTER, 101, SYS_io_uring_enter, args, 0);
	take(f, 2);
	complete(f, 1, 10, 0);
	const struct uring_batch *b = tell(f, EV_EXIT, 101, SYS_io_uring_enter, args, 0);
	assert_int_equal(b->completions.n, 1);
	completion_is(b, 0, 1, OP_READ, 10);
	complete(f, 2, 5, 0);
	b = ends(f, 2, 2);
	assert_int_equal(b->completions.n, 1);
	completion_is(b, 0, 2, OP_READ, 5);
}

static void a_kernel_thread_hides_the_requests(void **state)
{
	struct fixture *f = *state;
	struct buf said = {0};
	create(f, FLAG_SQPOLL);
	request(f, OP_READ, 7, 1, 10);
	assert_int_equal(begins(f, 1)->sight, URING_POLLED);
	assert_int_equal(f->u.batch.requests.n, 0);
	complete(f, 1, 10, 0);
	completion_is(ends(f, 1, 1), 0, 1, -1, 10);
	uring_say(&f->u, &said);
	assert_non_null(strstr(buf_str(&said), "the requests of 1 ring "));
	buf_free(&said);
}

static void a_child_inherits_the_ring(void **state)
{
	struct fixture *f = *state;
	struct event fork = {.kind = EV_NEW_TASK, .tid = 100, .pid = 100, .child = 200};
	struct event ev = call_event(EV_ENTER, 200, SYS_io_uring_enter, FD, 1, 0, 0);
	uint64_t left = 0;
	create(f, 0);
	begins(f, 0);
	ends(f, 0, 0);
	uring_other(&f->u, &fork);
	f->hidden = true;
	request(f, OP_READ, 7, 1, 10);
	ev.pid = 200;
	ev.mem = &f->mem;
	assert_int_equal(uring_call(&f->u, &ev, &f->names)->requests.n, 1);
	take(f, 1);
	ev.kind = EV_EXIT;
	ev.call.result = 1;
	uring_call(&f->u, &ev, &f->names);
	/* The request belongs to the ring, so the parent can get its completion. */
	uring_other(&f->u, &(struct event){.kind = EV_DEATH, .tid = 200, .pid = 200, .is_process = true});
	assert_int_equal(f->u.left.n, 0);
	request(f, OP_READ, 7, 2, 10);
	begins(f, 1);
	take(f, 1);
	complete(f, 1, 10, 0);
	completion_is(ends(f, 1, 1), 0, 1, OP_READ, 10);
	uring_each_left(&f->u, count_left, &left);
	assert_int_equal(left, 2);
}

/* Returns the decoded call, in text or JSON: its arguments and its result. The caller frees it. */
static char *shown(struct fixture *f, bool json, const uint64_t args[4], int64_t result)
{
	struct buf out = {0};
	struct emit e;
	struct event ev = call_event(EV_ENTER, 100, SYS_io_uring_enter, args[0], args[1], args[2], result);
	const struct decode_opts opts = {.string_max = 32, .names = &names};
	struct decode d = {.out = &e, .call = &ev.call, .mem = &f->mem, .opts = &opts, .pid = 100};
	(json ? emit_json_init(&e, &out) : emit_text_init(&e, &out, 0));
	d.uring = tell(f, EV_ENTER, 100, SYS_io_uring_enter, args, 0);
	int given = decode_enter(&d);
	take(f, 1);
	complete(f, 1, result < 0 ? -9 : 5, 0);
	d.uring = tell(f, EV_EXIT, 100, SYS_io_uring_enter, args, result);
	d.leaving = true;
	decode_exit(&d, given);
	buf_adds(&out, json ? "" : " = ");
	decode_result(&d);
	return buf_take(&out);
}

static void requests_and_completions_are_shown(void **state)
{
	struct fixture *f = *state;
	static const struct {
		bool json;
		uint8_t opcode;
		int result;
		const char *text;
	} cases[] = {
		{false, OP_WRITE, 1,
		 "5, 1 /* [{opcode=IORING_OP_WRITE, fd=7, off=100, addr=\"hello\", len=5, user_data=0x1}] */, 0, 0, "
		 "NULL, 0 = "
		 "1 ([{user_data=0x1, opcode=IORING_OP_WRITE, res=5}])"},
		{false, OP_READ, 1,
		 "5, 1 /* [{opcode=IORING_OP_READ, fd=7, off=100, addr=0x108000, len=5, user_data=0x1}] */, 0, 0, "
		 "NULL, 0 = "
		 "1 ([{user_data=0x1, opcode=IORING_OP_READ, res=5}])"},
		/* The call fails, and completions of earlier requests have come. */
		{false, OP_READ, -EINTR,
		 "5, 1 /* [{opcode=IORING_OP_READ, fd=7, off=100, addr=0x108000, len=5, user_data=0x1}] */, 0, 0, "
		 "NULL, 0 = "
		 "-1 EINTR (Interrupted system call) ([{user_data=0x1, res=-EBADF}])"},
		{true, OP_WRITE, 1,
		 "\"fd\":{\"raw\":5,\"value\":5},\"to_submit\":{\"raw\":1,\"value\":[{\"opcode\":\"IORING_OP_WRITE\","
		 "\"fd\":7,\"off\":100,\"addr\":\"hello\",\"len\":5,\"user_data\":\"0x1\"}]}"},
		{true, OP_WRITE, 1,
		 "\"result\":1,\"returned\":[{\"user_data\":\"0x1\",\"opcode\":\"IORING_OP_WRITE\",\"res\":5}]"},
	};
	create(f, 0);
	store(f, VECTORS, "hello", 5);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		request(f, cases[i].opcode, 7, 1, 5);
		char *is = shown(f, cases[i].json, (uint64_t[]){FD, 1, 0, 0}, cases[i].result);
		if (cases[i].json)
			assert_non_null(strstr(is, cases[i].text));
		else
			assert_string_equal(is, cases[i].text);
		free(is);
	}
}

/* The rings are the program's memory, and it can write anything there. */
static void nonsense_is_not_believed(void **state)
{
	struct fixture *f = *state;
	static const uint32_t masks[] = {0xffffffff, 0x7fffffff, 5, 0xffff};
	create(f, 0);
	for (size_t i = 0; i < sizeof(masks) / sizeof(*masks); i++) {
		set(f, RING + SQ_MASK, masks[i]);
		set(f, RING + SQ_TAIL, UINT32_MAX);
		begins(f, UINT32_MAX);
		ends(f, UINT32_MAX, INT32_MAX);
		set(f, RING + SQ_MASK, 3);
		set(f, RING + CQ_MASK, masks[i]);
		set(f, RING + CQ_TAIL, masks[i]);
		begins(f, UINT32_MAX);
		ends(f, UINT32_MAX, INT32_MAX);
		set(f, RING + CQ_MASK, 7);
	}
	/* An index that is not in the array of requests. */
	set(f, RING + SQ_HEAD, 0);
	set(f, RING + SQ_TAIL, 2);
	set(f, RING + SQ_ARRAY, 4);
	set(f, RING + SQ_ARRAY + 4, UINT32_MAX);
	assert_int_equal(begins(f, 2)->requests.n, 0);
	ends(f, 2, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(requests_meet_their_completions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(all_layouts_are_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_ring_of_an_attached_process_is_found, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_ring_that_is_not_found_is_reported, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_the_kernel_has_not_taken_is_submitted_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(completions_without_a_call_are_seen_later, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_request_can_have_several_completions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(vectors_are_added_up, set_up, tear_down),
		cmocka_unit_test_setup_teardown(registered_files_lead_to_descriptors, set_up, tear_down),
		cmocka_unit_test_setup_teardown(registered_rings_belong_to_a_thread, set_up, tear_down),
		cmocka_unit_test_setup_teardown(threads_share_a_ring, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_kernel_thread_hides_the_requests, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_child_inherits_the_ring, set_up, tear_down),
		cmocka_unit_test_setup_teardown(requests_and_completions_are_shown, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nonsense_is_not_believed, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
