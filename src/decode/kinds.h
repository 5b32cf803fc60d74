/* The table that says how each kind of argument is shown, and the functions that its rows share. */
#ifndef SCTRACE_DECODE_KINDS_H
#define SCTRACE_DECODE_KINDS_H

#include "base/buf.h"
#include "decode/decode.h"
#include "decode/emit.h"
#include "decode/flags.h"
#include "syscall/kinds.h"

#include <stdint.h>

struct kind;

/* When an argument is known. */
enum when {
	WHEN_ENTERING,  /* at entry; also for arguments that are read and written */
	WHEN_LEFT,      /* filled in by the kernel: shown after a successful call, otherwise as a pointer */
	WHEN_LEFT_EVEN, /* the same, but also filled in on errors */
	WHEN_BOTH,      /* at entry, and after a successful call also what the kernel filled in elsewhere */
	WHEN_NEVER,     /* this call does not have the argument, such as openat's mode without O_CREAT */
};

/* Shows the value `v` of argument `i` of the call. For structure members, i < 0. */
typedef void show_fn(const struct decode *d, const struct kind *k, uint64_t v, int i);
/* Says when argument `i` of this call is known. */
typedef enum when when_fn(const struct decode *d, int i);

struct kind {
	show_fn *show;
	const void *about; /* data of the show function: a flag_table, a layout */
	enum when when;
	when_fn *choose;     /* replaces `when` if that depends on other arguments */
	show_fn *show_after; /* WHEN_BOTH: calls emit_after() and shows what the kernel filled in, or does nothing */
};

extern const struct kind decode_kinds[K_COUNT];

/* Shows `v` as `kind` says. */
void show_kind(const struct decode *d, enum syscall_kind kind, uint64_t v, int i);

/* Numbers. */
show_fn show_int, show_uint, show_long, show_ulong, show_hex, show_octal, show_pointer, show_flags, show_choice;
show_fn show_flags32, show_choice32;
show_fn show_fd, show_dirfd, show_pid, show_uid, show_dev, show_hex16, show_low_bit, show_short, show_choice16,
	show_errno;
show_fn show_kernel_dev, show_be16, show_be32, show_be64, show_ethertype, show_ifindex;
show_fn show_negative_errno, show_fd_pair, show_loads, show_control_chars, show_lsm_ids;
show_fn show_off_low, show_off_swapped;
when_fn when_never, when_off_high, when_mremap_addr;
/* Bit numbers with names, 1<<TCP_LISTEN: `about` is a struct bit_numbers. */
show_fn show_bit_numbers;
struct bit_numbers {
	const struct flag_table *names;
	unsigned first; /* number of the lowest bit: 1<<(INET_DIAG_MEMINFO-1) */
};
/* Strings and bytes. */
show_fn show_path, show_string, show_in_bytes, show_out_bytes, show_out_path, show_out_path_n, show_out_random,
	show_argv, show_envp;
/* A pointer to one value: `about` is a struct pointee. */
show_fn show_pointee;
struct pointee {
	enum syscall_kind kind;
	unsigned size; /* 1, 2, 4, 8; 0: a pointer or long of the call's architecture */
};

/* The size of a pointer and a long for this call: 8, or 4 for i386 and x32's pointers. */
unsigned decode_word(const struct decode *d);
/* Reads exactly `n` bytes at `addr`. Returns false unless all are readable. */
bool decode_get(const struct decode *d, uint64_t addr, void *to, size_t n);
/* Reads a pointer or long of the call's architecture. */
bool decode_get_word(const struct decode *d, uint64_t addr, uint64_t *v);
/* Emits at most `n` bytes at `addr` as a string, limited to opts->string_max, or the pointer if they cannot be read. */
void decode_bytes(const struct decode *d, uint64_t addr, uint64_t n);
/* The same in hexadecimal, for data that is not text. */
void decode_hex_bytes(const struct decode *d, uint64_t addr, uint64_t n);
/* What a descriptor refers to (-y). */
struct decode_fd {
	struct buf name, device;
	struct emit_is is; /* points into the other members */
};
/* Fills in *f, which must always be freed. Returns &f->is, or NULL if names were not requested or are unknown. */
const struct emit_is *decode_fd_is(const struct decode *d, int fd, struct decode_fd *f);
void decode_fd_free(struct decode_fd *f);
/* Appends the escaped name of the process (-Y). Returns false if names were not requested or are unknown. */
bool decode_pid_name(const struct decode *d, int pid, struct buf *out);
/* Emits the NUL-terminated string at `addr`, limited to `max`, or the pointer if it cannot be read. */
void decode_string(const struct decode *d, uint64_t addr, size_t max);

/*
 * Emits an array of `n` elements of `size` bytes at `addr`, limited to opts->string_max elements as in strace; `each`
 * shows the element at an address. Emits the pointer if nothing can be read.
 */
typedef void element_fn(const struct decode *d, uint64_t addr, void *ctx);
void decode_array(const struct decode *d, uint64_t addr, uint64_t n, size_t size, element_fn *each, void *ctx);

/* The same for `n` numbers of `size` bytes, each shown as `kind`. */
void decode_numbers(const struct decode *d, uint64_t addr, uint64_t n, size_t size, enum syscall_kind kind);

/* Shows the number of `size` bytes at `addr` as `kind`, or the pointer if it cannot be read. */
void decode_kind_at(const struct decode *d, uint64_t addr, size_t size, enum syscall_kind kind);

/* The kind of an argument that depends on a command: fcntl(2), prctl(2), ioctl(2). */
struct command_arg {
	uint64_t command;
	enum syscall_kind kind;
	enum when when;
};
/* The row of `command`, or NULL. */
const struct command_arg *command_find(const struct command_arg *table, size_t n, uint64_t command);

#endif
