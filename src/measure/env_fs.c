#include "measure/env.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is known of a file system by its name; others move and keep every byte. */
struct fs_traits {
	const char *type;
	bool in_memory, compresses, shares_extents;
	const char *compress_option; /* compresses only where this is among the mount's options */
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

/* mountinfo writes space, tab, newline and backslash as \ooo (proc_pid_mountinfo(5)). */
static void unescape(char *s)
{
	char *to = s;
	for (; *s; s++) {
		unsigned code;
		if (*s == '\\' && sscanf(s + 1, "%3o", &code) == 1) {
			*to++ = (char)code;
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

/* Is `dir` at or below `mount`? */
static bool lies_under(const char *dir, const char *mount)
{
	size_t n = strlen(mount);
	if (strcmp(mount, "/") == 0)
		return true;
	return strncmp(dir, mount, n) == 0 && (dir[n] == '/' || dir[n] == '\0');
}

/* Cuts one line of mountinfo into *fs: "36 35 98:0 /root /mnt opts [tags] - type source superopts". */
static bool parse_mount(char *line, struct env_fs *fs)
{
	char options[256];
	char super[256] = "";
	if (sscanf(line, "%*s %*s %*s %*s %255s %255s", fs->mount_point, options) != 2)
		return false;
	const char *rest = strstr(line, " - ");
	if (!rest || sscanf(rest + 3, "%63s %255s %255s", fs->type, fs->source, super) < 2)
		return false;
	unescape(fs->mount_point);
	unescape(fs->source);
	snprintf(fs->options, sizeof(fs->options), "%s%s%s", options, *super ? "," : "", super);
	return true;
}

static void apply_traits(struct env_fs *fs)
{
	for (size_t i = 0; i < sizeof(traits) / sizeof(*traits); i++) {
		const struct fs_traits *t = &traits[i];
		if (strcmp(fs->type, t->type) != 0)
			continue;
		fs->in_memory = t->in_memory;
		fs->shares_extents = t->shares_extents;
		fs->compresses = t->compresses && (!t->compress_option || strstr(fs->options, t->compress_option));
	}
}

int env_fs_read(const char *dir, struct env_fs *fs)
{
	*fs = (struct env_fs){0};
	char path[PATH_MAX];
	if (!realpath(dir, path))
		return -errno;
	FILE *f = fopen("/proc/self/mountinfo", "re");
	if (!f)
		return -errno;
	char *line = NULL;
	size_t cap = 0;
	size_t best = 0;
	while (getline(&line, &cap, f) > 0) {
		struct env_fs candidate = {0};
		/* Of several mounts on one place the last is on top. */
		if (parse_mount(line, &candidate) && lies_under(path, candidate.mount_point) &&
		    strlen(candidate.mount_point) >= best) {
			best = strlen(candidate.mount_point);
			*fs = candidate;
		}
	}
	free(line);
	fclose(f);
	apply_traits(fs);
	return best ? 0 : -ENOENT;
}
