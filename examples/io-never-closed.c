/* Looks at the first bytes of a file 200 times. The fault: it closes none of its descriptors. */
#include "exercise.h"

int main(int argc, char **argv)
{
	const char *name;
	bool fixed = exercise_fixed(argc, argv, &name);
	unsigned long sum = 0;
	for (int i = 0; i < 200; i++) {
		unsigned char first[16];
		int in = exercise_open(name, O_RDONLY);
		if (pread(in, first, sizeof(first), 0) > 0)
			sum += first[0];
		if (fixed)
			close(in);
	}
	printf("%lu\n", sum);
	return 0;
}
