/* SPDX-License-Identifier: MIT */
#include "tracee/proc.h"

#include "base/buf.h"
#include "base/escape.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <linux/stat.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Uses syscall(2), because older versions of musl have no function for it. */
int proc_stat(const char *link, struct statx *st)
{
	return syscall(SYS_statx, AT_FDCWD, link, AT_STATX_DONT_SYNC, STATX_BASIC_STATS, st) < 0 ? -errno : 0;
}

int proc_open(pid_t pid, const char *name)
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
	int fd = proc_open(pid, name);
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
	int fd = proc_open(tid, "comm");
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
 * Text with lines of the form "KEY: value". Each search begins at the line that was found last, so if the keys are
 * searched in the order of their lines, no earlier line is searched again.
 */
struct lines {
	const char *text;
	const char *next; /* the line that was found last; the next search begins here */
};

static const char *line_with(const char *line, const char *end, const char *key, size_t n)
{
	while (line && line != end && (strncmp(line, key, n) != 0 || line[n] != ':')) {
		const char *newline = strchr(line, '\n');
		line = newline ? newline + 1 : NULL;
	}
	return line != end ? line : NULL;
}

/*
 * Returns the text after "KEY:" and blanks, or NULL. The name of the program is also in the text, and the program can
 * choose any name. The kernel escapes the name, so it cannot form a line that begins with a key.
 */
static const char *value_of(struct lines *l, const char *key)
{
	size_t n = strlen(key);
	const char *line = line_with(l->next, NULL, key, n);
	if (!line)
		line = line_with(l->text, l->next, key, n);
	if (!line)
		return NULL;
	l->next = line;
	return line + n + 1 + strspn(line + n + 1, " \t");
}

static uint64_t number_at(const char *value, int base)
{
	return value && isxdigit((unsigned char)*value) ? strtoull(value, NULL, base) : 0;
}

static uint64_t number_of(struct lines *l, const char *key, int base)
{
	return number_at(value_of(l, key), base);
}

