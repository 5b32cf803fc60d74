#include "measure/rss.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t rss_peak(pid_t pid)
{
	char path[32];
	char line[256];
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return -errno;
	int64_t bytes = -ESRCH;
	while (bytes < 0 && fgets(line, sizeof(line), f))
		if (strncmp(line, "VmHWM:", 6) == 0)
			bytes = strtoll(line + 6, NULL, 10) * 1024;
	fclose(f);
	return bytes;
}
