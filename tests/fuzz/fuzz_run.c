/* SPDX-License-Identifier: MIT */
/*
 * Reads any bytes as a saved run. They must either be refused in one sentence, or be a run that can be written and read
 * again.
 */
#include "fuzz.h"

#include "base/buf.h"
#include "base/escape.h"
#include "run/run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Writes the bytes to a file without a name, and loads it by the path of its descriptor. */
static int load(struct run *run, const uint8_t *data, size_t size, struct buf *why)
{
	char path[64];
	int fd = memfd_create("run", MFD_CLOEXEC);
	FUZZ_REQUIRE(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	FUZZ_REQUIRE(write(fd, data, size) == (ssize_t)size);
	int rc = run_load(run, path, why);
	close(fd);
	return rc;
}

/* A saved run may come from anyone, so no text of it that is printed may control a terminal. */
static void printable(const char *s)
{
	for (size_t n; *s; s += n) {
		n = *s == '\n' ? 1 : escape_utf8_len(s, strlen(s));
		FUZZ_REQUIRE(n > 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf why = {0}, text = {0}, again = {0};
	struct run run, second;
	int rc = load(&run, data, size, &why);
	if (rc == 0) {
		FUZZ_REQUIRE(run.kind);
		run_dump(&run, &text);
		printable(buf_str(&text));
		FUZZ_REQUIRE(env_differences(&run.env, &run.env, &why) == 0);
		/* The written run is read back as the same run. */
		FUZZ_REQUIRE(run_parse(&second, buf_str(&text), "it", &why) == 0);
		run_dump(&second, &again);
		run_free(&second);
	} else {
		FUZZ_REQUIRE(why.len > 0);
	}
	run_free(&run);
	buf_free(&text);
	buf_free(&again);
	buf_free(&why);
	return 0;
}
