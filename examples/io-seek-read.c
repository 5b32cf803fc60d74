/* SPDX-License-Identifier: MIT */
/* Reads a record of 64 bytes from each block of 4 KiB. The fault: it seeks before each read. */
#include "exercise.h"

int main(int argc, char **argv)
{
	char record[64];
	const char *name;
	bool fixed = exercise_fixed(argc, argv, &name);
	int in = exercise_open(name, O_RDONLY);
	off_t end = lseek(in, 0, SEEK_END);
	unsigned long records = 0;
	for (off_t at = end - end % 4096; at >= 0; at -= 4096) {
		if (!fixed)
			lseek(in, at, SEEK_SET);
		ssize_t n = fixed ? pread(in, record, sizeof(record), at) : read(in, record, sizeof(record));
		records += n > 0;
	}
	printf("%lu records\n", records);
	return 0;
}
