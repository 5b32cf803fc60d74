#include "measure/env.h"

#include "base/memory.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Properties of file systems, by name. A file system that is not listed is assumed to store every byte that is written,
 * and not to share blocks between files.
 */
struct fs_traits {
	const char *type;
	bool in_memory, compresses, shares_extents;
	const char *compress_option; /* the file system compresses only if it was mounted with this option */
};

static const struct fs_traits traits[] = {
	{"tmpfs", .in_memory = true},
	{"ramfs", .in_memory = true},
	{"devtmpfs", .in_memory = true},
	{"hugetlbfs", .in_memory = true},
	{"btrfs", .compresses = true, .shares_extents = true, .compress_option = "compress"},
	{"f2fs", .compresses = true, .compress_option = "compress"},
	{"bcachefs", .compresses = true, .shares_extents = true, .compress_option = "compression"},
	{"zfs", .compresses = true, .shares_extents = true},
	{"ntfs3", .compresses = true, .compress_option = "compress"},
	{"xfs", .shares_extents = true},
	{"ocfs2", .shares_extents = true},
	{"nfs4", .shares_extents = true},
	{"cifs", .shares_extents = true},
	{"smb3", .shares_extents = true},
};

/* Returns true if `dir` is the directory `mount`, or is below it. */
static bool lies_under(const char *dir, const char *mount)
{
	size_t n = strlen(mount);
	if (strcmp(mount, "/") == 0)
		return true;
	return strncmp(dir, mount, n) == 0 && (dir[n] == '/' || dir[n] == '\0');
}

static void apply_traits(struct env_fs *fs)
{
	for (size_t i = 0; i < sizeof(traits) / sizeof(*traits); i++) {
		const struct fs_traits *t = &traits[i];
		if (strcmp(fs->mount.type, t->type) != 0)
			continue;
		fs->in_memory = t->in_memory;
		fs->shares_extents = t->shares_extents;
		fs->compresses =
			t->compresses && (!t->compress_option || strstr(fs->mount.options, t->compress_option));
	}
}

/*
 * An overlay has the properties of the file system that contains its upper directory, if the path of that directory is
 * one of this mount namespace. In a container, it is one of the host.
 */
static void look_below(struct env_fs *fs)
{
	static const char option[] = "upperdir=";
	struct env_fs below;
	char path[PATH_MAX] = "";
	const char *upper = strstr(fs->mount.options, option);
	if (strcmp(fs->mount.type, "overlay") != 0)
		return;
	if (upper)
		snprintf(path, sizeof(path), "%.*s", (int)strcspn(upper + strlen(option), ","), upper + strlen(option));
	fs->hidden = !*path || env_fs_read(path, &below) < 0 || below.hidden;
	if (fs->hidden)
		return;
	snprintf(fs->below, sizeof(fs->below), "%.*s", (int)sizeof(fs->below) - 1, below.mount.type);
	fs->in_memory = below.in_memory;
	fs->compresses = below.compresses;
	fs->shares_extents = below.shares_extents;
}

int env_fs_read(const char *dir, struct env_fs *fs)
{
	*fs = (struct env_fs){0};
	char path[PATH_MAX];
	if (!realpath(dir, path))
		return -errno;
	FILE *f = memory_fopen("/proc/self/mountinfo");
	if (!f)
		return -errno;
	char line[2 * PATH_MAX];
	size_t best = 0;
	while (fgets(line, sizeof(line), f)) {
		struct env_fs candidate = {0};
		/* If several file systems are mounted on the same directory, the last one hides the others. */
		if (proc_mount_parse(line, &candidate.mount) && lies_under(path, candidate.mount.mount_point) &&
		    strlen(candidate.mount.mount_point) >= best) {
			best = strlen(candidate.mount.mount_point);
			*fs = candidate;
		}
	}
	fclose(f);
	apply_traits(fs);
	look_below(fs);
	return best ? 0 : -ENOENT;
}
