/* SPDX-License-Identifier: MIT */
#include "engine/patch/remote/remote.h"

#include "engine/ptrace/tracer.h"
#include "tracee/mem.h"
#include "tracee/proc.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Is this code of a file of the program's? The recorder is a file as well, but it is the engine's. */
static bool is_program_code(const struct proc_map *m)
{
	return m->ino != 0 && memcmp(m->perm, "r-xp", 4) == 0 && (m->lo < AGENT_CODE || m->lo >= AGENT_LIMIT);
}

#define PHDRS_MAX 64

/*
 * Is this mapping a segment of the ELF object that is loaded at `base`? lld and the linker of Zig place the beginnings of segments
 * in the page of the file in which the previous segment ends. The first page of the file is then mapped several times.
 */
static bool is_segment_of(pid_t pid, uint64_t base, const struct mapping *m)
{
	Elf64_Ehdr eh;
	Elf64_Phdr ph[PHDRS_MAX];
	bool loads = false;
	uint64_t bias = 0; /* the difference between addresses in memory and in the file */
	if (remote_read(pid, base, &eh, sizeof(eh)) < 0 || memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
	    eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_phentsize != sizeof(*ph) || eh.e_phnum > PHDRS_MAX ||
	    remote_read(pid, base + eh.e_phoff, ph, eh.e_phnum * sizeof(*ph)) < 0)
		return false;
	for (unsigned i = 0; i < eh.e_phnum; i++) {
		if (ph[i].p_type != PT_LOAD)
			continue;
		bias = loads ? bias : base - (ph[i].p_vaddr - ph[i].p_offset);
		uint64_t at = bias + ph[i].p_vaddr;
		if (loads && at >= m->lo && at < m->hi && at - m->lo + m->file_offset == ph[i].p_offset)
			return true;
		loads = true;
	}
	return false;
}

void maps_read(const struct task *task)
{
	struct image *img = image_of(task);
	auto_buf text = {0};
	struct mapping start = {0}; /* the mapping that contains the beginning of the last file */
	struct proc_map line;
	int r = proc_read(task->tid, "maps", &text);
	const char *rest = buf_str(&text);
	img->mappings.n = 0;
	while (r == 0 && proc_map_next(&rest, &line)) {
		struct mapping m = {
			.lo = line.lo, .hi = line.hi, .dev = line.dev, .ino = line.ino, .file_offset = line.offset};
		bool vdso = proc_map_is(&line, "[vdso]");
		bool same = m.ino && start.ino == m.ino && start.dev == m.dev;
		if (vdso || (m.ino && m.file_offset == 0 && !(same && is_segment_of(task->tid, start.lo, &m))))
			start = m;
		m.base = start.ino == m.ino && start.dev == m.dev ? start.lo : 0;
		m.patchable = is_program_code(&line) || (vdso && memcmp(line.perm, "r-xp", 4) == 0);
		if (line.perm[2] == 'x')
			vec_push(&img->mappings, m);
	}
}

const struct mapping *maps_find(const struct image *img, uint64_t addr)
{
	for (size_t i = 0; i < img->mappings.n; i++)
		if (addr >= img->mappings.v[i].lo && addr < img->mappings.v[i].hi)
			return &img->mappings.v[i];
	return NULL;
}

int64_t maps_changed(pid_t pid, const struct mapping *m)
{
	char link[64], name[PATH_MAX], path[PATH_MAX + 32];
	struct stat st;
	snprintf(link, sizeof(link), "/proc/%d/map_files/%llx-%llx", (int)pid, (unsigned long long)m->lo,
		 (unsigned long long)m->hi);
	ssize_t n = readlink(link, name, sizeof(name) - 1);
	name[n > 0 ? n : 0] = '\0';
	/* The file of this name may be another one by now, or in another mount namespace. */
	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, name);
	if (n <= 0 || stat(path, &st) < 0 || st.st_ino != m->ino ||
	    ((uint64_t)major(st.st_dev) << 32 | minor(st.st_dev)) != m->dev)
		return 0;
	return st.st_ctim.tv_sec * INT64_C(1000000000) + st.st_ctim.tv_nsec;
}

uint64_t maps_page(void)
{
	return CPU_PAGES_VARY ? (uint64_t)sysconf(_SC_PAGESIZE) : AGENT_PAGE;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* The heap (brk(2)) begins somewhere above the program's data, and grows. */
#define HEAP_ROOM (CPU_JUMP_REACH / 2)

uint64_t maps_gap(pid_t pid, uint64_t near, size_t size)
{
	auto_buf text = {0};
	struct proc_map m;
	uint64_t end = 0x100000; /* the kernel refuses mappings at the lowest addresses */
	uint64_t best = 0, above = 0;
	bool mapped = false; /* is there a mapping below `end`? */
	int r = proc_read(pid, "maps", &text);
	for (const char *p = buf_str(&text); r == 0 && proc_map_next(&p, &m); end = m.hi, mapped = true) {
		/* Keep one page free on each side of the range, and more pages below a stack, which may grow. */
		uint64_t spare = proc_map_is(&m, "[stack]") ? 64 << 20 : 2 * CPU_PAGE_MOST;
		uint64_t at = m.lo - spare - size;
		if (m.lo > end && m.lo - end >= size + spare + CPU_PAGE_MOST && m.lo < 1ull << 48 &&
		    distance(at, near) < CPU_JUMP_REACH && (!best || distance(at, near) < distance(best, near)))
			best = at;
		at = (end + HEAP_ROOM) & ~(uint64_t)(CPU_PAGE_MOST - 1);
		if (mapped && !above && m.lo > at && m.lo - at >= size + spare && distance(at, near) < CPU_JUMP_REACH)
			above = at;
	}
	/* A program at the lowest addresses, such as one of Go for aarch64, may have no room below its code and its data. */
	return best ? best : above;
}

/* Are all these bytes 0, that is, unused? */
static bool is_empty(const unsigned char *bytes, size_t n)
{
	return bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0;
}

uint64_t maps_room(pid_t pid, size_t n)
{
	unsigned char bytes[AGENT_PAGE];
	auto_buf text = {0};
	struct proc_map m;
	uint64_t found = 0;
	int r = n && n <= sizeof(bytes) ? proc_read(pid, "maps", &text) : -EINVAL;
	for (const char *p = buf_str(&text); r == 0 && !found && proc_map_next(&p, &m);)
		if (is_program_code(&m) && !mem_served_device(pid, m.dev) &&
		    remote_read(pid, m.hi - n, bytes, n) == 0 && is_empty(bytes, n))
			found = m.hi - n;
	return found;
}

#define CALL_MAX 512 /* limit on the size of agent_call */

bool maps_unmap(struct patch *p, struct task *task, const struct area *v, size_t n)
{
	unsigned char old[CALL_MAX];
	size_t len = (size_t)(agent_call_end - agent_call);
	uint64_t room = maps_room(task->tid, len);
	uint64_t at = room ? room : tracer_entry_point(task->tid);
	if (!at || len > sizeof(old) || !task->stopped || remote_read(task->tid, at, old, len) < 0 ||
	    remote_write(task->tid, at, agent_call, len) < 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		const uint64_t args[6] = {v[i].addr, v[i].size};
		struct cpu_regs r;
		if (task->stopped && cpu_get(task->tid, &r) == 0)
			remote_excursion_call(&p->t, task, at, &r, SYS_munmap, args);
	}
	if (!task->stopped)
		return false;
	remote_write(task->tid, at, old, len);
	return true;
}
