/* SPDX-License-Identifier: MIT */
/*
 * Parses filter expressions (-e). Any text must give either a set of calls, or one sentence and the position of the
 * wrong word.
 */
#include "fuzz.h"

#include "base/buf.h"
#include "syscall/filter.h"

#include <linux/audit.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* glibc compiles regular expressions, and needs unlimited time and stack for long ones. */
	if (size > 64)
		return 0;
	char *text = fuzz_string(data, size);
	struct filter f = {0};
	struct buf why = {0};
	size_t at = 0;
	if (filter_parse(&f, text, &at, &why) == 0) {
		for (int64_t nr = -2; nr < 600; nr += 7)
			filter_matches(&f, AUDIT_ARCH_X86_64, nr);
		filter_matches(&f, AUDIT_ARCH_I386, INT64_MAX);
		filter_matches(&f, 0, INT64_MIN);
	} else {
		FUZZ_REQUIRE(why.len > 0 && at <= strlen(text));
	}
	filter_free(&f);
	buf_free(&why);
	free(text);
	return 0;
}
