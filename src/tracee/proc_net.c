/* Parses the tables of sockets in /proc/PID/net (proc_pid_net(5), proc_net_tcp.rst in the kernel's documentation). */
#include "tracee/proc.h"

#include "base/buf.h"
#include "base/escape.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

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

bool proc_net_unix(const char *line, unsigned long inode, unsigned long peer, struct buf *out)
{
	unsigned long own;
	int at = 0;
	if (sscanf(line, "%*x: %*x %*x %*x %*x %*x %lu%n", &own, &at) != 1 || own != inode)
		return false;
	const char *name = line + at + strspn(line + at, " ");
	size_t n = strcspn(name, "\n");
	buf_addf(out, "[%lu", inode);
	if (peer)
		buf_addf(out, "->%lu", peer);
	if (n) {
		bool abstract = name[0] == '@';
		buf_adds(out, abstract ? ",@\"" : ",\"");
		escape_angled(out, name + abstract, n - abstract, false);
		buf_addc(out, '"');
	}
	buf_addc(out, ']');
	return true;
}

/* The columns are sk Eth Pid Groups Rmem Wmem Dump Locks Drops Inode. */
bool proc_net_netlink(const char *line, unsigned long inode, unsigned *protocol, uint32_t *port)
{
	unsigned long own;
	return sscanf(line, "%*s %u %u %*s %*s %*s %*s %*s %*s %lu", protocol, port, &own) == 3 && own == inode;
}
