/* SPDX-License-Identifier: MIT */
/*
 * The table that says how each kind of argument is shown and which memory it needs, and the functions that several of its
 * rows use.
 */
#ifndef SCTRACE_DECODE_KINDS_H
#define SCTRACE_DECODE_KINDS_H

#include "base/buf.h"
#include "decode/decode.h"
#include "decode/emit.h"
#include "syscall/call_table.h"
#include "syscall/rules.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kind;

/* When an argument is known. */
enum when {
	WHEN_ENTERING,  /* at entry; also if the kernel both reads and writes the argument's memory */
	WHEN_LEFT,      /* after a successful call, because the kernel writes the memory; if the call fails, only the
			 * pointer is shown */
	WHEN_LEFT_EVEN, /* like WHEN_LEFT, but the kernel writes the memory even if the call fails */
	WHEN_BOTH,      /* at entry; after a successful call, other data that the kernel has written is shown too */
	WHEN_NEVER,     /* this call does not use the argument, such as the mode of openat(2) without O_CREAT */
};

/* A value that is shown. */
struct value {
	uint64_t v;        /* a number, or the address of the memory that is shown */
	const void *about; /* `about` of the value's kind */
	int arg;           /* the index of the argument; negative if the value is not an argument, such as a member */
};

/*
 * Emits one value. If its memory cannot be read, emits the pointer. A function that uses the argument before or after
 * the value needs an index in `arg`, so its kind must not be the kind of a member.
 */
typedef void show_fn(const struct decode *d, const struct value *x);
/* Says when argument `i` of this call is known. */
typedef enum when when_fn(const struct decode *d, int i);

struct kind {
	struct memory_need need; /* the memory that `show` and `show_after` read */
	show_fn *show;
	const void *about; /* data for the show function, such as a flag_table or a layout */
	enum when when;
	when_fn *choose;     /* used instead of `when` if other arguments decide when this one is known */
	show_fn *show_after; /* for WHEN_BOTH: calls emit_after() and shows what the kernel has written, or shows
			      * nothing */
	bool asks;           /* `show` may ask for the names of descriptors and processes in memory (decode.c) */
	const char *name;    /* without K_ */
};

extern const struct kind decode_kinds[K_COUNT];

/* Shows `v` as `kind`. `i` is the index of the argument, or negative if `v` is not an argument. */
void show_kind(const struct decode *d, enum syscall_kind kind, uint64_t v, int i);
/* Shows what the kernel has written to the memory of `v`, if `kind` is shown at entry and after the call. */
void show_kind_after(const struct decode *d, enum syscall_kind kind, uint64_t v, int i);
/* Shows `v` as member `name` of the structure that the caller has opened. */
void show_field(const struct decode *d, const char *name, enum syscall_kind kind, uint64_t v);

/* These show numbers. */
show_fn show_int, show_uint, show_long, show_ulong, show_hex, show_octal, show_pointer, show_flags, show_choice;
show_fn show_flags32, show_choice32;
show_fn show_fd, show_dirfd, show_pid, show_uid, show_dev, show_hex16, show_low_bit, show_short, show_choice16,
	show_errno;
show_fn show_kernel_dev, show_be16, show_be32, show_be64, show_ethertype, show_ifindex;
show_fn show_negative_errno;
show_fn show_off_low, show_off_swapped;
when_fn when_off_high, when_mremap_addr;
/* Shows numbers of bits by name, such as 1<<TCP_LISTEN. `about` is a struct bit_numbers. */
show_fn show_bit_numbers;
struct bit_numbers {
	const struct flag_table *names;
	unsigned first; /* the number that the lowest bit stands for: 1 in 1<<(INET_DIAG_MEMINFO-1) */
};
/* These show strings and bytes. */
show_fn show_path, show_string, show_in_bytes, show_out_bytes, show_out_path_n, show_out_random, show_argv, show_envp;
/* Shows the value that a pointer points at. `about` is a struct pointee. */
show_fn show_pointee, show_moved_offset;
struct pointee {
	enum syscall_kind kind;
	unsigned size; /* size of the value: 1, 2, 4, 8; 0: a pointer or long of the call's architecture */
};

