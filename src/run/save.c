/* Writing a saved run so that no half file is ever left and no planted link is followed. */
#include "base/buf.h"
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_all(int fd, const char *s, size_t len)
{
	while (len) {
		ssize_t n = write(fd, s, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		s += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Is the folder of `path` one where others may plant links (/tmp)? */
static bool folder_is_shared(const char *path)
{
	char *copy = strdup(path);
	struct stat st;
	bool shared = !copy || (stat(dirname(copy), &st) == 0 && st.st_mode & S_ISVTX && st.st_mode & S_IWOTH);
	free(copy);
	return shared;
}

/* Writes to what is there and is no regular file: a terminal, a pipe, /dev/null. */
static int write_special(const char *path, const struct buf *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	int rc = write_all(fd, text->s, text->len);
	return close(fd) < 0 && rc == 0 ? -errno : rc;
}

static int write_beside(const char *path, const struct buf *text)
{
	struct buf temp = {0};
	buf_addf(&temp, "%s.XXXXXX", path);
	if (temp.failed)
		return -ENOMEM;
	int fd = mkostemp(temp.s, O_CLOEXEC); /* mode 0600, O_EXCL */
	int rc = fd < 0 ? -errno : write_all(fd, text->s, text->len);
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
	if (is_link && folder_is_shared(path))
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

int run_save(const json_t *run, const char *path, struct buf *why)
{
	struct buf text = {0};
	int rc = run_dump(run, &text);
	if (rc == 0)
		rc = write_text(path, &text);
	if (rc < 0)
		buf_addf(why, "cannot save the run as '%s': %s", path, strerror(-rc));
	buf_free(&text);
	return rc;
}
