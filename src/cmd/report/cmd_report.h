/* SPDX-License-Identifier: MIT */
/* The options of `sctrace report`. */
#ifndef SCTRACE_CMD_REPORT_CMD_REPORT_H
#define SCTRACE_CMD_REPORT_CMD_REPORT_H

#include "present/page.h"
#include "run/condition.h"

struct report_options {
	struct page_options show;
	const char *names; /* --names, or NULL */
	bool merge;
	struct conditions fail_if;
	bool undecided; /* --undecided: the exit status is EXIT_UNDECIDED if a condition cannot be decided */
};

#endif
