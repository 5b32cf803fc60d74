/* SPDX-License-Identifier: MIT */
#include "arch/arch.h"
#include "base/diag.h"
#include "engine/ptrace/tracer.h"
#include "tracee/mem.h"
#include "tracee/proc.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <unistd.h>

/* Attached tasks have the options of started ones, but the kernel does not kill them when sctrace dies. */
static unsigned long attach_options(const struct tracer *t)
{
	return t->options & ~(unsigned long)PTRACE_O_EXITKILL;
}

void tracer_set_options(struct tracer *t, const struct task *task)
{
	bool measured = t->config.usage || task->proc->root || task->proc->attached;
	bool leader = task->tid == task->proc->pid && measured;
	unsigned long options = task->proc->attached ? attach_options(t) : t->options;
	if (!leader)
		options &= ~(unsigned long)PTRACE_O_TRACEEXIT;
	struct thread *k = thread_of(task);
	if (k->options != options && ptrace_retry(PTRACE_SETOPTIONS, task->tid, NULL, options) == 0)
		k->options = options;
}

enum { USER_NAME_SIZE = 64 };

static const char *user_name(uid_t uid, char name[static USER_NAME_SIZE])
{
	const struct passwd *found = getpwuid(uid);
	if (found)
		snprintf(name, USER_NAME_SIZE, "%s", found->pw_name);
	else
		snprintf(name, USER_NAME_SIZE, "%u", uid);
	return name;
}

pid_t attach_tracer_of(pid_t pid)
{
	struct proc_status s = {0};
	proc_status(pid, &s);
	return s.tracer ? proc_process(s.tracer) : 0; /* the kernel gives the thread that traces */
}

#define CHAIN_MAX 1000 /* a longer chain is one that changes while it is read */

bool attach_is_mutual(pid_t pid, pid_t self, pid_t (*tracer_of)(pid_t pid))
{
	pid_t tracer = tracer_of(self);
	for (int i = 0; tracer && tracer != pid && i < CHAIN_MAX; i++)
		tracer = tracer_of(tracer);
	return tracer == pid;
}

/* Explains in one sentence why `pid` cannot be attached to. */
static void explain(pid_t pid, int err, struct buf *why)
{
	struct proc_status s = {0};
	struct stat st;
	char path[32], theirs[USER_NAME_SIZE], yours[USER_NAME_SIZE];
	const char *untraceable = err == ESRCH ? "no such process" : proc_why_untraceable(pid, &s);
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	buf_addf(why, "cannot attach to process %d: ", (int)pid);
	/* The owner of /proc/PID is the user of the process, or root if the process is not dumpable (proc(5)). */
	if (untraceable)
		buf_adds(why, untraceable);
	else if (s.tracer)
		buf_addf(why, "it is already traced by process %d; detach that tracer first", (int)s.tracer);
	else if (geteuid() != 0 && stat(path, &st) == 0 && st.st_uid != geteuid())
		buf_addf(why, "it belongs to user %s, and you are %s; run sctrace as that user or as root",
			 user_name(st.st_uid, theirs), user_name(geteuid(), yours));
	else
		buf_addf(why, "%s; %scheck whether a capability (CAP_SYS_PTRACE) is missing", diag_error_text(err),
			 access(ATTACH_YAMA, F_OK) == 0 ? "see " ATTACH_YAMA ", and " : "");
}

/*
 * Returns true for a thread that the kernel refuses for a harmless reason. Either the thread is about to end, or
 * sctrace already traces it, because a traced thread created it and has not reported it yet (ptrace_attach() in
 * kernel/ptrace.c, PTRACE_O_TRACECLONE in ptrace(2)).
 */
static bool may_be_refused(pid_t tid)
{
	struct proc_status s;
	return proc_status(tid, &s) < 0 || s.state == 'Z' || s.state == 'X' || s.tracer == getpid();
}

