/* SPDX-License-Identifier: MIT */
/* The functions of libdw that are used here. */
#include "base/buf.h"
#include "base/library.h"
#include "base/memory.h"
#include "event.h"
#include "stack/stack.h"
#include "stack/unwind.h"
#include "tracee/mem.h"
#include "tracee/proc.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* clang-format off */
#define LIBDW(X) \
	X(dwarf_getsrc_die) X(dwarf_haspc) X(dwarf_lineno) X(dwarf_linesrc) X(dwfl_addrmodule) X(dwfl_begin) \
	X(dwfl_end) X(dwfl_frame_pc) X(dwfl_getmodules) X(dwfl_getthread_frames) X(dwfl_lineinfo) \
	X(dwfl_linux_proc_attach) X(dwfl_linux_proc_find_elf) X(dwfl_linux_proc_maps_report) X(dwfl_linux_proc_report) X(dwfl_module_addrinfo) \
	X(dwfl_module_getelf) X(dwfl_module_getsrc) X(dwfl_module_info) X(dwfl_module_nextcu) X(dwfl_report_begin) \
	X(dwfl_report_end) X(dwfl_standard_find_debuginfo)
/* clang-format on */

static LIBRARY_STRUCT(LIBDW) libdw;

enum {
	FRAMES_MAX = 512,
	LEAST_PC = 4096 /* nothing is mapped below this address; the stacks of Go programs end with
			 * such an address */
};

/* Executable memory to which a file, or the vdso, is mapped. */
struct code {
	uint64_t lo, hi;
};

/* What is known of a file system, by its device. */
enum device { DEVICE_UNKNOWN, DEVICE_LOCAL, DEVICE_SERVED, DEVICE_SILENT };

/* Memory to which a served file (tracee/mem.h) is mapped. */
struct remote {
	uint64_t lo, hi, dev;
};

struct symbols {
	Dwfl *dwfl;
	pid_t pid;
	struct map *devices; /* dev -> enum device */
	VEC(struct remote) remote;
	bool attached; /* elfutils was given functions to read registers and memory */
	VEC(struct code) code;
	struct map frames; /* address * 2 + exact -> struct known; valid until the mappings change */
};

struct known {
	struct stack_frame frame;
	char *name; /* frame.function, if it was allocated */
};

/*
 * Opens a file for reading, but only if it is a regular file. Returns the descriptor or -errno. The path may now refer
 * to another file than the mapped one. Opening a pipe would block, and opening a device may have effects, so the type
 * is checked first.
 */
static int open_regular(const char *path)
{
	struct stat st;
	char self[32];
	int there = open(path, O_PATH | O_CLOEXEC);
	if (there < 0)
		return -errno;
	bool regular = fstat(there, &st) == 0 && S_ISREG(st.st_mode);
	snprintf(self, sizeof(self), "/proc/self/fd/%d", there);
	int fd = regular ? open(self, O_RDONLY | O_CLOEXEC) : -1;
	close(there);
	return fd < 0 ? -ENOENT : fd;
}

/* Returns the mapping of a served file at this address, or NULL. */
static const struct remote *remote_at(const struct symbols *s, uint64_t at)
{
	for (size_t i = 0; i < s->remote.n; i++)
		if (at >= s->remote.v[i].lo && at < s->remote.v[i].hi)
			return &s->remote.v[i];
	return NULL;
}

/* Returns a copy of a served file, or -errno. A server that has not answered once is not asked again. */
static int open_copy(const struct symbols *s, const struct remote *r, const char *path)
{
	if (map_get(s->devices, r->dev) == (void *)DEVICE_SILENT)
		return -ETIMEDOUT;
	int fd = mem_served_copy(path);
	if (fd == -ETIMEDOUT)
		map_put(s->devices, r->dev, (void *)DEVICE_SILENT);
	return fd;
}

/* Opens a module's file through /proc/PID: the program may have another root or mount namespace than sctrace. */
static int find_elf(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base, char **file, Elf **elf)
{
	const struct symbols *s = *userdata;
	const struct remote *r = s ? remote_at(s, base) : NULL;
	char path[4200];
	if (s && name[0] == '/') {
		snprintf(path, sizeof(path), "/proc/%d/root%s", (int)s->pid, name);
		int fd = r ? open_copy(s, r, path) : open_regular(path);
		if (fd >= 0) {
			*file = memory_copy(name);
			return fd;
		}
		if (r)
			return -1;
	}
	return libdw.dwfl_linux_proc_find_elf(mod, userdata, name, base, file, elf);
}

