/* SPDX-License-Identifier: MIT */
#include "engine/patch/x86_64/encode.h"

#include "engine/patch/code/agent.h"
#include "engine/patch/x86_64/relocate.h"

#include <stddef.h>
#include <string.h>

bool encode_jmp8(unsigned char out[2], uint64_t at, uint64_t to)
{
	int64_t d = (int64_t)(to - (at + 2));
	out[0] = 0xeb;
	out[1] = (unsigned char)d;
	return d >= -128 && d <= 127;
}

struct stub_head encode_head(void)
{
	return (struct stub_head){.entry = AGENT_AT(agent_entry), .exit = AGENT_AT(agent_exit)};
}

/* Writes the distance from `at`, the end of an instruction, to `to`. Returns false if `to` is out of reach. */
static bool put_distance(unsigned char *out, uint64_t at, uint64_t to)
{
	int64_t d = (int64_t)(to - at);
	int32_t d32 = (int32_t)d;
	memcpy(out, &d32, sizeof(d32));
	return d == d32;
}

bool encode_jmp32(unsigned char out[5], uint64_t at, uint64_t to)
{
	out[0] = 0xe9;
	return put_distance(out + 1, at + 5, to);
}

bool encode_jump(unsigned char *out, size_t len, uint64_t at, uint64_t to)
{
	return len == 5 ? encode_jmp32(out, at, to) : encode_jmp8(out, at, to);
}

bool encode_stub(unsigned char out[STUB_SIZE], uint64_t at, uint64_t head, uint64_t ip, const unsigned char *moved,
		 size_t n, bool early)
{
	static const char code[] = "\x8d\x48\xc4"               /*  0 lea -60(%rax),%ecx */
				   "\xe3\x35"                   /*  3 jrcxz exit */
				   "\x48\x8d\x64\x24\x80"       /*  5 lea -128(%rsp),%rsp */
				   "\xff\x15\0\0\0\0"           /* 10 call *entry(%rip) */
				   "\x48\x8d\xa4\x24\x80\0\0\0" /* 16 lea 128(%rsp),%rsp */
				   "\xe3\x02"                   /* 24 jrcxz after */
				   "\x0f\x05"                   /* 26 syscall */
				   "\x48\x8d\x0d\0\0\0\0";      /* 28 lea ip(%rip),%rcx */
	_Static_assert(sizeof(code) == STUB_MOVED + 1 && STUB_EXIT - 5 == 0x35 &&
			       STUB_AFTER_CALL - STUB_DECIDE - 2 == 2 && STUB_EXIT + 6 == STUB_SIZE,
		       "the offsets in a stub");
	static const unsigned char leave[2] = {0xff, 0x25}; /* 58 jmp *exit(%rip) */
	size_t place = early ? STUB_EARLY : STUB_MOVED;
	size_t room = early ? STUB_EARLY_MAX : STUB_MOVED_MAX;
	size_t after = early ? 0 : n;
	memset(out, 0xcc, STUB_SIZE);
	memcpy(out, code, STUB_MOVED);
	size_t len = n ? relocate_copy(out + place, room, moved, n, early ? ip - 2 - n : ip, at + place) : 0;
	if (n && !len)
		return false;
	size_t back = STUB_MOVED + (early ? 0 : len);
	if (early)
		encode_jmp8(out + STUB_EARLY + len, STUB_EARLY + len, 0);
	memcpy(out + STUB_EXIT, leave, sizeof(leave));
	return put_distance(out + STUB_LEA_UP - 4, at + STUB_LEA_UP, head + offsetof(struct stub_head, entry)) &&
	       put_distance(out + STUB_MOVED - 4, at + STUB_MOVED, ip) &&
	       put_distance(out + STUB_SIZE - 4, at + STUB_SIZE, head + offsetof(struct stub_head, exit)) &&
	       encode_jmp32(out + back, at + back, ip + after);
}
