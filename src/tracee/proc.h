/* SPDX-License-Identifier: MIT */
/* Reads and parses the files of a task in /proc. */
#ifndef SCTRACE_TRACEE_PROC_H
#define SCTRACE_TRACEE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;
struct statx;

/*
 * Fills in type, mode, owner, device and inode of the file to which `link` refers, such as
 * /proc/PID/exe, without asking the server of its file system: the server may be a traced process that is stopped. Returns 0 or
 * -errno.
 */
int proc_stat(const char *link, struct statx *st);
/* Opens /proc/PID/NAME for reading. Returns the descriptor or -errno. */
int proc_open(pid_t pid, const char *name);
/* Appends all of /proc/PID/NAME to `out`. Returns 0 or -errno (-ENOENT or -ESRCH if the task is gone). */
int proc_read(pid_t pid, const char *name, struct buf *out);

#define PROC_NAME 16 /* size of a short name, TASK_COMM_LEN in the kernel */

/* /proc/PID/status (proc_pid_status(5)). Members that it lacks are 0. In signal masks, bit N - 1 is signal N. */
struct proc_status {
	char name[PROC_NAME];       /* the short name; the task can choose it */
	char state;                 /* 'R', 'S', 'Z', ... */
	pid_t tgid, parent, tracer; /* the process id, the parent, and the tracer */
	bool init;                  /* the process has number 1 in its pid namespace (pid_namespaces(7)) */
	bool has_memory;            /* false for kernel threads and zombies */
	bool has_signals;           /* the masks are valid */
	uint64_t peak_rss;          /* VmHWM, in bytes */
	uint32_t threads;           /* also those that have ended but are still there */
	uint64_t blocked, ignored, caught;
	uint64_t pending;   /* pending signals of the thread or the process */
	uint32_t uid, gid;  /* ID_MIXED if the real, effective, saved and file-system ids are not all equal */
	uint64_t permitted; /* permitted capabilities */
	bool strict;        /* it is in seccomp's strict mode */
	bool filtered;      /* it has at least one seccomp filter; `filters` is their number, which is 0 (unknown)
			     * before Linux 5.9 */
	uint32_t filters;
};
#define ID_MIXED UINT32_MAX

/* Fills in *s from the text of the file. The members of missing lines are 0. */
void proc_status_parse(const char *text, struct proc_status *s);
/* Reads /proc/PID/status into *s. Returns 0, or zeroes *s and returns -errno like proc_read(). */
int proc_status(pid_t pid, struct proc_status *s);
/* Returns the process of a thread, or `tid` itself if that is unknown. */
pid_t proc_process(pid_t tid);
/*
 * Has the traced task ended? Returns 1 if it is a zombie or gone, 0 if not, or -errno if that is not known. The task may
 * then be alive. Usually, the answer does not depend on /proc, which may not be mounted.
 */
int proc_has_ended(pid_t pid);
/* Has the process or thread ended, or never existed? False if unknown, and if only its main thread has ended. */
bool proc_is_over(pid_t pid);
/* Is /proc mounted, and does it show sctrace's own pid namespace (pid_namespaces(7), "/proc and PID namespaces")? */
bool proc_is_usable(void);
/* Returns a text that says why proc_status() failed: there is no such process, or /proc hides it. */
const char *proc_why_unseen(pid_t pid);
/*
 * Calls proc_status(). Returns a text that says why the process cannot be traced: proc_status() failed, or the process
 * is a zombie without other threads, or a kernel thread. Returns NULL otherwise.
 */
const char *proc_why_untraceable(pid_t pid, struct proc_status *s);
/*
 * Must be called after execve(2). Returns "user" or "group" if the file of the program has a set-user-ID or
 * set-group-ID bit, which the kernel ignores if the program is traced and the tracer has no privileges (execve(2),
 * "effective user ID"). Returns NULL otherwise.
 */
const char *proc_lost_privilege(pid_t pid);

/* Returns the decimal number after "KEY:" at the start of a line of `text`, or 0 if there is none. */
uint64_t proc_number(const char *text, const char *key);

/*
 * Returns VmHWM in bytes: the largest resident set since the last execve(2). Unlike ru_maxrss of getrusage(2), it does
 * not include memory of the parent. Call this function while the process is stopped at its exit event, when its memory
 * still exists. The kernel's value may be wrong by some hundred KiB. Before Linux 6.2 a thread's pages are added only
 * after 64 faults (mm/memory.c, sync_mm_rss()), so the value for a small program is 0; the current resident memory is
 * then returned instead. Returns 0 if unknown, -errno like proc_read(), or -ESRCH if the process has no memory any
 * more.
 */
int64_t proc_peak_rss(pid_t pid);

/* One line of /proc/PID/maps (proc_pid_maps(5)). */
struct proc_map {
	uint64_t lo, hi, offset;
	uint64_t dev, ino; /* device and inode of the file; the major number is in the upper half of `dev` */
	const char *perm;  /* points to "r-xp" within the text; not terminated */
	const char *name;  /* points into the text and is not terminated; the program can choose the name */
	size_t name_len;
};

/* Parses the next mapping at *text, and moves *text to the line after it. Skips other lines. Returns false at the end. */
bool proc_map_next(const char **text, struct proc_map *m);
/* Returns true if the mapping has exactly this name, such as "[stack]". */
bool proc_map_is(const struct proc_map *m, const char *name);

/* Stores the short name of a task, or "" if the task is gone. The task can choose it, and it is not escaped. */
void proc_comm(pid_t tid, char *name, size_t size);

/* A line of mountinfo (proc_pid_mountinfo(5)), unescaped. */
struct proc_mount {
	char type[64];
	char source[256];
	char root[256]; /* the directory of the file system that is mounted */
	char mount_point[256];
	char options[512]; /* options of the mount and of the file system, separated by commas */
};

/* Parses a line of mountinfo. Returns false if the line is invalid, or if its mount point is too long for *m. */
bool proc_mount_parse(const char *line, struct proc_mount *m);

/* If a line of /proc/PID/net/{tcp,udp,raw}[6] is about this socket, appends "[127.0.0.1:80->10.0.0.1:5]". */
bool proc_net_inet(const char *line, bool v6, unsigned long inode, struct buf *out);
/* Does the same for a line of /proc/PID/net/unix, which does not tell the peer. */
bool proc_net_unix(const char *line, unsigned long inode, struct buf *out);
/*
 * Appends the ends of a Unix socket: "[INODE]", "[INODE->PEER]" if `peer` is not 0, "[INODE,\"/path\"]" or
 * "[INODE,@\"abstract name\"]". The name has `n` bytes and is escaped.
 */
void proc_unix_ends(unsigned long inode, unsigned long peer, const char *name, size_t n, bool abstract,
		    struct buf *out);
/* Does the same for a line of /proc/PID/net/netlink: stores the protocol (NETLINK_ROUTE, ...) and port. */
bool proc_net_netlink(const char *line, unsigned long inode, unsigned *protocol, uint32_t *port);

#endif
