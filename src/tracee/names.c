/* SPDX-License-Identifier: MIT */
#include "tracee/names.h"

#include "base/buf.h"
#include "tracee/mem.h"
#include "tracee/proc.h"
#include "tracee/uring.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/stat.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The socket whose line must be found in the tables. */
struct wanted {
	unsigned long inode;
	bool v6;
	unsigned protocol; /* find_netlink() stores its result here and in `port` */
	uint32_t port;
};
typedef bool read_line(const char *line, struct wanted *w, struct buf *out);

static bool read_unix(const char *line, struct wanted *w, struct buf *out)
{
	return proc_net_unix(line, w->inode, out);
}

static bool read_inet(const char *line, struct wanted *w, struct buf *out)
{
	return proc_net_inet(line, w->v6, w->inode, out);
}

static bool find_netlink(const char *line, struct wanted *w, struct buf *out)
{
	(void)out;
	return proc_net_netlink(line, w->inode, &w->protocol, &w->port);
}

/* The names of NETLINK_ROUTE and so on (linux/netlink.h), by their numbers. */
static const char *const netlinks[] = {
	"ROUTE",   "UNUSED", "USERSOCK",      "FIREWALL",  "SOCK_DIAG", "NFLOG",  "XFRM",    "SELINUX",
	"ISCSI",   "AUDIT",  "FIB_LOOKUP",    "CONNECTOR", "NETFILTER", "IP6_FW", "DNRTMSG", "KOBJECT_UEVENT",
	"GENERIC", "",       "SCSITRANSPORT", "ECRYPTFS",  "RDMA",      "CRYPTO", "SMC"};

void names_netlink(unsigned protocol, uint32_t port, struct buf *out)
{
	if (protocol < sizeof(netlinks) / sizeof(*netlinks) && *netlinks[protocol])
		buf_addf(out, "[%s:%u]", netlinks[protocol], port);
	else
		buf_addf(out, "[%u:%u]", protocol, port);
}

static bool read_netlink(const char *line, struct wanted *w, struct buf *out)
{
	if (!find_netlink(line, w, out))
		return false;
	names_netlink(w->protocol, w->port, out);
	return true;
}

/* Looks for the socket in a table of /proc/PID/net. The table is read line by line, because it may be long. */
static bool find_in(pid_t pid, const char *table, read_line *read, struct wanted *w, struct buf *out)
{
	char path[64], line[512];
	snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)pid, table);
	FILE *f = fopen(path, "re");
	if (!f)
		return false;
	bool found = false;
	while (!found && fgets(line, sizeof(line), f))
		found = read(line, w, out);
	fclose(f);
	return found;
}

/*
 * The tables of sockets. `protocol` is the extended attribute system.sockprotoname of their sockets; Unix sockets have
 * several values. `query` is a protocol that sock_query_inet() knows, or 0.
 */
static const struct table {
	const char *name, *protocol;
	read_line *read;
	int query;
} tables[] = {{"unix", "UNIX", read_unix, 0},
	      {"tcp", "TCP", read_inet, IPPROTO_TCP},
	      {"tcp6", "TCPv6", read_inet, IPPROTO_TCP},
	      {"udp", "UDP", read_inet, IPPROTO_UDP},
	      {"udp6", "UDPv6", read_inet, IPPROTO_UDP},
	      {"raw", "RAW", read_inet, 0},
	      {"raw6", "RAWv6", read_inet, 0},
	      {"netlink", "NETLINK", read_netlink, 0}};

static bool is_of(const char *protocol, const struct table *t)
{
	return !*protocol || strcmp(protocol, t->protocol) == 0 ||
	       (t->read == read_unix && strncmp(protocol, "UNIX-", 5) == 0);
}

bool names_is_in_our_network(pid_t pid)
{
	char path[64], own[64] = "", theirs[64] = "";
	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	return readlink(path, theirs, sizeof(theirs) - 1) > 0 &&
	       readlink("/proc/self/ns/net", own, sizeof(own) - 1) > 0 && strcmp(own, theirs) == 0;
}

bool names_finds_peers(void)
{
	int ends[2];
	struct stat st;
	bool finds = false;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return false;
	if (fstat(ends[0], &st) == 0) {
		struct sock_query_unix is = {.inode = (unsigned long)st.st_ino};
		finds = sock_query_unix(&is) && is.peer;
	}
	close(ends[0]);
	close(ends[1]);
	return finds;
}

