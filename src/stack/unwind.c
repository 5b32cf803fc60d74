#include "stack/unwind.h"

#include "base/buf.h"
#include "base/memory.h"
#include "base/vec.h"
#include "stack/eh_frame.h"
#include "tracee/mem.h"
#include "tracee/proc.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <libunwind-ptrace.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 16, FRAMES_MAX = 512, PHDRS_MAX = 64 };

/*
 * libunwind exports this function for callers that know where the tables are (perf uses it as well), but no header
 * declares it.
 */
extern int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t as, unw_word_t ip, unw_dyn_info_t *di,
					      unw_proc_info_t *pi, int need_unwind_info, void *arg);
#define search_unwind_table UNW_OBJ(dwarf_search_unwind_table)

struct module {
	uint64_t start, end;
	struct eh_frame table;
};

struct page {
	uint64_t addr;
	bool known, readable;
	uint8_t data[PAGE];
};

struct unwind {
	pid_t pid;
	unw_addr_space_t space;
	VEC(struct module) modules; /* sorted by address, as /proc/PID/maps is */
	bool blind;                 /* some code has no table or another word size, so libunwind cannot walk through
				     * it */
	void *upt;                  /* libunwind's data about the thread, during a walk */
	struct page pages[PAGES];   /* memory of the process, during a walk; it is read again in the next walk,
				     * because the stack changes */
};

/* ---- Reading the memory of the process ---- */

static const struct page *page_at(struct unwind *u, uint64_t addr)
{
	struct page *p = &u->pages[addr / PAGE % PAGES];
	if (p->known && p->addr == addr)
		return p;
	const struct mem m = {mem_read_process, &u->pid};
	p->addr = addr;
	p->known = true;
	p->readable = mem_get(&m, addr, p->data, PAGE) == 0;
	return p;
}

static int read_mem(struct unwind *u, uint64_t addr, void *buf, size_t n)
{
	for (size_t done = 0; done < n;) {
		uint64_t at = addr + done;
		const struct page *p = page_at(u, at & ~(uint64_t)(PAGE - 1));
		size_t from = at % PAGE;
		size_t part = PAGE - from < n - done ? PAGE - from : n - done;
		if (!p->readable)
			return -EFAULT;
		memcpy((uint8_t *)buf + done, p->data + from, part);
		done += part;
	}
	return 0;
}

static void forget_pages(struct unwind *u)
{
	for (size_t i = 0; i < PAGES; i++)
		u->pages[i].known = false;
}

/* ---- Finding modules and their tables ---- */

enum { NATIVE_CLASS = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32 };

/* Returns true if the word size of the program differs from sctrace's. */
static bool is_foreign(pid_t pid)
{
	char path[40];
	unsigned char ident[EI_NIDENT] = {0};
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, ident, sizeof(ident));
	if (fd >= 0)
		close(fd);
	return n == sizeof(ident) && ident[EI_CLASS] != NATIVE_CLASS;
}

/*
 * Reads the ELF header that is mapped at `start`, and fills in *m. Returns false if there is no header, or if the
 * module has no table.
 */
static bool read_module(struct unwind *u, uint64_t start, struct module *m)
{
	ElfW(Ehdr) eh;
	ElfW(Phdr) ph[PHDRS_MAX] = {0};
	uint8_t head[16];
	uint64_t low = UINT64_MAX, high = 0, table = 0;
	if (read_mem(u, start, &eh, sizeof(eh)) < 0 || memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0)
		return false;
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
		low = from < low && ph[i].p_offset < PAGE ? from : low;
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
	struct buf text = {0};
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
	buf_free(&text);
	return r;
}

