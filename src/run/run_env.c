/* SPDX-License-Identifier: MIT */
#include "run/run_env.h"

#include "base/buf.h"

#include <string.h>
#include <time.h>

#define TELLS(type, key, kind, member, words)                                                                          \
	{                                                                                                              \
		key, kind, offsetof(struct type, member), 0, 0, NULL, words                                            \
	}
#define F(type, key, kind, member) TELLS(type, key, kind, member, NULL)

/*
 * In the tables below, some fields have words, the last argument of TELLS. Figures of two machines can only be compared
 * if these fields are equal on both. env_differences() calls each field by its words.
 */
static const struct field kernel_rows[] = {
	TELLS(env_kernel, "release", FIELD_STRING, release, "kernel"),
	TELLS(env_kernel, "version", FIELD_STRING, version, "kernel build"),
	TELLS(env_kernel, "machine", FIELD_STRING, machine, "architecture"),
	TELLS(env_kernel, "preemption", FIELD_STRING, preemption, "kernel preemption"),
	TELLS(env_kernel, "debug_options", FIELD_STRINGS, debug_options, "kernel debug options"),
	F(env_kernel, "config_source", FIELD_STRING, config_source),
	TELLS(env_kernel, "tick_hz", FIELD_INTEGER, tick_hz, "kernel clock tick (Hz)"),
	F(env_kernel, "parameters", FIELD_STRINGS, parameters),
};
static const struct fields kernel_fields = FIELDS(kernel_rows, struct env_kernel);

static const struct field cpu_rows[] = {
	TELLS(env_cpu, "model", FIELD_STRING, model, "CPU"),
	TELLS(env_cpu, "online", FIELD_INTEGER, online, "CPUs online"),
	F(env_cpu, "allowed", FIELD_INTEGER, allowed),
	F(env_cpu, "mhz", FIELD_REAL, mhz),
	F(env_cpu, "smt", FIELD_STRING, smt),
	TELLS(env_cpu, "governor", FIELD_STRING, governor, "frequency governor"),
	F(env_cpu, "driver", FIELD_STRING, driver),
	TELLS(env_cpu, "turbo", FIELD_TRUTH, turbo, "turbo"),
	TELLS(env_cpu, "clocksource", FIELD_STRING, clocksource, "clock source"),
	F(env_cpu, "isolated", FIELD_STRING, isolated),
	TELLS(env_cpu, "limit", FIELD_STRING, limit, "limit of the control group for processor time"),
};
static const struct fields cpu_fields = FIELDS(cpu_rows, struct env_cpu);

static const struct field memory_rows[] = {
	TELLS(env_memory, "total_bytes", FIELD_INTEGER, total_bytes, "memory (bytes)"),
	F(env_memory, "available_bytes", FIELD_INTEGER, available_bytes),
	F(env_memory, "swap_total_bytes", FIELD_INTEGER, swap_total_bytes),
	F(env_memory, "page_bytes", FIELD_INTEGER, page_bytes),
	TELLS(env_memory, "transparent_hugepages", FIELD_STRING, transparent_hugepages, "transparent huge pages"),
	TELLS(env_memory, "limit", FIELD_STRING, limit, "limit of the control group for memory"),
};
static const struct fields memory_fields = FIELDS(memory_rows, struct env_memory);

static const struct field load_rows[] = {
	F(env_load, "1min", FIELD_REAL, one),
	F(env_load, "5min", FIELD_REAL, five),
	F(env_load, "15min", FIELD_REAL, fifteen),
};
static const struct fields load_fields = FIELDS(load_rows, struct env_load);

static const struct field fs_rows[] = {
	F(env_file_system, "directory", FIELD_STRING, directory),
	TELLS(env_file_system, "type", FIELD_STRING, type, "file system"),
	F(env_file_system, "source", FIELD_STRING, source),
	F(env_file_system, "mount_point", FIELD_STRING, mount_point),
	TELLS(env_file_system, "options", FIELD_STRING, options, "mount options"),
	F(env_file_system, "block_bytes", FIELD_INTEGER, block_bytes),
	F(env_file_system, "total_bytes", FIELD_INTEGER, total_bytes),
	F(env_file_system, "free_bytes", FIELD_INTEGER, free_bytes),
	F(env_file_system, "in_memory", FIELD_TRUTH, in_memory),
	F(env_file_system, "compresses", FIELD_TRUTH, compresses),
	F(env_file_system, "shares_extents", FIELD_TRUTH, shares_extents),
	F(env_file_system, "io_scheduler", FIELD_STRING, io_scheduler),
	TELLS(env_file_system, "below", FIELD_STRING, below, "file system below the overlay"),
};
static const struct fields fs_fields = FIELDS(fs_rows, struct env_file_system);

