/* SPDX-License-Identifier: MIT */
/*
 * Captures the memory of a call from outside: arguments, result and memory are arbitrary. All captures must lie within the
 * record, and each must be a copy of the memory.
 */
#include "fuzz.h"

#include "decode/decode_capture.h"
#include "engine/patch/record/reader.h"
#include "engine/patch/record/record.h"
#include "syscall/call_table.h"

#include <errno.h>

/* Memory that repeats the input. Half of the pages cannot be read. */
struct contents {
	const uint8_t *data;
	size_t size;
};

static ssize_t read_image(void *image, uint64_t addr, void *buf, size_t n)
{
	const struct contents *m = image;
	size_t left = addr >> 12 & 1 ? 0 : 4096 - addr % 4096, done = 0;
	n = n < left ? n : left;
	while (done < n) {
		size_t at = (addr + done) % m->size, run = m->size - at;
		run = run < n - done ? run : n - done;
		memcpy((uint8_t *)buf + done, m->data + at, run);
		done += run;
	}
	return done ? (ssize_t)done : -EFAULT;
}

static void check_captures(const struct record_reader *r, const struct contents *m)
{
	uint32_t k = r->open.head;
	FUZZ_REQUIRE(r->open.size <= RECORD_MOST && r->open.size % 8 == 0);
	while (k < r->open.size) {
		struct captured c;
		FUZZ_REQUIRE(r->open.size - k >= sizeof(c));
		memcpy(&c, r->open_bytes + k, sizeof(c));
		k += (uint32_t)sizeof(c);
		FUZZ_REQUIRE(c.len <= r->open.size - k);
		for (uint32_t i = 0; i < c.len; i += 1 + c.len / 64)
			FUZZ_REQUIRE(r->open_bytes[k + i] == m->data[(c.addr + i) % m->size]);
		k += (c.len + 7) & ~7u;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct memory_tables tables;
	struct record_reader r = {0};
	struct agent_recipe recipe;
	struct contents image = {data, size};
	if (!tables.nneeds)
		recipe_memory(&tables, false);
	if (size < 64)
		return 0;
	int64_t nr = (data[0] | data[1] << 8) % 512;
	const struct syscall_desc *d = syscall_lookup(syscall_native_arch(), nr);
	if (!d || !recipe_of(d, nr, data[2] & 1, &tables, &recipe))
		return 0;
	const struct mem memory = {.read = read_image, .ctx = &image};
	struct capture_source from = {.tables = &tables,
				      .args = r.open.args,
				      .live = &memory,
				      .string_max = data[2] & 2 ? 32 : 4096,
				      .made = data[2] & 4};
	memcpy(&from.result, data + 8, sizeof(from.result));
	r.open.nr = (uint16_t)nr;
	r.open.head = RECORD_HEAD_MOST;
	r.open.size = RECORD_HEAD_MOST;
	memcpy(r.open.args, data + 16, sizeof(r.open.args));
	record_capture_open(&r, &recipe, &from);
	check_captures(&r, &image);
	return 0;
}