/* Debugging information in another file is not searched beside a served file. */
static int find_debuginfo(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base, const char *file,
			  const char *link, GElf_Word crc, char **found)
{
	const struct symbols *s = *userdata;
	return s && remote_at(s, base)
		       ? -1
		       : libdw.dwfl_standard_find_debuginfo(mod, userdata, name, base, file, link, crc, found);
}

static int set_symbols(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr start, void *symbols)
{
	(void)mod;
	(void)name;
	(void)start;
	*userdata = symbols;
	return DWARF_CB_OK;
}

static void forget_frames(struct symbols *s)
{
	struct known *k;
	for (size_t i = 0; (k = map_next(&s->frames, &i, NULL));) {
		free(k->name);
		free(k);
	}
	map_free(&s->frames);
}

static enum device device_of(const struct symbols *s, uint64_t dev)
{
	enum device known = (enum device)(uintptr_t)map_get(s->devices, dev);
	if (known == DEVICE_UNKNOWN) {
		known = mem_served_device(s->pid, dev) ? DEVICE_SERVED : DEVICE_LOCAL;
		map_put(s->devices, dev, (void *)(uintptr_t)known);
	}
	return known;
}

static int find_code(struct symbols *s)
{
	auto_buf text = {0};
	struct proc_map map;
	int r = proc_read(s->pid, "maps", &text);
	s->code.n = s->remote.n = 0;
	for (const char *p = buf_str(&text); r == 0 && proc_map_next(&p, &map);) {
		if (map.perm[2] == 'x' && (map.ino || proc_map_is(&map, "[vdso]")))
			vec_push(&s->code, (struct code){map.lo, map.hi});
		if (map.ino && device_of(s, map.dev) != DEVICE_LOCAL)
			vec_push(&s->remote, (struct remote){map.lo, map.hi, map.dev});
	}
	return r;
}

/* Is a file, or the vdso, mapped at this address? elfutils reports a file for the gaps of its segments as well. */
static bool is_code_of_a_file(const struct symbols *s, uint64_t at)
{
	for (size_t i = 0; i < s->code.n; i++)
		if (at >= s->code.v[i].lo && at < s->code.v[i].hi)
			return true;
	return false;
}

/*
 * Reports the modules. dwfl_linux_proc_report() also reports the vdso, but opens /proc/PID/exe, which may be a served
 * file. Returns 0 or -errno.
 */
static int report(const struct symbols *s)
{
	if (!s->remote.n)
		return libdw.dwfl_linux_proc_report(s->dwfl, s->pid) == 0 ? 0 : -ESRCH;
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)s->pid);
	FILE *f = memory_fopen(path);
	int r = f && libdw.dwfl_linux_proc_maps_report(s->dwfl, f) == 0 ? 0 : -ESRCH;
	if (f)
		fclose(f);
	return r;
}

/* Reads the mappings again, and drops frames, but not what is known of modules still mapped. Returns 0 or -errno. */
static int symbol_refresh(struct symbols *s)
{
	forget_frames(s);
	int found = find_code(s);
	if (found < 0)
		return found;
	libdw.dwfl_report_begin(s->dwfl);
	int r = report(s);
	if (libdw.dwfl_report_end(s->dwfl, NULL, NULL) != 0 || r < 0)
		return -ESRCH;
	libdw.dwfl_getmodules(s->dwfl, set_symbols, s, 0);
	return 0;
}

/* Loads libdw. It must have succeeded before any other function is called. Returns 0, or -ENOSYS and the reason. */
static int symbol_load(struct buf *why)
{
	return LIBRARY_LOAD("libdw.so.1", LIBDW, &libdw, why);
}

/* `s` may be NULL. */
static void symbol_close(struct symbols *s)
{
	if (!s)
		return;
	forget_frames(s);
	vec_free(&s->code);
	vec_free(&s->remote);
	if (s->dwfl)
		libdw.dwfl_end(s->dwfl);
	free(s);
}

/*
 * Reads the mappings of `pid`. Returns NULL if there is no such process. `devices`, at first empty, keeps what is known
 * of file systems, also for other processes, until symbol_close().
 */
static struct symbols *symbol_open(pid_t pid, struct map *devices)
{
	static Dwfl_Callbacks callbacks = {.find_elf = find_elf, .find_debuginfo = find_debuginfo};
	struct symbols *s = memory_zeroed(1, sizeof(*s));
	s->pid = pid;
	s->devices = devices;
	s->dwfl = libdw.dwfl_begin(&callbacks);
	if (!s->dwfl || symbol_refresh(s) < 0) {
		symbol_close(s);
		return NULL;
	}
	return s;
}

/*
 * Returns the name without its symbol version ("@@GLIBC_2.34"), and as it is in the source of C++ and Rust: `name`, or *own,
 * which the caller frees.
 */