/* Shows an array of numbers. `about` is a struct numbers. */
show_fn show_numbers;
struct numbers {
	enum syscall_kind kind;
	unsigned size; /* bytes of a number; 0: a long of the call's architecture */
	unsigned n;    /* how many numbers there are, or one of the constants below */
};
/* The number of elements is the result of the call, or its second argument (move_pages(2)). */
enum { NUMBERS_RESULT = 1000, NUMBERS_ARG2 };

/* A structure of which the kernel reads the members in `in`, and writes those in `out`. */
struct exchange {
	const struct layout *in, *out;
};

/*
 * Returns the address of the signal mask that rt_sigreturn(2) restores. On x86-64 the signal frame is a ucontext, whose last
 * member is the mask (arch/x86/include/uapi/asm/ucontext.h); the signal handler has already popped the 8 bytes of the return
 * address. On aarch64 a siginfo precedes the ucontext, in which the registers come last (asm/ucontext.h).
 */
uint64_t decode_frame_mask(const struct call *c);
/* Returns syscall_word_size() of the call. */
unsigned decode_word(const struct decode *d);
/* Reads exactly `n` bytes at `addr`. Returns false if any of them cannot be read. */
bool decode_get(const struct decode *d, uint64_t addr, void *to, size_t n);
/* Like decode_get(), for the memory of a whole value. If it returns false, it has emitted `addr` as a pointer. */
bool decode_need(const struct decode *d, uint64_t addr, void *to, size_t n);
/* Reads a pointer or long of the call's architecture. */
bool decode_get_word(const struct decode *d, uint64_t addr, uint64_t *v);
/* Returns the result of the call as a number of bytes or elements. It is 0 if the result is negative. */
uint64_t decode_returned(const struct decode *d);
/*
 * Reads the lengths of the addresses in `n` struct mmsghdr at `addr`, but at most `most`. Returns how many it has read.
 */
unsigned decode_mmsg_lengths(const struct decode *d, uint64_t addr, uint64_t n, uint32_t *lengths, unsigned most);
/* Emits at most `n` bytes at `addr` as a string, limited to opts->string_max, or the pointer if they cannot be read. */
void decode_bytes(const struct decode *d, uint64_t addr, uint64_t n);
/* Like decode_bytes(), but in hexadecimal, for data that is not text. */
void decode_hex_bytes(const struct decode *d, uint64_t addr, uint64_t n);
/* What a descriptor refers to (-y). */
struct decode_fd {
	struct buf name, device;
	struct emit_is is; /* its strings are in the other members */
};
/*
 * Fills in *f, which the caller must always free. Returns &f->is, or NULL if names were not requested or the
 * descriptor's name is unknown.
 */
const struct emit_is *decode_fd_is(const struct decode *d, int fd, struct decode_fd *f);
void decode_fd_free(struct decode_fd *f);
/* Appends the name of a process, escaped (-Y). Returns false if names were not requested or the name is unknown. */
bool decode_pid_name(const struct decode *d, int pid, struct buf *out);
/* --decode-pids=pidns: emits the number of a process in sctrace's pid namespace, if it is another one. */
void decode_outer_id(const struct decode *d, int pid);
/* -e namespace=new: shows the namespaces that a successful call has entered, as the meaning of its result. */
void decode_namespaces(const struct decode *d);
/*
 * Emits the NUL-terminated string at `addr`, but at most `max` bytes. If the string cannot be read, emits the pointer.
 */
void decode_string(const struct decode *d, uint64_t addr, size_t max);

/*
 * Emits an array of `n` elements of `size` bytes at `addr`. Like strace, shows at most opts->string_max elements.
 * `each` emits the element at the given address. If no element can be read, emits the pointer.
 */
typedef void element_fn(const struct decode *d, uint64_t addr, void *ctx);
void decode_array(const struct decode *d, uint64_t addr, uint64_t n, size_t size, element_fn *each, void *ctx);

/* Shows the single number that a pointer points at, in brackets. -s does not limit it, as it is not a list. */
void decode_number(const struct decode *d, uint64_t addr, size_t size, enum syscall_kind kind);

