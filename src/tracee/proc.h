/* What /proc says of a task: files are read whole, and taken apart by functions that see nothing but their text. */
#ifndef SCTRACE_TRACEE_PROC_H
#define SCTRACE_TRACEE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;

/* Appends all of /proc/PID/NAME to `out`: 0, -ENOMEM, or -errno (-ENOENT or -ESRCH where the task is gone). */
int proc_read(pid_t pid, const char *name, struct buf *out);

/* /proc/PID/status (proc_pid_status(5)); what it does not say is 0. Signal N is bit N - 1 of the masks. */
struct proc_status {
	char state;                 /* 'R', 'S', 'Z', ... */
	pid_t tgid, parent, tracer; /* the process, its parent, and who traces it */
	bool has_memory;            /* a kernel thread and a zombie have none */
	bool has_signals;           /* the masks were there */
	uint64_t peak_rss;          /* VmHWM, in bytes */
	uint64_t blocked, ignored, caught;
	uint64_t pending;   /* at the thread or the process */
	uint32_t uid, gid;  /* where the real, effective, saved and file system's are one, else NOBODY_ALONE */
	uint64_t permitted; /* capabilities */
	bool filtered;      /* by seccomp filters: so many, where it says so (Linux 5.9) */
	uint32_t filters;
};
#define NOBODY_ALONE UINT32_MAX

void proc_status_parse(const char *text, struct proc_status *s);
/* Reads it; 0, or -errno as proc_read(), *s then empty. */
int proc_status(pid_t pid, struct proc_status *s);
/* Why proc_status() failed, in words: there is no such process, or /proc does not show it to us. */
const char *proc_why_unseen(pid_t pid);

/* What is resident by /proc/PID/smaps_rollup (proc_pid_smaps(5)), in bytes; 0: it does not say. */
uint64_t proc_rollup_parse(const char *text);

/*
 * VmHWM in bytes: the largest resident set since the last execve(2), so what the parent's memory was does not count (ru_maxrss
 * of getrusage(2) inherits it). Ask while the process is stopped at its exit event, before its memory is gone. The kernel's
 * count may be off by some hundred KiB; before Linux 6.2 a thread's pages are added only after 64 faults (mm/memory.c,
 * sync_mm_rss()), and for a small program it says 0: then it is what is resident now. 0: unknown; -errno as proc_read();
 * -ESRCH where the process has no memory any more.
 */
int64_t proc_peak_rss(pid_t pid);

/* One line of /proc/PID/maps (proc_pid_maps(5)). */
struct proc_map {
	uint64_t lo, hi, offset;
	uint64_t dev, ino; /* dev: the major number in the upper half */
	const char *perm;  /* "r-xp" and more: points into the text */
	const char *name;  /* not terminated; the program's own word */
	size_t name_len;
};

/* The next mapping from *text on, which moves behind it; lines that are none are skipped. False at the end. */
bool proc_map_next(const char **text, struct proc_map *m);
bool proc_map_is(const struct proc_map *m, const char *name);

/* A task's short name, its own word and not escaped; "" where it is gone. */
void proc_comm(pid_t tid, char *name, size_t size);

/* One line of mountinfo (proc_pid_mountinfo(5)), its escapes undone. */
struct proc_mount {
	char type[64];
	char source[256];
	char mount_point[256];
	char options[512]; /* the mount's and the file system's, comma-separated */
};

/* True, or false where the line is none or its mount point does not fit. */
bool proc_mount_parse(const char *line, struct proc_mount *m);

/*
 * If this line of /proc/PID/net/{tcp,udp,raw}[6] is of socket `inode`, appends its ends, "[127.0.0.1:80->10.0.0.1:5]", and
 * returns true.
 */
bool proc_net_inet(const char *line, bool v6, unsigned long inode, struct buf *out);
/*
 * The same of /proc/PID/net/unix: "[INODE]", "[INODE->PEER]" where `peer` is not 0, "[INODE,\"/path\"]" or
 * "[INODE,@\"abstract name\"]", the name escaped.
 */
bool proc_net_unix(const char *line, unsigned long inode, unsigned long peer, struct buf *out);
/* If this line of /proc/PID/net/netlink is of socket `inode`: true, its protocol (NETLINK_ROUTE, ...) and port. */
bool proc_net_netlink(const char *line, unsigned long inode, unsigned *protocol, uint32_t *port);

#endif
