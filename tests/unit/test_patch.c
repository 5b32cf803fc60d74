/* SPDX-License-Identifier: MIT */
/*
 * Tests functions of the patch engine that need no process: recognising padding, choosing instructions to move,
 * encoding jumps.
 */

#include "engine/patch/code/agent.h"
#include "engine/patch/image/image.h"
#include "engine/patch/x86_64/encode.h"
#include "engine/patch/x86_64/padding.h"
#include "engine/patch/x86_64/relocate.h"
#include "tracee/functions.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void fill_is_what_assemblers_write(void **state)
{
	/* gas's multi-byte no-ops from 1 to 15 bytes, as glibc 2.36 and musl 1.2 contain them between functions. */
	static const unsigned char nops[][16] = {
		{1, 0x90},
		{2, 0x66, 0x90},
		{3, 0x0f, 0x1f, 0x00},
		{4, 0x0f, 0x1f, 0x40, 0x00},
		{5, 0x0f, 0x1f, 0x44, 0x00, 0x00},
		{7, 0x0f, 0x1f, 0x80, 0, 0, 0, 0},
		{8, 0x0f, 0x1f, 0x84, 0x00, 0, 0, 0, 0},
		{10, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0, 0, 0, 0},
		{11, 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0, 0, 0, 0},
		{12, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0, 0, 0, 0, 0x66, 0x90},
		{3, 0xcc, 0xcc, 0xcc},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(nops) / sizeof(*nops); i++) {
		assert_true(padding_is_fill(nops[i] + 1, nops[i][0]));
		/*
		 * Without its last byte, the padding ends with a part of a no-op, unless the last no-op was a single
		 * byte.
		 */
		if (nops[i][0] > 1 && nops[i][nops[i][0]] != 0x90 && nops[i][nops[i][0]] != 0xcc)
			assert_false(padding_is_fill(nops[i] + 1, nops[i][0] - 1u));
	}
}

static void code_is_not_fill(void **state)
{
	static const unsigned char ret[] = {0xc3, 0x90};
	static const unsigned char zeros[] = {0, 0, 0, 0, 0};
	static const unsigned char endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	static const unsigned char jump[] = {0xe9, 0, 0, 0, 0};
	(void)state;
	assert_false(padding_is_fill(ret, sizeof(ret)));
	assert_false(padding_is_fill(zeros, sizeof(zeros)));
	assert_false(padding_is_fill(endbr, sizeof(endbr)));
	assert_false(padding_is_fill(jump, sizeof(jump)));
	assert_false(padding_is_fill(ret, 0));
}

static void jumps_reach_their_gaps(void **state)
{
	struct gap near[] = {{0x1010, 0x1020}};
	struct gap far[] = {{0x1070, 0x1073}, {0x10e0, 0x10f0}};
	struct gap none[] = {{0x1070, 0x1073}, {0x2000, 0x2010}};
	struct padding_way way;
	(void)state;
	assert_true(padding_find_way(0x1002, near, 1, &way));
	assert_int_equal(way.n, 1);
	assert_int_equal(way.at[0], 0x1010);
	assert_int_equal(near[0].lo, 0x1015);
	assert_true(padding_find_way(0x1002, far, 2, &way));
	assert_int_equal(way.n, 2);
	assert_int_equal(way.at[0], 0x1070);
	assert_int_equal(way.at[1], 0x10e0);
	assert_false(padding_find_way(0x1002, none, 2, &way));
	assert_int_equal(none[0].lo, 0x1070); /* no bytes are taken if there is no chain of jumps */
}

