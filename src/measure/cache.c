#include "measure/cache.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int cache_drop(const char *path, bool everything)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* posix_fadvise(2) does not remove dirty pages, so they are written first. */
	fsync(fd);
	int err = -posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
	int all = everything ? open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC) : -1;
	if (all >= 0) {
		if (write(all, "3", 1) < 0)
			err = -errno;
		close(all);
	}
	return err;
}

static double resident_share(void *map, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t pages = (size + page - 1) / page;
	unsigned char *in = memory_get(pages);
	size_t resident = 0;
	int err = mincore(map, size, in);
	for (size_t i = 0; i < pages && !err; i++)
		resident += in[i] & 1;
	free(in);
	return err ? -1 : (double)resident / (double)pages;
}

double cache_resident(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	double share = -1;
	if (fstat(fd, &st) == 0 && st.st_size > 0) {
		void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
		if (map != MAP_FAILED) {
			share = resident_share(map, (size_t)st.st_size);
			munmap(map, (size_t)st.st_size);
		}
	}
	close(fd);
	return share;
}
