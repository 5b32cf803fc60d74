/* SPDX-License-Identifier: MIT */
#include "stack/unwind.h"

#include "base/buf.h"
#include "base/library.h"
#include "base/memory.h"
#include "tracee/mem.h"
#include "tracee/proc.h"

#include <elf.h>
#include <errno.h>
#include <libunwind-ptrace.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRAMES_MAX = 512, PHDRS_MAX = 64 };

/* libunwind exports this function for callers that know where the tables are, but no header declares it. */
extern int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t as, unw_word_t ip, unw_dyn_info_t *di,
					      unw_proc_info_t *pi, int need_unwind_info, void *arg);
#define search_unwind_table UNW_OBJ(dwarf_search_unwind_table)

/* The functions that are used here: of libunwind for this machine, and of its part for ptrace(2). */
/* clang-format off */
#define LIBUNWIND(X) \
	X(search_unwind_table) X(unw_create_addr_space) X(unw_destroy_addr_space) X(unw_get_reg) X(unw_init_remote) \
	X(unw_is_signal_frame) X(unw_set_caching_policy) X(unw_step)
#define LIBUNWIND_PTRACE(X) \
	X(_UPT_access_fpreg) X(_UPT_access_reg) X(_UPT_create) X(_UPT_destroy)
/* clang-format on */

static LIBRARY_STRUCT(LIBUNWIND) libunwind;
static LIBRARY_STRUCT(LIBUNWIND_PTRACE) libunwind_ptrace;

struct module {
	uint64_t start, end;
	struct eh_frame table;
};

struct unwind {
	pid_t pid;
	unw_addr_space_t space;
	VEC(struct module) modules;
	bool blind;             /* some code has no table or another word size, so libunwind cannot walk through
				     * it */
	bool native;            /* some code has sctrace's word size */
	void *upt;              /* libunwind's data about the thread, during a walk */
	struct mem_pages pages; /* the same during a walk; it is read again in the next walk, because the stack
				     * changes */
};

/* ---- Reading the memory of the process ---- */

static int read_mem(struct unwind *u, uint64_t addr, void *buf, size_t n)
{
	return mem_get(&(struct mem){mem_read_pages, &u->pages}, addr, buf, n);
}

/* ---- Finding modules and their tables ---- */

enum { NATIVE_CLASS = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32 };