/* Appends the addresses of a socket, if it belongs to this table. */
static bool find_ends(pid_t pid, const struct table *t, struct names_socket *s, struct buf *out)
{
	struct wanted w = {.inode = s->inode, .v6 = t->name[strlen(t->name) - 1] == '6'};
	if (t->query && names_is_in_our_network(pid)) {
		int found = sock_query_inet(w.v6, t->query, s->inode, &s->ends, out);
		if (found >= 0)
			return found;
	}
	struct sock_query_unix is = {.inode = s->inode};
	if (t->read == read_unix && sock_query_unix(&is)) {
		proc_unix_ends(is.inode, is.peer, is.name, is.len, is.abstract, out);
		return true;
	}
	return find_in(pid, t->name, t->read, &w, out);
}

/* Appends "TCP:[...]": the name of the protocol, if known, and the addresses of the socket. */
static bool look_up(pid_t pid, const char *protocol, struct names_socket *s, struct buf *out)
{
	auto_buf ends = {0};
	bool found = false;
	for (size_t i = 0; !found && i < sizeof(tables) / sizeof(*tables); i++) {
		const struct table *t = &tables[i];
		if (!is_of(protocol, t))
			continue;
		found = find_ends(pid, t, s, &ends);
		if (found)
			buf_addf(out, "%s:%s", *protocol ? protocol : t->protocol, buf_str(&ends));
	}
	return found;
}

enum { PROTOCOL_SIZE = 64 };

/* Stores the protocol of a socket in `protocol`, or "" if it is unknown. */
static void protocol_of(const char *link, char protocol[PROTOCOL_SIZE])
{
	ssize_t n = getxattr(link, "system.sockprotoname", protocol, PROTOCOL_SIZE - 1);
	protocol[n > 0 ? n : 0] = '\0';
}

/*
 * The kernel may leave out an entry of a table while other sockets are created or closed. Every Unix socket has an
 * entry, so if the entry of a Unix socket is not found, the table is read again, up to this number of times in all.
 */
#define LOOKS 10

/* Appends the name of a socket: if no table contains it, its protocol and inode, "TCP:[1039765]". */
static bool find_socket(pid_t pid, const char *link, struct names_socket *s, struct buf *out)
{
	char protocol[PROTOCOL_SIZE];
	protocol_of(link, protocol);
	bool found = look_up(pid, protocol, s, out);
	for (int i = 1; !found && i < LOOKS && strncmp(protocol, "UNIX", 4) == 0; i++)
		found = look_up(pid, protocol, s, out);
	if (found || !*protocol)
		return found;
	buf_addf(out, "%s:[%lu]", protocol, s->inode);
	return true;
}

/* -yy: appends the process to which a pidfd refers. */
static bool find_pidfd(pid_t pid, int fd, struct buf *out)
{
	char name[32];
	auto_buf text = {0};
	snprintf(name, sizeof(name), "fdinfo/%d", fd);
	uint64_t target = proc_read(pid, name, &text) == 0 ? proc_number(buf_str(&text), "Pid") : 0;
	if (target)
		buf_addf(out, "pid:%llu", (unsigned long long)target);
	return target != 0;
}

/*
 * -yy: appends which eventfd(2) it is, as strace does, but without its count, which may change before it is read; or
 * the signals of a signalfd(2) as NAMES_SIGNALFD says.
 */
static bool find_object(pid_t pid, int fd, const char *is, struct buf *out)
{
	char name[32];
	auto_buf text = {0};
	snprintf(name, sizeof(name), "fdinfo/%d", fd);
	bool event = strcmp(is, "anon_inode:[eventfd]") == 0, signals = strcmp(is, "anon_inode:[signalfd]") == 0;
	const char *at = (event || signals) && proc_read(pid, name, &text) == 0
				 ? strstr(buf_str(&text), event ? "eventfd-id:" : "sigmask:")
				 : NULL;
	if (at && event)
		buf_addf(out, "{eventfd-id=%llu, eventfd-semaphore=%llu}",
			 (unsigned long long)proc_number(buf_str(&text), "eventfd-id"),
			 (unsigned long long)proc_number(buf_str(&text), "eventfd-semaphore"));
	else if (at)
		buf_addf(out, NAMES_SIGNALFD "%.16s", at + 8 + strspn(at + 8, " \t"));
	return at;
}

#define LINK_MAX_LEN 64

