/* The loader's view of the kernel half, as bpftool generates it: its maps, programs, settings and counters. */
#ifndef SCTRACE_ENGINE_BPF_SKELETON_H
#define SCTRACE_ENGINE_BPF_SKELETON_H

#pragma GCC system_header /* generated code is held to its generator's rules */
#include "sctrace.skel.h"

#endif