/* Reads the ELF header that is mapped at `start`, and fills in *m. Returns false if there is no header or table. */
static bool read_module(struct unwind *u, uint64_t start, struct module *m)
{
	ElfW(Ehdr) eh;
	ElfW(Phdr) ph[PHDRS_MAX] = {0};
	uint8_t head[16];
	uint64_t low = UINT64_MAX, high = 0, table = 0;
	if (read_mem(u, start, &eh, sizeof(eh)) < 0 || memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	u->native |= eh.e_ident[EI_CLASS] == NATIVE_CLASS;
	if (eh.e_ident[EI_CLASS] != NATIVE_CLASS || eh.e_phentsize != sizeof(*ph) || eh.e_phnum > PHDRS_MAX ||
	    read_mem(u, start + eh.e_phoff, ph, eh.e_phnum * sizeof(*ph)) < 0)
		return false;
	for (size_t i = 0; i < eh.e_phnum; i++) {
		if (ph[i].p_type == PT_GNU_EH_FRAME)
			table = ph[i].p_vaddr;
		if (ph[i].p_type != PT_LOAD)
			continue;
		uint64_t from = ph[i].p_vaddr - ph[i].p_offset; /* address at which offset 0 of the file is, or would
								 * be, mapped */
		low = from < low && ph[i].p_offset < MEM_PAGE ? from : low;
		high = ph[i].p_vaddr + ph[i].p_memsz > high ? ph[i].p_vaddr + ph[i].p_memsz : high;
	}
	if (low == UINT64_MAX || high <= low)
		return false;
	u->blind |= !table;
	if (!table)
		return false;
	m->start = start;
	m->end = start + (high - low);
	uint64_t at = start + (table - low);
	return read_mem(u, at, head, sizeof(head)) == 0 && eh_frame_parse(head, sizeof(head), at, &m->table) == 0;
}

static int find_modules(struct unwind *u)
{
	auto_buf text = {0};
	struct proc_map map;
	int r = proc_read(u->pid, "maps", &text);
	for (const char *p = buf_str(&text); r == 0 && proc_map_next(&p, &map);) {
		struct module m;
		/* Skip mappings without an ELF header. Only the first mapping of a file, and the vdso, begin with one. */
		if (map.offset || (!map.ino && !proc_map_is(&map, "[vdso]")))
			continue;
		if (read_module(u, map.lo, &m))
			vec_push(&u->modules, m);
	}
	return r;
}

uint64_t unwind_fingerprint(pid_t pid)
{
	auto_buf text = {0};
	struct proc_map m;
	uint64_t h = 0xcbf29ce484222325ull; /* FNV-1a, of numbers instead of bytes */
	int r = proc_read(pid, "maps", &text);
	for (const char *p = buf_str(&text); r == 0 && proc_map_next(&p, &m);) {
		const uint64_t parts[] = {m.lo, m.hi, m.offset, m.dev, m.ino};
		for (size_t i = 0; m.perm[2] == 'x' && m.name_len && i < sizeof(parts) / sizeof(*parts); i++)
			h = (h ^ parts[i]) * 0x100000001b3ull;
	}
	return r < 0 ? 0 : h;
}

static const struct module *module_at(const struct unwind *u, uint64_t ip)
{
	for (size_t i = 0; i < u->modules.n; i++)
		if (ip >= u->modules.v[i].start && ip < u->modules.v[i].end)
			return &u->modules.v[i];
	return NULL;
}

/* ---- The functions that libunwind calls ---- */

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *pi, int need, void *arg)
{
	struct unwind *u = arg;
	const struct module *m = module_at(u, ip);
	if (!m)
		return -UNW_ENOINFO;
	unw_dyn_info_t di = {.start_ip = m->start, .end_ip = m->end, .format = UNW_INFO_FORMAT_REMOTE_TABLE};
	di.u.rti.segbase = m->table.header;
	di.u.rti.table_data = m->table.table;
	di.u.rti.table_len = m->table.count * 8 / sizeof(unw_word_t);
	return libunwind.search_unwind_table(as, ip, &di, pi, need, arg);
}

static int no_dyn_info(unw_addr_space_t as, unw_word_t *list, void *arg)
{
	(void)as;
	(void)list;
	(void)arg;
	return -UNW_ENOINFO;
}

static int access_mem(unw_addr_space_t as, unw_word_t addr, unw_word_t *value, int write, void *arg)
{
	(void)as;
	return write || read_mem(arg, addr, value, sizeof(*value)) < 0 ? -UNW_EINVAL : 0;
}

static int access_reg(unw_addr_space_t as, unw_regnum_t reg, unw_word_t *value, int write, void *arg)
{
	const struct unwind *u = arg;
	return write ? -UNW_EREADONLYREG : libunwind_ptrace._UPT_access_reg(as, reg, value, 0, u->upt);
}

/* GCOVR_EXCL_START: libunwind requires these functions, but never calls them in a walk. */

/* find_proc_info() allocates from libunwind's own pool, so nothing is freed here. */
static void keep_unwind_info(unw_addr_space_t as, unw_proc_info_t *pi, void *arg)
{
	(void)as;
	(void)pi;
	(void)arg;
}

static int access_fpreg(unw_addr_space_t as, unw_regnum_t reg, unw_fpreg_t *value, int write, void *arg)
{
	const struct unwind *u = arg;
	return write ? -UNW_EREADONLYREG : libunwind_ptrace._UPT_access_fpreg(as, reg, value, 0, u->upt);
}

/* GCOVR_EXCL_STOP */

/* ---- Walking ---- */

int unwind_load(struct buf *why)
{
	int r = LIBRARY_LOAD("libunwind-" LIBRARY_STRING_OF(UNW_TARGET) ".so.8", LIBUNWIND, &libunwind, why);
	return r < 0 ? r : LIBRARY_LOAD("libunwind-ptrace.so.0", LIBUNWIND_PTRACE, &libunwind_ptrace, why);
}

