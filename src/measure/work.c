/* SPDX-License-Identifier: MIT */
#include "measure/work.h"

#include "base/buf.h"
#include "base/diag.h"
#include "base/memory.h"
#include "base/outfile.h"
#include "base/size.h"
#include "stats/random.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define CHUNK             (64 * 1024)
#define RANDOM_INPUT_SEED 1

static char *path_in(const char *dir, const char *name)
{
	struct buf b = {0};
	buf_addf(&b, "%s/%s", dir, name);
	return buf_take(&b);
}

/* Returns the default directory for temporary files. /var/tmp is preferred to /tmp, which is often in memory. */
static const char *default_parent(void)
{
	const char *parent = getenv("TMPDIR");
	if (parent && *parent)
		return parent;
	return access("/var/tmp", W_OK) == 0 ? "/var/tmp" : "/tmp";
}

/*
 * Deletes sctrace's own files, and the directory if it is then empty. Needs neither memory nor a file descriptor,
 * because a lack of one of these may be the reason why sctrace exits.
 */
static bool remove_own(const struct work *w)
{
	const char *const own[] = {w->in, w->out, w->part, w->errors, w->output};
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (own[i])
			unlink(own[i]);
	return rmdir(w->dir) == 0;
}

static void remove_at_once(void *work)
{
	remove_own(work);
}

int work_open(struct work *w, const char *parent, struct buf *why)
{
	if (!parent)
		parent = default_parent();
	auto_free char *whole = realpath(parent, NULL);
	char *dir = whole ? path_in(whole, "sctrace-XXXXXX") : NULL;
	if (!dir || !mkdtemp(dir)) {
		int err = errno;
		free(dir);
		buf_addf(why, "cannot create a work directory in '%s': %s; choose another directory with --dir", parent,
			 diag_error_text(err));
		return -err;
	}
	w->dir = dir;
	memory_on_exhaustion(remove_at_once, w);
	w->in = path_in(dir, "in");
	w->out = path_in(dir, "out");
	w->part = path_in(dir, "part");
	w->errors = path_in(dir, "errors");
	w->output = path_in(dir, "output");
	return 0;
}

static bool stopped(const struct work *w)
{
	return w->stop && *w->stop;
}

static int check_room(const struct work *w, uint64_t need, struct buf *why)
{
	struct statvfs v;
	struct rlimit limit;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < w->size) {
		buf_adds(why, "the limit for the size of a file (ulimit -f) is ");
		size_human(why, limit.rlim_cur);
		buf_adds(why, ", which is less than the size of the input; raise it, or choose a smaller --size");
		return -EFBIG;
	}
	if (statvfs(w->dir, &v) < 0)
		return 0;
	uint64_t room = (uint64_t)v.f_bavail * v.f_frsize;
	if (room >= need)
		return 0;
	buf_adds(why, "the input and its copy need ");
	size_human(why, need);
	buf_addf(why, ", but '%.*s' has ", (int)(strrchr(w->dir, '/') - w->dir), w->dir);
	size_human(why, room);
	buf_adds(why, " free; choose a smaller --size, or another directory with --dir");
	return -ENOSPC;
}

/* Fills `p` with random bytes, which hardly compress. None is NUL, so that programs can read them as strings. */
static void fill_random(unsigned char *p, size_t n, struct rng *state)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (unsigned char)(1 + rng_below(state, 255));
}

static int write_input(struct work *w, int fd)
{
	static const size_t chunk = CHUNK;
	auto_free unsigned char *p = memory_zeroed(1, chunk);
	struct rng state;
	rng_seed(&state, RANDOM_INPUT_SEED);
	int err = 0;
	for (uint64_t left = w->size; left && !err;) {
		size_t n = left < chunk ? (size_t)left : chunk;
		if (w->random)
			fill_random(p, n, &state);
		err = stopped(w) ? -EINTR : outfile_write(fd, (const char *)p, n, w->stop);
		left -= n;
	}
	/* An old time, so that work_restore_input() notices a change within the resolution of the clock of the file
	 * system: the beginning of the year 2000. Some archivers reject times before 1980. */
	if (!err && futimens(fd, (struct timespec[]){{.tv_sec = 946684800}, {.tv_sec = 946684800}}) < 0)
		err = -errno;
	return err;
}

