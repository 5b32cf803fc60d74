/* SPDX-License-Identifier: MIT */
/* Writes 200 blocks of 4 KiB and an index of their offsets. The fault: it asks the kernel for each offset. */
#include "exercise.h"

int main(int argc, char **argv)
{
	static char block[4096];
	static off_t index[200];
	const char *unused;
	bool fixed = exercise_fixed(argc, argv, &unused);
	int out = exercise_open("out", O_WRONLY | O_CREAT | O_TRUNC);
	off_t at = 0;
	for (int i = 0; i < 200; i++) {
		index[i] = fixed ? at : lseek(out, 0, SEEK_CUR);
		ssize_t n = write(out, block, sizeof(block));
		if (n < 0)
			err(1, "cannot write 'out'");
		at += n;
	}
	if (write(out, index, sizeof(index)) < 0)
		err(1, "cannot write 'out'");
	return 0;
}
