/* SPDX-License-Identifier: MIT */
/* Tests the contents of records: recipes, and what the recorder captures. */
#include "base/buf.h"
#include "decode/decode.h"
#include "decode/emit.h"
#include "record_rig.h"
#include "syscall/rules.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>

#define PAGES 65536u /* bytes of memory that follow each pointer argument; more than a record can hold */

static bool verbose; /* the decoders show all arguments and variables of execve(2) */

static ssize_t own_memory(void *ctx, uint64_t addr, void *buf, size_t n)
{
	const char *page = ctx;
	if (addr - (uint64_t)(uintptr_t)page >= PAGES)
		return -EFAULT;
	size_t left = PAGES - (size_t)(addr - (uint64_t)(uintptr_t)page);
	n = n < left ? n : left;
	memcpy(buf, (const void *)(uintptr_t)addr, n);
	return (ssize_t)n;
}

static void show(const struct call *c, const struct mem *before, const struct mem *after, struct buf *out)
{
	struct emit e;
	struct decode_opts opts = {.string_max = 32, .verbose = verbose};
	struct decode_memo memo = {0};
	struct decode d = {.out = &e, .call = c, .mem = before, .opts = &opts, .memo = &memo};
	emit_text_init(&e, out, 0);
	int given = decode_enter(&d);
	d.leaving = true;
	d.mem = after;
	decode_exit(&d, given);
	decode_result(&d);
}

static struct call call_of(int64_t nr, const uint64_t args[6], int64_t result)
{
	struct call c = {.arch = syscall_native_arch(),
			 .nr = nr,
			 .desc = syscall_lookup(syscall_native_arch(), nr),
			 .result = result,
			 .error = result < 0,
			 .err = result < 0 ? (int)-result : 0};
	memcpy(c.args, args, sizeof(c.args));
	return c;
}

/* Decodes the only call in the ring. */
static void show_recorded(const struct call *c, struct buf *out)
{
	assert_int_equal(reader_fill(&rig.reader), 0);
	struct record_item it = take();
	assert_int_equal(it.kind, RECORD_ENTER);
	const struct captured_list list = record_captures(it.record);
	struct captured_memory was = {&list, true, 0}, is = {&list, false, 0};
	const struct mem before = {.read = captured_read, .ctx = &was}, after = {.read = captured_read, .ctx = &is};
	show(c, &before, &after, out);
}

static void check_same_text(int64_t nr, char *page, const uint64_t args[6], int64_t result)
{
	struct buf live = {0}, recorded = {0};
	set_up(RING_DATA);
	rig.ring->permits = rand() % 2 ? RING_PERMITS_READING : 0;
	rig.scratch.sp = (uint64_t)(uintptr_t)page; /* rt_sigreturn(2) reads the frame of a signal above it */
	if (!enter(nr, args) || leave(result) != 0)
		return; /* the call stops, and sctrace decodes it from the program's memory */
	struct call c = call_of(nr, args, result);
	c.sp = rig.scratch.sp + BELOW_PROGRAM;
	const struct mem memory = {.read = own_memory, .ctx = page};
	show_recorded(&c, &recorded);
	show(&c, &memory, &memory, &live);
	assert_string_equal(buf_str(&recorded), buf_str(&live));
	buf_free(&live);
	buf_free(&recorded);
}

#define VECTOR_AT     40000 /* offset in the page, after the memory of other arguments */
#define MESSAGES_AT   42000
#define PARTS_AT      43300
#define REQUESTS_AT   60000
#define STRINGS_AT    44000
#define CLONE_ARGS_AT 43100

static uint64_t somewhere(const char *page)
{
	return (uint64_t)(uintptr_t)page + (uint64_t)(rand() % 3000);
}

