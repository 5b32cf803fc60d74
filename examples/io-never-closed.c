/* SPDX-License-Identifier: MIT */
/* Writes 200 temporary files, and removes each from its directory. The fault: it closes none of its descriptors. */
#include "exercise.h"

int main(int argc, char **argv)
{
	static char block[4096];
	const char *unused;
	bool fixed = exercise_fixed(argc, argv, &unused);
	for (int i = 0; i < 200; i++) {
		int part = exercise_open("part", O_WRONLY | O_CREAT | O_EXCL);
		unlink("part");
		if (write(part, block, sizeof(block)) < 0)
			err(1, "cannot write 'part'");
		if (fixed)
			close(part);
	}
	return 0;
}