static void traps_after_a_function_are_a_gap(void **state)
{
	/* ret, four int3 and a nop; movabs $0xcccccccccccccccd,%rax; ret, and five int3 up to a multiple of 16. */
	static const unsigned char code[] = {0x0f, 0x05, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0x90, 0x48, 0xb8, 0xcd,
					     0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xc3, 0xcc, 0xcc, 0xcc,
					     0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc};
	struct gap gaps[4];
	(void)state;
	assert_int_equal(padding_traps(code, sizeof(code), 0x100, 0x102, gaps, 4), 1);
	assert_int_equal(gaps[0].lo, 0x113);
	assert_int_equal(gaps[0].hi, 0x120);
	/* A function cannot begin after these. */
	assert_int_equal(padding_traps(code, sizeof(code) - 1, 0x100, 0x102, gaps, 4), 0);
	/* The constant ends at a multiple of 16. */
	assert_int_equal(padding_traps(code, 19, 0x10e, 0x110, gaps, 4), 0);
}

static void jumps_reach_as_far_as_they_can(void **state)
{
	unsigned char j[5];
	(void)state;
	assert_true(encode_jmp8(j, 0x1000, 0x1002 + 127));
	assert_memory_equal(j, "\xeb\x7f", 2);
	assert_true(encode_jmp8(j, 0x1000, 0x1002 - 128));
	assert_memory_equal(j, "\xeb\x80", 2);
	assert_false(encode_jmp8(j, 0x1000, 0x1002 + 128));
	assert_true(encode_jmp32(j, 0x1000, 0x1005));
	assert_memory_equal(j, "\xe9\0\0\0\0", 5);
	assert_true(encode_jmp32(j, 0x1000, 0x1000));
	assert_memory_equal(j, "\xe9\xfb\xff\xff\xff", 5);
	assert_false(encode_jmp32(j, 0x7f0000000000, 0x400000));
}

static void stubs_lead_back(void **state)
{
	unsigned char s[STUB_SIZE];
	static const unsigned char cmp[] = {0x48, 0x3d, 0x00, 0xf0, 0xff, 0xff};
	(void)state;
	assert_true(encode_stub(s, 0x10000, 0xf000, 0x10100, cmp, sizeof(cmp), false));
	assert_memory_equal(s + STUB_RAW, "\x0f\x05", 2);
	assert_memory_equal(s + STUB_MOVED, cmp, sizeof(cmp));
	int32_t back, ip;
	memcpy(&ip, s + STUB_MOVED - 4, 4);
	assert_memory_equal(s + STUB_AFTER_CALL, "\x48\x8d\x0d", 3); /* lea ip(%rip),%rcx */
	assert_int_equal(0x10000 + STUB_MOVED + ip, 0x10100);
	memcpy(&back, s + STUB_MOVED + sizeof(cmp) + 1, 4);
	assert_int_equal(0x10000 + STUB_MOVED + sizeof(cmp) + 5 + back, 0x10100 + sizeof(cmp));
	assert_int_equal(s[3], 0xe3);
	assert_int_equal(5 + s[4], STUB_EXIT);
	/* The stub calls and jumps to the addresses at the beginning of the area. */
	int32_t entry, leave;
	memcpy(&entry, s + STUB_LEA_UP - 4, 4);
	memcpy(&leave, s + STUB_SIZE - 4, 4);
	assert_memory_equal(s + STUB_LEA_UP - 6, "\xff\x15", 2);
	assert_memory_equal(s + STUB_EXIT, "\xff\x25", 2);
	assert_int_equal(0x10000 + STUB_LEA_UP + entry, 0xf000 + offsetof(struct stub_head, entry));
	assert_int_equal(0x10000 + STUB_SIZE + leave, 0xf000 + offsetof(struct stub_head, exit));
	assert_false(encode_stub(s, 0x10000, 0x7f0000000000, 0x10100, cmp, sizeof(cmp), false));
	unsigned char long_code[STUB_MOVED_MAX + 1];
	memset(long_code, 0x90, sizeof(long_code));
	assert_false(encode_stub(s, 0x10000, 0xf000, 0x10100, long_code, sizeof(long_code), false));
	/* mov $3,%eax moves into the stub: the jump after it leads to the stub's beginning. */
	assert_true(encode_stub(s, 0x10000, 0xf000, 0x10100, (const unsigned char *)"\xb8\3\0\0", 5, true));
	assert_memory_equal(s + STUB_EARLY, "\xb8\3\0\0\0\xeb", 6);
	assert_int_equal(STUB_EARLY + 7 + (signed char)s[STUB_EARLY + 6], 0);
	memcpy(&back, s + STUB_MOVED + 1, 4);
	assert_int_equal(0x10000 + STUB_MOVED + 5 + back, 0x10100);
	assert_false(encode_stub(s, 0x10000, 0xf000, 0x10100, long_code, STUB_EARLY_MAX + 1, true));
}

