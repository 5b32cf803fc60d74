#include "engine/patch/code/encode.h"

#include <string.h>

bool encode_jmp8(unsigned char out[2], uint64_t at, uint64_t to)
{
	int64_t d = (int64_t)(to - (at + 2));
	out[0] = 0xeb;
	out[1] = (unsigned char)d;
	return d >= -128 && d <= 127;
}

bool encode_jmp32(unsigned char out[5], uint64_t at, uint64_t to)
{
	int64_t d = (int64_t)(to - (at + 5));
	int32_t d32 = (int32_t)d;
	out[0] = 0xe9;
	memcpy(out + 1, &d32, sizeof(d32));
	return d == d32;
}

bool encode_stub(unsigned char out[STUB_SIZE], uint64_t at, uint64_t ip, const unsigned char *moved, size_t n,
		 bool early, uint32_t agent_entry, uint32_t agent_exit)
{
	static const char code[] = "\x8d\x48\xc4"               /*  0 lea -60(%rax),%ecx */
				   "\xe3\x34"                   /*  3 jrcxz exit */
				   "\x48\x8d\x64\x24\x80"       /*  5 lea -128(%rsp),%rsp */
				   "\x41\xbb\0\0\0\0"           /* 10 mov $agent_entry,%r11d */
				   "\x41\xff\xd3"               /* 16 call *%r11 */
				   "\x48\x8d\xa4\x24\x80\0\0\0" /* 19 lea 128(%rsp),%rsp */
				   "\xe3\x02"                   /* 27 jrcxz after */
				   "\x0f\x05"                   /* 29 syscall */
				   "\x48\x8d\x0d\0\0\0\0";      /* 31 lea ip(%rip),%rcx */
	_Static_assert(sizeof(code) == STUB_MOVED + 1 && STUB_EXIT - 5 == 0x34 &&
			       STUB_AFTER_CALL - STUB_DECIDE - 2 == 2,
		       "the offsets in a stub");
	static const unsigned char leave[STUB_SIZE - STUB_EXIT] = {
		0xb9, 0,    0, 0, 0, /* 57 mov $agent_exit,%ecx */
		0xff, 0xe1,          /* 62 jmp *%rcx */
	};
	size_t after = early ? 0 : n;
	if (n > (early ? STUB_EARLY_MAX : STUB_MOVED_MAX))
		return false;
	memset(out, 0xcc, STUB_SIZE);
	memcpy(out, code, STUB_MOVED);
	memcpy(out + 12, &agent_entry, sizeof(agent_entry));
	int64_t rcx = (int64_t)(ip - (at + STUB_MOVED));
	int32_t rcx32 = (int32_t)rcx;
	memcpy(out + STUB_MOVED - sizeof(rcx32), &rcx32, sizeof(rcx32));
	if (n)
		memcpy(out + (early ? STUB_EARLY : STUB_MOVED), moved, n);
	if (early)
		encode_jmp8(out + STUB_EARLY + n, STUB_EARLY + n, 0);
	memcpy(out + STUB_EXIT, leave, sizeof(leave));
	memcpy(out + STUB_EXIT + 1, &agent_exit, sizeof(agent_exit));
	return encode_jmp32(out + STUB_MOVED + after, at + STUB_MOVED + after, ip + after) && rcx == rcx32;
}
