/* SPDX-License-Identifier: MIT */
/* Writes 20,000 records of 16 bytes to "out". The fault: it makes a call for each record. */
#include "exercise.h"

int main(int argc, char **argv)
{
	static char buffer[65536];
	const char *unused;
	size_t room = exercise_fixed(argc, argv, &unused) ? sizeof(buffer) : 16;
	int out = exercise_open("out", O_WRONLY | O_CREAT | O_TRUNC);
	size_t used = 0;
	for (int i = 0; i < 20000; i++) {
		memset(buffer + used, 'a' + i % 26, 16);
		used += 16;
		if (used == room || i == 19999) {
			if (write(out, buffer, used) != (ssize_t)used)
				err(1, "cannot write 'out'");
			used = 0;
		}
	}
	return 0;
}
