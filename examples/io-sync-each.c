/* SPDX-License-Identifier: MIT */
/*
 * Appends 40 entries to a journal "out". The fault: it waits for the disk after each entry, although it needs only the
 * complete journal on disk.
 */
#include "exercise.h"

int main(int argc, char **argv)
{
	const char *unused;
	bool fixed = exercise_fixed(argc, argv, &unused);
	int out = exercise_open("out", O_WRONLY | O_CREAT | O_TRUNC);
	for (int i = 0; i < 40; i++) {
		char entry[128];
		int n = snprintf(entry, sizeof(entry), "entry %d", i);
		if (write(out, entry, (size_t)n) != n)
			err(1, "cannot write 'out'");
		if ((!fixed || i == 39) && fsync(out) < 0)
			err(1, "cannot write 'out' to the disk");
	}
	return 0;
}
