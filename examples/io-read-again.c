/* SPDX-License-Identifier: MIT */
/*
 * Looks up 2,000 words in an index of 4 KiB at the start of a file. The fault: it reads the index again for each word.
 */
#include "exercise.h"

int main(int argc, char **argv)
{
	static unsigned char index[4096];
	const char *name;
	bool fixed = exercise_fixed(argc, argv, &name);
	int in = exercise_open(name, O_RDONLY);
	unsigned long found = 0;
	for (int word = 0; word < 2000; word++) {
		if (word == 0 || !fixed)
			if (pread(in, index, sizeof(index), 0) != sizeof(index))
				errx(1, "'%s' is shorter than 4096 bytes", name);
		found += index[word * 7 % sizeof(index)];
	}
	printf("%lu\n", found);
	return 0;
}