struct unwind *unwind_open(pid_t pid, const struct mem *mem)
{
	static unw_accessors_t accessors = {
		.find_proc_info = find_proc_info,
		.put_unwind_info = keep_unwind_info,
		.get_dyn_info_list_addr = no_dyn_info,
		.access_mem = access_mem,
		.access_reg = access_reg,
		.access_fpreg = access_fpreg,
	}; /* the other functions are for unw_resume(3) and unw_get_proc_name(3), which are not used here */
	struct unwind *u = memory_zeroed(1, sizeof(*u));
	u->pid = pid;
	mem_pages_init(&u->pages, mem);
	u->space = libunwind.unw_create_addr_space(&accessors, 0);
	if (!u->space || find_modules(u) < 0) {
		unwind_close(u);
		return NULL;
	}
	/* libunwind's cache is valid until the mappings change. Then `u` is closed and opened again. */
	libunwind.unw_set_caching_policy(u->space, UNW_CACHE_GLOBAL);
	/* A program of another word size has no ELF header of this one, not even that of the vdso. */
	u->blind |= !u->native;
	return u;
}

void unwind_close(struct unwind *u)
{
	if (!u)
		return;
	if (u->space)
		libunwind.unw_destroy_addr_space(u->space);
	vec_free(&u->modules);
	free(u);
}

bool unwind_is_blind(const struct unwind *u)
{
	return u->blind;
}

static int walk(struct unwind *u, unwind_fn fn, void *ctx)
{
	unw_cursor_t c;
	unw_word_t ip, sp, last_ip = 0, last_sp = 0;
	bool exact = true;
	int frames = 0;
	int r = libunwind.unw_init_remote(&c, u->space, u);
	if (r < 0)
		return -ESRCH;
	while (frames < FRAMES_MAX && libunwind.unw_get_reg(&c, UNW_REG_IP, &ip) == 0 &&
	       libunwind.unw_get_reg(&c, UNW_REG_SP, &sp) == 0) {
		if (!ip || (frames && ip == last_ip && sp == last_sp)) /* the outermost frame, or a frame that is its
									* own caller */
			break;
		frames++;
		if (!fn(ctx, ip, exact))
			break;
		exact = libunwind.unw_is_signal_frame(&c) > 0;
		last_ip = ip;
		last_sp = sp;
		if (libunwind.unw_step(&c) <= 0)
			break;
	}
	return frames ? frames : -ESRCH;
}

int unwind_walk(struct unwind *u, pid_t tid, const struct mem *mem, unwind_fn fn, void *ctx)
{
	mem_pages_init(&u->pages, mem);
	u->upt = libunwind_ptrace._UPT_create(tid);
	if (!u->upt)
		memory_exhausted();
	int r = walk(u, fn, ctx);
	libunwind_ptrace._UPT_destroy(u->upt);
	u->upt = NULL;
	return r;
}

static size_t encoded_size(uint8_t enc)
{
	switch (enc & 0x0f) {
	case 0x03: /* DW_EH_PE_udata4 */
	case 0x0b: /* DW_EH_PE_sdata4 */
		return 4;
	case 0x00: /* DW_EH_PE_absptr */
	case 0x04: /* DW_EH_PE_udata8 */
	case 0x0c: /* DW_EH_PE_sdata8 */
		return 8;
	default:
		return 0;
	}
}

int eh_frame_parse(const uint8_t *head, size_t n, uint64_t addr, struct eh_frame *t)
{
	enum { VERSION = 1, UDATA4 = 0x03, DATAREL_SDATA4 = 0x3b };
	if (n < 4 || head[0] != VERSION || head[2] != UDATA4 || head[3] != DATAREL_SDATA4)
		return -ENOTSUP;
	size_t skip = 4 + encoded_size(head[1]);
	uint32_t count;
	if (skip == 4 || n < skip + sizeof(count))
		return -ENOTSUP;
	memcpy(&count, head + skip, sizeof(count));
	*t = (struct eh_frame){.header = addr, .table = addr + skip + sizeof(count), .count = count};
	return 0;
}