static const char *plain_name(const char *name, char **own)
{
	const char *at = name ? strchr(name, '@') : NULL;
	auto_buf readable = {0};
	*own = at && at > name ? memory_copy_part(name, (size_t)(at - name)) : NULL;
	if (name && demangle(*own ? *own : name, &readable)) {
		free(*own);
		*own = buf_take(&readable);
	}
	return *own ? *own : name;
}

/*
 * Returns the source file of an address and stores its line in *line, or returns NULL. .debug_aranges tells which
 * compilation unit contains an address. gcc writes that section, but clang and rustc do not. Without it, each unit is
 * searched.
 */
static const char *find_line(Dwfl_Module *mod, Dwarf_Addr at, int *line)
{
	Dwfl_Line *known = libdw.dwfl_module_getsrc(mod, at);
	if (known)
		return libdw.dwfl_lineinfo(known, NULL, line, NULL, NULL, NULL);
	Dwarf_Addr bias = 0;
	Dwarf_Die *unit = NULL;
	while ((unit = libdw.dwfl_module_nextcu(mod, unit, &bias)))
		if (libdw.dwarf_haspc(unit, at - bias) == 1)
			break;
	Dwarf_Line *row = unit ? libdw.dwarf_getsrc_die(unit, at - bias) : NULL;
	return row && libdw.dwarf_lineno(row, line) == 0 ? libdw.dwarf_linesrc(row, NULL, NULL) : NULL;
}