uint64_t unwind_fingerprint(pid_t pid)
{
	char text[16384];
	uint64_t h = 0xcbf29ce484222325ull, line = h; /* FNV-1a, one hash for each line */
	char path[40];
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t column = 0;
	bool executable = false, file = false;
	if (fd < 0)
		return 0;
	for (ssize_t n; (n = read(fd, text, sizeof(text))) > 0;)
		for (ssize_t i = 0; i < n; i++) {
			char c = text[i];
			line = (line ^ (unsigned char)c) * 0x100000001b3ull;
			executable |= c == 'x' && column < 40;
			file |= c == '/' || c == '[';
			column++;
			if (c != '\n')
				continue;
			if (executable && file)
				h = (h ^ line) * 0x100000001b3ull;
			line = 0xcbf29ce484222325ull;
			executable = file = false;
			column = 0;
		}
	close(fd);
	return h;
}

static const struct module *module_at(const struct unwind *u, uint64_t ip)
{
	size_t lo = 0, hi = u->modules.n;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (u->modules.v[mid].start <= ip)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && ip < u->modules.v[lo - 1].end ? &u->modules.v[lo - 1] : NULL;
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
	return search_unwind_table(as, ip, &di, pi, need, arg);
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
	return write ? -UNW_EREADONLYREG : _UPT_access_reg(as, reg, value, 0, u->upt);
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
	return write ? -UNW_EREADONLYREG : _UPT_access_fpreg(as, reg, value, 0, u->upt);
}

static int no_resume(unw_addr_space_t as, unw_cursor_t *c, void *arg)
{
	(void)as;
	(void)c;
	(void)arg;
	return -UNW_EINVAL;
}

static int no_name(unw_addr_space_t as, unw_word_t ip, char *buf, size_t n, unw_word_t *off, void *arg)
{
	(void)as;
	(void)ip;
	(void)buf;
	(void)n;
	(void)off;
	(void)arg;
	return -UNW_ENOINFO;
}

/* GCOVR_EXCL_STOP */

/* ---- Walking ---- */

struct unwind *unwind_open(pid_t pid)
{
	static unw_accessors_t accessors = {
		.find_proc_info = find_proc_info,
		.put_unwind_info = keep_unwind_info,
		.get_dyn_info_list_addr = no_dyn_info,
		.access_mem = access_mem,
		.access_reg = access_reg,
		.access_fpreg = access_fpreg,
		.resume = no_resume,
		.get_proc_name = no_name,
	};
	struct unwind *u = memory_zeroed(1, sizeof(*u));
	u->pid = pid;
	u->blind = is_foreign(pid);
	u->space = unw_create_addr_space(&accessors, 0);
	if (!u->space || find_modules(u) < 0) {
		unwind_close(u);
		return NULL;
	}
	/* libunwind's cache is valid until the mappings change. Then `u` is closed and opened again. */
	unw_set_caching_policy(u->space, UNW_CACHE_GLOBAL);
	return u;
}

void unwind_close(struct unwind *u)
{
	if (!u)
		return;
	if (u->space)
		unw_destroy_addr_space(u->space);
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
	int r = unw_init_remote(&c, u->space, u);
	if (r < 0)
		return -ESRCH;
	while (frames < FRAMES_MAX && unw_get_reg(&c, UNW_REG_IP, &ip) == 0 && unw_get_reg(&c, UNW_REG_SP, &sp) == 0) {
		if (!ip || (frames && ip == last_ip && sp == last_sp)) /* the outermost frame, or a frame that is its
									* own caller */
			break;
		frames++;
		if (!fn(ctx, ip, exact))
			break;
		exact = unw_is_signal_frame(&c) > 0;
		last_ip = ip;
		last_sp = sp;
		if (unw_step(&c) <= 0)
			break;
	}
	return frames ? frames : -ESRCH;
}

int unwind_walk(struct unwind *u, pid_t tid, unwind_fn fn, void *ctx)
{
	forget_pages(u);
	u->upt = _UPT_create(tid);
	if (!u->upt)
		memory_exhausted();
	int r = walk(u, fn, ctx);
	_UPT_destroy(u->upt);
	u->upt = NULL;
	return r;
}