/*
 * The list contains only code of files, in ascending order. If there are more ranges than rows, the nearest ranges are
 * merged, so that none is left out.
 */
static void code_has_its_ranges(void **state)
{
	struct mapping m[2 * AGENT_RANGES];
	uint64_t rows[AGENT_RANGES + 1][2];
	(void)state;
	for (uint64_t i = 0; i < 2 * AGENT_RANGES; i++)
		m[i] = (struct mapping){.lo = 0x10000 * i + 0x1000, .hi = 0x10000 * i + 0x3000, .patchable = true};
	m[1].patchable = false;
	assert_int_equal(ranges_of(m, 3, rows), 2);
	assert_int_equal(rows[0][0], 0x1000);
	assert_int_equal(rows[0][1], 0x3000);
	assert_int_equal(rows[1][0], 0x21000);
	assert_int_equal(rows[2][0] | rows[2][1], 0);
	m[9].hi = 0xa0000; /* the next range begins near this address */
	size_t n = ranges_of(m, 2 * AGENT_RANGES, rows);
	assert_int_equal(n, AGENT_RANGES);
	assert_int_equal(rows[n][1], 0);
	for (size_t i = 0; i < 2 * AGENT_RANGES; i++) {
		bool in = !m[i].patchable;
		for (size_t k = 0; k < n; k++)
			in |= rows[k][0] <= m[i].lo && m[i].hi <= rows[k][1];
		assert_true(in);
	}
	for (size_t k = 1; k < n; k++)
		assert_true(rows[k][0] > rows[k - 1][1]);
}

/*
 * Checks which instructions may be moved in a wrapper of glibc 2.36 such as getppid, in its fast path of write, and at
 * the end of musl's syscall_cp.
 */
