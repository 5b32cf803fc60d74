/* SPDX-License-Identifier: MIT */
/* The table of system calls. Names and numbers come from libseccomp, everything else from syscalls.def. */
#ifndef SCTRACE_SYSCALL_CALL_TABLE_H
#define SCTRACE_SYSCALL_CALL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct call;

/*
 * A pseudo-number. A program may use more unknown call numbers than the tables have rows; the remaining numbers are
 * counted as this one.
 */
#define SYSCALL_OTHERS INT64_MIN

/* The groups that a call belongs to, for -e %file and others (strace(1), "Filtering"). */
enum syscall_group {
	G_FILE = 1 << 0,
	G_DESC = 1 << 1,
	G_NETWORK = 1 << 2,
	G_PROCESS = 1 << 3,
	G_SIGNAL = 1 << 4,
	G_MEMORY = 1 << 5,
	G_IPC = 1 << 6,
	G_CLOCK = 1 << 7,
	G_CREDS = 1 << 8,
	G_STAT = 1 << 9,
	G_LSTAT = 1 << 10,
	G_FSTAT = 1 << 11,
	G_STATFS = 1 << 12,
	G_FSTATFS = 1 << 13,
	G_PURE = 1 << 14,
	G_NAMES = 1 << 15,   /* not a group of -e: the call may change what a descriptor or the current directory refers
			    * to, or the name of a process, or it closes descriptors because it ends the program */
	G_RINGS = 1 << 17,   /* not a group of -e: the call concerns the rings of io_uring (tracee/uring.h) */
	G_RENAMES = 1 << 16, /* not a group of -e: the call may change the names of any open descriptors, because it
			      * renames or removes files, or changes mounts or the root directory */
};

/*
 * How the result of a call is shown. Some of these depend on an argument: the result of fcntl(2) depends on its
 * command.
 */
enum syscall_result {
	R_INT,
	R_PID,
	R_BYTES, /* the result is a number of bytes */
	R_FD,
	R_HEX,
	R_OCT,
	R_TIME,
	R_NONE, /* the call does not return */
	R_POLL,
	R_SELECT,
	R_RECVMMSG,
	R_IOCTL,
	R_FCNTL,
	R_PRCTL,
	R_BPF,
	R_SECCOMP,
	R_SIGNAL,
	R_SCHED,
	R_CLOCKSTATE,
	R_IOPRIO,
	R_MEMBARRIER,
	R_PERSONALITY,
	R_URING,
	R_COUNT,
};

/* An argument: its name in the manual page, and its kind (enum syscall_kind of syscall/call_table.h). */
struct syscall_arg {
	const char *name;
	uint16_t kind;
};

/* One system call on all architectures. */
struct syscall_desc {
	const char *name;
	int16_t number; /* the number of a call that libseccomp may not know yet; 0: ask libseccomp */
	uint32_t arch;  /* AUDIT_ARCH_* if only one architecture has the call; 0: all have it */
	uint32_t groups;
	uint8_t result; /* enum syscall_result */
	uint8_t nargs;
	struct syscall_arg args[6];
};

/*
 * Finds a call of `arch` (AUDIT_ARCH_*; x32 calls have their bit set in `nr`). Returns NULL if nothing is known about
 * it. Takes constant time for x86-64, x32, i386, aarch64 and 32-bit ARM.
 */
const struct syscall_desc *syscall_lookup(uint32_t arch, int64_t nr);
/* Appends the name of the call, or "syscall_0x1c9" for an unknown number. Appends "#x32" to the names of x32 calls. */
void syscall_name(struct buf *out, uint32_t arch, int64_t nr);
/* Like syscall_name(), for callers that already have the description `desc`. If `desc` is NULL, looks the number up. */
void syscall_name_of(struct buf *out, const struct syscall_desc *desc, uint32_t arch, int64_t nr);
/*
 * Returns the name of the call, or NULL if the number is unknown. For callers that only compare names: the name never
 * ends with "#x32". The string is static.
 */
const char *syscall_name_known(uint32_t arch, int64_t nr);
/*
 * Calls of i386 that are made through another one, `door` (socketcall(2), ipc(2) and others), have no number of their
 * own. Returns a number that stands for such a call, or -1 if there is no such call. No register can hold this number,
 * and syscall_kernel_number() converts it back to `door`.
 */
int64_t syscall_inside(const char *name, int64_t door);
/* Returns the number that the kernel received. It differs from `nr` only if syscall_inside() returned `nr`. */
int64_t syscall_kernel_number(uint32_t arch, int64_t nr);
/* Returns row `i` of syscalls.def, or NULL after the last row. */
const struct syscall_desc *syscall_row(size_t i);
/* Returns the number of call `name` on `arch`, or -1. */
int64_t syscall_number(uint32_t arch, const char *name);
/* True if the call returns a number of bytes (read, write, sendfile, ...). */
bool syscall_returns_bytes(uint32_t arch, int64_t nr);
/*
 * Returns true if the call may change what a descriptor, a path or the current directory refers to, or the name of a
 * process.
 */
bool syscall_changes_names(const struct syscall_desc *desc);
/* Does this call not do so, although others with its number may? Only the commands F_DUPFD and F_DUPFD_CLOEXEC of fcntl(2) do. */
bool syscall_keeps_names(const struct call *c);

/* Which names of descriptors, files or processes a call that has ended may have changed. */
enum syscall_changes {
	CHANGES_NOTHING,
	CHANGES_FDS,       /* those of descriptors `first` to `last` (AT_FDCWD: that of the current directory) */
	CHANGES_ADDRESSES, /* the addresses of the socket `first` */
	CHANGES_FILES,     /* those of any file, as rename(2) does */
	CHANGES_OTHERS,    /* those of descriptors that the call has passed through a pointer, or of a process */
	CHANGES_ALL,       /* any: calls of other architectures are not looked at */
};

struct syscall_changed {
	enum syscall_changes what;
	uint32_t first, last;
};

struct syscall_changed syscall_changed(const struct call *c);
/* Does the call change the signals of a signalfd that the program already has, and so its name and those of its copies? */
bool syscall_changes_signalfd(const struct syscall_desc *desc, const uint64_t args[1]);
/* Returns the size in bytes of a pointer and of a long in this call: 8, or 4 for 32-bit programs and for the pointers of x32. */
unsigned syscall_word_size(const struct call *c);
/* Returns the index of the call's first argument of this kind (enum syscall_kind), or -1. */
int syscall_find_kind(const struct call *c, uint16_t kind);
/* Returns AUDIT_ARCH_* of the architecture that sctrace was built for. */
uint32_t syscall_native_arch(void);

/*
 * The kinds of system call arguments. kinds.def says how each kind is shown. The kernel writes to the memory of kinds
 * that begin with K_OUT_.
 */

/* K_END, the first kind, means that the call has no such argument. */
enum syscall_kind {
#define KIND(name, ...) K_##name,
#include "syscall/kinds.def"
#undef KIND
	K_COUNT,
};

#endif
