/* SPDX-License-Identifier: MIT */
#include "engine/patch/record/record.h"

#include "base/buf.h"
#include "base/memory.h"
#include "decode/kinds.h"
#include "syscall/call_table.h"
#include "syscall/uring_ops.h"
#include "tracee/mem.h"
#include "tracee/names.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Is this a call that sctrace itself must handle? These calls create an image, end a thread, continue an interrupted
 * call, or change something that the agent depends on.
 */
static bool is_special(int64_t nr)
{
	static const int16_t special[] = {
		SYS_execveat, SYS_exit, SYS_seccomp, SYS_restart_syscall, SYS_userfaultfd,
	};
	for (size_t i = 0; i < sizeof(special) / sizeof(*special); i++)
		if (special[i] == nr)
			return true;
	return false;
}

void recipe_memory(struct memory_tables *t, bool names)
{
	uint32_t n = 0;
	decode_memory_tables(t);
	uring_memory_tables(t, names);
	for (uint32_t i = 0; i < t->ncommands; i++) {
		struct memory_command *row = &t->commands[i];
		/* sctrace must see how a program creates a userfaultfd(2), because it then reads memory in another way. */
		if (row->table == TABLE_IOCTL && row->command == (uint32_t)USERFAULTFD_IOC_NEW)
			row->need = 0;
		if (t->needs[row->need].rule != MEMORY_DESCRIPTOR || names)
			t->commands[n++] = *row;
	}
	t->ncommands = n;
}

/* Returns the rule of an argument. If execve(2) succeeds, its memory is lost. */
static struct memory_need need_of(const struct syscall_desc *d, int64_t nr, unsigned arg, bool verbose)
{
	struct memory_need n = decode_memory_of(d, arg, verbose);
	if (nr == SYS_execve && n.rule == MEMORY_STRING)
		n.rule = MEMORY_EXEC_PATH;
	return n;
}

/* Must the recorder look at the argument before the call? */
static bool is_early(unsigned rule)
{
	return rule == MEMORY_MISSING || (rule >= MEMORY_COMMAND && rule <= MEMORY_CLONE_ARGS) ||
	       rule == MEMORY_OUT_MSG || rule == MEMORY_OUT_MMSG;
}

bool recipe_of(const struct syscall_desc *d, int64_t nr, bool verbose, struct memory_tables *tables,
	       struct agent_recipe *recipe)
{
	bool in = false, out = false, text = false;
	*recipe = (struct agent_recipe){.nargs = d->nargs & 7};
	for (unsigned i = 0; i < d->nargs && !is_special(nr); i++) {
		struct memory_need n = need_of(d, nr, i, verbose);
		if (n.rule == MEMORY_MISSING)
			return false;
		if (n.rule == MEMORY_NONE)
			continue;
		in |= n.rule == MEMORY_IN;
		out |= n.rule == MEMORY_OUT;
		recipe->before |= is_early(n.rule);
		const uint8_t need = decode_memory_index(tables, &n);
		const unsigned copy = tables->needs[need].copy;
		recipe->op[recipe->n++] = (struct memory_rule_of){
			.need = need, .arg = i & 15, .copy = (copy == COPY_TEXT && text ? COPY_LATER_TEXT : copy) & 15};
		text |= copy == COPY_TEXT;
	}
	/* In sigprocmask(how, &set, &set), for example, the kernel overwrites its input. */
	recipe->apart = in && out;
	/* These are not usual calls: see note_rseq() and put_uring(). */
	recipe->before |= recipe->apart || nr == SYS_rseq || nr == SYS_io_uring_enter;
	return !is_special(nr);
}

/* Starts recording: prepares the memory that is mapped in programs, and decides how the agent must treat each call. */
extern const unsigned char __start_recorder_text[], __stop_recorder_text[];

int record_probe(struct buf *why)
{
	if (cpu_reads_thread_pointer())
		return 0;
	buf_adds(why, "recording needs " CPU_READS_THREAD_POINTER ", which this processor does not have, or which this "
		      "kernel does not enable (Linux 5.9 and later do)");
	return -ENOTSUP;
}

#define CODE_AFTER_JUMPS                                                                                               \
	64 /* offset of the recorder's code; before it are the jumps to its functions, and OWN_CALL_AT */

