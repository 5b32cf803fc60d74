/* Shows arguments about signals. The functions are used in the rows of decode_kinds. */
#ifndef SCTRACE_DECODE_SIG_H
#define SCTRACE_DECODE_SIG_H

#include "decode/kinds.h"

show_fn show_signal, show_sigset, show_sigset_pair, show_sigaction, show_siginfo, show_sigevent, show_sigreturn;

#endif