/* Makes a vector at offset `at` of the page, with *n buffers. Returns the number of bytes in the buffers. */
static uint64_t make_vector(char *page, size_t at, uint64_t *n)
{
	struct capture_iovec v[5];
	uint64_t sum = 0;
	*n = (uint64_t)(rand() % 6);
	for (uint64_t i = 0; i < *n; i++) {
		v[i] = (struct capture_iovec){somewhere(page), (uint64_t)(rand() % 60)};
		sum += v[i].len;
	}
	memcpy(page + at, v, *n * sizeof(*v));
	return sum;
}

/* Makes the message with index `i` in the array at MESSAGES_AT. Returns the number of bytes in it. */
static uint64_t make_message(char *page, size_t i)
{
	struct capture_message m = {.name = rand() % 2 ? somewhere(page) : 0,
				    .namelen = (uint32_t)(rand() % 150),
				    .iov = (uint64_t)(uintptr_t)page + VECTOR_AT + i * 200,
				    .control = rand() % 2 ? somewhere(page) : 0,
				    .controllen = (uint64_t)(rand() % 100)};
	uint64_t sum = make_vector(page, VECTOR_AT + i * 200, &m.iovlen);
	m.bytes = (uint32_t)sum;
	memcpy(page + MESSAGES_AT + i * sizeof(m), &m, sizeof(m));
	return sum;
}

/* Makes the array of strings to which argument `arg` points: more than are shown without -v, or fewer. */
static void make_strings(char *page, uint64_t args[6], unsigned arg)
{
	uint64_t pointers[40] = {0};
	size_t n = (size_t)(rand() % 40);
	for (size_t i = 0; i < n; i++)
		pointers[i] = somewhere(page);
	memcpy(page + STRINGS_AT + arg * 1000, pointers, (n + 1) * sizeof(*pointers));
	args[arg] = rand() % 10 ? (uint64_t)(uintptr_t)page + STRINGS_AT + arg * 1000 : 0;
}

/* Makes a structure at `at` whose members that point at memory do so, and have small lengths. */
static void make_parts(char *page, size_t at, unsigned list)
{
	for (size_t i = 0; i < MEMORY_PARTS; i++) {
		const struct memory_part *p = &tables->parts[i];
		const uint64_t pointer = rand() % 3 ? somewhere(page) : 0;
		const uint32_t length = p->need.count == COUNT_MEMBER ? (uint32_t)(rand() % 20) : 64;
		if (p->list != list)
			continue;
		memcpy(page + at + p->offset, &pointer, sizeof(pointer));
		if (p->need.count == COUNT_MEMBER || p->need.count == COUNT_MEMBER_RESULT)
			memcpy(page + at + p->length, &length, sizeof(length));
	}
}

/* Makes the requests of io_submit(2). */
static void make_requests(char *page, uint64_t args[6], unsigned arg, int64_t *result)
{
	uint64_t pointers[4];
	args[arg - 1] = (uint64_t)(rand() % 5);
	for (size_t i = 0; i < 4; i++) {
		struct capture_request q = {.command = (uint16_t)(rand() % 9), .buf = somewhere(page), .nbytes = 2};
		pointers[i] = (uint64_t)(uintptr_t)page + REQUESTS_AT + 100 + i * sizeof(q);
		memcpy(page + REQUESTS_AT + 100 + i * sizeof(q), &q, sizeof(q));
	}
	memcpy(page + REQUESTS_AT, pointers, sizeof(pointers));
	args[arg] = (uint64_t)(uintptr_t)page + REQUESTS_AT;
	*result = (int64_t)args[arg - 1];
}

/*
 * Makes the memory to which argument `arg` points, for a rule whose memory contains pointers. Sets *result so that this
 * memory is valid.
 */
