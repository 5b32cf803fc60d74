/* What descriptors are (-y, -yy), from /proc: nothing is asked of the traced program. */
#include "cmd/trace.h"

#include "base/escape.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

/* An address as /proc/net/tcp writes it: 32-bit words in the host's order, then the port. */
static bool parse_address(const char *text, bool v6, char *out, size_t size)
{
	uint32_t words[4];
	unsigned port;
	int n = v6 ? 4 : 1;
	for (int i = 0; i < n; i++)
		if (sscanf(text + 8 * i, "%8x", &words[i]) != 1)
			return false;
	char host[INET6_ADDRSTRLEN];
	if (sscanf(text + 8 * n, ":%4x", &port) != 1 || !inet_ntop(v6 ? AF_INET6 : AF_INET, words, host, sizeof(host)))
		return false;
	snprintf(out, size, v6 ? "[%s]:%u" : "%s:%u", host, port);
	return true;
}

/* Looks for socket `inode` in one of /proc/PID/net's tables. */
static bool find_inet(pid_t pid, const char *table, const char *title, unsigned long inode, struct buf *out)
{
	char path[64], line[512], local[160], remote[160];
	snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)pid, table);
	FILE *f = fopen(path, "re");
	if (!f)
		return false;
	bool v6 = table[strlen(table) - 1] == '6';
	bool found = false;
	while (!found && fgets(line, sizeof(line), f)) {
		char a[80], b[80];
		unsigned state;
		unsigned long own;
		if (sscanf(line, "%*d: %79s %79s %x %*s %*s %*s %*u %*d %lu", a, b, &state, &own) != 4 || own != inode)
			continue;
		found = parse_address(a, v6, local, sizeof(local)) && parse_address(b, v6, remote, sizeof(remote));
		bool connected = found && strcmp(strrchr(remote, ':'), ":0") != 0;
		if (found)
			buf_addf(out, connected ? "%s:[%s->%s]" : "%s:[%s]", title, local, remote);
	}
	fclose(f);
	return found;
}

static bool find_unix(pid_t pid, unsigned long inode, struct buf *out)
{
	char path[64], line[512];
	snprintf(path, sizeof(path), "/proc/%d/net/unix", (int)pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return false;
	bool found = false;
	while (!found && fgets(line, sizeof(line), f)) {
		unsigned long own;
		int at = 0;
		if (sscanf(line, "%*x: %*x %*x %*x %*x %*x %lu%n", &own, &at) != 1 || own != inode)
			continue;
		found = true;
		char *name = line + at + strspn(line + at, " ");
		name[strcspn(name, "\n")] = '\0';
		buf_addf(out, "UNIX:[%lu", inode);
		if (*name) {
			buf_adds(out, ",\"");
			escape_c(out, name, strlen(name), false);
			buf_addc(out, '"');
		}
		buf_addc(out, ']');
	}
	fclose(f);
	return found;
}

static bool find_socket(pid_t pid, unsigned long inode, struct buf *out)
{
	static const struct {
		const char *table, *title;
	} tables[] = {{"tcp", "TCP"},    {"tcp6", "TCPv6"}, {"udp", "UDP"},
		      {"udp6", "UDPv6"}, {"raw", "RAW"},    {"raw6", "RAWv6"}};
	if (find_unix(pid, inode, out))
		return true;
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		if (find_inet(pid, tables[i].table, tables[i].title, inode, out))
			return true;
	return false;
}

/* What no table lists (bound and not connected, other families) still has a protocol: "TCP:[1039765]". */
static bool find_protocol(const char *link, unsigned long inode, struct buf *out)
{
	char name[64];
	ssize_t n = getxattr(link, "system.sockprotoname", name, sizeof(name) - 1);
	if (n <= 0)
		return false;
	name[n] = '\0';
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
	    (find_socket(pid, inode, out) || find_protocol(link, inode, out)))
		return true;
	if (t->o.fd_names > 1 && strcmp(path, "anon_inode:[pidfd]") == 0 && find_pidfd(pid, fd, out))
		return true;
	buf_add(out, path, (size_t)n);
	return true;
}
