#include "engine/patch/record/recipe.h"

#include "decode/memory.h"
#include "syscall/table.h"

#include <errno.h>
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

/* Does the kernel replace time `arg` by the remaining time? It only reads the times passed to other calls. */
static bool is_changed(int64_t nr, unsigned arg)
{
	return (nr == SYS_ppoll && arg == 2) ||
	       ((nr == SYS_pselect6 || nr == SYS_select || nr == SYS_recvmmsg) && arg == 4);
}

#define CLONE_ARGS_MOST 88 /* size of struct clone_args with all members that sctrace shows (linux/sched.h) */

static const uint8_t rule_of[] = {
	[MEMORY_STRING] = RECIPE_STRING,
	[MEMORY_IN] = RECIPE_IN,
	[MEMORY_IN_SIZED] = RECIPE_IN_SIZED,
	[MEMORY_IN_BYTES] = RECIPE_IN_BYTES,
	[MEMORY_IN_ARRAY] = RECIPE_IN_ARRAY,
	[MEMORY_OUT] = RECIPE_OUT,
	[MEMORY_OUT_BYTES] = RECIPE_OUT_BYTES,
	[MEMORY_OUT_ALL] = RECIPE_OUT_ALL,
	[MEMORY_ON_ERROR] = RECIPE_ON_ERROR,
	[MEMORY_COMMAND] = RECIPE_COMMAND,
	[MEMORY_FUTEX_TIME] = RECIPE_FUTEX_TIME,
	[MEMORY_EPOLL_EVENT] = RECIPE_EPOLL_EVENT,
	[MEMORY_IN_IOVEC] = RECIPE_IN_IOVEC,
	[MEMORY_OUT_IOVEC] = RECIPE_OUT_IOVEC,
	[MEMORY_CHANGED] = RECIPE_CHANGED,
	[MEMORY_OUT_SIZED] = RECIPE_OUT_SIZED,
	[MEMORY_FD_SET] = RECIPE_FD_SET,
	[MEMORY_SIGSET_PAIR] = RECIPE_SIGSET_PAIR,
	[MEMORY_SOCK_BYTES] = RECIPE_SOCK_BYTES,
	[MEMORY_OUT_SOCK_BYTES] = RECIPE_OUT_SOCK_BYTES,
	[MEMORY_MSG] = RECIPE_MSG,
	[MEMORY_OUT_MSG] = RECIPE_OUT_MSG,
	[MEMORY_MMSG] = RECIPE_MMSG,
	[MEMORY_OUT_MMSG] = RECIPE_OUT_MMSG,
};

static bool add(struct agent_recipe *r, unsigned rule, unsigned arg, unsigned size)
{
	if (r->n == RECIPE_OPS)
		return false;
	r->op[r->n].rule = (uint8_t)rule;
	r->op[r->n].arg = (uint8_t)arg;
	r->op[r->n++].size = (uint16_t)size;
	return true;
}

/*
 * Adds the conditions that the input and the output of the call are different memory. In sigprocmask(how, &set, &set),
 * for example, the kernel overwrites its input.
 */
static bool keep_apart(const struct syscall_desc *d, struct agent_recipe *r, unsigned out)
{
	for (unsigned in = 0; in < d->nargs; in++)
		if (decode_memory_need(d->args[in].kind).rule == MEMORY_IN && !add(r, RECIPE_IF_APART, in, out))
			return false;
	return true;
}

/* The kinds of arguments whose commands are in the table, and the first row of each kind. */
static const struct {
	enum syscall_kind kind;
	uint16_t row;
} commanded[] = {{K_FCNTL_ARG, 0}, {K_IOCTL_ARG, 64}, {K_PRCTL_ARG2, 192}};
#define COMMANDED (sizeof(commanded) / sizeof(*commanded))

void recipe_commands(struct agent_command *rows)
{
	for (size_t k = 0; k < COMMANDED; k++) {
		size_t at = commanded[k].row, end = k + 1 < COMMANDED ? commanded[k + 1].row : COMMANDS;
		struct memory_command c;
		for (size_t i = 0; at + 1 < end && decode_memory_command(commanded[k].kind, i, &c); i++)
			if (c.need.rule != MEMORY_UNKNOWN)
				rows[at++] = (struct agent_command){c.command, c.need.size, rule_of[c.need.rule], 0};
		rows[at].rule = RECIPE_END;
	}
}

/* Returns an error after which the kernel has read the call's strings, besides those of proves_string(), or 0. */
static unsigned error_after_strings(const struct syscall_desc *d, int64_t nr)
{
	for (unsigned i = 0; i < d->nargs; i++)
		if (d->args[i].kind == K_OUT_XATTR || d->args[i].kind == K_STR)
			return ENODATA;
	return nr == SYS_readlink || nr == SYS_readlinkat ? EINVAL : 0;
}

/* Returns the operation's `size`, whose meaning depends on the rule. */
static unsigned size_for(const struct syscall_desc *d, int64_t nr, enum syscall_kind kind, struct memory_need need)
{
	for (size_t k = 0; need.rule == MEMORY_COMMAND && k < COMMANDED; k++)
		if (commanded[k].kind == kind)
			return commanded[k].row;
	return need.rule == MEMORY_STRING ? error_after_strings(d, nr) : need.size;
}

/* The arguments of execve(2) are captured before the call, because the program's memory is lost if it succeeds. */
static bool exec_recipe(bool verbose, struct agent_recipe *recipe)
{
	unsigned most = verbose ? UINT16_MAX : DECODE_ARGV_MOST + 1;
	return add(recipe, RECIPE_PATH, 0, 0) && add(recipe, RECIPE_STRINGS, 1, most) &&
	       add(recipe, verbose ? RECIPE_STRINGS : RECIPE_POINTERS, 2, most);
}

bool recipe_of(const struct syscall_desc *d, int64_t nr, bool verbose, struct agent_recipe *recipe)
{
	*recipe = (struct agent_recipe){.nargs = d->nargs};
	if (nr == SYS_execve)
		return exec_recipe(verbose, recipe);
	if (nr == SYS_rt_sigreturn)
		return add(recipe, RECIPE_FRAME_MASK, 0, 0);
	if (nr == SYS_arch_prctl) /* the agent records only ARCH_SET_FS */
		return true;
	if (nr == SYS_clone)
		return add(recipe, RECIPE_CLONE_TID, 2, 0);
	if (nr == SYS_clone3)
		return add(recipe, RECIPE_CLONE_ARGS, 0, CLONE_ARGS_MOST);
	if (is_special(nr))
		return false;
	for (unsigned i = 0; i < d->nargs; i++) {
		struct memory_need need = decode_memory_need(d->args[i].kind);
		if (need.rule == MEMORY_UNKNOWN)
			return false;
		if (need.rule == MEMORY_OUT && !keep_apart(d, recipe, i))
			return false;
		unsigned rule = is_changed(nr, i) ? RECIPE_CHANGED : rule_of[need.rule];
		if (need.rule != MEMORY_NONE && !add(recipe, rule, i, size_for(d, nr, d->args[i].kind, need)))
			return false;
	}
	return true;
}
