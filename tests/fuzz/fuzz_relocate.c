/* SPDX-License-Identifier: MIT */
/*
 * Decides which instructions may be moved, for any bytes as a function that contains a call. The chosen instructions
 * must be inside the function, and long enough for the jump. Input: the offset of the call, then the code.
 */
#include "fuzz.h"

#include "engine/patch/x86_64/relocate.h"

#include <elf.h>
#include <errno.h>

#define SYSCALL_LENGTH 2

struct fuzz_object {
	const unsigned char *code;
	size_t n;
};

/* An object whose header and code are the input, at the address of the function. */
static ssize_t read_object(void *ctx, uint64_t addr, void *buf, size_t n)
{
	static const Elf64_Ehdr eh = {
		.e_ident = "\177ELF\2", .e_phoff = 64, .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1};
	const struct fuzz_object *o = ctx;
	const uint64_t at = addr - 0x7f0000001000;
	const Elf64_Phdr ph = {.p_type = PT_LOAD, .p_flags = PF_X, .p_filesz = o->n};
	if (at == 0 && n == sizeof(eh))
		memcpy(buf, &eh, n);
	else if (at == 64 && n == sizeof(ph))
		memcpy(buf, &ph, n);
	else if (at == 0 && n <= o->n)
		memcpy(buf, o->code, n);
	else
		return -EFAULT;
	return (ssize_t)n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2 + SYSCALL_LENGTH)
		return 0;
	size_t n = size - 2, offset = (size_t)(data[0] | data[1] << 8) % (n - SYSCALL_LENGTH + 1);
	unsigned char *code = malloc(n);
	FUZZ_REQUIRE(code);
	memcpy(code, data + 2, n);
	memcpy(code + offset, "\x0f\x05", SYSCALL_LENGTH);
	const uint64_t fn = 0x7f0000001000, site = fn + offset, ip = site + SYSCALL_LENGTH;
	const struct mem object = {read_object, &(struct fuzz_object){code, n}};
	struct targets *t = relocate_targets_find(&object, fn);
	unsigned char copy[RELOCATE_MAX + RELOCATE_GROWTH];
	size_t taken;
	size_t moved = relocate_length(code + offset + SYSCALL_LENGTH, n - offset - SYSCALL_LENGTH, ip, &taken);
	if (moved)
		FUZZ_REQUIRE(moved <= RELOCATE_MAX && taken >= 3 && taken >= moved &&
			     offset + SYSCALL_LENGTH + taken <= n);
	if (moved) {
		const unsigned char *after = code + offset + SYSCALL_LENGTH;
		FUZZ_REQUIRE(relocate_copy(copy, sizeof(copy), after, moved, ip, ip) >= moved);
		size_t copied = relocate_copy(copy, sizeof(copy), after, moved, ip, fn + 0x10000);
		FUZZ_REQUIRE(copied == 0 || copied >= moved); /* 0: what the code refers to is too far away */
	}
	relocate_entry(code, n, fn, site, site, ip + 3);
	moved = relocate_early(code, n, fn, site);
	if (moved)
		FUZZ_REQUIRE(moved >= 5 && moved <= RELOCATE_EARLY_MAX && moved <= offset);
	if (t && n <= RELOCATE_NEAR_MAX) {
		relocate_near(code, n, fn, site, site, ip + 3, t);
		moved = relocate_early_near(code, n, fn, site, t);
		FUZZ_REQUIRE(moved == 0 || (moved >= 5 && moved <= RELOCATE_EARLY_MAX && moved <= offset));
	}
	relocate_targets_free(t);
	free(code);
	return 0;
}
