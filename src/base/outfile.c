#include "base/outfile.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool outfile_folder_is_shared(const char *path)
{
	char *copy = strdup(path);
	struct stat st;
	bool shared = !copy || (stat(dirname(copy), &st) == 0 && (st.st_mode & S_ISVTX) && (st.st_mode & S_IWOTH));
	free(copy);
	return shared;
}

int outfile_open(const char *path, int how, mode_t mode)
{
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | how;
	int fd = open(path, outfile_folder_is_shared(path) ? flags | O_NOFOLLOW : flags, mode);
	return fd < 0 ? -errno : fd;
}

int outfile_write(int fd, const char *s, size_t n)
{
	while (n) {
		ssize_t w = write(fd, s, n);
		if (w < 0 && errno != EINTR)
			return -errno;
		s += w > 0 ? w : 0;
		n -= w > 0 ? (size_t)w : 0;
	}
	return 0;
}

int outfile_put(const char *path, const struct buf *text, struct buf *why)
{
	int fd = path ? outfile_open(path, O_TRUNC, 0666) : STDOUT_FILENO;
	int err = fd < 0 ? fd : outfile_write(fd, buf_str(text), text->len);
	if (path && fd >= 0 && close(fd) < 0 && !err)
		err = -errno;
	if (err && path)
		buf_addf(why, "cannot write '%s': %s", path, outfile_why(err));
	else if (err)
		buf_addf(why, "cannot write to standard output: %s", outfile_why(err));
	return err;
}

const char *outfile_why(int err)
{
	return err == -ELOOP ? "a link in a folder that all may write to is not followed" : strerror(-err);
}
