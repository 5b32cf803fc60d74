/* SPDX-License-Identifier: MIT */
/*
 * count PROGRAM [ARG...]: counts the calls of the program by the ptrace engine, and prints `name calls` on each line.
 */
#include "base/buf.h"
#include "measure/sample.h"
#include "syscall/call_table.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	struct buf why = {0};
	struct count c;
	struct count_spec spec = {
		.engine = "ptrace", .argv = argv + 1, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1, .follow = true};
	if (argc < 2 || count_take(&spec, &c, &why) < 0) {
		fprintf(stderr, "count: %s\n", buf_str(&why));
		return 1;
	}
	for (size_t i = 0; i < c.calls.groups.n; i++)
		for (size_t k = 0; k < c.calls.groups.v[i]->calls.n; k++) {
			const struct call_stats *s = c.calls.groups.v[i]->calls.v[k];
			struct buf name = {0};
			syscall_name(&name, s->arch, s->nr);
			printf("%s %llu\n", buf_str(&name), (unsigned long long)call_stats_calls(s));
			buf_free(&name);
		}
	count_free(&c);
	buf_free(&why);
	return 0;
}
