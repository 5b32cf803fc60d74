/* SPDX-License-Identifier: MIT */
/* Opens N files that do not exist, with pauses of 2 ms, and then ends by SIGUSR1.  late_signal N */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char path[64];
	for (int i = 0; argc > 1 && i < atoi(argv[1]); i++) {
		snprintf(path, sizeof(path), "/nonexistent/%d", i);
		if (open(path, O_RDONLY) >= 0)
			return 1;
		usleep(2000);
	}
	kill(getpid(), SIGUSR1);
	return 1;
}