/* Returns the id of a line with four ids if they are all equal, otherwise ID_MIXED. */
static uint32_t only_id(struct lines *l, const char *key)
{
	const char *value = value_of(l, key);
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

/* True if the process's number in the innermost pid namespace (the last of NStgid) is 1. */
static bool is_init(const char *numbers)
{
	size_t n = numbers ? strcspn(numbers, "\n") : 0;
	return n && numbers[n - 1] == '1' && (n == 1 || numbers[n - 2] == '\t');
}

void proc_status_parse(const char *text, struct proc_status *s)
{
	struct lines l = {text, text};
	*s = (struct proc_status){.state = '\0'};
	/* The keys are in the order of proc_pid_status() in fs/proc/array.c: value_of() rarely searches twice. */
	const char *name = value_of(&l, "Name");
	if (name)
		snprintf(s->name, sizeof(s->name), "%.*s", (int)strcspn(name, "\n"), name);
	const char *state = value_of(&l, "State");
	s->state = state && isalpha((unsigned char)*state) ? *state : '\0';
	s->tgid = (pid_t)number_of(&l, "Tgid", 10);
	s->parent = (pid_t)number_of(&l, "PPid", 10);
	s->tracer = (pid_t)number_of(&l, "TracerPid", 10);
	s->uid = only_id(&l, "Uid");
	s->gid = only_id(&l, "Gid");
	s->init = is_init(value_of(&l, "NStgid"));
	s->has_memory = value_of(&l, "VmSize") != NULL;
	s->peak_rss = number_of(&l, "VmHWM", 10) * 1024;
	s->threads = (uint32_t)number_of(&l, "Threads", 10);
	s->pending = number_of(&l, "SigPnd", 16) | number_of(&l, "ShdPnd", 16);
	const char *blocked = value_of(&l, "SigBlk"), *ignored = value_of(&l, "SigIgn"),
		   *caught = value_of(&l, "SigCgt");
	s->has_signals = blocked && ignored && caught;
	s->blocked = number_at(blocked, 16);
	s->ignored = number_at(ignored, 16);
	s->caught = number_at(caught, 16);
	s->permitted = number_of(&l, "CapPrm", 16);
	const uint64_t seccomp = number_of(&l, "Seccomp", 10);
	s->strict = seccomp == SECCOMP_MODE_STRICT;
	s->filtered = seccomp == SECCOMP_MODE_FILTER;
	s->filters = (uint32_t)number_of(&l, "Seccomp_filters", 10);
}

int proc_status(pid_t pid, struct proc_status *s)
{
	auto_buf text = {0};
	int r = proc_read(pid, "status", &text);
	proc_status_parse(r < 0 ? "" : buf_str(&text), s);
	return r;
}

pid_t proc_process(pid_t tid)
{
	struct proc_status s;
	return proc_status(tid, &s) == 0 && s.tgid ? s.tgid : tid;
}

int proc_has_ended(pid_t pid)
{
	char byte;
	struct proc_status s;
	const struct iovec here = {&byte, 1}, there = {NULL, 1};
	if (process_vm_readv(pid, &here, 1, &there, 1, 0) >= 0 || errno == EFAULT)
		return 0;
	/* ESRCH: the task has no memory any more. Other errors: the kernel forbids the call, for example by a filter. */
	if (errno == ESRCH || (kill(pid, 0) < 0 && errno == ESRCH))
		return 1;
	int r = proc_status(pid, &s);
	return r < 0 ? r : s.state == 'Z' || s.state == 'X';
}

bool proc_is_over(pid_t pid)
{
	struct proc_status s;
	if (kill(pid, 0) < 0 && errno == ESRCH)
		return true;
	return proc_status(pid, &s) == 0 && (s.state == 'X' || (s.state == 'Z' && s.threads <= 1));
}

bool proc_is_usable(void)
{
	char pid[16] = "";
	return readlink("/proc/self", pid, sizeof(pid) - 1) > 0 && strtol(pid, NULL, 10) == getpid();
}

const char *proc_why_unseen(pid_t pid)
{
	return kill(pid, 0) < 0 && errno == ESRCH
		       ? "no such process"
		       : "it is not visible in /proc; /proc must be mounted without the option hidepid";
}

const char *proc_why_untraceable(pid_t pid, struct proc_status *s)
{
	if (proc_status(pid, s) < 0)
		return proc_why_unseen(pid);
	if (s->state == 'Z' && s->threads > 1) /* only its main thread has ended */
		return NULL;
	if (s->state == 'Z')
		return "it is a zombie: it has exited, and its parent has not waited for it yet";
	return s->has_memory ? NULL : "it is a kernel thread";
}

const char *proc_lost_privilege(pid_t pid)
{
	char path[32];
	struct statx st;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	/* This is checked at each execve(2), so it begins with getauxval(3), which makes no system call. */
	if (getauxval(AT_EUID) == 0 || proc_stat(path, &st) < 0)
		return NULL;
	if (st.stx_mode & S_ISUID && st.stx_uid != geteuid())
		return "user";
	return st.stx_mode & S_ISGID && st.stx_mode & S_IXGRP && st.stx_gid != getegid() ? "group" : NULL;
}

uint64_t proc_number(const char *text, const char *key)
{
	struct lines l = {text, text};
	return number_of(&l, key, 10);
}

int64_t proc_peak_rss(pid_t pid)
{
	struct proc_status s;
	int r = proc_status(pid, &s);
	if (r < 0 || !s.has_memory)
		return r < 0 ? r : -ESRCH;
	if (s.peak_rss)
		return (int64_t)s.peak_rss;
	auto_buf text = {0};
	r = proc_read(pid, "smaps_rollup", &text);
	uint64_t now = r < 0 ? 0 : proc_number(buf_str(&text), "Rss") * 1024;
	return (int64_t)now;
}

/* --- maps --- */

/* Returns the value of a hexadecimal digit, or 16 for another character. */
static unsigned digit(char c)
{
	unsigned d = (unsigned char)c;
	return d - '0' < 10 ? d - '0' : (d | 0x20) - 'a' < 6 ? (d | 0x20) - 'a' + 10 : 16;
}

/*
 * Reads a number that is followed by the character `end`, and moves *p to the character after `end`. Returns false, and
 * leaves *p unchanged, if there is no such number. Reads no further than the end of the line, because neither a newline
 * nor a NUL is a digit.
 */
static bool number(const char **p, unsigned base, char end, uint64_t *v)
{
	const char *at = *p;
	uint64_t n = 0;
	for (unsigned d; (d = digit(*at)) < base; at++)
		n = n * base + d;
	if (at == *p || *at != end)
		return false;
	*v = n;
	*p = at + 1;
	return true;
}

/* Parses the line from `p` to `end`, of the form "lo-hi rwxp offset major:minor inode   name". */
static bool parse_map(const char *p, const char *end, struct proc_map *m)
{
	uint64_t major, minor;
	if (!number(&p, 16, '-', &m->lo) || !number(&p, 16, ' ', &m->hi) || m->lo >= m->hi)
		return false;
	m->perm = p;
	if (end - p < 5 || p[4] != ' ')
		return false;
	p += 5;
	if (!number(&p, 16, ' ', &m->offset) || !number(&p, 16, ':', &major) || !number(&p, 16, ' ', &minor))
		return false;
	/* If the mapping has no name, the line may end directly after the inode number. */
	if (!number(&p, 10, ' ', &m->ino) && !number(&p, 10, *end, &m->ino))
		return false;
	m->dev = major << 32 | minor;
	while (p < end && *p == ' ')
		p++;
	m->name = p < end ? p : end;
	m->name_len = (size_t)(end - m->name);
	return true;
}

bool proc_map_next(const char **text, struct proc_map *m)
{
	while (**text) {
		const char *line = *text;
		const char *end = strchr(line, '\n');
		if (!end)
			end = line + strlen(line);
		*text = end + (*end == '\n');
		if (parse_map(line, end, m))
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

/* Copies the next word, truncated to `size`, and moves *p past its blank. Returns the length of the whole word. */
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
	size_t place = skip_words(&line, 3) && word(&line, m->root, sizeof(m->root))
			       ? word(&line, m->mount_point, sizeof(m->mount_point))
			       : 0;
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
	unescape(m->root);
	unescape(m->mount_point);
	unescape(m->source);
	snprintf(m->options, sizeof(m->options), "%.*s%s%.*s", options, line, super ? "," : "", super, rest);
	return true;
}

/* Parses the tables of sockets in /proc/PID/net (proc_pid_net(5), proc_net_tcp.rst in the kernel's documentation). */
struct end {
	char host[INET6_ADDRSTRLEN];
	unsigned port;
};

/* Parses an address: 32-bit words in hexadecimal and in host byte order, then ":" and the port. */
static bool parse_end(const char *text, bool v6, struct end *e)
{
	uint32_t words[4];
	size_t n = v6 ? 4 : 1;
	if (strspn(text, "0123456789ABCDEFabcdef") != 8 * n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (sscanf(text + 8 * i, "%8x", &words[i]) != 1)
			return false;
	return sscanf(text + 8 * n, ":%4x", &e->port) == 1 &&
	       inet_ntop(v6 ? AF_INET6 : AF_INET, words, e->host, sizeof(e->host));
}

static void add_end(struct buf *out, bool v6, const struct end *e)
{
	buf_addf(out, v6 ? "[%s]:%u" : "%s:%u", e->host, e->port);
}

bool proc_net_inet(const char *line, bool v6, unsigned long inode, struct buf *out)
{
	char local[80], remote[80];
	struct end here, there;
	unsigned long own;
	if (sscanf(line, "%*d: %79s %79s %*x %*s %*s %*s %*u %*d %lu", local, remote, &own) != 3 || own != inode ||
	    !parse_end(local, v6, &here) || !parse_end(remote, v6, &there))
		return false;
	buf_addc(out, '[');
	add_end(out, v6, &here);
	if (there.port) {
		buf_adds(out, "->");
		add_end(out, v6, &there);
	}
	buf_addc(out, ']');
	return true;
}

void proc_unix_ends(unsigned long inode, unsigned long peer, const char *name, size_t n, bool abstract, struct buf *out)
{
	buf_addf(out, "[%lu", inode);
	if (peer)
		buf_addf(out, "->%lu", peer);
	if (n) {
		buf_adds(out, abstract ? ",@\"" : ",\"");
		escape_angled(out, name, n, false);
		buf_addc(out, '"');
	}
	buf_addc(out, ']');
}

bool proc_net_unix(const char *line, unsigned long inode, struct buf *out)
{
	unsigned long own;
	int at = 0;
	if (sscanf(line, "%*x: %*x %*x %*x %*x %*x %lu%n", &own, &at) != 1 || own != inode)
		return false;
	const char *name = line + at + strspn(line + at, " ");
	const size_t n = strcspn(name, "\n");
	const bool abstract = name[0] == '@';
	proc_unix_ends(inode, 0, name + abstract, n - abstract, abstract, out);
	return true;
}

/* The columns are sk Eth Pid Groups Rmem Wmem Dump Locks Drops Inode. */
bool proc_net_netlink(const char *line, unsigned long inode, unsigned *protocol, uint32_t *port)
{
	unsigned long own;
	return sscanf(line, "%*s %u %u %*s %*s %*s %*s %*s %*s %lu", protocol, port, &own) == 3 && own == inode;
}