static void only_what_may_moves(void **state)
{
	size_t taken;
	/* mov $1,%eax; syscall; cmp $-4096,%rax; ja +1; ret; ret */
	static const unsigned char glibc[] = {0xb8, 1,    0,    0,    0,    0x0f, 0x05, 0x48, 0x3d,
					      0,    0xf0, 0xff, 0xff, 0x77, 1,    0xc3, 0xc3};
	/* ret, with and without padding after it */
	static const unsigned char ret[] = {0xc3, 0x66, 0x0f, 0x1f, 0x44, 0, 0};
	static const unsigned char next[] = {0xc3, 0xe9, 0, 0, 0, 0};
	/* lea 0x10(%rip),%rdi; call; jrcxz; test %eax,%eax and jns to itself */
	static const unsigned char rip[] = {0x48, 0x8d, 0x3d, 0x10, 0, 0, 0, 0xc3};
	static const unsigned char call[] = {0xe8, 0, 0, 0, 0};
	static const unsigned char jrcxz[] = {0x90, 0xe3, 2, 0x90};
	static const unsigned char itself[] = {0x85, 0xc0, 0x79, 0xfe};
	static const unsigned char jns[] = {0x85, 0xc0, 0x79, 1, 0xf4};
	/* mov $4,%eax; mov %rcx,%rdx; syscall */
	static const unsigned char two[] = {0xb8, 4, 0, 0, 0, 0x48, 0x89, 0xca, 0x0f, 0x05};
	/* jmp; mov %rcx,%rdx; syscall */
	static const unsigned char jump[] = {0xe9, 4, 0, 0, 0, 0x48, 0x89, 0xca, 0x0f, 0x05};
	(void)state;
	assert_int_equal(relocate_length(glibc + 7, sizeof(glibc) - 7, 0x1007, &taken), 6);
	assert_int_equal(taken, 6);
	assert_int_equal(relocate_length(ret, sizeof(ret), 0x1007, &taken), 1);
	assert_int_equal(taken, 3);
	assert_int_equal(relocate_length(ret, 2, 0x1007, &taken), 0);
	assert_int_equal(relocate_length(next, sizeof(next), 0x1007, &taken), 0);
	assert_int_equal(relocate_length(rip, sizeof(rip), 0x1007, &taken), 7);
	assert_int_equal(relocate_length(call, sizeof(call), 0x1007, &taken), 0);
	assert_int_equal(relocate_length(jrcxz, sizeof(jrcxz), 0x1007, &taken), 0);
	assert_int_equal(relocate_length(itself, sizeof(itself), 0x1007, &taken), 0);
	assert_int_equal(relocate_length(jns, sizeof(jns), 0x1007, &taken), 4);
	/* the instructions before the call */
	assert_int_equal(relocate_early(glibc, sizeof(glibc), 0x1000, 0x1005), 5);
	assert_int_equal(relocate_early(glibc, sizeof(glibc), 0x1000, 0x2000), 0);
	assert_int_equal(relocate_early(glibc, 6, 0x1000, 0x1005), 0);
	assert_int_equal(relocate_early(two, sizeof(two), 0x1000, 0x1008), 8);
	assert_int_equal(relocate_early(jump, sizeof(jump), 0x1000, 0x1008), 0);
}

/* Instructions that depend on their address are changed when they move. */
static void moved_instructions_refer_to_the_same(void **state)
{
	static const unsigned char jns[] = {0x85, 0xc0, 0x79, 1}; /* to 0x1005 */
	static const unsigned char lea[] = {0x48, 0x8d, 0x3d, 0x10, 0, 0, 0};
	static const unsigned char jmp[] = {0xeb, 0xfe};
	static const unsigned char prefixed[] = {0x40, 0x0f, 0x83, 0, 1, 0, 0}; /* jae with a prefix */
	static const unsigned char hinted[] = {0x3e, 0x3e, 0x3e, 0x3e,
					       0x3e, 0x75, 1}; /* its long form would be shorter */
	unsigned char out[16];
	(void)state;
	assert_int_equal(relocate_copy(out, sizeof(out), jns, sizeof(jns), 0x1000, 0x2000), 8);
	assert_memory_equal(out, "\x85\xc0\x0f\x89\xfd\xef\xff\xff", 8);
	assert_int_equal(relocate_copy(out, 7, jns, sizeof(jns), 0x1000, 0x2000), 0);
	assert_int_equal(relocate_copy(out, sizeof(out), lea, sizeof(lea), 0x1000, 0x2000), 7);
	assert_memory_equal(out, "\x48\x8d\x3d\x10\xf0\xff\xff", 7);
	assert_int_equal(relocate_copy(out, sizeof(out), lea, sizeof(lea), 0x1000, 0x100000000), 0);
	assert_int_equal(relocate_copy(out, sizeof(out), jmp, sizeof(jmp), 0x1000, 0x2000), 5);
	assert_memory_equal(out, "\xe9\xfb\xef\xff\xff", 5);
	assert_int_equal(relocate_copy(out, sizeof(out), prefixed, sizeof(prefixed), 0x1000, 0x2000), 7);
	assert_memory_equal(out, "\x40\x0f\x83\x00\xf1\xff\xff", 7);
	assert_int_equal(relocate_copy(out, sizeof(out), hinted, sizeof(hinted), 0x1000, 0x2000), 0);
	assert_int_equal(relocate_copy(out, sizeof(out), jmp, sizeof(jmp), 0x1000, 0x100000000), 0);
}