/* Copies the first `bytes` of the file `in` to the file `out`. Holes remain holes. */
static int copy_data(const struct work *w, int in, int out, uint64_t bytes)
{
	static const size_t chunk = CHUNK;
	auto_free char *p = memory_get(chunk);
	int err = ftruncate(out, (off_t)bytes) < 0 ? -errno : 0;
	off_t at = 0;
	while (!err && (at = lseek(in, at, SEEK_DATA)) >= 0 && at < (off_t)bytes) {
		uint64_t left = bytes - (uint64_t)at;
		ssize_t n = pread(in, p, left < chunk ? (size_t)left : chunk, at);
		if (n > 0 && lseek(out, at, SEEK_SET) == at)
			err = stopped(w) ? -EINTR : outfile_write(out, p, (size_t)n, w->stop);
		else if (n <= 0 && errno != EINTR)
			err = n == 0 ? -ENODATA : -errno;
		at += n > 0 ? n : 0;
	}
	/* ENXIO means that no data follow. */
	return !err && at < 0 && errno != ENXIO ? -errno : err;
}

/* Makes the file `out` a copy of the first w->size bytes of the user's file `in`, with its permissions and its times. */
static int copy_file(struct work *w, int in, int out, struct buf *why)
{
	struct stat st;
	bool first = !w->made.st_ino;
	bool cloned = ioctl(out, FICLONE, in) == 0;
	int err = first ? check_room(w, cloned ? w->size : 2 * w->size, why) : 0;
	if (!err && cloned)
		err = ftruncate(out, (off_t)w->size) < 0 ? -errno : 0;
	else if (!err)
		err = copy_data(w, in, out, w->size);
	if (!err && (fstat(in, &st) < 0 || fchmod(out, st.st_mode & 0777) < 0 ||
		     futimens(out, (struct timespec[]){st.st_atim, st.st_mtim}) < 0))
		err = -errno;
	return err;
}

