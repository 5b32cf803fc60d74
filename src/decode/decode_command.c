/* SPDX-License-Identifier: MIT */
/* The arguments that a command decides, such as the last one of fcntl(2). The rows of commands are in flags.def. */
#include "decode/show.h"

#include <stddef.h>

enum { ARGS = 4 };

/* The first argument that the rows of a table of commands describe. */
static const uint8_t first_arg[] = {
	[TABLE_FCNTL] = 2,    [TABLE_IOCTL] = 2,    [TABLE_PRCTL] = 1,      [TABLE_SHMCTL] = 2,
	[TABLE_MSGCTL] = 2,   [TABLE_SEMCTL] = 3,   [TABLE_KEYCTL] = 1,     [TABLE_PTRACE] = 2,
	[TABLE_QUOTA] = 3,    [TABLE_KCMP] = 3,     [TABLE_REBOOT] = 3,     [TABLE_SYSLOG] = 1,
	[TABLE_FSCONFIG] = 3, [TABLE_LANDLOCK] = 2, [TABLE_ARCH_PRCTL] = 1, [TABLE_SECCOMP] = 2,
};

#define ROW(kind, when)                                                                                                \
	{                                                                                                              \
		K_##kind, WHEN_##when                                                                                  \
	}
#define IN(kind)   ROW(kind, ENTERING)
#define OUT(kind)  ROW(kind, LEFT)
#define EVEN(kind) ROW(kind, LEFT_EVEN)
#define BOTH(kind) ROW(kind, BOTH)
#define NONE       ROW(END, NEVER)

#define KEY(table, command) ((table)*UINT64_C(0x100000000) + (command))

/* Returns what the rows say about the arguments of a command, or NULL. */
static const struct command_arg *find(enum memory_table table, uint32_t command)
{
	switch (KEY(table, command)) {
#define COMMAND(commands, value, ...)                                                                                  \
	case KEY(TABLE_##commands, value): {                                                                           \
		static const struct command_arg args[ARGS] = {__VA_ARGS__};                                            \
		return args;                                                                                           \
	}
#include "decode/flags.def"
	default:
		return NULL;
	}
}

const struct command_arg *command_find(enum memory_table table, uint32_t command, unsigned arg)
{
	const struct command_arg *args = find(table, command);
	return args ? &args[arg - first_arg[table]] : NULL;
}

void commands_memory(command_memory_fn *add, void *ctx)
{
	static const struct {
		uint8_t table;
		uint32_t command;
	} rows[] = {
#define COMMAND(commands, value, ...) {TABLE_##commands, value},
#include "decode/flags.def"
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct command_arg *args = find(rows[i].table, rows[i].command);
		for (unsigned arg = 0; arg < ARGS; arg++)
			add(ctx, &(struct command_memory){.table = rows[i].table,
							  .arg = first_arg[rows[i].table] + arg,
							  .command = rows[i].command,
							  .kind = args[arg].kind,
							  .when = args[arg].when});
	}
}
