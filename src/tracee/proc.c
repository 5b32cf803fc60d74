#include "tracee/proc.h"

#include "base/buf.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_proc(pid_t pid, const char *name)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * Returns true if `text` certainly contains the whole file, so that another read(2) is not needed. The kernel generates
 * `status` as a whole (single_open() in fs/seq_file.c), so a short read is the last one. The last line of `maps` is
 * that of the vsyscall page, if there is such a page.
 */
static bool is_end(const char *name, const char *text, bool short_read)
{
	const char *line = strrchr(text, '\n');
	while (line && line > text && line[-1] != '\n')
		line--;
	return short_read && (strcmp(name, "status") == 0 ||
			      (strcmp(name, "maps") == 0 && line && strncmp(line, "ffffffffff600000-", 17) == 0));
}

int proc_read(pid_t pid, const char *name, struct buf *out)
{
	char chunk[4096]; /* the kernel returns at most a page at a time */
	int fd = open_proc(pid, name);
	if (fd < 0)
		return fd;
	ssize_t n;
	do {
		n = read(fd, chunk, sizeof(chunk));
		if (n > 0)
			buf_add(out, chunk, (size_t)n);
	} while ((n > 0 && !is_end(name, buf_str(out), (size_t)n < sizeof(chunk))) || (n < 0 && errno == EINTR));
	int r = n < 0 ? -errno : 0;
	close(fd);
	return r;
}

void proc_comm(pid_t tid, char *name, size_t size)
{
	int fd = open_proc(tid, "comm");
	ssize_t n = fd < 0 ? 0 : read(fd, name, size - 1);
	if (fd >= 0)
		close(fd);
	name[n > 0 ? n : 0] = '\0';
	/* The kernel adds the last newline. Other newlines are part of the name. */
	if (n > 0 && name[n - 1] == '\n')
		name[n - 1] = '\0';
}

/* --- status --- */

/*
 * Returns the text after "KEY:" and blanks, or NULL. The name of the program is also in the text, and the program can
 * choose any name. The kernel escapes the name, so it cannot form a line that begins with a key.
 */
static const char *value_of(const char *text, const char *key)
{
	size_t n = strlen(key);
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, n) == 0 && line[n] == ':')
			return line + n + 1 + strspn(line + n + 1, " \t");
	}
	return NULL;
}

static uint64_t number_of(const char *text, const char *key, int base)
{
	const char *value = value_of(text, key);
	return value && isxdigit((unsigned char)*value) ? strtoull(value, NULL, base) : 0;
}

/* Returns the id of a line with four ids if they are all equal, otherwise ID_MIXED. */
static uint32_t only_id(const char *text, const char *key)
{
	const char *value = value_of(text, key);
	uint32_t ids[4];
	for (size_t i = 0; i < 4; i++) {
		char *behind;
		if (!value || !isdigit((unsigned char)*value))
			return ID_MIXED;
		ids[i] = (uint32_t)strtoul(value, &behind, 10);
		value = *behind == '\t' ? behind + 1 : behind;
		if (ids[i] != ids[0])
			return ID_MIXED;
	}
	return ids[0];
}

/*
 * Returns true if the last number of the line NStgid is 1. The line contains the number of the process in each of its
 * pid namespaces, the innermost one last.
 */
static bool is_init(const char *numbers)
{
	size_t n = numbers ? strcspn(numbers, "\n") : 0;
	return n && numbers[n - 1] == '1' && (n == 1 || numbers[n - 2] == '\t');
}

void proc_status_parse(const char *text, struct proc_status *s)
{
	const char *state = value_of(text, "State"), *name = value_of(text, "Name");
	*s = (struct proc_status){
		.state = state && isalpha((unsigned char)*state) ? *state : '\0',
		.tgid = (pid_t)number_of(text, "Tgid", 10),
		.parent = (pid_t)number_of(text, "PPid", 10),
		.tracer = (pid_t)number_of(text, "TracerPid", 10),
		.init = is_init(value_of(text, "NStgid")),
		.has_memory = value_of(text, "VmSize") != NULL,
		.has_signals = value_of(text, "SigBlk") && value_of(text, "SigIgn") && value_of(text, "SigCgt"),
		.peak_rss = number_of(text, "VmHWM", 10) * 1024,
		.blocked = number_of(text, "SigBlk", 16),
		.ignored = number_of(text, "SigIgn", 16),
		.caught = number_of(text, "SigCgt", 16),
		.pending = number_of(text, "SigPnd", 16) | number_of(text, "ShdPnd", 16),
		.uid = only_id(text, "Uid"),
		.gid = only_id(text, "Gid"),
		.permitted = number_of(text, "CapPrm", 16),
		.filtered = number_of(text, "Seccomp", 10) == SECCOMP_MODE_FILTER,
		.filters = (uint32_t)number_of(text, "Seccomp_filters", 10),
	};
	if (name)
		snprintf(s->name, sizeof(s->name), "%.*s", (int)strcspn(name, "\n"), name);
}

int proc_status(pid_t pid, struct proc_status *s)
{
	struct buf text = {0};
	int r = proc_read(pid, "status", &text);
	proc_status_parse(r < 0 ? "" : buf_str(&text), s);
	buf_free(&text);
	return r;
}

int proc_has_ended(pid_t pid)
{
	struct proc_status s;
	int r = proc_status(pid, &s);
	if (r == -ENOENT || r == -ESRCH)
		return 1;
	return r < 0 ? r : s.state == 'Z' || s.state == 'X';
}