static void make_deep(char *page, uint64_t args[6], const struct memory_need *n, unsigned arg, int64_t *result)
{
	unsigned rule = n->rule;
	bool out = rule == MEMORY_OUT_IOVEC || rule == MEMORY_OUT_MSG;
	uint64_t sum = 0;
	if (rule == MEMORY_POINTERS || rule == MEMORY_STRINGS) {
		make_strings(page, args, arg);
		return;
	}
	if (rule == MEMORY_CLONE_ARGS) {
		const uint64_t clone_args[11] = {(uint64_t)(rand() & ~0x1000 /* CLONE_PIDFD */), 1, 2, somewhere(page)};
		memcpy(page + CLONE_ARGS_AT, clone_args, sizeof(clone_args));
		args[arg] = (uint64_t)(uintptr_t)page + CLONE_ARGS_AT;
		args[arg + 1] = rand() % 2 ? 64 : sizeof(clone_args);
		if (rand() % 2)
			make_parts(page, CLONE_ARGS_AT, n->parts);
		return;
	}
	if (n->parts) {
		make_parts(page, PARTS_AT, n->parts);
		args[arg] = (uint64_t)(uintptr_t)page + PARTS_AT;
		return;
	}
	if (rule == MEMORY_REQUESTS) {
		make_requests(page, args, arg, result);
		return;
	}
	args[arg] = (uint64_t)(uintptr_t)page + MESSAGES_AT;
	if (rule == MEMORY_MMSG || rule == MEMORY_OUT_MMSG) {
		args[arg + 1] = (uint64_t)(rand() % 4);
		for (size_t i = 0; i < args[arg + 1]; i++)
			make_message(page, i);
		*result = (int64_t)args[arg + 1];
		return;
	}
	if (rule == MEMORY_MSG || rule == MEMORY_OUT_MSG) {
		sum = make_message(page, 0);
	} else {
		sum = make_vector(page, VECTOR_AT, &args[n->from]);
		args[arg] = (uint64_t)(uintptr_t)page + VECTOR_AT;
	}
	*result = !out ? (int64_t)sum : sum ? rand() % (int64_t)sum : 0;
}

static bool is_deep(const struct memory_need *n)
{
	return n->rule == MEMORY_IN_IOVEC || n->rule == MEMORY_OUT_IOVEC || n->parts || n->rule == MEMORY_POINTERS ||
	       n->rule == MEMORY_STRINGS || n->rule == MEMORY_REQUESTS || n->rule >= MEMORY_MSG;
}

/* Selects a command that is in the table, or of which nothing is known. Returns its rule for the argument, or NULL. */
static const struct memory_need *make_command(uint64_t args[6], const struct memory_need *n, unsigned arg,
					      uint32_t luck)
{
	const struct memory_command *row = NULL;
	uint32_t rows = 0, command = 0xfff0;
	for (uint32_t i = 0; i < tables->ncommands; i++)
		rows += tables->commands[i].table == n->size;
	for (uint32_t i = 0, k = 0; rows && i < tables->ncommands; i++)
		if (tables->commands[i].table == n->size && k++ == luck % rows)
			command = tables->commands[i].command;
	args[n->from] = (uint64_t)command << n->head;
	for (uint32_t i = 0; i < tables->ncommands && !row; i++)
		if (tables->commands[i].table == n->size && tables->commands[i].arg == arg &&
		    tables->commands[i].command == command)
			row = &tables->commands[i];
	return row ? &tables->needs[row->need] : NULL;
}

/*
 * Sets the arguments of a call to random values, and returns a random result. The memory that the arguments point to is
 * mapped.
 */
