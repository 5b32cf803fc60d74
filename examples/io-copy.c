/* SPDX-License-Identifier: MIT */
/*
 * Copies a file to "out". The fault: the program reads and writes the bytes, 4 KiB at a time, although it does not use
 * them.
 */
#include "exercise.h"

int main(int argc, char **argv)
{
	static char buffer[4096];
	const char *name;
	bool fixed = exercise_fixed(argc, argv, &name);
	int in = exercise_open(name, O_RDONLY);
	int out = exercise_open("out", O_WRONLY | O_CREAT | O_TRUNC);
	ssize_t n;
	do {
		n = fixed ? copy_file_range(in, NULL, out, NULL, 1 << 30, 0) : read(in, buffer, sizeof(buffer));
		if (!fixed && n > 0 && write(out, buffer, (size_t)n) != n)
			n = -1;
	} while (n > 0);
	if (n < 0)
		err(1, "cannot copy '%s'", name);
	return 0;
}
