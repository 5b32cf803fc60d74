/* What descriptors are (-y, -yy), from /proc: nothing is asked of the traced program. */
#include "trace/trace.h"

#include "base/escape.h"
#include "tracee/proc.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

typedef bool read_line(const char *line, bool v6, unsigned long inode, struct buf *out);

static bool read_unix(const char *line, bool v6, unsigned long inode, struct buf *out)
{
	(void)v6;
	return proc_net_unix(line, inode, out);
}

/* Looks for socket `inode` in one of /proc/PID/net's tables, which may be long: line by line. */
static bool find_in(pid_t pid, const char *table, read_line *read, unsigned long inode, struct buf *out)
{
	char path[64], line[512];
	snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)pid, table);
	FILE *f = fopen(path, "re");
	if (!f)
		return false;
	bool v6 = table[strlen(table) - 1] == '6';
	bool found = false;
	while (!found && fgets(line, sizeof(line), f))
		found = read(line, v6, inode, out);
	fclose(f);
	return found;
}

static bool look_up(pid_t pid, unsigned long inode, struct buf *out)
{
	static const struct {
		const char *table, *title;
		read_line *read;
	} tables[] = {{"unix", "UNIX:", read_unix},      {"tcp", "TCP:", proc_net_inet},
		      {"tcp6", "TCPv6:", proc_net_inet}, {"udp", "UDP:", proc_net_inet},
		      {"udp6", "UDPv6:", proc_net_inet}, {"raw", "RAW:", proc_net_inet},
		      {"raw6", "RAWv6:", proc_net_inet}};
	struct buf ends = {0};
	bool found = false;
	for (size_t i = 0; !found && i < sizeof(tables) / sizeof(*tables); i++) {
		found = find_in(pid, tables[i].table, tables[i].read, inode, &ends);
		if (found) {
			buf_adds(out, tables[i].title);
			buf_add(out, ends.s, ends.len);
		}
	}
	buf_free(&ends);
	return found;
}

/* The protocol of the socket that `link` leads to; false where it is none. */
static bool protocol_of(const char *link, char *name, size_t size)
{
	ssize_t n = getxattr(link, "system.sockprotoname", name, size - 1);
	name[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* The kernel's tables may skip an entry while others come and go; of Unix sockets each is listed. */
#define LOOKS 10

static bool find_socket(pid_t pid, const char *link, unsigned long inode, struct buf *out)
{
	char protocol[64];
	bool found = look_up(pid, inode, out);
	bool listed = !found && protocol_of(link, protocol, sizeof(protocol)) && strncmp(protocol, "UNIX", 4) == 0;
	for (int i = 1; listed && !found && i < LOOKS; i++)
		found = look_up(pid, inode, out);
	return found;
}

/* What no table lists (bound and not connected, other families) still has a protocol: "TCP:[1039765]". */
static bool find_protocol(const char *link, unsigned long inode, struct buf *out)
{
	char name[64];
	if (!protocol_of(link, name, sizeof(name)))
		return false;
	buf_adds(out, name);
	buf_addf(out, ":[%lu]", inode);
	return true;
}

/* -yy: the process behind a pid descriptor. */
static bool find_pidfd(pid_t pid, int fd, struct buf *out)
{
	char path[64], line[128];
	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", (int)pid, fd);
	FILE *f = fopen(path, "re");
	long target = 0;
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Pid: %ld", &target) == 1)
			break;
	if (f)
		fclose(f);
	if (target <= 0)
		return false;
	buf_addf(out, "pid:%ld", target);
	return true;
}

int trace_netlink_protocol(void *ctx, int pid, int fd)
{
	char link[64], path[64], line[256], target[64] = "";
	unsigned long inode, own;
	int protocol = -1;
	(void)ctx;
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", pid, fd);
	if (readlink(link, target, sizeof(target) - 1) < 0 || sscanf(target, "socket:[%lu]", &inode) != 1)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/net/netlink", pid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		int found; /* sk Eth Pid Groups Rmem Wmem Dump Locks Drops Inode */
		if (sscanf(line, "%*s %d %*s %*s %*s %*s %*s %*s %*s %lu", &found, &own) == 2 && own == inode)
			protocol = found;
	}
	if (f)
		fclose(f);
	return protocol;
}

bool trace_pid_name(void *ctx, int pid, struct buf *out)
{
	char name[64];
	(void)ctx;
	proc_comm(pid, name, sizeof(name));
	escape_angled(out, name, strlen(name), false);
	return name[0];
}

bool trace_fd_name(void *ctx, int pid, int fd, struct buf *out)
{
	const struct trace *t = ctx;
	char link[64], path[PATH_MAX];
	if (fd == AT_FDCWD)
		snprintf(link, sizeof(link), "/proc/%d/cwd", pid);
	else
		snprintf(link, sizeof(link), "/proc/%d/fd/%d", pid, fd);
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return false;
	path[n] = '\0';
	unsigned long inode;
	if (t->o.fd_names > 1 && sscanf(path, "socket:[%lu]", &inode) == 1 &&
	    (find_socket(pid, link, inode, out) || find_protocol(link, inode, out)))
		return true;
	if (t->o.fd_names > 1 && strcmp(path, "anon_inode:[pidfd]") == 0 && find_pidfd(pid, fd, out))
		return true;
	buf_add(out, path, (size_t)n);
	return true;
}
