/* Signals; rows of decode_kinds. */
#ifndef SCTRACE_DECODE_SIG_H
#define SCTRACE_DECODE_SIG_H

#include "decode/kinds.h"

show_fn show_signal, show_sigset, show_sigset_pair, show_sigset_at, show_sigaction, show_siginfo, show_sigevent,
	show_sigreturn;

/* Emits a signal set in strace's form: [INT TERM], ~[KILL], []. */
void decode_signals(struct emit *out, uint64_t set);

#endif
