/* SPDX-License-Identifier: MIT */
#include "syscall/call_table.h"

#include "base/buf.h"
#include "syscall/uring_ops.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <pthread.h>
#include <seccomp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* This bit of the number marks x32 calls, whose architecture is that of x86-64 (linux/audit.h, asm/unistd.h). */
#define X32_BIT 0x40000000

#define A(n, k)                                                                                                        \
	{                                                                                                              \
		.name = #n, K_##k                                                                                      \
	}
#define ROW(nr, on, call, grp, res, ...)                                                                               \
	{                                                                                                              \
		.name = #call, .number = (nr), .arch = (on), .groups = (grp), .result = (res), .args = {__VA_ARGS__},  \
		.nargs = sizeof((struct syscall_arg[]){{0}, ##__VA_ARGS__}) / sizeof(struct syscall_arg) - 1           \
	}
#define SYSCALL(...)            ROW(0, 0, __VA_ARGS__)
#define SYSCALL_AT(nr, ...)     ROW(nr, 0, __VA_ARGS__)
#define SYSCALL_X86_64(nr, ...) ROW(nr, AUDIT_ARCH_X86_64, __VA_ARGS__)
#define SYSCALL_I386(...)       ROW(0, AUDIT_ARCH_I386, __VA_ARGS__)
#define SYSCALL_AARCH64(...)    ROW(0, AUDIT_ARCH_AARCH64, __VA_ARGS__)

static const struct syscall_desc descs[] = {
#include "syscall/syscalls.def"
};

#define NDESCS (sizeof(descs) / sizeof(*descs))
#define SLOTS  1024

/*
 * The calls of one architecture. The rows of the described calls are filled in before the first use. libseccomp, which
 * needs about 0.3 us for each number, is asked about another number when it is needed for the first time.
 */
struct arch_index {
	uint32_t arch, token; /* AUDIT_ARCH_*, and libseccomp's identifier, which differs for x32 */
	int64_t bit;
	atomic_bool filled, asked[SLOTS];
	const struct syscall_desc *known[SLOTS];
	const char *names[SLOTS];
};

static struct arch_index indices[] = {
	{.arch = AUDIT_ARCH_X86_64, .token = SCMP_ARCH_X86_64},
	{.arch = AUDIT_ARCH_X86_64, .token = SCMP_ARCH_X32, .bit = X32_BIT},
	{.arch = AUDIT_ARCH_I386, .token = SCMP_ARCH_X86},
	{.arch = AUDIT_ARCH_AARCH64, .token = SCMP_ARCH_AARCH64},
	{.arch = AUDIT_ARCH_ARM, .token = SCMP_ARCH_ARM},
};
static pthread_mutex_t filling = PTHREAD_MUTEX_INITIALIZER;

/* Returns the number of a described call, without the x32 bit; -1 if the architecture does not have the call. */
static int number_of(const struct syscall_desc *d, uint32_t arch, uint32_t token)
{
	if (d->arch && d->arch != arch)
		return -1;
	int nr = seccomp_syscall_resolve_name_arch(token, d->name);
	if (nr < 0)
		return d->number ? d->number : -1;
	return nr & ~X32_BIT;
}

static const struct syscall_desc *desc_named(const char *name, uint32_t arch)
{
	const struct syscall_desc *found = NULL;
	for (size_t i = 0; i < NDESCS; i++)
		if (strcmp(descs[i].name, name) == 0 && (!descs[i].arch || descs[i].arch == arch))
			found = &descs[i];
	return found;
}

static void index_fill(struct arch_index *x)
{
	for (size_t i = 0; i < NDESCS; i++) {
		int nr = number_of(&descs[i], x->arch, x->token);
		/* A row for one architecture takes precedence over a row for all. */
		if (nr >= 0 && nr < SLOTS && (!x->known[nr] || descs[i].arch)) {
			x->known[nr] = &descs[i];
			x->names[nr] = descs[i].name;
			x->asked[nr] = true;
		}
	}
}

/* Asks libseccomp about a number that has no row. */
static void index_ask(struct arch_index *x, int nr)
{
	pthread_mutex_lock(&filling);
	if (!x->asked[nr]) {
		x->names[nr] = seccomp_syscall_resolve_num_arch(x->token, nr | (int)x->bit);
		/*
		 * number_of() does not find i386's sendmsg and similar calls, because libseccomp returns the numbers
		 * that they have inside socketcall(2). The rows of these calls are found by name instead.
		 */
		if (x->names[nr])
			x->known[nr] = desc_named(x->names[nr], x->arch);
	}
	x->asked[nr] = true;
	pthread_mutex_unlock(&filling);
}

static void index_fill_once(struct arch_index *x)
{
	pthread_mutex_lock(&filling);
	if (!x->filled)
		index_fill(x);
	x->filled = true;
	pthread_mutex_unlock(&filling);
}

static bool is_x32(uint32_t arch, int64_t nr)
{
	return arch == AUDIT_ARCH_X86_64 && nr >= X32_BIT && nr < X32_BIT + SLOTS;
}

/* Returns true if the index has a slot for the number. The private calls of ARM, such as set_tls, have none. */
static bool indexed(const struct arch_index *x, int64_t nr)
{
	return x && nr >= x->bit && nr < x->bit + SLOTS;
}

/* Returns the index in which the number has its slot, or NULL. The slot, if there is one, is filled in. */
static const struct arch_index *index_of(uint32_t arch, int64_t nr)
{
	int64_t bit = is_x32(arch, nr) ? X32_BIT : 0;
	for (size_t i = 0; i < sizeof(indices) / sizeof(*indices); i++) {
		if (indices[i].arch != arch || indices[i].bit != bit)
			continue;
		if (!indices[i].filled)
			index_fill_once(&indices[i]);
		if (indexed(&indices[i], nr) && !indices[i].asked[nr - bit])
			index_ask(&indices[i], (int)(nr - bit));
		return &indices[i];
	}
	return NULL;
}

/* Finds a call that has no slot in an index. Searches the rows by name. */
static const struct syscall_desc *lookup_slowly(uint32_t arch, int64_t nr)
{
	char *name = nr >= 0 && nr < X32_BIT ? seccomp_syscall_resolve_num_arch(arch, (int)nr) : NULL;
	const struct syscall_desc *found = name ? desc_named(name, arch) : NULL;
	free(name);
	for (size_t i = 0; !found && i < NDESCS; i++)
		if (descs[i].number >= 424 && descs[i].number == nr)
			found = &descs[i];
	return found;
}

/*
 * Finds a call that is made inside another one (syscall_inside()). The upper half of such a number is the index of the
 * row plus 1; the lower half is the number of the outer call.
 */
static const struct syscall_desc *inside(uint32_t arch, int64_t nr)
{
	int64_t row = arch == AUDIT_ARCH_I386 ? nr >> 32 : 0;
	return row > 0 && row <= (int64_t)NDESCS ? &descs[row - 1] : NULL;
}

int64_t syscall_inside(const char *name, int64_t door)
{
	for (size_t i = 0; i < NDESCS; i++)
		if (strcmp(descs[i].name, name) == 0)
			return (int64_t)(i + 1) << 32 | door;
	return -1;
}

int64_t syscall_kernel_number(uint32_t arch, int64_t nr)
{
	return inside(arch, nr) ? nr & UINT32_MAX : nr;
}

const struct syscall_desc *syscall_lookup(uint32_t arch, int64_t nr)
{
	if (inside(arch, nr))
		return inside(arch, nr);
	const struct arch_index *x = index_of(arch, nr);
	return indexed(x, nr) ? x->known[nr - x->bit] : lookup_slowly(arch, nr);
}

const char *syscall_name_known(uint32_t arch, int64_t nr)
{
	if (inside(arch, nr))
		return inside(arch, nr)->name;
	const struct arch_index *x = index_of(arch, nr);
	if (indexed(x, nr))
		return x->names[nr - x->bit];
	const struct syscall_desc *d = lookup_slowly(arch, nr);
	return d ? d->name : NULL;
}

/* Appends the name of an operation of io_uring. */
static void name_operation(struct buf *out, int64_t opcode)
{
	const struct uring_op *op = uring_op((uint64_t)opcode);
	if (op)
		buf_addf(out, "io_uring:%s", op->name);
	else
		buf_addf(out, "io_uring:%lld", (long long)opcode);
}

void syscall_name(struct buf *out, uint32_t arch, int64_t nr)
{
	if (arch == SYSCALL_URING_ARCH) {
		name_operation(out, nr);
		return;
	}
	const struct arch_index *x = index_of(arch, nr);
	const char *known = syscall_name_known(arch, nr);
	char *name = !known && !indexed(x, nr) && nr >= 0 && nr < X32_BIT
			     ? seccomp_syscall_resolve_num_arch(arch, (int)nr)
			     : NULL;
	if (known || name)
		buf_adds(out, known ? known : name);
	else if (nr == SYSCALL_OTHERS)
		buf_adds(out, "(all others)");
	else
		buf_addf(out, "syscall_0x%llx", (unsigned long long)nr);
	if (known && is_x32(arch, nr))
		buf_adds(out, "#x32");
	free(name);
}

void syscall_name_of(struct buf *out, const struct syscall_desc *desc, uint32_t arch, int64_t nr)
{
	if (!desc) {
		syscall_name(out, arch, nr);
		return;
	}
	buf_adds(out, desc->name);
	if (is_x32(arch, nr))
		buf_adds(out, "#x32");
}

int64_t syscall_number(uint32_t arch, const char *name)
{
	int nr = seccomp_syscall_resolve_name_arch(arch, name);
	if (nr >= 0)
		return nr;
	const struct syscall_desc *d = desc_named(name, arch);
	return d && d->number ? d->number : -1;
}

const struct syscall_desc *syscall_row(size_t i)
{
	return i < NDESCS ? &descs[i] : NULL;
}

bool syscall_returns_bytes(uint32_t arch, int64_t nr)
{
	const struct syscall_desc *d = syscall_lookup(arch, nr);
	return d && d->result == R_BYTES;
}

uint32_t syscall_native_arch(void)
{
#if defined(__x86_64__)
	return AUDIT_ARCH_X86_64; /* seccomp_arch_native() takes longer, and this is called for each event */
#else
	return AUDIT_ARCH_AARCH64;
#endif
}

bool syscall_changes_names(const struct syscall_desc *d)
{
	return d->result == R_FD || d->groups & G_NAMES;
}

bool syscall_keeps_names(const struct call *c)
{
	return !syscall_changes_names(c->desc) || (c->desc->result == R_FCNTL && (uint32_t)c->args[1] != F_DUPFD &&
						   (uint32_t)c->args[1] != F_DUPFD_CLOEXEC);
}

bool syscall_changes_signalfd(const struct syscall_desc *d, const uint64_t args[1])
{
	return d->groups & G_SIGNAL && d->result == R_FD && (int32_t)args[0] != -1;
}

/* Is it connect(2) or another call that changes the addresses of the socket that is its first argument? */
static bool changes_addresses(const struct syscall_desc *d)
{
	return d->groups & G_NETWORK && d->groups & G_NAMES && d->result == R_INT && d->args[0].kind == K_FD;
}

static struct syscall_changed renames_fds(uint64_t first, uint64_t last)
{
	return (struct syscall_changed){CHANGES_FDS, (uint32_t)first, (uint32_t)last};
}

struct syscall_changed syscall_changed(const struct call *c)
{
	const struct syscall_desc *d = c->desc;
	const struct syscall_changed nothing = {0};
	if (d && !syscall_changes_names(d))
		return nothing;
	if (!d || c->arch != syscall_native_arch() || c->foreign || c->nr == SYS_io_uring_setup)
		return (struct syscall_changed){.what = CHANGES_ALL};
	if (c->nr == SYS_close) /* many errors of close(2) come after the descriptor was closed */
		return renames_fds(c->args[0], c->args[0]);
	if (changes_addresses(d) && (!c->error || c->err == EINPROGRESS))
		return (struct syscall_changed){CHANGES_ADDRESSES, (uint32_t)c->args[0], (uint32_t)c->args[0]};
	if (c->error)
		return nothing;
	if (c->nr == SYS_close_range)
		return renames_fds(c->args[0], c->args[1]);
	if (d->groups & G_RENAMES || syscall_changes_signalfd(d, c->args))
		return (struct syscall_changed){.what = CHANGES_FILES};
	if (c->nr == SYS_chdir || c->nr == SYS_fchdir)
		return renames_fds((uint32_t)AT_FDCWD, (uint32_t)AT_FDCWD);
	if (syscall_keeps_names(c))
		return nothing; /* the result is not a descriptor */
	if (d->result == R_FD || d->result == R_FCNTL)
		return renames_fds((uint64_t)c->result, (uint64_t)c->result);
	return (struct syscall_changed){.what = CHANGES_OTHERS};
}

unsigned syscall_word_size(const struct call *c)
{
	if (c->arch == AUDIT_ARCH_X86_64)
		return c->nr >= X32_BIT && c->nr < 2 * (int64_t)X32_BIT ? 4 : 8;
	return c->arch & __AUDIT_ARCH_64BIT ? 8 : 4;
}

int syscall_find_kind(const struct call *c, uint16_t kind)
{
	for (unsigned i = 0; c->desc && i < c->desc->nargs; i++)
		if (c->desc->args[i].kind == kind)
			return (int)i;
	return -1;
}