/* Fills in *k. In an outer frame (not `exact`) the line is that of the instruction before `ip`, the call. */
static void look_up(struct symbols *s, uint64_t ip, bool exact, struct known *k)
{
	struct stack_frame *f = &k->frame;
	uint64_t at = exact ? ip : ip - 1;
	GElf_Off offset = 0;
	GElf_Sym sym;
	GElf_Addr bias = 0;
	Dwfl_Module *mod = is_code_of_a_file(s, at) ? libdw.dwfl_addrmodule(s->dwfl, at) : NULL;
	if (!mod)
		return;
	const char *name = libdw.dwfl_module_info(mod, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
	f->module = name && strncmp(name, "[vdso", 5) == 0 ? "[vdso]" : name;
	libdw.dwfl_module_getelf(mod, &bias);
	f->module_addr = ip - bias;
	f->function = plain_name(libdw.dwfl_module_addrinfo(mod, at, &offset, &sym, NULL, NULL, NULL), &k->name);
	f->offset = f->function ? offset + (ip - at) : 0;
	f->file = find_line(mod, at, &f->line);
}

/* Fills in all members of `f` except `index`. `exact` is as in unwind_fn. Unknown members are NULL. */
static void symbol_resolve(struct symbols *s, uint64_t ip, bool exact, struct stack_frame *f)
{
	uint64_t key = ip * 2 + exact;
	struct known *k = map_get(&s->frames, key);
	if (k) {
		*f = k->frame;
		return;
	}
	k = memory_get(sizeof(*k));
	*k = (struct known){.frame = {.ip = ip, .module_addr = ip}};
	look_up(s, ip, exact, k);
	*f = k->frame;
	if (f->module)
		map_put(&s->frames, key, k);
	else /* generated code is not cached: it can have any number of addresses */
		free(k);
}

struct dwfl_walk {
	unwind_fn fn;
	void *ctx;
	int frames;
};

static int on_dwfl_frame(Dwfl_Frame *frame, void *ctx)
{
	struct dwfl_walk *w = ctx;
	Dwarf_Addr pc;
	bool exact;
	if (!libdw.dwfl_frame_pc(frame, &pc, &exact) || pc < LEAST_PC)
		return DWARF_CB_ABORT;
	return w->frames++ < FRAMES_MAX && w->fn(w->ctx, pc, exact) ? DWARF_CB_OK : DWARF_CB_ABORT;
}

/* dwfl_linux_proc_attach() opens /proc/PID/exe, which may be a served file. Returns false if its server does not answer. */
static bool may_attach(const struct symbols *s)
{
	int fd = s->remote.n ? mem_served_open(s->pid, "exe") : -EEXIST;
	if (fd >= 0)
		close(fd);
	return fd != -ETIMEDOUT;
}

/*
 * Like unwind_walk(), but uses the unwinder of elfutils. It is slower, but does not need .eh_frame_hdr: it reads
 * .eh_frame and .debug_frame, also of 32-bit programs.
 */
static int symbol_walk(struct symbols *s, pid_t tid, unwind_fn fn, void *ctx)
{
	struct dwfl_walk w = {.fn = fn, .ctx = ctx};
	if (!s->attached && (!may_attach(s) || libdw.dwfl_linux_proc_attach(s->dwfl, s->pid, true) != 0))
		return -ESRCH;
	s->attached = true;
	libdw.dwfl_getthread_frames(s->dwfl, tid, on_dwfl_frame,
				    &w); /* the result is ignored, because most walks fail at the
							    * outermost frame */
	return w.frames ? w.frames : -ESRCH;
}

/* Walks stacks with libunwind and libdw: decides what is cached for each process, and when it is read again. */

struct process {
	uint64_t fingerprint; /* hash of the mappings from which the other members were computed */
	struct unwind *unwind;
	struct symbols *symbols;
};

struct native_stack {
	struct stack base;    /* must be the first member, so that a struct stack * can be cast to this type */
	struct map processes; /* pid -> struct process */
	struct map devices;   /* for symbol_open() */
};

static void process_free(struct process *p)
{
	unwind_close(p->unwind);
	symbol_close(p->symbols);
	free(p);
}

static int native_open(struct stack **out, struct buf *why)
{
	auto_buf reason = {0};
	int r = unwind_load(&reason);
	if (r == 0)
		r = symbol_load(&reason);
	if (r < 0)
		buf_addf(why, "cannot print stacks: %s (install libunwind and libdw)", buf_str(&reason));
	if (r < 0)
		return r;
	struct native_stack *s = memory_zeroed(1, sizeof(*s));
	*out = &s->base;
	return 0;
}

static void native_close(struct stack *base)
{
	struct native_stack *s = (struct native_stack *)base;
	struct process *p;
	for (size_t i = 0; (p = map_next(&s->processes, &i, NULL));)
		process_free(p);
	map_free(&s->processes);
	map_free(&s->devices);
	free(s);
}

static void native_forget(struct stack *base, pid_t pid)
{
	struct native_stack *s = (struct native_stack *)base;
	struct process *p = map_remove(&s->processes, (uint64_t)pid);
	if (p)
		process_free(p);
}

/* Reads again everything that depends on the mappings. */
static int refresh(struct process *p, struct map *devices, const struct event *ev, uint64_t fingerprint)
{
	unwind_close(p->unwind);
	p->unwind = unwind_open(ev->pid, ev->mem);
	if (p->unwind && unwind_is_blind(p->unwind)) { /* elfutils will be used; its unwinder keeps the image that it
							* saw first, so elfutils is opened again */
		symbol_close(p->symbols);
		p->symbols = NULL;
	}
	if (!p->symbols)
		p->symbols = symbol_open(ev->pid, devices);
	else if (symbol_refresh(p->symbols) < 0) {
		symbol_close(p->symbols);
		p->symbols = NULL;
	}
	p->fingerprint = p->unwind && p->symbols ? fingerprint : 0;
	return p->fingerprint ? 0 : -ESRCH;
}

static struct process *process_of(struct native_stack *s, const struct event *ev, int *err)
{
	uint64_t fingerprint = unwind_fingerprint(ev->pid);
	struct process *p = map_get(&s->processes, (uint64_t)ev->pid);
	*err = fingerprint ? 0 : -ESRCH;
	if (*err)
		return NULL;
	if (!p) {
		p = memory_zeroed(1, sizeof(*p));
		map_put(&s->processes, (uint64_t)ev->pid, p);
	}
	if (p->fingerprint != fingerprint)
		*err = refresh(p, &s->devices, ev, fingerprint);
	return *err ? NULL : p;
}

struct walk {
	struct process *process;
	stack_frame_fn fn;
	void *ctx;
	unsigned index;
};

static bool on_frame(void *ctx, uint64_t ip, bool exact)
{
	struct walk *w = ctx;
	struct stack_frame f;
	symbol_resolve(w->process->symbols, ip, exact, &f);
	f.index = w->index++;
	return w->fn(w->ctx, &f);
}

static int native_walk(struct stack *base, const struct event *ev, stack_frame_fn fn, void *ctx)
{
	int err;
	struct walk w = {.fn = fn, .ctx = ctx};
	w.process = process_of((struct native_stack *)base, ev, &err);
	if (!w.process)
		return err;
	/* elfutils reads any memory, so it is not used if a traced program may have to provide the memory. */
	if (unwind_is_blind(w.process->unwind) && ev->mem->read != mem_read_present)
		return symbol_walk(w.process->symbols, ev->tid, on_frame, &w);
	return unwind_walk(w.process->unwind, ev->tid, ev->mem, on_frame, &w);
}

const struct stack_ops stack_native_ops = {
	.name = "libunwind",
	.open = native_open,
	.walk = native_walk,
	.forget = native_forget,
	.close = native_close,
};