static int64_t make_call(int64_t nr, char *page, uint64_t args[6])
{
	int64_t result = rand() % 3 ? rand() % 60 : -ENOENT;
	uint32_t luck = (uint32_t)rand();
	for (int i = 0; i < 6; i++)
		args[i] = (uint64_t)(rand() % 64);
	for (int i = 0; i < recipes[nr].n; i++) {
		unsigned arg = recipes[nr].op[i].arg;
		const struct memory_need *n = &tables->needs[recipes[nr].op[i].need];
		if (n->rule == MEMORY_COMMAND)
			n = make_command(args, n, arg, luck);
		if (n && is_deep(n))
			make_deep(page, args, n, arg, &result);
		else if (n)
			args[arg] = rand() % 4 ? somewhere(page) : 0;
		if (n && n->count == COUNT_ROOM) /* the result must fit into the buffer, unless this is not used */
			args[n->from] = rand() % 4 ? 64 : 0;
	}
	if (nr == SYS_bpf)
		args[2] = 128;           /* names are not cut */
	if (nr == SYS_getcwd && args[0]) /* whose result counts the NUL */
		result = (int64_t)strlen((const char *)(uintptr_t)args[0]) + 1;
	return result;
}

static void all_calls_have_the_same_text(void **state)
{
	(void)state;
	char *page = map(NULL, PAGES);
	unsigned recorded = 0;
	for (unsigned round = 0; round < 40; round++) {
		srand(round);
		for (size_t i = 0; i < PAGES; i++)
			page[i] = (char)(round % 4 == 0 ? 0 : round % 4 == 1 ? 'a' + rand() % 26 : rand());
		page[8191] = 0;
		for (size_t i = 100; i < PAGES; i += 100 + (size_t)rand() % 200)
			page[i] = 0;
		for (int64_t nr = 0; nr < 512; nr++) {
			uint64_t args[6];
			/* getdents64(2) returns structures, so random bytes do not decode. */
			if (!is_recordable(nr) || nr == SYS_getdents64)
				continue;
			recorded++;
			int64_t result = make_call(nr, page, args);
			check_same_text(nr, page, args, result);
		}
	}
	assert_true(recorded > 40 * 150);
}

/* With -v, all strings of execve(2) are captured, or the call stops. */
static void all_strings_of_execve_are_captured(void **state)
{
	(void)state;
	char *page = map(NULL, PAGES);
	const struct syscall_desc *d = syscall_lookup(syscall_native_arch(), SYS_execve);
	unsigned recorded = 0;
	verbose = true;
	assert_true(recipe_of(d, SYS_execve, true, tables, &recipes[SYS_execve]));
	srand(1);
	for (size_t i = 0; i < PAGES; i++)
		page[i] = (char)('a' + rand() % 26);
	for (size_t i = 100; i < PAGES; i += 100 + (size_t)rand() % 200)
		page[i] = 0;
	for (unsigned round = 0; round < 200; round++) {
		uint64_t args[6];
		int64_t result = make_call(SYS_execve, page, args);
		set_up(RING_DATA);
		recorded += enter(SYS_execve, args);
		check_same_text(SYS_execve, page, args, result);
	}
	assert_int_equal(recorded, 200);
	verbose = false;
	assert_true(recipe_of(d, SYS_execve, false, tables, &recipes[SYS_execve]));
}

/* The captures of execve(2) are made before the call, because its memory is lost if the call succeeds. */
static void execve_is_captured_before_it_is_made(void **state)
{
	(void)state;
	char path[] = "/bin/ls", arg[] = "ls";
	uint64_t argv[] = {(uint64_t)(uintptr_t)arg, 0}, envp[] = {0};
	const uint64_t args[6] = {(uint64_t)(uintptr_t)path, (uint64_t)(uintptr_t)argv, (uint64_t)(uintptr_t)envp};
	struct buf text = {0};
	set_up(RING_DATA);
	assert_true(enter(SYS_execve, args));
	memset(path, 'x', 2);
	memset(arg, 'x', 2);
	argv[0] = envp[0] = 1;
	assert_int_equal(reader_fill(&rig.reader), 0);
	struct record_item it = take();
	assert_int_equal(it.kind, RECORD_ENTER);
	const struct captured_list list = record_captures(it.record);
	struct captured_memory was = {&list, true, 0};
	const struct mem before = {.read = captured_read, .ctx = &was};
	struct call c = call_of(SYS_execve, args, 0);
	show(&c, &before, &before, &text);
	assert_non_null(strstr(buf_str(&text), "\"/bin/ls\", [\"ls\"], 0x"));
	assert_non_null(strstr(buf_str(&text), "/* 0 vars */"));
	buf_free(&text);
	/* More than a record can hold: the call stops. */
	char *page = map(NULL, PAGES);
	memset(page, 'a', PAGES);
	const uint64_t lengthy[6] = {(uint64_t)(uintptr_t)page, 0, 0},
		       many[6] = {(uint64_t)(uintptr_t)arg, 0, (uint64_t)(uintptr_t)page};
	set_up(RING_DATA);
	assert_false(enter(SYS_execve, lengthy));
	assert_false(enter(SYS_execve, many));
}

