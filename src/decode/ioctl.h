/* Shows the commands of ioctl(2) and their arguments. The functions are used in the rows of decode_kinds. */
#ifndef SCTRACE_DECODE_IOCTL_H
#define SCTRACE_DECODE_IOCTL_H

#include "decode/kinds.h"

show_fn show_ioctl_command, show_ioctl_arg;
when_fn when_ioctl_arg;

/* Returns the commands whose arguments are known, and sets *n to their number. */
const struct command_arg *ioctl_commands(size_t *n);

/* Returns true if a successful call with this command returns a descriptor. */
bool ioctl_gives_descriptor(uint32_t command);

/*
 * Returns true if the command of the call concerns network interfaces. Sets *when to the time at which its argument is
 * known.
 */
bool ioctl_is_net(const struct decode *d, enum when *when);
/* Shows the argument of a command for which ioctl_is_net() returns true. */
void show_ioctl_net(const struct decode *d, uint64_t v);

#endif
