/* SPDX-License-Identifier: MIT */
/* Prints 10,000 lines. The fault: standard output is line buffered, so each line causes a write(2). */
#include "exercise.h"

int main(int argc, char **argv)
{
	const char *unused;
	bool fixed = exercise_fixed(argc, argv, &unused);
	setvbuf(stdout, NULL, fixed ? _IOFBF : _IOLBF, 4096);
	for (int i = 0; i < 10000; i++)
		printf("line %d of ten thousand\n", i);
	return 0;
}