/* How the instructions of a function may reach those after its call. */
static void functions_show_their_jumps(void **state)
{
	static const struct {
		const char *code;
		size_t n, call;
		enum relocate_entry entry;
	} rows[] = {
		{"\x0f\x05\x48\x89\xc3\xc3", 6, 0, ENTRY_NONE},                       /* syscall; mov %rax,%rbx; ret */
		{"\xeb\x02\x0f\x05\x48\x89\xc3\xc3", 8, 2, ENTRY_BRANCH},             /* jmp to after the call */
		{"\x0f\x05\x48\x89\xc3\xff\xe0", 7, 0, ENTRY_UNKNOWN},                /* jmp *%rax */
		{"\x0f\x05\x48\x89\xc3\xff\x24\xc5\0\0\x40\0", 12, 0, ENTRY_TABLE},   /* jmp *0x400000(,%rax,8) */
		{"\x0f\x05\x48\x89\xc3\xff\x24\x85\0\0\x40\0", 12, 0, ENTRY_UNKNOWN}, /* jmp *0x400000(,%rax,4) */
		{"\x0f\x05\x48\x63\x04\x82\x48\x01\xd0\xff\xe0", 11, 0,
		 ENTRY_TABLE}, /* movslq (%rdx,%rax,4),%rax; add */
		{"\x0f\x05\x48\x63\x04\x82\x48\x29\xd0\xff\xe0", 11, 0, ENTRY_UNKNOWN}, /* the same with sub */
		{"\xb8\x0f\x05\x0f\x05\xc3\x90", 7, 3, ENTRY_GARBLED},                  /* mov $0x50f050f,%eax */
		{"\x0f\x05\x06\x90\x90\x90", 6, 0, ENTRY_GARBLED},                      /* 06 is not an instruction */
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(relocate_entry((const unsigned char *)rows[i].code, rows[i].n, 0x1000,
						0x1000 + rows[i].call, 0x1000 + rows[i].call,
						0x1000 + rows[i].call + 5),
				 rows[i].entry);
}

/* --- an object without an unwind table --- */

enum { OBJECT = 0x400000, OBJECT_CODE = OBJECT + 0x1000, OBJECT_DATA = OBJECT + 0x3000, OBJECT_SIZE = 0x4000 };

static ssize_t read_copy(void *ctx, uint64_t addr, void *buf, size_t n)
{
	if (addr - OBJECT > OBJECT_SIZE || n > OBJECT_SIZE - (addr - OBJECT))
		return -EFAULT;
	memcpy(buf, (unsigned char *)ctx + (addr - OBJECT), n);
	return (ssize_t)n;
}

/* An object of 0x2000 bytes of code, all of them nop, and 0x1000 bytes of data, for code at address 0 if `pie`. */
static void make_object(unsigned char *object, bool pie)
{
	const Elf64_Addr at = pie ? 0 : OBJECT;
	const Elf64_Ehdr eh = {.e_ident = "\177ELF\2", .e_phoff = 64, .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 3};
	const Elf64_Phdr ph[3] = {
		{.p_type = PT_LOAD, .p_vaddr = at, .p_filesz = 0x1000},
		{.p_type = PT_LOAD, .p_flags = PF_X, .p_offset = 0x1000, .p_vaddr = at + 0x1000, .p_filesz = 0x2000},
		{.p_type = PT_LOAD, .p_offset = 0x3000, .p_vaddr = at + 0x3000, .p_filesz = 0x1000}};
	memset(object, 0, OBJECT_SIZE);
	memcpy(object, &eh, sizeof(eh));
	memcpy(object + 64, ph, sizeof(ph));
	memset(object + 0x1000, 0x90, 0x2000);
}

/* Whatever in the object can be the target of a jump is found, at any offset. */
static void objects_show_their_targets(void **state)
{
	static unsigned char object[OBJECT_SIZE];
	static const struct {
		uint64_t at;
		const char *bytes;
		size_t n;
		bool pie, found;
	} rows[] = {
		{OBJECT_CODE + 0x21, "\xe9\xda\x07\0\0", 5, false, true},              /* jmp 0x401800 */
		{OBJECT_CODE + 0x21, "\x0f\x8f\xd9\x07\0\0", 6, false, true},          /* jg */
		{OBJECT_CODE + 0x21, "\xb8\xe8\xd9\x07\0\0", 6, false, true},          /* a call inside a mov */
		{OBJECT_CODE + 0x21, "\xc7\xf8\xd9\x07\0\0", 6, false, true},          /* xbegin */
		{OBJECT_CODE + 0x21, "\x48\x8d\x05\xd8\x07\0\0", 7, false, true},      /* lea 0x401800(%rip),%rax */
		{OBJECT_CODE + 0x21, "\x81\x3d\xd5\x07\0\0\1\0\0\0", 10, false, true}, /* cmpl $1,0x401800(%rip) */
		{OBJECT_CODE + 0x21, "\xb8\xda\x07\0\0", 5, false, false},             /* mov $0x7da,%eax */
		{OBJECT_CODE + 0x21, "\xb8\0\x18\x40\0", 5, false, true},              /* mov $0x401800,%eax */
		{OBJECT_DATA + 0x25, "\0\x18\x40\0\0\0\0\0", 8, false, true},          /* a pointer */
		{OBJECT_DATA + 0x24, "\0\x18\x40\0\1\0\0\0", 8, false, true},          /* a pointer of four bytes */
		{OBJECT_DATA + 0x28, "\0\x18\0\0\0\0\0\0", 8, true, true}, /* a pointer that is not relocated yet */
		{OBJECT_DATA + 0x28, "\0\x18\0\0\0\0\0\0", 8, false, false},
		{OBJECT_DATA + 0x28, "\xd8\xe7\xff\xff", 4, false, false}, /* a distance, but not in a table */
	};
	const struct mem m = {read_copy, object, NULL};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		make_object(object, rows[i].pie);
		memcpy(object + (rows[i].at - OBJECT), rows[i].bytes, rows[i].n);
		struct targets *t = relocate_targets_find(&m, OBJECT);
		assert_non_null(t);
		assert_int_equal(relocate_targets_include(t, 0x401800, 0x401801), rows[i].found);
		assert_false(relocate_targets_include(t, 0x401805, 0x401900));
		assert_true(relocate_targets_include(t, 0x400ff0, 0x401001)); /* not in the code */
		relocate_targets_free(t);
	}
	make_object(object, false);
	memcpy(object + 0x1021, "\x48\x8d\x05\x00\x20\0\0", 7); /* lea 0x403028(%rip),%rax */
	memcpy(object + 0x3028, "\x00\xe1\xff\xff\xd8\xe7\xff\xff\0\0\0\0\xd8\xe8\xff\xff", 16);
	struct targets *t = relocate_targets_find(&m, OBJECT);
	assert_true(relocate_targets_include(t, 0x401128, 0x401129) && relocate_targets_include(t, 0x401800, 0x401801));
	assert_false(relocate_targets_include(t, 0x401900, 0x401901)); /* the entry before it does not lead to code */
	relocate_targets_free(t);
	object[5] = 0;
	object[0] = 0;
	assert_null(relocate_targets_find(&m, OBJECT));
}