static const struct field rows[] = {
	F(env, "host", FIELD_STRING, host),
	TELLS(env, "os", FIELD_STRING, os, "operating system"),
	TELLS(env, "libc", FIELD_STRING, libc, "C library"),
	F(env, "date", FIELD_STRING, date),
	F(env, "uptime_s", FIELD_REAL, uptime_s),
	{"kernel", FIELD_OBJECT, offsetof(struct env, kernel), 0, 0, &kernel_fields, NULL},
	{"cpu", FIELD_OBJECT, offsetof(struct env, cpu), 0, 0, &cpu_fields, NULL},
	TELLS(env, "mitigations", FIELD_TEXTS, mitigations, "mitigation of"),
	TELLS(env, "hypervisor", FIELD_STRING, hypervisor, "hypervisor"),
	TELLS(env, "container", FIELD_STRING, container, "container"),
	{"memory", FIELD_OBJECT, offsetof(struct env, memory), 0, 0, &memory_fields, NULL},
	{"load", FIELD_OBJECT, offsetof(struct env, load), 0, 0, &load_fields, NULL},
	{"file_system", FIELD_OBJECT, offsetof(struct env, file_system), 0, 0, &fs_fields, NULL},
};
const struct fields env_fields = FIELDS(rows, struct env);

static int say_texts(struct buf *out, const char *what, const char *name, const char *x, const char *y)
{
	if ((!x && !y) || (x && y && strcmp(x, y) == 0))
		return 0;
	buf_addf(out, "%s %s: %s | %s\n", what, name, x ? x : "unknown", y ? y : "unknown");
	return 1;
}

/* Compares the mitigations one by one, so that the user sees which ones differ. */
static int text_differences(const struct field *f, const struct texts *x, const struct texts *y, struct buf *out)
{
	int n = 0;
	for (size_t i = 0; i < x->n; i++)
		n += say_texts(out, f->words, x->v[i].name, x->v[i].text, texts_find(y, x->v[i].name));
	for (size_t i = 0; i < y->n; i++)
		if (!texts_find(x, y->v[i].name))
			n += say_texts(out, f->words, y->v[i].name, NULL, y->v[i].text);
	return n;
}

static int differences(const struct fields *f, const void *a, const void *b, struct buf *out)
{
	int n = 0;
	for (size_t i = 0; i < f->n; i++) {
		const struct field *x = &f->v[i];
		const char *in_a = (const char *)a + x->offset;
		const char *in_b = (const char *)b + x->offset;
		if (x->type == FIELD_OBJECT) {
			n += differences(x->of, in_a, in_b, out);
		} else if (x->type == FIELD_TEXTS) {
			n += text_differences(x, (const void *)in_a, (const void *)in_b, out);
		} else if (x->words && !field_equal(x, a, b)) {
			buf_addf(out, "%s: ", x->words);
			field_say(x, a, out);
			buf_adds(out, " | ");
			field_say(x, b, out);
			buf_addc(out, '\n');
			n++;
		}
	}
	return n;
}

int env_differences(const struct env *a, const struct env *b, struct buf *out)
{
	return differences(&env_fields, a, b, out);
}

void env_now(char **to)
{
	time_t now = time(NULL);
	struct tm tm;
	char s[64];
	auto_buf date = {0};
	localtime_r(&now, &tm);
	strftime(s, sizeof(s), "%Y-%m-%dT%H:%M:%S%z", &tm);
	/* strftime(3) writes the offset as +0100. RFC 3339 requires +01:00. */
	size_t n = strlen(s);
	buf_addf(&date, "%.*s:%s", (int)n - 2, s, s + n - 2);
	field_set(to, buf_str(&date));
}
