#include "engine/kept.h"

#include "base/buf.h"
#include "base/outfile.h"
#include "config.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void find_folder(char *path, size_t size)
{
	const char *set = getenv("XDG_RUNTIME_DIR");
	if (set)
		snprintf(path, size, "%s", set);
	else if (geteuid() == 0)
		snprintf(path, size, "/run");
	else
		snprintf(path, size, "/run/user/%u", (unsigned)geteuid());
}

int kept_folder(void)
{
	struct stat st;
	char path[PATH_MAX];
	find_folder(path, sizeof(path));
	int fd = *path == '/' ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	if (fd >= 0 && (fstat(fd, &st) < 0 || st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

void kept_describe_machine(struct buf *out)
{
	char boot[64];
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, boot, sizeof(boot));
	if (fd >= 0)
		close(fd);
	struct stat exe;
	if (n > 1 && stat("/proc/self/exe", &exe) == 0)
		buf_addf(out, "%.*s; %ld processors; sctrace %s %llx:%llx:%llx.%lx", (int)n - 1, boot,
			 sysconf(_SC_NPROCESSORS_ONLN), SCTRACE_VERSION, (unsigned long long)exe.st_dev,
			 (unsigned long long)exe.st_ino, (unsigned long long)exe.st_ctim.tv_sec,
			 (unsigned long)exe.st_ctim.tv_nsec);
}

void kept_replace(int folder, const char *name, const void *bytes, size_t n)
{
	char new[64];
	snprintf(new, sizeof(new), "%s.%d", name, (int)getpid());
	int fd = openat(folder, new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	int err = outfile_write(fd, bytes, n, NULL);
	close(fd);
	if (err < 0 || renameat(folder, new, folder, name) < 0)
		unlinkat(folder, new, 0);
}