/* Writes the input into the work directory: the random or zero bytes, or the copy of the user's file. */
static int write_in(struct work *w, struct buf *why)
{
	int in = w->source ? open(w->source, O_RDONLY | O_CLOEXEC) : -1;
	int err = w->source && in < 0 ? -errno : 0;
	int out = open(w->in, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (!err)
		err = out < 0 ? -errno : w->source ? copy_file(w, in, out, why) : write_input(w, out);
	if (in >= 0)
		close(in);
	if (out >= 0 && close(out) < 0 && !err)
		err = -errno;
	if (err < 0 && err != -EINTR && !why->len)
		buf_addf(why, "cannot write the input '%s': %s", w->in, diag_error_text(-err));
	work_note_input(w);
	return err;
}

/* Sets w->source and w->size from the user's file. `size` is the requested size, or 0. */
static int find_source(struct work *w, const char *file, uint64_t size, struct buf *why)
{
	struct stat st;
	w->source = realpath(file, NULL);
	int err = !w->source || stat(w->source, &st) < 0 || access(w->source, R_OK) < 0 ? -errno : 0;
	if (err < 0)
		buf_addf(why, "cannot read the input '%s': %s", file, diag_error_text(-err));
	else if (!S_ISREG(st.st_mode))
		buf_addf(why, "the input '%s' is not a regular file", file);
	else if (st.st_size == 0)
		buf_addf(why, "the input '%s' is empty, so there is nothing to compare", file);
	else if ((uint64_t)st.st_size < size)
		buf_addf(why, "the input '%s' has only %jd byte%s, which is less than --size; omit --size", file,
			 (intmax_t)st.st_size, st.st_size == 1 ? "" : "s");
	if (why->len)
		return err < 0 ? err : -EINVAL;
	w->size = size ? size : (uint64_t)st.st_size;
	w->linked = w->size == (uint64_t)st.st_size;
	return 0;
}

/* Creates the input as a link to the user's file. */
static int link_input(struct work *w, struct buf *why)
{
	int err = check_room(w, w->size + CHUNK, why);
	if (!err && symlink(w->source, w->in) < 0) {
		err = -errno;
		buf_addf(why, "cannot link the input into '%s': %s", w->dir, diag_error_text(-err));
	}
	return err;
}

bool work_makes_input(const char *what)
{
	return strcmp(what, "random") == 0 || strcmp(what, "zero") == 0;
}

int work_make_input(struct work *w, const char *what, uint64_t size, bool copy, struct buf *why)
{
	int err;
	if (work_makes_input(what)) {
		w->size = size;
		w->random = strcmp(what, "random") == 0;
		err = check_room(w, 2 * size, why);
	} else {
		err = find_source(w, what, size, why);
		w->linked &= !copy;
	}
	if (err < 0)
		return err;
	return w->linked ? link_input(w, why) : write_in(w, why);
}

void work_note_input(struct work *w)
{
	if (lstat(w->in, &w->made) < 0)
		w->made = (struct stat){.st_ino = 1};
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

int work_restore_input(struct work *w, struct buf *why)
{
	struct stat now = {0};
	const struct stat *then = &w->made;
	if (w->linked)
		return 0;
	bool same = lstat(w->in, &now) == 0 && now.st_ino == then->st_ino && now.st_size == then->st_size &&
		    now.st_mode == then->st_mode && same_time(&now.st_mtim, &then->st_mtim);
	/* A program that preserves the time of the last change cannot preserve st_ctim. A hard link changes it, too. */
	if (same && same_time(&now.st_ctim, &then->st_ctim))
		return 0;
	work_remove(w->in);
	int err = write_in(w, why);
	return err < 0 ? err : !same;
}

int work_make_part(struct work *w, uint64_t bytes, struct buf *why)
{
	int in = open(w->in, O_RDONLY | O_CLOEXEC);
	int out = open(w->part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int err = in < 0 || out < 0 ? -errno : copy_data(w, in, out, bytes);
	if (in >= 0)
		close(in);
	if (out >= 0 && close(out) < 0 && !err)
		err = -errno;
	if (err < 0 && err != -EINTR)
		buf_addf(why, "cannot write '%s': %s", w->part, diag_error_text(-err));
	return err;
}

static int compare_streams(FILE *a, FILE *b, uint64_t bytes, struct buf *why)
{
	static const size_t chunk = CHUNK;
	auto_free char *p = memory_get(2 * chunk);
	int err = 0;
	uint64_t at = 0;
	while (!err && at < bytes) {
		size_t want = bytes - at < chunk ? (size_t)(bytes - at) : chunk;
		size_t n = fread(p, 1, want, a);
		size_t m = fread(p + chunk, 1, want, b);
		size_t same = 0;
		while (same < n && same < m && p[same] == p[chunk + same])
			same++;
		at += same;
		if (same < want)
			err = -EBADMSG;
	}
	if (err == -EBADMSG)
		buf_addf(why, "the copy differs from the input; the first difference is at byte %" PRIu64, at);
	else if (!err && fgetc(b) != EOF) {
		buf_addf(why, "the copy is longer than the %" PRIu64 " bytes of its input", bytes);
		err = -EBADMSG;
	}
	return err;
}

int work_check_copy(const struct work *w, const char *copy, uint64_t bytes, struct buf *why)
{
	FILE *a = fopen(w->in, "re");
	FILE *b = fopen(copy, "re");
	int err = a && b ? 0 : -errno;
	if (err < 0)
		buf_addf(why, a ? "cannot open the copy '%s': %s" : "cannot open the input '%s': %s", a ? copy : w->in,
			 diag_error_text(-err));
	else
		err = compare_streams(a, b, bytes, why);
	if (a)
		fclose(a);
	if (b)
		fclose(b);
	return err;
}

void work_complaint(const struct work *w, const char *program, struct buf *text)
{
	FILE *f = fopen(w->errors, "re");
	if (!f)
		return;
	char line[512];
	char last[512] = "";
	while (fgets(line, sizeof(line), f))
		if (line[0] != '\n')
			memcpy(last, line, sizeof(last));
	fclose(f);
	last[strcspn(last, "\n")] = '\0';
	size_t n = strlen(program);
	bool named = strncmp(last, program, n) == 0 && strncmp(last + n, ": ", 2) == 0;
	buf_adds(text, named ? last + n + 2 : last);
}

void work_errors(const struct work *w, struct buf *text)
{
	enum { FIRST = 4 };
	FILE *f = fopen(w->errors, "re");
	char line[512], last[512] = "";
	int n = 0;
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (++n <= FIRST)
			buf_addf(text, "\n  %s", line);
		else
			memcpy(last, line, sizeof(last));
	}
	if (n > FIRST)
		buf_addf(text, "%s\n  %s", n > FIRST + 1 ? "\n  ..." : "", last);
	if (f)
		fclose(f);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	if (type == FTW_DNR) {
		/* A command may have removed the permissions of a directory that it created. */
		chmod(path, 0700);
	}
	remove(path);
	return 0;
}

void work_remove(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int work_close(struct work *w, struct buf *why)
{
	int err = 0;
	memory_on_exhaustion(NULL, NULL);
	if (w->dir && !remove_own(w)) {
		work_remove(w->dir);
		err = rmdir(w->dir) < 0 && errno != ENOENT ? -errno : 0;
		if (err)
			buf_addf(why, "cannot remove the work directory '%s': %s", w->dir, diag_error_text(-err));
	}
	free(w->dir);
	free(w->in);
	free(w->out);
	free(w->part);
	free(w->errors);
	free(w->output);
	free(w->source);
	*w = (struct work){0};
	return err;
}

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
	auto_free unsigned char *in = memory_get(pages);
	size_t resident = 0;
	int err = mincore(map, size, in);
	for (size_t i = 0; i < pages && !err; i++)
		resident += in[i] & 1;
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
