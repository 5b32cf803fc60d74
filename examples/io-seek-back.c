/* SPDX-License-Identifier: MIT */
/*
 * Counts the records of 64 bytes whose first byte is 0. The fault: for each record, it reads a block of 64 KiB, and
 * seeks back to the end of the record.
 */
#include "exercise.h"

#define RECORD 64

int main(int argc, char **argv)
{
	static char block[65536];
	const char *name;
	bool fixed = exercise_fixed(argc, argv, &name);
	int in = exercise_open(name, O_RDONLY);
	unsigned long records = 0;
	ssize_t n;
	while ((n = read(in, block, sizeof(block))) >= RECORD) {
		ssize_t used = fixed ? n - n % RECORD : RECORD;
		for (ssize_t i = 0; i < used; i += RECORD)
			records += block[i] == 0;
		if (used < n)
			lseek(in, used - n, SEEK_CUR);
	}
	printf("%lu records\n", records);
	return 0;
}
