#include "engine/patch/record/recipe.h"

#include "decode/memory.h"
#include "syscall/table.h"

#include <errno.h>
#include <linux/userfaultfd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

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

/* Returns the index of a rule in the tables, and adds it if it is not there yet. */
static uint8_t index_of(struct memory_tables *t, const struct memory_need *n)
{
	size_t i = 0;
	while (i < t->nneeds && memcmp(&t->needs[i], n, sizeof(*n)) != 0)
		i++;
	if (i == MEMORY_NEEDS)
		return 0; /* the rule for what must stop */
	if (i == t->nneeds)
		t->needs[t->nneeds++] = *n;
	return (uint8_t)i;
}

struct collector {
	struct memory_tables *tables;
	bool names;
};

static void add_command(void *ctx, enum memory_table table, unsigned arg, uint32_t command, struct memory_need need)
{
	const struct collector *to = ctx;
	struct memory_tables *t = to->tables;
	/* sctrace must see how a program creates a userfaultfd(2), because it then reads memory in another way. */
	if (table == TABLE_IOCTL && command == (uint32_t)USERFAULTFD_IOC_NEW)
		need.rule = MEMORY_MISSING;
	if (need.rule == MEMORY_NONE || (need.rule == MEMORY_DESCRIPTOR && !to->names) ||
	    t->ncommands == MEMORY_COMMANDS)
		return;
	t->commands[t->ncommands++] = (struct memory_command){
		.table = (uint8_t)table, .arg = (uint8_t)arg, .need = index_of(t, &need), .command = command};
}

static int compare_commands(const void *a, const void *b)
{
	uint64_t x = memory_command_key(a), y = memory_command_key(b);
	return x < y ? -1 : x > y;
}

void recipe_memory(struct memory_tables *t, bool names)
{
	struct collector to = {t, names};
	size_t n;
	const struct memory_part *parts = decode_memory_parts(&n);
	memset(t, 0, sizeof(*t));
	t->nneeds = 1; /* index 0: MEMORY_MISSING */
	memcpy(t->parts, parts, n * sizeof(*parts));
	decode_memory_commands(add_command, &to);
	qsort(t->commands, t->ncommands, sizeof(*t->commands), compare_commands);
}

/* May the call read its strings after it has failed in ways that usually prove that it has read them? */
static bool reads_late(const struct syscall_desc *d)
{
	for (unsigned i = 0; i < d->nargs; i++)
		if (d->args[i].kind == K_OUT_XATTR || d->args[i].kind == K_STR)
			return true;
	return false;
}

/* Returns the rule of an argument: that of its kind, as far as the call does not say more. */
static struct memory_need need_of(const struct syscall_desc *d, int64_t nr, unsigned arg, bool verbose)
{
	struct memory_need n = decode_memory_need(d->args[arg].kind, arg);
	if (nr == SYS_execve && n.rule == MEMORY_STRING)
		n.rule = MEMORY_EXEC_PATH;
	else if (n.rule == MEMORY_STRING)
		n.size = reads_late(d);
	else if (n.rule == MEMORY_POINTERS && verbose)
		n.rule = MEMORY_STRINGS;
	if (n.rule == MEMORY_STRINGS && verbose)
		n.most = 0;
	if (n.rule == MEMORY_IN && n.limit == LIMIT_STRING && d->result == R_BYTES)
		n.rule = MEMORY_WRITTEN;
	if (n.rule == MEMORY_COMMAND && n.size == TABLE_QUOTA) {
		n.from = d->args[0].kind == K_FD; /* quotactl_fd(2) has a descriptor before the command */
		n.head = 8;
	}
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
	bool in = false, out = false;
	*recipe = (struct agent_recipe){.nargs = d->nargs & 15};
	for (unsigned i = 0; i < d->nargs && !is_special(nr); i++) {
		struct memory_need n = need_of(d, nr, i, verbose);
		if (n.rule == MEMORY_MISSING)
			return false;
		if (n.rule == MEMORY_NONE)
			continue;
		in |= n.rule == MEMORY_IN;
		out |= n.rule == MEMORY_OUT;
		recipe->before |= is_early(n.rule);
		recipe->op[recipe->n].need = index_of(tables, &n);
		recipe->op[recipe->n++].arg = (uint8_t)i;
	}
	/* In sigprocmask(how, &set, &set), for example, the kernel overwrites its input. */
	recipe->apart = in && out;
	recipe->before |= recipe->apart;
	return !is_special(nr);
}
