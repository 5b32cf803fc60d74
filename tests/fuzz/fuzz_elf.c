/* SPDX-License-Identifier: MIT */
/* Searches for main in a program's file, which may contain any bytes after the headers that the kernel reads. */
#include "fuzz.h"

#include "engine/ptrace/tracer.h"

#include <sys/mman.h>
#include <unistd.h>

#define ENTRY 0x555555555000u
#define MOVED 0x1000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);
	FUZZ_REQUIRE(fd >= 0);
	if (write(fd, data, size) == (ssize_t)size) {
		uint64_t addr = tracer_main_symbol(fd, ENTRY);
		uint64_t moved = tracer_main_symbol(fd, ENTRY + MOVED);
		/*
		 * The address of main moves by the same distance as the program. Address 0 means that main was not
		 * found.
		 */
		FUZZ_REQUIRE(moved == addr + MOVED || !addr == !moved);
	}
	close(fd);
	return 0;
}
