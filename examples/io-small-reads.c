/* SPDX-License-Identifier: MIT */
/* Adds up the bytes of a file. The fault: it reads one byte at a time. */
#include "exercise.h"

int main(int argc, char **argv)
{
	static unsigned char buffer[65536];
	const char *name;
	size_t size = exercise_fixed(argc, argv, &name) ? sizeof(buffer) : 1;
	int in = exercise_open(name, O_RDONLY);
	unsigned long sum = 0;
	ssize_t n;
	while ((n = read(in, buffer, size)) > 0)
		for (ssize_t i = 0; i < n; i++)
			sum += buffer[i];
	printf("%lu\n", sum);
	return 0;
}