static void link_of(pid_t pid, int fd, char link[LINK_MAX_LEN])
{
	if (fd == AT_FDCWD)
		snprintf(link, LINK_MAX_LEN, "/proc/%d/cwd", (int)pid);
	else
		snprintf(link, LINK_MAX_LEN, "/proc/%d/fd/%d", (int)pid, fd);
}

/* The table contains only netlink sockets with a port, which a socket gets with its first message at the latest. */
static int live_netlink(void *ctx, pid_t pid, int fd)
{
	char link[LINK_MAX_LEN], target[64] = "", protocol[PROTOCOL_SIZE];
	struct wanted w = {0};
	(void)ctx;
	link_of(pid, fd, link);
	if (readlink(link, target, sizeof(target) - 1) < 0 || sscanf(target, "socket:[%lu]", &w.inode) != 1)
		return -1;
	protocol_of(link, protocol); /* reading the table for the messages of other sockets would take long */
	if (*protocol && strcmp(protocol, "NETLINK") != 0)
		return -1;
	if (find_in(pid, "netlink", find_netlink, &w, NULL))
		return w.protocol < NETLINK_UNTOLD ? (int)w.protocol : NETLINK_UNTOLD;
	return *protocol ? NETLINK_UNTOLD : -1;
}

static bool live_interface(void *ctx, pid_t tid, uint32_t index, struct buf *out)
{
	char name[IF_NAMESIZE];
	(void)ctx;
	if (!names_is_in_our_network(tid) || !if_indextoname(index, name))
		return false;
	buf_adds(out, name);
	return true;
}

/* Stores the pid namespace of a task as text. Returns false if it is unknown. */
static bool space_of(pid_t tid, char space[static NAMES_SPACE_SIZE])
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)tid);
	ssize_t n = readlink(path, space, NAMES_SPACE_SIZE - 1);
	space[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Stores the numbers of a task in its pid namespaces, the outermost first. Returns how many there are. */
static size_t ids_of(pid_t tid, pid_t ids[static NAMES_SPACES_MOST])
{
	auto_buf text = {0};
	size_t n = 0;
	const char *at = proc_read(tid, "status", &text) == 0 ? strstr(buf_str(&text), "\nNSpid:") : NULL;
	for (char *end; at && n < NAMES_SPACES_MOST; at = end) {
		ids[n] = (pid_t)strtol(n ? at : at + strlen("\nNSpid:"), &end, 10);
		if (!ids[n] || !strchr("\t\n", *end))
			break;
		n++;
		if (*end == '\n')
			break;
	}
	return n;
}

bool names_ids_read(pid_t tid, struct names_ids *ids)
{
	ids->n = ids_of(tid, ids->v);
	return space_of(tid, ids->space) && ids->n;
}

pid_t names_ids_match(const struct names_ids *from, pid_t id, const struct names_ids *other)
{
	bool is = from->n && other->n >= from->n && other->v[from->n - 1] == id &&
		  (other->n > from->n || strcmp(other->space, from->space) == 0);
	return is ? other->v[0] : 0;
}

/* A task is searched that the task `from` knows by the number `id`. */
struct sought {
	const struct names_ids *from;
	pid_t id;
};

static bool is_sought(const struct sought *s, pid_t tid)
{
	struct names_ids ids;
	ids.n = ids_of(tid, ids.v);
	return ids.n >= s->from->n && ids.v[s->from->n - 1] == s->id && space_of(tid, ids.space) &&
	       names_ids_match(s->from, s->id, &ids);
}

/* Searches the tasks of a folder, and the threads of each if `threads` is set. Returns the number of the task, or 0. */
static pid_t search(const struct sought *s, const char *folder, bool threads)
{
	DIR *d = opendir(folder);
	const struct dirent *e;
	pid_t found = 0;
	while (d && !found && (e = readdir(d))) {
		char path[64];
		pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);
		snprintf(path, sizeof(path), "/proc/%d/task", (int)tid);
		if (tid > 0)
			found = threads ? search(s, path, false) : is_sought(s, tid) ? tid : 0;
	}
	if (d)
		closedir(d);
	return found;
}

int names_is_apart(pid_t tid)
{
	char own[NAMES_SPACE_SIZE], space[NAMES_SPACE_SIZE];
	if (!space_of(getpid(), own) || !space_of(tid, space))
		return -1;
	return strcmp(own, space) != 0;
}

