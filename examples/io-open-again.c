/* SPDX-License-Identifier: MIT */
/* Watches the size of a file 2,000 times. The fault: it opens the file each time. */
#include "exercise.h"

#include <sys/stat.h>

int main(int argc, char **argv)
{
	const char *name;
	bool fixed = exercise_fixed(argc, argv, &name);
	unsigned long changes = 0;
	off_t size = -1;
	int in = -1;
	for (int i = 0; i < 2000; i++) {
		struct stat st;
		if (in < 0)
			in = exercise_open(name, O_RDONLY);
		if (fstat(in, &st) == 0 && st.st_size != size) {
			size = st.st_size;
			changes++;
		}
		if (!fixed) {
			close(in);
			in = -1;
		}
	}
	printf("the size changed %lu times\n", changes);
	return 0;
}
