/* Shows arguments of poll, select and epoll. The functions are used in the rows of decode_kinds. */
#ifndef SCTRACE_DECODE_POLL_H
#define SCTRACE_DECODE_POLL_H

#include "decode/kinds.h"

show_fn show_pollfds, show_epoll_event, show_epoll_events, show_fd_set;

/* Shows, after the result, the events that poll(2) found: ([{fd=3, revents=POLLIN}]). */
void decode_poll_returned(const struct decode *d);
/*
 * Shows, after the result, the descriptors and the time that select(2) left in its arguments: (in [3], left {tv_sec=1,
 * tv_usec=0}).
 */
void decode_select_returned(const struct decode *d);

#endif