/* Writes a jump to one of the recorder's functions at offset `at`. agent.S calls these jumps at fixed offsets. */
static void put_jump(unsigned char *room, ptrdiff_t at, const unsigned char *function)
{
	const uint64_t to = CODE_AFTER_JUMPS + (uint64_t)(function - __start_recorder_text);
	encode_jump(room + at, CPU_JUMP_SIZE, (uint64_t)at, to);
}

static void make_program(struct record *rec)
{
	size_t n = (size_t)(__stop_recorder_text - __start_recorder_text);
	memcpy(rec->program + CODE_AFTER_JUMPS, __start_recorder_text, n);
	put_jump(rec->program, 0, (const unsigned char *)(uintptr_t)recorder_enter);
	put_jump(rec->program, 8, (const unsigned char *)(uintptr_t)recorder_leave);
	const uint64_t own_call = AGENT_AT(agent_own_call);
	memcpy(rec->program + (OWN_CALL_AT - RECORDER_CODE), &own_call, sizeof(own_call));
}

/*
 * Puts the recorder and its tables into a sealed memfd, so that all images can map the same memory. If no memfd can be
 * made, the recorder and its tables are written into each image instead.
 */
static void make_file(struct patch *p, struct record *rec)
{
	const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	rec->fd = memfd_create("sctrace", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (rec->fd >= 0 && write(rec->fd, rec->program, sizeof(rec->program)) == sizeof(rec->program) &&
	    fcntl(rec->fd, F_ADD_SEALS, seals) == 0)
		snprintf(p->recorder_path, sizeof(p->recorder_path), "/proc/%d/fd/%d", (int)getpid(), rec->fd);
}

/* Is the call in the set? If `set` is NULL, it stands for all calls. */
/* The rows from AGENT_NUMBERS on get their numbers only during the run, so these rows are in each set of calls. */
static bool is_in(const struct call_set *set, int64_t nr)
{
	return !set || nr >= AGENT_NUMBERS || (set->bits[nr / 64] >> (nr % 64) & 1);
}

/*
 * A child that runs in its parent's memory must not write to its parent's ring. The agent prevents that only if it records
 * the call that creates the child. Other calls determine which memory sctrace may read.
 */
static bool must_stop(int64_t nr, bool wanted)
{
	/* sctrace reads what the rings of io_uring refer to. */
	if (wanted && nr == SYS_io_uring_register)
		return true;
	return ((nr == SYS_clone3 || nr == SYS_vfork || nr == SYS_clone) && !wanted) || mem_call_serves_pages(nr);
}

/* Does the call, if it succeeds, give the program descriptors whose names are shown with its results? */
static bool creates_names(const struct syscall_desc *d)
{
	for (unsigned i = 0; i < d->nargs; i++)
		if (d->args[i].kind == K_OUT_FD_PAIR || d->args[i].kind == K_OUT_MSGHDR ||
		    d->args[i].kind == K_OUT_MMSG)
			return true;
	return d->result == R_FD || d->result == R_FCNTL || d->result == R_BPF;
}

/*
 * Can the call change the name of an open descriptor, or of the current directory? Then its arguments must be shown with
 * the names from before the call. The addresses of sockets belong only to names in full. Being in G_NAMES is not enough: pipe(2), which only creates descriptors, is in that
 * group. But of the calls whose result is a descriptor, only those that can also replace one, such as dup2(2), are in it.
 */
static bool changes_names(const struct syscall_desc *d, bool full)
{
	return d->groups & G_NAMES && (d->result == R_FD || !creates_names(d)) && (full || !(d->groups & G_NETWORK));
}

/* How the call, if it succeeds, creates descriptors whose names the recorder can find: NAMES_*. */
static uint8_t way_to_name(const struct syscall_desc *d)
{
	for (unsigned i = 0; i < d->nargs; i++)
		if (d->args[i].kind == K_OUT_FD_PAIR)
			return NAMES_PAIR;
		else if (d->args[i].kind == K_OUT_MSGHDR || d->args[i].kind == K_OUT_MMSG)
			return NAMES_MESSAGE;
	return d->result == R_FD ? NAMES_RESULT : d->result == R_FCNTL ? NAMES_COMMAND : NAMES_NONE;
}

/* Calls that remove files, or give them names. They change no names of other files, as mount(2) does. */
static const int16_t renames[] = {SYS_unlink,   SYS_unlinkat,  SYS_rmdir, SYS_rename,
				  SYS_renameat, SYS_renameat2, SYS_link,  SYS_linkat};

/* Which names the call changes, besides those of descriptors that it closes: NAMES_*. */
static uint8_t change_of_name(const struct syscall_desc *d, int64_t nr)
{
	for (size_t i = 0; i < sizeof(renames) / sizeof(*renames); i++)
		if (renames[i] == nr)
			return NAMES_RENAME;
	return d->groups & G_NETWORK ? NAMES_SOCKET : nr == SYS_chdir || nr == SYS_fchdir ? NAMES_CWD : NAMES_NONE;
}

/* The calls that can write to a descriptor, or close one. The numbers are those of struct agent_recipe. */
static const struct use {
	int16_t nr;
	uint8_t writes, closes;
	bool socket; /* the descriptor is that of a socket */
} uses[] = {
	{SYS_write, .writes = 1},
	{SYS_writev, .writes = 1},
	{SYS_pwrite64, .writes = 1},
	{SYS_pwritev, .writes = 1},
	{SYS_pwritev2, .writes = 1},
	{SYS_ioctl, .writes = 1},
	{SYS_sendfile, .writes = 1},
	{SYS_splice, .writes = 3},
	{SYS_tee, .writes = 2},
	{SYS_vmsplice, .writes = 1},
	{SYS_copy_file_range, .writes = 3},
	{SYS_sendto, .writes = 1, .socket = true},
	{SYS_sendmsg, .writes = 1, .socket = true},
	{SYS_sendmmsg, .writes = 1, .socket = true},
	{SYS_close, .closes = 1},
	{SYS_dup2, .closes = 2},
	{SYS_dup3, .closes = 2},
	{SYS_close_range, .closes = CLOSES_MANY},
	{SYS_io_uring_enter, .closes = CLOSES_MANY},
};

/* Returns how the call uses descriptors, or NULL. */
static const struct use *use_of(int64_t nr)
{
	for (size_t i = 0; i < sizeof(uses) / sizeof(*uses); i++)
		if (uses[i].nr == nr)
			return &uses[i];
	return NULL;
}

/* Returns how the call can write to the output of the trace, or make a descriptor refer to it; NULL: it cannot. */
static const struct use *use_of_output(const struct engine_config *config, int64_t nr)
{
	const struct use *use = config->output ? use_of(nr) : NULL;
	return use && use->socket && !S_ISSOCK(config->output->stx_mode) ? NULL : use;
}

/*
 * Must the call stop before it is made, so that the lines of earlier calls are printed before what it writes to the output
 * of the trace? Requests of io_submit(2) and io_uring_enter(2) may be writes. An untraced child may write while its parent
 * waits for it, and the line of the waiting call belongs before that.
 */
static bool precedes_output(const struct engine_config *config, int64_t nr)
{
	bool waits = nr == SYS_wait4 || nr == SYS_waitid;
	return config->output && (nr == SYS_io_submit || nr == SYS_io_uring_enter || (waits && !config->follow));
}

/* Calls that may use descriptors that are not among their arguments. The recorder looks closer at some of them (has_others()). */
static const char *const others[] = {"poll",      "ppoll",     "select", "pselect6",      "sendmsg", "sendmmsg",
				     "io_submit", "io_cancel", "bpf",    "waitid",        "fcntl",   "ioctl",
				     "fsconfig",  "seccomp",   "ptrace", "mount_setattr", "clone3"};

/* Fills in which descriptors the call uses. */
static void note_descriptors(const struct syscall_desc *d, struct agent_recipe *to)
{
	bool path = false;
	for (unsigned i = 0; i < d->nargs; i++) {
		const bool is = d->args[i].kind == K_FD || d->args[i].kind == K_DIRFD;
		path |= d->args[i].kind == K_PATH;
		if (is && !to->fd)
			to->fd = (uint8_t)(i + 1) & 15;
		else if (is && !to->second)
			to->second = (uint8_t)(i + 1 - to->fd) & 3;
	}
	to->fd = to->fd ? to->fd : path ? FD_CWD : 0;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		to->others |= strcmp(others[i], d->name) == 0;
}

/* Are all calls that change names reported? If not, names are looked up at each call that is reported. */
static bool follows_names(const struct engine_config *config)
{
	const struct syscall_desc *d;
	for (int64_t nr = 0; config->only && nr < AGENT_NUMBERS; nr++)
		if ((d = syscall_lookup(syscall_native_arch(), nr)) && syscall_changes_names(d) &&
		    !is_in(config->only, nr))
			return false;
	return true;
}

void record_open(struct patch *p, const struct engine_config *config)
{
	static const uint8_t fences[] = {
		[TIMES_NONE] = FENCE_NONE, [TIMES_USUAL] = FENCE_LOADS, [TIMES_EXACT] = FENCE_STORES};
	struct record *rec = memory_zeroed(1, sizeof(*rec));
	const char *limit = getenv("SCTRACE_RING");
	make_program(rec);
	struct agent_recipe *recipes = (struct agent_recipe *)(void *)(rec->program + (RECIPES_AT - RECORDER_CODE));
	struct memory_tables *tables = (struct memory_tables *)(void *)(rec->program + (MEMORY_AT - RECORDER_CODE));
	recipe_memory(tables, config->names);
	for (int64_t nr = 0; nr < AGENT_CALLS; nr++) {
		const struct syscall_desc *d = nr < AGENT_NUMBERS ? syscall_lookup(syscall_native_arch(), nr) : NULL;
		/* The arguments of an unknown call are shown as numbers. */
		recipes[nr].nargs = 6;
		bool recordable = !d || recipe_of(d, nr, config->verbose, tables, &recipes[nr]);
		bool asked = config->want & (CAP_INJECT | CAP_STOPS) && is_in(config->stops, nr);
		const struct use *use = use_of_output(config, nr);
		bool first = precedes_output(config, nr);
		bool wanted = is_in(config->only, nr) || use || first;
		bool creates = d && config->names && creates_names(d);
		bool changes = d && config->names && changes_names(d, config->full_names);
		bool stops = must_stop(nr, wanted) || (changes && !wanted) || (wanted && asked);
		recipes[nr].fence = fences[config->times];
		recipes[nr].waits = config->waits;
		recipes[nr].announces = changes || first || (creates && config->full_names && d->groups & G_SIGNAL);
		recipes[nr].asks = creates;
		recipes[nr].writes = use ? use->writes : 0;
		recipes[nr].closes = (use || changes) && use_of(nr) ? use_of(nr)->closes : 0;
		if (d && config->names)
			note_descriptors(d, &recipes[nr]);
		recipes[nr].names = (creates ? way_to_name(d) : changes ? change_of_name(d, nr) : NAMES_NONE) & 7;
		p->record_way[nr] = stops || (wanted && !recordable) ? RECORD_STOPS
				    : wanted                         ? RECORD_WRITES
								     : RECORD_PASSES;
	}
	rec->limit = limit ? (uint32_t)strtoul(limit, NULL, 0) & ~63u : RING_DATA;
	if (rec->limit < 1024 || rec->limit > RING_DATA)
		rec->limit = RING_DATA;
	rec->string_max = config->string_max;
	rec->output = config->output;
	rec->names = config->names && follows_names(config);
	rec->full_names = config->full_names;
	rec->finds_peers = config->names && config->full_names && names_finds_peers();
	rec->several = config->nattach > 1;
	p->record = rec;
	p->recorder = rec->program;
	p->scratch_size = config->nattach ? SCRATCH_SIZE_ATTACHED : SCRATCH_SIZE;
	p->count_threads = config->count_threads;
	make_file(p, rec);
	record_plan_rings(p);
}

/* Prints how many calls were recorded, and how many of these sctrace had to complete (tests/bench/records.py). */
static void say_calls(const struct record *rec)
{
	struct buf name = {0};
	for (int64_t nr = 0; nr < AGENT_CALLS; nr++) {
		buf_clear(&name);
		syscall_name(&name, syscall_native_arch(), nr);
		if (rec->reported_calls[nr])
			fprintf(stderr, "sctrace: recorded %s %u asked %u\n", buf_str(&name), rec->reported_calls[nr],
				rec->asked_calls[nr]);
	}
	buf_free(&name);
}

void record_close(struct patch *p)
{
	if (p->record && p->debug)
		say_calls(p->record);
	for (size_t i = 0; p->record && i < p->record->threads.n; i++)
		record_thread_free(p->record->threads.v[i]);
	if (p->record) {
		vec_free(&p->record->threads);
		for (size_t i = 0; i < EVENT_NAMES_MOST; i++)
			for (size_t k = 0; k < 2; k++)
				buf_free(&p->record->event_names[k].sockets[i]);
		record_free_groups(p->record);
		if (p->record->fd >= 0)
			close(p->record->fd);
	}
	p->recorder_path[0] = 0;
	free(p->record);
	p->record = NULL;
	p->recorder = NULL;
}
