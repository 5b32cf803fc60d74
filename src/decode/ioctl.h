/* ioctl(2): its commands and what they point at; rows of decode_kinds. */
#ifndef SCTRACE_DECODE_IOCTL_H
#define SCTRACE_DECODE_IOCTL_H

#include "decode/kinds.h"

show_fn show_ioctl_command, show_ioctl_arg;
when_fn when_ioctl_arg;

/* Is what such a command returns a descriptor? */
bool ioctl_gives_descriptor(uint32_t command);

/* Is the call's command one about network interfaces, and when is its argument known? */
bool ioctl_is_net(const struct decode *d, enum when *when);
/* Shows the argument of such a command. */
void show_ioctl_net(const struct decode *d, uint64_t v);

#endif
