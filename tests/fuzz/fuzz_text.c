/* SPDX-License-Identifier: MIT */
/* Parses sizes, durations and numbers, and escapes arbitrary bytes. */
#include "fuzz.h"

#include "base/buf.h"
#include "base/escape.h"
#include "base/size.h"

/* size_parse() reads back what size_format() writes. */
static void sizes(const char *text)
{
	uint64_t bytes, again;
	int64_t number;
	struct buf out = {0};
	duration_parse(text, &bytes);
	number_parse(text, -1000, 1000, &number);
	if (size_parse(text, &bytes) == 0) {
		size_format(&out, bytes);
		FUZZ_REQUIRE(size_parse(buf_str(&out), &again) == 0 && again == bytes);
		size_human(&out, bytes);
		duration_human(&out, (double)bytes);
	}
	buf_free(&out);
}

/*
 * The output must have no control byte for any input, and text that is escaped for a message must be fully printable.
 */
static void harmless(const char *s, size_t size)
{
	struct buf out = {0};
	escape_line(&out, s, size);
	for (size_t i = 0; i < out.len;) {
		size_t n = escape_utf8_len(out.s + i, out.len - i);
		FUZZ_REQUIRE(n > 0);
		i += n;
	}
	for (int hex = 0; hex < 2; hex++) {
		buf_clear(&out);
		escape_c(&out, s, size, hex);
		for (size_t i = 0; i < out.len; i++)
			FUZZ_REQUIRE(out.s[i] >= ' ' && out.s[i] <= '~');
	}
	buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_string(data, size);
	sizes(text);
	harmless(text, size);
	free(text);
	return 0;
}
