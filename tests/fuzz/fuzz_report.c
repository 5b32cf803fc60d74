/* SPDX-License-Identifier: MIT */
/*
 * Runs `sctrace report` for any bytes, or for a valid run with some values replaced, in all formats. No output may
 * contain terminal controls, and the HTML page only its own script. Input: two bytes that select, then the run.
 */
#include "fuzz.h"

#include "base/escape.h"
#include "out/chart.h"
#include "present/page.h"
#include "run/judge.h"
#include "run/run.h"

#include <errno.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint32_t chance(uint32_t *state, uint32_t n)
{
	*state = *state * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)*state * n >> 32);
}

static json_t *interesting(uint32_t *state)
{
	static const char *const texts[] = {"",
					    "<script>x</script>\"'|`&",
					    "\033[31m\n\r\t\302\233\342\200\256",
					    "=1+1",
					    "a b  c   d",
					    "\302\244\360\237\230\200",
					    "write",
					    "0000-99-99T99:99:99+0000"};
	static const double reals[] = {0, -1, 1e308, -1e308, 1e-320, 1e18, 1.8e19, 4.2, 1e9};
	static const json_int_t integers[] = {0, -1, 1, INT64_MAX, INT64_MIN, INT32_MAX, 4096, 1u << 31};
	switch (chance(state, 8)) {
	case 0:
		return json_null();
	case 1:
		return json_boolean(chance(state, 2));
	case 2:
		return json_string(texts[chance(state, sizeof(texts) / sizeof(*texts))]);
	case 3:
		return json_array();
	case 4:
		return json_pack("{s:s,s:i}", "<b>\033", "x", "name", 1);
	case 5:
		return json_pack("[f,f,o]", 1.0, -1e300, json_null());
	case 6:
		return json_integer(integers[chance(state, sizeof(integers) / sizeof(*integers))]);
	default:
		return json_real(reals[chance(state, sizeof(reals) / sizeof(*reals))]);
	}
}

/* Walks down the JSON tree at random, and replaces, removes or duplicates the value that it reaches. */
static void change(json_t *v, uint32_t *state)
{
	size_t n = json_is_object(v) ? json_object_size(v) : json_array_size(v);
	if (n == 0)
		return;
	size_t at = chance(state, (uint32_t)n);
	bool here = chance(state, 3) == 0;
	if (json_is_array(v)) {
		json_t *child = json_array_get(v, at);
		if (!here && json_is_object(child) + json_is_array(child))
			change(child, state);
		else if (chance(state, 3) == 0)
			json_array_remove(v, at);
		else
			json_array_set_new(v, at, interesting(state));
		return;
	}
	void *i = json_object_iter(v);
	while (at--)
		i = json_object_iter_next(v, i);
	json_t *child = json_object_iter_value(i);
	if (!here && json_is_object(child) + json_is_array(child))
		change(child, state);
	else if (chance(state, 6) == 0)
		json_object_del(v, json_object_iter_key(i));
	else
		json_object_iter_set_new(v, i, interesting(state));
}

/* Writes the run to a file without a name. Returns the file's descriptor. */
static int file_of(const uint8_t *data, size_t size, uint32_t *state)
{
	json_t *doc = json_loadb((const char *)data, size, 0, NULL);
	for (uint32_t n = doc ? chance(state, 8) : 0; n > 0; n--)
		change(doc, state);
	char *text = doc ? json_dumps(doc, 0) : NULL;
	int fd = memfd_create("run", MFD_CLOEXEC);
	FUZZ_REQUIRE(fd >= 0);
	ssize_t n = text ? (ssize_t)strlen(text) : (ssize_t)size;
	FUZZ_REQUIRE(write(fd, text ? text : (const char *)data, (size_t)n) == n);
	free(text);
	json_decref(doc);
	return fd;
}

static void check_output(const char *format, const struct buf *out)
{
	const char *s = buf_str(out);
	FUZZ_REQUIRE(strlen(s) == out->len);
	bool page = strcmp(format, "html") == 0;
	if (page) {
		const char *script = strstr(s, "<script");
		FUZZ_REQUIRE(script && !strstr(script + 1, "<script"));
	}
	for (size_t n; *s; s += n) {
		n = strchr("\n\t\r", *s) ? 1 : escape_utf8_len(s, strlen(s));
		FUZZ_REQUIRE(n > 0);
	}
}

static void write_all(struct page *p)
{
	static const char *const formats[] = {"text", "markdown", "csv", "samples", "json", "html"};
	const struct table_look look = {.width = 80};
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct buf out = {0};
		page_render(p, formats[i], &look, &out);
		check_output(formats[i], &out);
		buf_free(&out);
	}
	for (size_t i = 0; i < p->figures.n; i++) {
		struct buf out = {0};
		if (p->figures.v[i].draw(p, CHART_WIDE, &out) == 0)
			check_output("svg", &out);
		buf_free(&out);
	}
}

static int load(struct run *run, const uint8_t *data, size_t size, uint32_t *state, struct buf *why)
{
	char path[32];
	int fd = file_of(data, size, state);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int rc = run_load(run, path, why);
	close(fd);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const labels[] = {"a", "b", "c"};
	if (size < 2)
		return 0;
	uint32_t state = (uint32_t)data[0] << 8 | data[1];
	size_t n = 1 + chance(&state, 3);
	struct run runs[3] = {0};
	struct page_run beside[3];
	struct page p = {0};
	struct buf why = {0};
	int rc = 0;
	for (size_t i = 0; i < n && rc == 0; i++) {
		beside[i] = (struct page_run){&runs[i], labels[i], labels[i]};
		rc = load(&runs[i], data + 2, size - 2, &state, &why);
		if (rc == 0 && i)
			rc = run_comparable(&runs[0], "a", &runs[i], labels[i], &why);
	}
	bool merge = chance(&state, 3) == 0;
	for (size_t i = 1; i < n && merge && rc == 0; i++) {
		rc = run_poolable(&runs[0], "a", &runs[i], labels[i], &why);
		if (rc == 0)
			run_merge(&runs[0], &runs[i]);
	}
	if (merge && rc == 0)
		run_judge(&runs[0]);
	if (rc == 0) {
		page_make(&p, beside, merge ? 1 : n);
		write_all(&p);
	} else {
		FUZZ_REQUIRE(why.len > 0);
	}
	page_free(&p);
	for (size_t i = 0; i < 3; i++)
		run_free(&runs[i]);
	buf_free(&why);
	return 0;
}