static void usual_calls_have_recipes(void **state)
{
	(void)state;
	static const int16_t usual[] = {
		SYS_read,       SYS_write,    SYS_openat,      SYS_close,    SYS_newfstatat,    SYS_mmap,
		SYS_futex,      SYS_lseek,    SYS_getpid,      SYS_poll,     SYS_epoll_wait,    SYS_getdents64,
		SYS_ioctl,      SYS_writev,   SYS_readv,       SYS_preadv,   SYS_prlimit64,     SYS_statfs,
		SYS_uname,      SYS_sysinfo,  SYS_sendto,      SYS_recvfrom, SYS_accept,        SYS_select,
		SYS_getsockopt, SYS_sendmsg,  SYS_recvmsg,     SYS_ppoll,    SYS_pselect6,      SYS_setsockopt,
		SYS_sendmmsg,   SYS_recvmmsg, SYS_getsockname, SYS_execve,   SYS_rt_sigreturn,  SYS_fork,
		SYS_clone,      SYS_getxattr, SYS_getgroups,   SYS_waitid,   SYS_prctl,         SYS_clone3,
		SYS_io_submit,  SYS_keyctl,   SYS_bpf,         SYS_mount,    SYS_io_uring_enter};
	static const int16_t stopping[] = {SYS_execveat, SYS_exit, SYS_seccomp};
	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++)
		assert_true(is_recordable(usual[i]));
	for (size_t i = 0; i < sizeof(stopping) / sizeof(*stopping); i++)
		assert_false(is_recordable(stopping[i]));
}

static void unverified_memory_is_not_read(void **state)
{
	(void)state;
	const uint64_t nowhere[6] = {1, 8, 16, 8, 8, 8};
	set_up(RING_DATA);
	/* The recorder must not read this address: the test would be killed by a signal. */
	assert_true(enter(SYS_write, nowhere));
	assert_int_equal(leave(-EFAULT), 1);
	set_up(RING_DATA);
	assert_true(enter(SYS_write, nowhere));
	assert_int_equal(leave(4), 1); /* the record contains fewer bytes than should be shown */
	set_up(RING_DATA);
	assert_true(enter(SYS_openat, nowhere));
	assert_int_equal(leave(-EBADF), 1);
	set_up(RING_DATA);
	assert_true(enter(SYS_read, nowhere));
	assert_int_equal(leave(-EFAULT), 0); /* nothing is shown of a failed read */
	set_up(RING_DATA);
	assert_true(enter(SYS_writev, nowhere));
	assert_int_equal(leave(-EFAULT), 1);
	struct capture_iovec v[2] = {{(uint64_t)(uintptr_t)v, 8}, {16, 8}};
	const uint64_t partly[6] = {1, (uint64_t)(uintptr_t)v, 2};
	set_up(RING_DATA);
	assert_true(enter(SYS_writev, partly));
	assert_int_equal(leave(8), 1); /* the recorder cannot know whether the kernel read the second buffer */
	set_up(RING_DATA);
	assert_true(enter(SYS_readv, partly));
	assert_int_equal(leave(8), 0); /* the kernel wrote nothing to the second buffer */
}