/*
 * If the bounds of a function are not known, a short branch counts if an instruction may begin there. The instructions
 * before the call are known if all possibilities agree, and there is one: nothing leads to the code after a jmp.
 */
static void code_without_bounds_shows_its_jumps(void **state)
{
	static unsigned char object[OBJECT_SIZE];
	static const struct {
		int at; /* offset from the call, which mov $39,%eax precedes and mov %eax,%ebx; ret follows */
		const char *bytes;
		size_t n;
		enum relocate_entry entry;
		size_t early;
	} rows[] = {
		{-40, "", 0, ENTRY_TABLE, 5},
		{-40, "\xeb\x28", 2, ENTRY_BRANCH, 0},            /* jmp to the instruction after the call */
		{-40, "\xb8\xeb\x27\0\0", 5, ENTRY_TABLE, 5},     /* the same two bytes in an instruction */
		{-40, "\x74\x4e", 2, ENTRY_BRANCH, 5},            /* je to code that leads there */
		{-40, "\xff\xe0", 2, ENTRY_UNKNOWN, 0},           /* jmp *%rax */
		{-40, "\x48\x8b\x07\xff\xe0", 5, ENTRY_TABLE, 0}, /* mov (%rdi),%rax; jmp *%rax */
		{-40, "\x74\x24", 2, ENTRY_TABLE, 0},             /* je into the mov: 2 bytes before the call */
		{-40, "\xe8\x20\0\0\0", 5, ENTRY_BRANCH, 0},      /* call into the mov */
	};
	const struct mem m = {read_copy, object, NULL};
	const uint64_t site = 0x401800, at = site - RELOCATE_NEAR;
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const unsigned char *code = object + (at - OBJECT);
		make_object(object, false);
		memcpy(object + (site - OBJECT) - 5, "\xb8\x27\0\0\0\x0f\x05\x89\xc3\xc3", 10);
		memcpy(object + (site - OBJECT) + 40, "\x74\xd8", 2); /* nothing leads to this je */
		memcpy(object + (site - OBJECT) + rows[i].at, rows[i].bytes, rows[i].n);
		struct targets *t = relocate_targets_find(&m, OBJECT);
		assert_int_equal(relocate_near(code, RELOCATE_NEAR_MAX, at, site, site, site + 5, t), rows[i].entry);
		assert_int_equal(relocate_early_near(code, RELOCATE_NEAR_MAX, at, site, t), rows[i].early);
		relocate_targets_free(t);
	}
}