/* Seizes one thread. Returns 1 if the thread is new, 0 if it was already seized or has ended, or -errno. */
static int seize(struct tracer *t, pid_t pid, pid_t tid)
{
	if (tasks_find(&t->tasks, tid))
		return 0;
	if (ptrace(PTRACE_SEIZE, tid, NULL, attach_options(t)) < 0)
		return errno == ESRCH && tid != pid ? 0 : -errno;
	struct task *task = tasks_add(&t->tasks, tid);
	tasks_join(&t->tasks, task, pid);
	task->proc->counted = task->proc->attached = task->proc->execed = true;
	t->serves_pages |= tid == pid && mem_serves_pages(pid);
	/* The thread must stop once, because only a stopped task can be resumed with PTRACE_SYSCALL. */
	ptrace_retry(PTRACE_INTERRUPT, tid, NULL, NULL);
	return 1;
}

/* Seizes the current threads. Returns the number of those that were not seized before, or -errno. */
static int seize_threads(struct tracer *t, pid_t pid)
{
	char path[40];
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *d = opendir(path);
	if (!d)
		return -errno;
	int found = 0;
	int r = 0;
	while (r >= 0) {
		errno = 0;
		const struct dirent *e = readdir(d);
		if (!e) {
			r = -errno; /* a thread that is missed would run code while that code is being changed */
			break;
		}
		pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);
		r = tid > 0 ? seize(t, pid, tid) : 0;
		if (r == -EPERM && may_be_refused(tid))
			r = 0;
		found += r > 0;
	}
	closedir(d);
	return r < 0 ? r : found;
}

/* Seizes the leader of a process, or one of its threads. If the leader has ended, seizes all other threads. */
static int seize_first(struct tracer *t, pid_t pid, pid_t tid)
{
	struct proc_status s;
	int r = seize(t, pid, tid);
	if (r < 0 && tid == pid && proc_status(pid, &s) == 0 && s.state == 'Z' && seize_threads(t, pid) > 0)
		return 0;
	return r;
}

int tracer_attach(struct tracer *t, pid_t tid, struct buf *why)
{
	pid_t pid = proc_process(tid);
	bool alone = pid != tid;
	/* This is checked before anything is seized, because neither of the two could be killed afterwards. */
	bool mutual = pid == getpid() || attach_is_mutual(pid, getpid(), attach_tracer_of);
	if (mutual) {
		buf_addf(why, "cannot attach to process %d: ", (int)tid);
		buf_adds(why, pid == getpid() ? "it is sctrace itself"
					      : "it traces sctrace itself, so each would wait for the other for ever");
		return -EPERM;
	}
	/* The leader is seized first: if the kernel refuses the leader, it refuses the whole process. */
	int r = tid > 0 ? seize_first(t, pid, alone ? tid : pid) : -ESRCH;
	if (r < 0) {
		explain(tid, -r, why);
		return r;
	}
	t->result.processes++;
	if (alone)
		return 0;
	/* New threads may appear while /proc/PID/task is read. So it is read until it contains no new thread. */
	while ((r = seize_threads(t, pid)) > 0)
		;
	if (r == -ENOENT || r == -ESRCH)
		return 0; /* the process has ended in the meantime */
	if (r < 0)
		buf_addf(why, "cannot attach to all threads of process %d: %s", (int)tid, diag_error_text(-r));
	return r;
}

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
	int fd = mem_served_open(task->tid, "exe");
	uint64_t addr = fd >= 0 ? tracer_main_symbol(fd, entry) : 0;
	if (fd >= 0)
		close(fd);
	if (arch_breakpoint(task->tid, addr ? addr : entry) < 0)
		return;
	t->main.armed = true;
	t->main.by_symbol = addr != 0;
}

void tracer_leave_main(struct tracer *t, const struct task *task)
{
	if (!t->main.armed || task->tid != t->root.pid)
		return;
	arch_breakpoint(task->tid, 0);
	t->main.armed = false;
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