/* Like decode_array(), for `n` numbers of `size` bytes, each shown as `kind`. */
void decode_numbers(const struct decode *d, uint64_t addr, uint64_t n, size_t size, enum syscall_kind kind);

/* Shows the number at `addr`, which has `size` bytes, as `kind`. If the number cannot be read, shows the pointer. */
void decode_kind_at(const struct decode *d, uint64_t addr, size_t size, enum syscall_kind kind);

/* What is known about an argument of a command, such as F_SETFD of fcntl(2). */
struct command_arg {
	uint16_t kind; /* enum syscall_kind; K_END: the command does not use the argument */
	uint8_t when;  /* enum when */
};
/* Returns what is known about argument `arg` of a command, or NULL if the command has no row in flags.def. */
const struct command_arg *command_find(enum memory_table table, uint32_t command, unsigned arg);
/* Show an argument as the call's command says. `about` is the kind (enum syscall_kind) for commands without a row. */
show_fn show_command_arg;
when_fn when_command_arg;

/* What decides between the rules of an argument: a command, such as that of ioctl(2). */
struct command_memory {
	enum memory_table table;
	unsigned arg; /* the argument to which the rule applies */
	uint32_t command;
	enum syscall_kind kind;  /* if `need` is empty: the rule of this kind applies */
	enum when when;          /* with `kind`: when the argument is known */
	struct memory_need need; /* an explicit rule, which takes precedence over `kind` */
};
typedef void command_memory_fn(void *ctx, const struct command_memory *c);
/* Gives the memory rules of the arguments of all commands in flags.def to `add`. */
void commands_memory(command_memory_fn *add, void *ctx);

/*
 * The memory rules of arguments: those of their kinds (syscall/kinds.def), and those of commands, such as ioctl(2), which
 * follow from the tables by which decoders show their arguments.
 */

/* The number of arguments of execve(2) that are shown, unless all are (-v). */
#define DECODE_ARGV_MOST 32

/* Returns the rule of argument `arg`, which has this kind. */
struct memory_need decode_memory_need(enum syscall_kind kind, unsigned arg);

/*
 * Returns the rule of argument `arg` of a call: that of its kind, as far as the call does not say more. With `verbose`, all
 * arguments and variables of execve(2) are shown.
 */
struct memory_need decode_memory_of(const struct syscall_desc *d, unsigned arg, bool verbose);
/* Fills in the rules of commands, and the parts of structures. decode_memory_index() adds the rules of arguments. */
void decode_memory_tables(struct memory_tables *tables);
/* Returns the index of a rule in the tables, and adds it if it is not there yet. Without room, returns 0: a missing rule. */
uint8_t decode_memory_index(struct memory_tables *tables, const struct memory_need *need);

/*
 * Names of constants: the tables of flags.def, and functions that emit values by these names (flags.c). The names of errnos
 * and signals (decode/decode.h) are in flags.c, too.
 */

struct flag {
	const char *name;
	uint64_t value;
};

/* A set of constants and their names. */
struct flag_table {
	const char *unknown; /* printed for a value that has no name: "O_???" */
	uint64_t mask;       /* bits that together hold one of several values, such as O_ACCMODE; each of the other
			      * rows is a single bit */
	size_t n;
	const struct flag *rows;
};

#define FLAGS(name, unknown, mask) extern const struct flag_table flags_##name;
#include "decode/flags.def"

/* Returns the name of the row whose value is exactly `v`, or NULL. */
const char *flags_find(const struct flag_table *t, uint64_t v);
/*
 * Appends the names of the bits in `v`, such as "A|B|0x40". Bits without a name are in hexadecimal. A value of 0
 * becomes the name of its row, or "0". Returns false if no name matched.
 */
bool flags_join(struct buf *out, const struct flag_table *t, uint64_t v);
/*
 * Emits the name of the constant whose value is `v`. If there is none, emits `v` in hexadecimal and the table's
 * `unknown`.
 */
void flags_emit_choice(struct emit *e, const struct flag_table *t, uint64_t v);
/* Emits the names of the bits in `v`, joined by "|". */
void flags_emit(struct emit *e, const struct flag_table *t, uint64_t v);

#endif
