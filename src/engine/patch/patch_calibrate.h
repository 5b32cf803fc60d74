/* SPDX-License-Identifier: MIT */
/* Measures the cost of a call through the agent. */
#ifndef SCTRACE_ENGINE_PATCH_PATCH_CALIBRATE_H
#define SCTRACE_ENGINE_PATCH_PATCH_CALIBRATE_H

#include "engine/patch/state.h"

struct cost_numbers;

/*
 * Measures the cost of a call and the length of a tick with a child that has also timed the same call natively. `p` must
 * be an engine created only for this purpose, whose ops, arming and clock are set. Sets *cost and returns 0, or returns
 * -errno.
 */
int patch_calibrate(struct patch *p, struct cost_numbers *cost);

#endif