/* Finds the gaps of the installed C library. They contain only padding, and no function is in a gap. */
static void gaps_of_the_c_library(void **state)
{
	Dl_info info;
	pid_t self = getpid();
	const struct mem m = {mem_read_process, &self};
	struct gap gaps[64];
	(void)state;
	assert_int_not_equal(dladdr((void *)(uintptr_t)getppid, &info), 0);
	uint64_t base = (uint64_t)(uintptr_t)info.dli_fbase;
	uint64_t at = (uint64_t)(uintptr_t)info.dli_saddr;
	uint64_t lo, hi;
	int n = padding_gaps(&m, base, at - 512, at + 512, gaps, 64);
	if (n < 0)
		skip(); /* this C library has no unwind table, so no gaps are found */
	assert_int_equal(functions_find(&m, base, at, &lo, &hi), 0);
	assert_int_equal(lo, at);
	for (int i = 0; i < n; i++) {
		assert_true(gaps[i].lo < gaps[i].hi);
		assert_true(gaps[i].hi <= lo || gaps[i].lo >= hi);
		assert_int_not_equal(functions_find(&m, base, gaps[i].lo, &lo, &hi), 0);
		assert_int_equal(functions_find(&m, base, at, &lo, &hi), 0);
	}
}

/* A hostile object: each byte of its header and tables is random. No gap is found, and reading ends. */
/* Sixty gaps are within reach of each other, but not of the target. Trying them in every order would take a minute. */
static void gaps_that_lead_nowhere_end(void **state)
{
	struct gap gaps[60];
	struct padding_way way;
	(void)state;
	for (size_t i = 0; i < 60; i++)
		gaps[i] = (struct gap){0x1000 + 2 * i, 0x1002 + 2 * i};
	for (int i = 0; i < 100; i++)
		assert_false(padding_find_way(0x1040, gaps, 60, &way));
}

