/* SPDX-License-Identifier: MIT */
/*
 * Reads a file past the page cache (O_DIRECT). The fault: it requests 3000 bytes at a time, not whole blocks. The
 * kernel refuses such requests (open(2)), and the program then reads the same bytes through the cache.
 */
#include "exercise.h"

int main(int argc, char **argv)
{
	const char *name;
	size_t size = exercise_fixed(argc, argv, &name) ? 4096 : 3000;
	int direct = open(name, O_RDONLY | O_DIRECT);
	int cached = exercise_open(name, O_RDONLY);
	char *buffer = aligned_alloc(4096, 4096);
	if (direct < 0)
		errx(77, "the file system of '%s' does not support O_DIRECT", name);
	for (int i = 0; buffer && i < 200; i++) {
		off_t at = (off_t)i * (off_t)size;
		if (pread(direct, buffer, size, at) < 0 && pread(cached, buffer, size, at) < 0)
			err(1, "cannot read '%s'", name);
	}
	free(buffer);
	return 0;
}