/*
 * A message may be one of netlink. If the recorder may not find out, sctrace must decode it while its descriptor is open, so the
 * call stops.
 */
static void possible_netlink_messages_stop(void **state)
{
	(void)state;
	uint32_t bytes[8] = {32};
	struct capture_iovec v = {(uint64_t)(uintptr_t)bytes, sizeof(bytes)};
	struct capture_message m = {.iov = (uint64_t)(uintptr_t)&v, .iovlen = 1};
	const uint64_t args[6] = {3, (uint64_t)(uintptr_t)bytes, sizeof(bytes)},
		       message[6] = {3, (uint64_t)(uintptr_t)&m};
	static const int16_t calls[] = {SYS_sendto, SYS_recvfrom}, with_message[] = {SYS_sendmsg, SYS_recvmsg};
	for (int text = 0; text < 2; text++) {
		for (int i = 0; i < 2; i++) {
			set_up(RING_DATA);
			assert_true(enter(calls[i], args));
			assert_int_equal(leave(sizeof(bytes)), !text);
			set_up(RING_DATA);
			assert_true(enter(with_message[i], message));
			assert_int_equal(leave(sizeof(bytes)), !text);
		}
		memcpy(bytes, "GET / HTTP/1.1", 14);
	}
}

static void what_the_kernel_changes_is_shown_before_and_after(void **state)
{
	(void)state;
	uint64_t sets[3] = {1 << 3 | 1 << 5, 1 << 4, 0}, left[2] = {7, 0};
	struct buf text = {0};
	const uint64_t args[6] = {6, (uint64_t)(uintptr_t)&sets[0], (uint64_t)(uintptr_t)&sets[1],
				  (uint64_t)(uintptr_t)&sets[2], (uint64_t)(uintptr_t)left};
	uint32_t len = 110;
	unsigned char name[110] = {1 /* AF_UNIX */, 0, '/', 'x'};
	const uint64_t names[6] = {3, (uint64_t)(uintptr_t)name, (uint64_t)(uintptr_t)&len};
	const int64_t nr = SYS_select < 0 ? SYS_pselect6 : SYS_select; /* the time left is in other units */
	set_up(RING_DATA);
	assert_true(enter(nr, args));
	sets[0] = 1 << 5;
	sets[1] = 0;
	left[0] = 2;
	assert_int_equal(leave(1), 0);
	struct call select = call_of(nr, args, 1), getsockname = call_of(SYS_getsockname, names, 0);
	show_recorded(&select, &text);
	assert_non_null(strstr(buf_str(&text), "[3 5], [4], [], {tv_sec=7, tv_"));
	assert_non_null(strstr(buf_str(&text), "(in [5], left {tv_sec=2, tv_"));
	buf_clear(&text);

	set_up(RING_DATA);
	assert_true(enter(SYS_getsockname, names));
	len = 5;
	assert_int_equal(leave(0), 0);
	show_recorded(&getsockname, &text);
	assert_non_null(strstr(buf_str(&text), "sun_path=\"/x\"}, [110 => 5]"));
	buf_free(&text);
}

/* A call in progress keeps the memory that was captured at its entry, even if sctrace must complete its record. */
static void captures_of_a_call_in_progress_are_kept(void **state)
{
	(void)state;
	uint32_t len = 16, value = 0;
	const uint64_t args[6] = {3, 1, 4, 4096, (uint64_t)(uintptr_t)&len};
	set_up(RING_DATA);
	assert_true(enter(SYS_getsockopt, args));
	len = 4;
	assert_int_equal(reader_fill(&rig.reader), 0);
	reader_complete(&rig.reader, 0, ++rig.clock, RECORD_LIVE);
	for (int i = 0; i < 2; i++) {
		struct record_item it = take();
		assert_true(it.live);
		assert_int_equal(read_captures(it.record, true, args[4], &value, sizeof(value)), 4);
		assert_int_equal(value, 16);
	}
}