static pid_t live_outer_id(void *ctx, pid_t tid, pid_t id)
{
	struct names_ids from;
	(void)ctx;
	if (names_is_apart(tid) <= 0)
		return id;
	const struct sought s = {&from, id};
	if (!names_ids_read(tid, &from))
		return 0;
	pid_t found = search(&s, "/proc", false);
	return found ? found : search(&s, "/proc", true);
}

static bool live_space(void *ctx, pid_t tid, const char *link, struct buf *out)
{
	char path[64], text[64];
	(void)ctx;
	snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)tid, link);
	ssize_t n = readlink(path, text, sizeof(text));
	if (n > 0)
		buf_add(out, text, (size_t)n);
	return n > 0;
}

static bool live_comm(void *ctx, pid_t tid, struct buf *out)
{
	char name[64];
	(void)ctx;
	proc_comm(tid, name, sizeof(name));
	buf_adds(out, name);
	return name[0];
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

/* Returns what is known of a socket, or makes it known; `once` if nothing is remembered. */
static struct names_socket *socket_of(struct names_sockets *known, unsigned long inode, struct names_socket *once)
{
	struct names_socket *s = known ? &known->v[inode % NAMES_SOCKETS] : once;
	if (s->inode != inode)
		*s = (struct names_socket){.inode = inode};
	return s;
}

static bool live_fd_in_full(void *ctx, pid_t pid, int fd, struct buf *out)
{
	struct names_socket once = {0};
	auto_buf path = {0};
	char link[LINK_MAX_LEN];
	unsigned long inode;
	link_of(pid, fd, link);
	bool known = live_fd(ctx, pid, fd, &path);
	const char *is = buf_str(&path);
	bool more = known && ((sscanf(is, "socket:[%lu]", &inode) == 1 &&
			       find_socket(pid, link, socket_of(ctx, inode, &once), out)) ||
			      (strcmp(is, "anon_inode:[pidfd]") == 0 && find_pidfd(pid, fd, out)) ||
			      find_object(pid, fd, is, out));
	if (!more)
		buf_add(out, is, path.len);
	return known;
}

static bool live_deleted(void *ctx, pid_t pid, int fd)
{
	auto_buf path = {0}, there = {0};
	char link[LINK_MAX_LEN];
	struct statx is;
	struct stat named;
	link_of(pid, fd, link);
	bool so_called = live_fd(ctx, pid, fd, &path) && path.len > strlen(NAMES_DELETED) && path.s[0] == '/' &&
			 strcmp(buf_str(&path) + path.len - strlen(NAMES_DELETED), NAMES_DELETED) == 0;
	buf_addf(&there, "/proc/%d/root%s", (int)pid, buf_str(&path));
	bool deleted = so_called && proc_stat(link, &is) == 0;
	/* If the file still has a name, it may be this one. A file system that may not answer is not asked. */
	if (deleted && is.stx_nlink && !mem_served_device(pid, (uint64_t)is.stx_dev_major << 32 | is.stx_dev_minor))
		deleted = stat(buf_str(&there), &named) < 0 ||
			  named.st_dev != makedev(is.stx_dev_major, is.stx_dev_minor) || named.st_ino != is.stx_ino;
	return deleted;
}

bool names_device(uint32_t mode, uint32_t major, uint32_t minor, struct buf *out)
{
	if (!S_ISCHR(mode) && !S_ISBLK(mode))
		return false;
	buf_adds(out, S_ISCHR(mode) ? "char " : "block ");
	buf_add_signed(out, major);
	buf_addc(out, ':');
	buf_add_signed(out, minor);
	return true;
}

static bool live_device(void *ctx, pid_t pid, int fd, struct buf *out)
{
	char link[LINK_MAX_LEN];
	struct statx st;
	(void)ctx;
	link_of(pid, fd, link);
	return fd != AT_FDCWD && proc_stat(link, &st) == 0 &&
	       names_device(st.stx_mode, st.stx_rdev_major, st.stx_rdev_minor, out);
}

static bool live_ring(void *ctx, pid_t tid, int fd, struct buf *out)
{
	(void)ctx;
	return uring_find(tid, fd, out);
}

const struct names names_live = {.fd = live_fd,
				 .fd_in_full = live_fd_in_full,
				 .deleted = live_deleted,
				 .device = live_device,
				 .netlink = live_netlink,
				 .interface = live_interface,
				 .ring = live_ring,
				 .comm = live_comm,
				 .outer_id = live_outer_id,
				 .space = live_space};
