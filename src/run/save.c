/* Writes a saved run so that no partial file is left, and so that no symbolic link of another user is followed. */
#include "base/buf.h"
#include "base/outfile.h"
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes to an existing file that is not regular: a terminal, a pipe, /dev/null. */
static int write_special(const char *path, const struct buf *text)
{
	int fd = outfile_open_special(path);
	if (fd < 0)
		return fd;
	int rc = outfile_write(fd, text->s, text->len, NULL);
	return close(fd) < 0 && rc == 0 ? -errno : rc;
}

static int write_beside(const char *path, const struct buf *text)
{
	struct buf temp = {0};
	buf_addf(&temp, "%s.XXXXXX", path);
	int fd = mkostemp(temp.s, O_CLOEXEC); /* mkostemp(3) creates the file with O_EXCL and mode 0600 */
	int rc = fd < 0 ? -errno : outfile_write(fd, text->s, text->len, NULL);
	if (fd >= 0) {
		if (rc == 0 && fsync(fd) < 0 && errno != EINVAL)
			rc = -errno;
		if (close(fd) < 0 && rc == 0)
			rc = -errno;
		if (rc == 0 && rename(temp.s, path) < 0)
			rc = -errno;
		if (rc < 0)
			unlink(temp.s);
	}
	buf_free(&temp);
	return rc;
}

static int write_text(const char *path, const struct buf *text)
{
	struct stat st;
	bool is_link = lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
	if (is_link && outfile_folder_is_shared(path))
		return -ELOOP;
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : write_special(path, text);
	char *target = is_link ? realpath(path, NULL) : NULL;
	if (is_link && !target)
		return -errno;
	int rc = write_beside(target ? target : path, text);
	free(target);
	return rc;
}

int run_save(const struct run *run, const char *path, struct buf *why)
{
	struct buf text = {0};
	run_dump(run, &text);
	int rc = write_text(path, &text);
	if (rc < 0)
		buf_addf(why, "cannot save the run as '%s': %s", path, outfile_why(rc));
	buf_free(&text);
	return rc;
}