const char *proc_why_unseen(pid_t pid)
{
	return kill(pid, 0) < 0 && errno == ESRCH
		       ? "no such process"
		       : "it is not visible in /proc; /proc must be mounted without the option hidepid";
}

const char *proc_lost_privilege(pid_t pid)
{
	char path[32];
	struct stat st;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	/* This is checked at each execve(2), so it begins with getauxval(3), which makes no system call. */
	if (getauxval(AT_EUID) == 0 || stat(path, &st) < 0)
		return NULL;
	if (st.st_mode & S_ISUID && st.st_uid != geteuid())
		return "user";
	return st.st_mode & S_ISGID && st.st_mode & S_IXGRP && st.st_gid != getegid() ? "group" : NULL;
}

uint64_t proc_rollup_parse(const char *text)
{
	return number_of(text, "Rss", 10) * 1024;
}

int64_t proc_peak_rss(pid_t pid)
{
	struct proc_status s;
	int r = proc_status(pid, &s);
	if (r < 0 || !s.has_memory)
		return r < 0 ? r : -ESRCH;
	if (s.peak_rss)
		return (int64_t)s.peak_rss;
	struct buf text = {0};
	r = proc_read(pid, "smaps_rollup", &text);
	uint64_t now = r < 0 ? 0 : proc_rollup_parse(buf_str(&text));
	buf_free(&text);
	return (int64_t)now;
}

/* --- maps --- */

/*
 * Reads a number that ends with the character `end`, and moves *p behind that character. Never reads beyond the line,
 * because a newline is not a digit.
 */
static bool number(const char **p, int base, char end, uint64_t *v)
{
	char *behind;
	if (!isxdigit((unsigned char)**p))
		return false;
	*v = strtoull(*p, &behind, base);
	if (*behind != end)
		return false;
	*p = behind + 1;
	return true;
}

/* Parses "lo-hi rwxp offset major:minor inode   name" up to the newline. */
static bool parse_map(const char *p, struct proc_map *m)
{
	uint64_t major, minor;
	if (!number(&p, 16, '-', &m->lo) || !number(&p, 16, ' ', &m->hi) || m->lo >= m->hi)
		return false;
	m->perm = p;
	if (strnlen(p, 5) < 5 || memchr(p, '\n', 5) || p[4] != ' ')
		return false;
	p += 5;
	if (!number(&p, 16, ' ', &m->offset) || !number(&p, 16, ':', &major) || !number(&p, 16, ' ', &minor))
		return false;
	char *behind;
	if (!isdigit((unsigned char)*p))
		return false;
	m->ino = strtoull(p, &behind, 10);
	m->dev = major << 32 | minor;
	m->name = behind + strspn(behind, " ");
	m->name_len = strcspn(m->name, "\n");
	return true;
}

bool proc_map_next(const char **text, struct proc_map *m)
{
	while (**text) {
		const char *line = *text;
		const char *end = strchr(line, '\n');
		*text = end ? end + 1 : line + strlen(line);
		if (parse_map(line, m))
			return true;
	}
	return false;
}

bool proc_map_is(const struct proc_map *m, const char *name)
{
	return m->name_len == strlen(name) && memcmp(m->name, name, m->name_len) == 0;
}

/* --- mounts --- */

static bool is_octal(const char *s)
{
	return s[0] >= '0' && s[0] <= '3' && s[1] >= '0' && s[1] <= '7' && s[2] >= '0' && s[2] <= '7';
}

/* Replaces \ooo, which mountinfo uses for space, tab, newline and backslash. */
static void unescape(char *s)
{
	char *to = s;
	for (; *s; s++) {
		bool escaped = *s == '\\' && is_octal(s + 1);
		*to++ = escaped ? (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0')) : *s;
		s += escaped ? 3 : 0;
	}
	*to = '\0';
}

/*
 * Copies the next word, truncated to `size`, and moves *p behind the blank that follows it. Returns the length of the
 * whole word.
 */
static size_t word(const char **p, char *to, size_t size)
{
	size_t n = strcspn(*p, " \n");
	snprintf(to, size, "%.*s", (int)n, *p);
	*p += n + ((*p)[n] == ' ');
	return n;
}

static bool skip_words(const char **p, int n)
{
	for (; n > 0; n--) {
		*p += strcspn(*p, " \n");
		if (**p != ' ')
			return false;
		++*p;
	}
	return true;
}

/* Parses "36 35 98:0 /root /mnt opts [tags] - type source superopts". Options that do not fit are truncated. */
bool proc_mount_parse(const char *line, struct proc_mount *m)
{
	*m = (struct proc_mount){0};
	size_t place = skip_words(&line, 4) ? word(&line, m->mount_point, sizeof(m->mount_point)) : 0;
	if (!place || place >= sizeof(m->mount_point))
		return false;
	int options = (int)strcspn(line, " \n");
	const char *rest = strstr(line, " - ");
	if (!rest)
		return false;
	rest += 3;
	if (!word(&rest, m->type, sizeof(m->type)) || !word(&rest, m->source, sizeof(m->source)))
		return false;
	int super = (int)strcspn(rest, " \n");
	unescape(m->mount_point);
	unescape(m->source);
	snprintf(m->options, sizeof(m->options), "%.*s%s%.*s", options, line, super ? "," : "", super, rest);
	return true;
}
