/* SPDX-License-Identifier: MIT */
/* Handles 3,000 requests, each with an optional rule file. The fault: it looks for the missing file each time. */
#include "exercise.h"

int main(int argc, char **argv)
{
	const char *unused;
	bool fixed = exercise_fixed(argc, argv, &unused);
	bool missing = false;
	unsigned long handled = 0;
	for (int i = 0; i < 3000; i++) {
		if (!missing || !fixed)
			missing = access("rules.conf", R_OK) != 0;
		handled += missing;
	}
	printf("%lu requests had no rule file\n", handled);
	return 0;
}
