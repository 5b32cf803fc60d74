/* Reads what /proc says about a task. Files are read whole, and pure functions parse their text. */
#ifndef SCTRACE_TRACEE_PROC_H
#define SCTRACE_TRACEE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;

/* Appends all of /proc/PID/NAME to `out`. Returns 0, -ENOMEM, or -errno (-ENOENT or -ESRCH if the task is gone). */
int proc_read(pid_t pid, const char *name, struct buf *out);

/* /proc/PID/status (proc_pid_status(5)); members that it does not contain are 0. Signal N is bit N - 1 of the masks. */
struct proc_status {
	char state;                 /* 'R', 'S', 'Z', ... */
	pid_t tgid, parent, tracer; /* the process, its parent, and its tracer */
	bool init;                  /* the process has number 1 in its pid namespace (pid_namespaces(7)) */
	bool has_memory;            /* false for kernel threads and zombies */
	bool has_signals;           /* the masks are valid */
	uint64_t peak_rss;          /* VmHWM, in bytes */
	uint64_t blocked, ignored, caught;
	uint64_t pending;   /* of the thread or the process */
	uint32_t uid, gid;  /* if the real, effective, saved and file-system ids are equal, otherwise ID_MIXED */
	uint64_t permitted; /* capabilities */
	bool filtered;      /* the number of seccomp filters, if known (Linux 5.9) */
	uint32_t filters;
};
#define ID_MIXED UINT32_MAX

void proc_status_parse(const char *text, struct proc_status *s);
/* Reads it. Returns 0, or -errno like proc_read() with *s empty. */
int proc_status(pid_t pid, struct proc_status *s);
/* The reason in words why proc_status() failed: there is no such process, or /proc hides it. */
const char *proc_why_unseen(pid_t pid);

/* The resident memory in bytes according to /proc/PID/smaps_rollup (proc_pid_smaps(5)); 0 if it does not say. */
uint64_t proc_rollup_parse(const char *text);

/*
 * VmHWM in bytes: the largest resident set since the last execve(2). It does not include the parent's memory, which
 * ru_maxrss of getrusage(2) inherits. Call this while the process is stopped at its exit event, when its memory still
 * exists. The kernel's count may be off by some hundred KiB. Before Linux 6.2 a thread's pages are added only after 64
 * faults (mm/memory.c, sync_mm_rss()), and for a small program the count is 0; then the current resident memory is
 * returned. Returns 0 if unknown, -errno like proc_read(), or -ESRCH if the process no longer has memory.
 */
int64_t proc_peak_rss(pid_t pid);

/* One line of /proc/PID/maps (proc_pid_maps(5)). */
struct proc_map {
	uint64_t lo, hi, offset;
	uint64_t dev, ino; /* major number of dev: in the upper half */
	const char *perm;  /* "r-xp" and what follows: points into the text */
	const char *name;  /* not terminated; the program can choose it */
	size_t name_len;
};

/*
 * Parses the next mapping at *text and moves *text past it. Skips lines that are not mappings. Returns false at the
 * end.
 */
bool proc_map_next(const char **text, struct proc_map *m);
bool proc_map_is(const struct proc_map *m, const char *name);

/* The short name of a task, which the task chooses; not escaped. "" if the task is gone. */
void proc_comm(pid_t tid, char *name, size_t size);

/* One line of mountinfo (proc_pid_mountinfo(5)), unescaped. */
struct proc_mount {
	char type[64];
	char source[256];
	char mount_point[256];
	char options[512]; /* those of the mount and of the file system, separated by commas */
};

/* Returns false if the line is not valid or its mount point does not fit. */
bool proc_mount_parse(const char *line, struct proc_mount *m);

/*
 * If this line of /proc/PID/net/{tcp,udp,raw}[6] describes socket `inode`, appends its addresses,
 * "[127.0.0.1:80->10.0.0.1:5]", and returns true.
 */
bool proc_net_inet(const char *line, bool v6, unsigned long inode, struct buf *out);
/*
 * The same for /proc/PID/net/unix: "[INODE]", "[INODE->PEER]" if `peer` is not 0, "[INODE,\"/path\"]" or
 * "[INODE,@\"abstract name\"]", with the name escaped.
 */
bool proc_net_unix(const char *line, unsigned long inode, unsigned long peer, struct buf *out);
/*
 * If this line of /proc/PID/net/netlink describes socket `inode`, returns true with its protocol (NETLINK_ROUTE, ...)
 * and port.
 */
bool proc_net_netlink(const char *line, unsigned long inode, unsigned *protocol, uint32_t *port);

#endif
