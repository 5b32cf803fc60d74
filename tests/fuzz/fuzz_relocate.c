/*
 * Decides which instructions may be moved, for any bytes as a function that contains a call. The chosen instructions
 * must be inside the function, and long enough for the jump. Input: the offset of the call, then the code.
 */
#include "fuzz.h"

#include "engine/patch/code/relocate.h"

#define SYSCALL_LENGTH 2

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2 + SYSCALL_LENGTH)
		return 0;
	size_t n = size - 2, offset = (size_t)(data[0] | data[1] << 8) % (n - SYSCALL_LENGTH + 1);
	unsigned char *code = malloc(n);
	FUZZ_REQUIRE(code);
	memcpy(code, data + 2, n);
	memcpy(code + offset, "\x0f\x05", SYSCALL_LENGTH);
	const uint64_t fn = 0x7f0000001000;
	const char *why = NULL;
	size_t moved = relocate_length(code, n, fn, fn + offset, &why);
	if (moved)
		FUZZ_REQUIRE(moved >= 3 && moved <= RELOCATE_MAX && offset + SYSCALL_LENGTH + moved <= n);
	else
		FUZZ_REQUIRE(why && *why);
	why = NULL;
	moved = relocate_early(code, n, fn, fn + offset, &why);
	if (moved)
		FUZZ_REQUIRE(moved >= 5 && moved <= RELOCATE_EARLY_MAX && moved <= offset);
	else
		FUZZ_REQUIRE(why && *why);
	free(code);
	return 0;
}
