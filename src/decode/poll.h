/* Shows arguments of poll, select and epoll. The functions are used in the rows of decode_kinds. */
#ifndef SCTRACE_DECODE_POLL_H
#define SCTRACE_DECODE_POLL_H

#include "decode/kinds.h"

show_fn show_pollfds, show_epoll_event, show_epoll_events, show_fd_set;

/* Shows the result `v` of poll(2), and the events that it found: 1 ([{fd=3, revents=POLLIN}]). */
void decode_poll_result(const struct decode *d, int64_t v);
/*
 * Shows the result `v` of select(2), and the descriptors and the time that it left in its arguments: 1 (in [3], left
 * {tv_sec=1, tv_usec=0}).
 */
void decode_select_result(const struct decode *d, int64_t v);

#endif