static void calls_with_certain_arguments_stop(void **state)
{
	(void)state;
	const uint64_t same[6] = {SIG_BLOCK, 4096, 4096, 8}, apart[6] = {SIG_BLOCK, 4096, 8192, 8};
	set_up(RING_DATA);
	assert_false(enter(SYS_rt_sigprocmask, same));
	assert_true(enter(SYS_rt_sigprocmask, apart));
	set_up(RING_DATA);
	const uint64_t unknown[6] = {3, 999, 4096}, lock[6] = {3, F_SETLK, 4096}, flags[6] = {3, F_GETFL};
	/* The argument of an unknown command is shown as a number. */
	assert_true(enter(SYS_fcntl, unknown));
	assert_int_equal(leave(0), 0);
	assert_true(enter(SYS_ioctl, unknown));
	assert_int_equal(leave(0), 0);
	/* The name of the descriptor that a command returns is looked up at once. */
	const uint64_t peer[6] = {3, 0x5441 /* TIOCGPTPEER */}, serves[6] = {3, 0xaa00 /* USERFAULTFD_IOC_NEW */};
	assert_true(enter(SYS_ioctl, peer));
	assert_int_equal(leave(-EBADF), 0);
	assert_true(enter(SYS_ioctl, peer));
	assert_int_equal(leave(5), 1);
	set_up(RING_DATA);
	assert_false(enter(SYS_ioctl, serves));
	assert_true(enter(SYS_fcntl, lock));
	assert_int_equal(leave(-EBADF), 1);
	set_up(RING_DATA);
	assert_true(enter(SYS_fcntl, flags));
}

/* A rule whose number of elements is an argument names one of the six. */
static void rules_name_arguments_that_exist(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < tables->nneeds; i++) {
		const struct memory_need *n = &tables->needs[i];
		assert_true(n->from < 6);
		assert_true(n->parts <= PARTS_BPF_PROGRAM && n->rule <= MEMORY_OUT_MMSG);
	}
	for (int64_t nr = 0; nr < 512; nr++)
		for (unsigned i = 0; is_recordable(nr) && i < recipes[nr].n; i++) {
			const struct memory_rule_of *op = &recipes[nr].op[i];
			assert_true(op->copy != COPY_WRITTEN || tables->needs[op->need].from == op->arg + 1);
			/* With ENOENT, the kernel may not have read the second of two paths. */
			for (unsigned k = 0; k < i; k++)
				assert_false(op->copy == COPY_TEXT && recipes[nr].op[k].copy == COPY_TEXT);
		}
}

extern const unsigned char __start_recorder_text[], __stop_recorder_text[];

/* The code, with the jumps before it, ends before the memory rules, and the tables of these have room for more. */
static void the_recorder_has_room(void **state)
{
	(void)state;
	assert_true((uint64_t)(__stop_recorder_text - __start_recorder_text) <= MEMORY_AT - RECORDER_CODE - 64);
	assert_true(tables->nneeds < MEMORY_NEEDS && tables->ncommands < MEMORY_COMMANDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_calls_have_the_same_text),
		cmocka_unit_test(all_strings_of_execve_are_captured),
		cmocka_unit_test(execve_is_captured_before_it_is_made),
		cmocka_unit_test(usual_calls_have_recipes),
		cmocka_unit_test(unverified_memory_is_not_read),
		cmocka_unit_test(possible_netlink_messages_stop),
		cmocka_unit_test(what_the_kernel_changes_is_shown_before_and_after),
		cmocka_unit_test(captures_of_a_call_in_progress_are_kept),
		cmocka_unit_test(calls_with_certain_arguments_stop),
		cmocka_unit_test(rules_name_arguments_that_exist),
		cmocka_unit_test(the_recorder_has_room),
	};
	return cmocka_run_group_tests(tests, set_up_all, NULL);
}