/* An unwind table of 16 million entries, all for the same address except the first. */
static ssize_t read_endless(void *ctx, uint64_t addr, void *buf, size_t n)
{
	static const unsigned char head[12] = {1, 0x1b, 3, 0x3b, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0};
	const Elf64_Ehdr eh = {.e_ident = "\177ELF\2", .e_phoff = 64, .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2};
	const Elf64_Phdr ph[2] = {{.p_type = PT_LOAD, .p_memsz = 0x10000},
				  {.p_type = PT_GNU_EH_FRAME, .p_vaddr = 0x100000}};
	const int32_t first = 0x1000 - 0x100000, other = 0x1005 - 0x100000;
	memset(buf, 0, n);
	++*(unsigned *)ctx;
	if (addr == 0x400000 && n == sizeof(eh))
		memcpy(buf, &eh, n);
	else if (addr == 0x400040 || addr == 0x400040 + sizeof(*ph))
		memcpy(buf, &ph[addr != 0x400040], n);
	else if (addr == 0x500000)
		memcpy(buf, head, n < sizeof(head) ? n : sizeof(head)); /* the header claims that there is another frame
							      * description at this address */
	else if (n == 8)
		memcpy(buf, addr == 0x500000 + sizeof(head) ? &first : &other, sizeof(first));
	return (ssize_t)n;
}

static void a_table_is_sorted_or_none(void **state)
{
	unsigned reads = 0;
	const struct mem m = {read_endless, &reads};
	struct gap gaps[8];
	(void)state;
	assert_int_equal(padding_gaps(&m, 0x400000, 0x401001, 0x402000, gaps, 8), -ENOEXEC);
	assert_true(reads > 20 && reads < 200);
}

static ssize_t read_noise(void *ctx, uint64_t addr, void *buf, size_t n)
{
	unsigned seed = *(unsigned *)ctx;
	for (size_t i = 0; i < n; i++)
		((unsigned char *)buf)[i] = (unsigned char)((addr + i) * 2654435761u >> (seed % 24));
	if (addr == 0x400000 && n >= 16)
		memcpy(buf, "\177ELF\2", 5);
	return (ssize_t)n;
}

static void random_objects_have_no_wrong_gaps(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 200; seed++) {
		const struct mem m = {read_noise, &seed};
		struct gap gaps[8];
		int n = padding_gaps(&m, 0x400000, 0x401000, 0x402000, gaps, 8);
		assert_true(n <= 8);
		for (int i = 0; i < n; i++)
			assert_true(gaps[i].lo >= 0x401000 && gaps[i].lo < 0x402000);
	}
}

static void the_agent_fits_its_pages(void **state)
{
	(void)state;
	assert_true(agent_end - agent_begin + (region_back_end - region_begin) <= AGENT_CODE_SIZE);
	assert_true(AGENT_AT(agent_allowed_end) > AGENT_AT(agent_remote));
	assert_true(AGENT_AT(agent_end) > AGENT_AT(agent_allowed_end));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fill_is_what_assemblers_write),
		cmocka_unit_test(code_is_not_fill),
		cmocka_unit_test(jumps_reach_their_gaps),
		cmocka_unit_test(gaps_that_lead_nowhere_end),
		cmocka_unit_test(a_table_is_sorted_or_none),
		cmocka_unit_test(traps_after_a_function_are_a_gap),
		cmocka_unit_test(jumps_reach_as_far_as_they_can),
		cmocka_unit_test(stubs_lead_back),
		cmocka_unit_test(code_has_its_ranges),
		cmocka_unit_test(only_what_may_moves),
		cmocka_unit_test(moved_instructions_refer_to_the_same),
		cmocka_unit_test(functions_show_their_jumps),
		cmocka_unit_test(objects_show_their_targets),
		cmocka_unit_test(code_without_bounds_shows_its_jumps),
		cmocka_unit_test(gaps_of_the_c_library),
		cmocka_unit_test(random_objects_have_no_wrong_gaps),
		cmocka_unit_test(the_agent_fits_its_pages),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
