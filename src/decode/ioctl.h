/* ioctl(2): its commands and what they point at; rows of decode_kinds. */
#ifndef SCTRACE_DECODE_IOCTL_H
#define SCTRACE_DECODE_IOCTL_H

#include "decode/kinds.h"

show_fn show_ioctl_command, show_ioctl_arg, show_ifreq, show_ifconf;
when_fn when_ioctl_arg;

#endif
