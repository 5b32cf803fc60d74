#include "tracee/names.h"

#include "base/buf.h"
#include "tracee/proc.h"

#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
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

static int live_netlink(void *ctx, pid_t pid, int fd)
{
	char link[64], path[64], line[256], target[64] = "";
	unsigned long inode, own;
	int protocol = -1;
	(void)ctx;
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)pid, fd);
	if (readlink(link, target, sizeof(target) - 1) < 0 || sscanf(target, "socket:[%lu]", &inode) != 1)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/net/netlink", (int)pid);
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

static bool live_interface(void *ctx, pid_t tid, uint32_t index, struct buf *out)
{
	char path[64], own[64] = "", theirs[64] = "", name[IF_NAMESIZE];
	(void)ctx;
	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)tid);
	if (readlink(path, theirs, sizeof(theirs) - 1) <= 0 || readlink("/proc/self/ns/net", own, sizeof(own) - 1) <= 0)
		return false;
	if (strcmp(own, theirs) != 0 || !if_indextoname(index, name))
		return false;
	buf_adds(out, name);
	return true;
}

static bool live_comm(void *ctx, pid_t tid, struct buf *out)
{
	char name[64];
	(void)ctx;
	proc_comm(tid, name, sizeof(name));
	buf_adds(out, name);
	return name[0];
}

#define LINK_MAX_LEN 64

static void link_of(pid_t pid, int fd, char link[LINK_MAX_LEN])
{
	if (fd == AT_FDCWD)
		snprintf(link, LINK_MAX_LEN, "/proc/%d/cwd", (int)pid);
	else
		snprintf(link, LINK_MAX_LEN, "/proc/%d/fd/%d", (int)pid, fd);
}

static bool live_fd(void *ctx, pid_t pid, int fd, struct buf *out)
{
	char link[LINK_MAX_LEN], path[PATH_MAX];
	(void)ctx;
	link_of(pid, fd, link);
	ssize_t n = readlink(link, path, sizeof(path));
	if (n > 0)
		buf_add(out, path, (size_t)n);
	return n > 0;
}

static bool live_fd_in_full(void *ctx, pid_t pid, int fd, struct buf *out)
{
	struct buf path = {0};
	char link[LINK_MAX_LEN];
	unsigned long inode;
	link_of(pid, fd, link);
	bool known = live_fd(ctx, pid, fd, &path);
	const char *is = buf_str(&path);
	bool more = known && ((sscanf(is, "socket:[%lu]", &inode) == 1 &&
			       (find_socket(pid, link, inode, out) || find_protocol(link, inode, out))) ||
			      (strcmp(is, "anon_inode:[pidfd]") == 0 && find_pidfd(pid, fd, out)));
	if (!more)
		buf_add(out, is, path.len);
	buf_free(&path);
	return known;
}

const struct names names_live = {.fd = live_fd,
				 .fd_in_full = live_fd_in_full,
				 .netlink = live_netlink,
				 .interface = live_interface,
				 .comm = live_comm};
