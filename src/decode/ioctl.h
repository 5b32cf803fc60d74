/* ioctl(2): its commands and their arguments; rows of decode_kinds. */
#ifndef SCTRACE_DECODE_IOCTL_H
#define SCTRACE_DECODE_IOCTL_H

#include "decode/kinds.h"

show_fn show_ioctl_command, show_ioctl_arg;
when_fn when_ioctl_arg;

/* The commands whose arguments are known; *n: how many rows. */
const struct command_arg *ioctl_commands(size_t *n);

/* True if this command returns a descriptor. */
bool ioctl_gives_descriptor(uint32_t command);

/* True if the call's command concerns network interfaces; sets *when its argument is known. */
bool ioctl_is_net(const struct decode *d, enum when *when);
/* Shows the argument of such a command. */
void show_ioctl_net(const struct decode *d, uint64_t v);

#endif
