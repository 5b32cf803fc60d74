/* SPDX-License-Identifier: MIT */
#include "base/outfile.h"

#include "base/buf.h"
#include "base/diag.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_shared(const char *path, uid_t *owner)
{
	auto_free char *copy = memory_copy(path);
	struct stat st = {0};
	bool shared = stat(dirname(copy), &st) == 0 && (st.st_mode & S_ISVTX) && (st.st_mode & S_IWOTH);
	*owner = st.st_uid;
	return shared;
}

bool outfile_folder_is_shared(const char *path)
{
	uid_t owner;
	return is_shared(path, &owner);
}

/* Does the file belong to neither sctrace's user nor the directory's owner? Its owner could read the output. */
static bool is_foreign(int fd, uid_t folder_owner)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return true;
	return (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode)) && st.st_uid != geteuid() && st.st_uid != folder_owner;
}

/* Moves a descriptor above 2. The program owns 0 to 2, even if they were closed when sctrace started. */
static int above_standard(int fd)
{
	if (fd < 0 || fd > STDERR_FILENO)
		return fd < 0 ? -errno : fd;
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	int err = -errno;
	close(fd);
	return moved < 0 ? err : moved;
}

/* Checks the owner through the descriptor before truncating: a file checked by name could be replaced meanwhile. */
static int open_checked(const char *path, int flags, mode_t mode)
{
	uid_t owner;
	struct stat st;
	bool shared = is_shared(path, &owner);
	int how = (flags & ~O_TRUNC) | O_WRONLY | O_CLOEXEC | O_NOCTTY | (shared ? O_NOFOLLOW : 0);
	int fd = above_standard(open(path, how, mode));
	if (fd < 0)
		return fd;
	int err = shared && is_foreign(fd, owner) ? -EREMOTE : 0;
	if (!err && flags & O_TRUNC && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && ftruncate(fd, 0) < 0)
		err = -errno;
	if (err)
		close(fd);
	return err ? err : fd;
}

int outfile_open(const char *path, int how, mode_t mode)
{
	return open_checked(path, O_CREAT | how, mode);
}

int outfile_pipe(int fd[2])
{
	if (pipe2(fd, O_CLOEXEC) < 0)
		return -errno;
	fd[0] = above_standard(fd[0]);
	fd[1] = above_standard(fd[1]);
	int r = fd[0] < 0 ? fd[0] : fd[1];
	for (int i = 0; r < 0 && i < 2; i++)
		close(fd[i]);
	return r < 0 ? r : 0;
}

int outfile_open_special(const char *path)
{
	struct stat st;
	int fd = open_checked(path, 0, 0);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -EBUSY; /* the caller saw a special file, so another program has replaced it by a regular one */
}

/* Returns a copy of the part of `path` that names the directory. The caller frees it. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;
	return slash ? memory_copy_part(path, len ? len : 1) : memory_copy(".");
}

static const char *name_in_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static bool is_same_file(const char *one, const char *other, struct stat *a)
{
	struct stat b;
	return stat(one, a) == 0 && stat(other, &b) == 0 && a->st_dev == b.st_dev && a->st_ino == b.st_ino;
}

bool outfile_is_same(const char *one, const char *other)
{
	struct stat a;
	if (!one || !other)
		return false;
	if (access(one, F_OK) == 0 || errno != ENOENT)
		return is_same_file(one, other, &a) && S_ISREG(a.st_mode);
	/* Neither file exists yet, or they are not the same. "x" and "./x" will be the same file. */
	auto_free char *folder = folder_of(one);
	auto_free char *folder_of_other = folder_of(other);
	return access(other, F_OK) < 0 && strcmp(name_in_folder(one), name_in_folder(other)) == 0 &&
	       is_same_file(folder, folder_of_other, &a);
}

int outfile_check(const char *path)
{
	struct stat st;
	if (!*path)
		return -ENOENT;
	if (stat(path, &st) == 0)
		return S_ISDIR(st.st_mode) ? -EISDIR : access(path, W_OK) < 0 ? -errno : 0;
	auto_free char *folder = folder_of(path);
	return access(folder, W_OK | X_OK) < 0 ? -errno : 0;
}

int outfile_write(int fd, const char *s, size_t n, const volatile sig_atomic_t *stop)
{
	while (n) {
		ssize_t w = write(fd, s, n);
		if (w < 0 && (errno != EINTR || (stop && *stop)))
			return -errno;
		s += w > 0 ? w : 0;
		n -= w > 0 ? (size_t)w : 0;
	}
	return 0;
}

/* Closes the file. After an error, removes it: a part of a table might be mistaken for the whole. */
static int close_whole(const char *path, int fd, int err)
{
	struct stat st;
	struct stat there;
	bool file = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	if (err && file && ftruncate(fd, 0) < 0)
		err = -errno;
	if (close(fd) < 0 && !err)
		err = -errno;
	if (err && file && lstat(path, &there) == 0 && there.st_dev == st.st_dev && there.st_ino == st.st_ino)
		unlink(path);
	return err;
}

int outfile_put(const char *path, const struct buf *text, struct buf *why)
{
	int fd = path ? outfile_open(path, O_TRUNC, 0666) : STDOUT_FILENO;
	int err = fd < 0 ? fd : outfile_write(fd, buf_str(text), text->len, NULL);
	if (path && fd >= 0)
		err = close_whole(path, fd, err);
	if (err && path)
		buf_addf(why, "cannot write '%s': %s", path, outfile_why(err));
	else if (err)
		buf_addf(why, "cannot write to standard output: %s", outfile_why(err));
	return err;
}

static void on_signal(int sig)
{
	(void)sig;
}

void outfile_catch_signals(void)
{
	static const int signals[] = {SIGPIPE, SIGXFSZ};
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &(struct sigaction){.sa_handler = on_signal, .sa_flags = SA_RESTART}, NULL);
}

const char *outfile_why(int err)
{
	return err == -ELOOP     ? "symbolic links are not followed in a directory that everyone can write to"
	       : err == -EREMOTE ? "it belongs to another user, and everyone can write to its directory"
				 : diag_error_text(-err);
}
