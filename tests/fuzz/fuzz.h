/* SPDX-License-Identifier: MIT */
/* The interface of a fuzz target. libFuzzer and replay.c call it with any bytes, and it must return. */
#ifndef SCTRACE_TESTS_FUZZ_H
#define SCTRACE_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A property that must hold for every input. */
#define FUZZ_REQUIRE(condition)                                                                                        \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			abort();                                                                                       \
	} while (0)

/*
 * The input as a NUL-terminated string in memory of exactly its size, so that a sanitizer detects a read past its end.
 * The caller frees it.
 */
static inline char *fuzz_string(const uint8_t *data, size_t size)
{
	char *s = malloc(size + 1);
	FUZZ_REQUIRE(s);
	if (size > 0)
		memcpy(s, data, size);
	s[size] = '\0';
	return s;
}

#endif
