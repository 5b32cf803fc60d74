#include "engine/ptrace/tasks/main_symbol.h"

#include "arch/arch.h"
#include "engine/ptrace/state/event.h"
#include "tracee/proc.h"
#include "tracee/served.h"

#include <elf.h>
#include <gelf.h>
#include <libelf.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

/* Returns a value of the auxiliary vector (getauxval(3)), or 0. */
static uint64_t auxv(pid_t pid, uint64_t type)
{
	int fd = proc_open(pid, "auxv");
	uint64_t pair[2] = {0, 0};
	while (fd >= 0 && read(fd, pair, sizeof(pair)) == sizeof(pair) && pair[0] != AT_NULL)
		if (pair[0] == type)
			break;
	if (fd >= 0)
		close(fd);
	return pair[0] == type ? pair[1] : 0;
}

uint64_t tracer_entry_point(pid_t pid)
{
	return auxv(pid, AT_ENTRY);
}

uint64_t tracer_loader_base(pid_t pid)
{
	return auxv(pid, AT_BASE);
}

/*
 * The limit for the number of symbols that are examined, because a file can claim any number of symbols and tables.
 * With this limit, the search delays the program at most as long as it would delay a web browser, with all of its
 * symbols.
 */
#define SYMBOLS_MAX 8000000

/* Returns the value of `main` in a symbol table, or 0. *left symbols may still be examined, in all tables together. */
static uint64_t main_in(Elf *elf, Elf_Scn *scn, size_t *left)
{
	GElf_Shdr sh;
	if (!gelf_getshdr(scn, &sh) || (sh.sh_type != SHT_SYMTAB && sh.sh_type != SHT_DYNSYM) || !sh.sh_entsize)
		return 0;
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t n = sh.sh_size / sh.sh_entsize < *left ? sh.sh_size / sh.sh_entsize : *left;
	*left -= n;
	for (size_t i = 0; data && i < n; i++) {
		GElf_Sym sym;
		if (!gelf_getsym(data, (int)i, &sym) || GELF_ST_TYPE(sym.st_info) != STT_FUNC || !sym.st_value)
			continue;
		const char *name = elf_strptr(elf, sh.sh_link, sym.st_name);
		if (name && strcmp(name, "main") == 0)
			return sym.st_value;
	}
	return 0;
}

uint64_t tracer_main_symbol(int fd, uint64_t entry)
{
	uint64_t addr = 0;
	Elf *elf = elf_version(EV_CURRENT) != EV_NONE ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
	GElf_Ehdr eh;
	size_t left = SYMBOLS_MAX;
	if (elf && gelf_getehdr(elf, &eh)) {
		for (Elf_Scn *s = NULL; !addr && (s = elf_nextscn(elf, s));)
			addr = main_in(elf, s, &left);
		if (addr)
			addr += entry - eh.e_entry;
	}
	elf_end(elf);
	return addr;
}

/*
 * Returns true if the program blocks or ignores SIGTRAP. At a breakpoint, the kernel would then unblock SIGTRAP and
 * reset its action to the default (force_sig() in kernel/signal.c), so sctrace does not search for main.
 */
static bool restricts_sigtrap(pid_t pid)
{
	struct proc_status s;
	proc_status(pid, &s);
	return !s.has_signals || (s.blocked | s.ignored) >> (SIGTRAP - 1) & 1;
}

void tracer_find_main(struct tracer *t, struct task *task)
{
	uint64_t entry = tracer_entry_point(task->tid);
	if (!entry || restricts_sigtrap(task->tid))
		return;
	int fd = served_open(task->tid, "exe");
	uint64_t addr = fd >= 0 ? tracer_main_symbol(fd, entry) : 0;
	if (fd >= 0)
		close(fd);
	if (arch_breakpoint(task->tid, addr ? addr : entry) < 0)
		return;
	t->main.armed = true;
	t->main.by_symbol = addr != 0;
}

bool tracer_at_main(struct tracer *t, struct task *task)
{
	siginfo_t si;
	if (task->tid != t->root.pid || ptrace_retry(PTRACE_GETSIGINFO, task->tid, NULL, &si) < 0 ||
	    si.si_code != TRAP_HWBKPT)
		return false;
	arch_breakpoint(task->tid, 0);
	t->main.armed = false;
	t->result.main_found = t->main.by_symbol ? MAIN_SYMBOL : MAIN_ENTRY;
	if (t->ops->gather)
		t->ops->gather(t);
	summary_merge(&t->before, &t->counts);
	t->result.before_main = summary_calls(&t->before);
	tracer_event(t, EV_MAIN, task);
	return true;
}
