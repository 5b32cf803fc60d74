/*
 * Shows arguments of System V IPC, message queues, memory policies and asynchronous I/O. The functions are used in the
 * rows of decode_kinds.
 */
#ifndef SCTRACE_DECODE_IPC_H
#define SCTRACE_DECODE_IPC_H

#include "decode/kinds.h"

show_fn show_ipc_key, show_get_flags, show_ipc_cmd, show_ipc_buf, show_sem_arg;
show_fn show_in_msgbuf, show_out_msgbuf, show_nodemask, show_nodemask_prev;
show_fn show_mincore, show_iocbs, show_iocb, show_io_events, show_map_flags;
when_fn when_ipc_buf, when_sem_arg;

#endif
