/* Saved runs: any bytes are one sentence of refusal, or a run whose summary can be written and read again. */
#include "fuzz.h"

#include "base/buf.h"
#include "base/escape.h"
#include "measure/env.h"
#include "run/run.h"
#include "stats/summary.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* Puts the bytes in a file without a name and loads it by its descriptor's path. */
static json_t *load(const uint8_t *data, size_t size, struct buf *why)
{
	char path[64];
	json_t *run = NULL;
	int fd = memfd_create("run", MFD_CLOEXEC);
	FUZZ_REQUIRE(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size)
		run = run_load(path, why);
	close(fd);
	return run;
}

/* A saved run may come from anywhere: nothing of it that would be printed can steer a terminal. */
static void printable(const json_t *value)
{
	const char *key;
	json_t *v;
	size_t i;
	const char *s = json_is_string(value) ? json_string_value(value) : "";
	for (size_t n; *s; s += n) {
		n = escape_utf8_len(s, strlen(s));
		FUZZ_REQUIRE(n > 0);
	}
	json_array_foreach(value, i, v) printable(v);
	json_object_foreach((json_t *)value, key, v) printable(v);
}

static void read_summary(const json_t *run, struct buf *why)
{
	struct summary s = {0};
	if (run_get_summary(run, &s, why) == 0) {
		json_t *again = run_new("count", 0, NULL, NULL);
		FUZZ_REQUIRE(again && run_add_summary(again, &s) == 0);
		struct summary second = {0};
		FUZZ_REQUIRE(run_get_summary(again, &second, why) == 0);
		summary_free(&second);
		json_decref(again);
	} else {
		FUZZ_REQUIRE(why->len > 0);
	}
	summary_free(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf why = {0}, text = {0};
	json_t *run = load(data, size, &why);
	if (run) {
		printable(run);
		const json_t *env = json_object_get(run, "environment");
		FUZZ_REQUIRE(run_kind(run) && run_dump(run, &text) == 0);
		env_differences(env, env, &text);
		read_summary(run, &why);
		double *values = NULL;
		size_t n = 0;
		if (run_get_reals(json_object_get(run, "results"), &values, &n) == 0)
			free(values);
		json_decref(run);
	} else {
		FUZZ_REQUIRE(why.len > 0);
	}
	buf_free(&text);
	buf_free(&why);
	return 0;
}
