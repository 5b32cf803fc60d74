/* SPDX-License-Identifier: MIT */
/*
 * Does 20,000 steps of work and watches a pipe for input. The fault: it calls poll(2) after each step, although input
 * hardly ever arrives.
 */
#include "exercise.h"

#include <poll.h>

int main(int argc, char **argv)
{
	const char *unused;
	int every = exercise_fixed(argc, argv, &unused) ? 1000 : 1;
	int ends[2];
	if (pipe(ends) < 0)
		err(1, "cannot create a pipe");
	struct pollfd input = {.fd = ends[0], .events = POLLIN};
	int came = 0;
	for (int step = 0; step < 20000; step++)
		if (step % every == 0)
			came += poll(&input, 1, 0);
	printf("input arrived %d times\n", came);
	return 0;
}
