#include "run/env.h"

#include "base/buf.h"

#include <string.h>
#include <time.h>

#define S(type, key, member)                                                                                           \
	{                                                                                                              \
		key, FIELD_STRING, offsetof(struct type, member), 0, 0, NULL, NULL                                     \
	}
#define TELLS(type, key, member, w)                                                                                    \
	{                                                                                                              \
		key, FIELD_STRING, offsetof(struct type, member), 0, 0, NULL, w                                        \
	}
#define F(type, key, kind, member)                                                                                     \
	{                                                                                                              \
		key, kind, offsetof(struct type, member), 0, 0, NULL, NULL                                             \
	}

/*
 * In the tables below, some fields have words: the last argument of TELLS, or the last member of a row. Figures of two
 * machines can only be compared if these fields are equal on both. env_differences() calls each field by its words.
 */
static const struct field kernel_rows[] = {
	TELLS(env_kernel, "release", release, "kernel"),
	TELLS(env_kernel, "version", version, "kernel build"),
	TELLS(env_kernel, "machine", machine, "architecture"),
	TELLS(env_kernel, "preemption", preemption, "kernel preemption"),
	{"debug_options", FIELD_STRINGS, offsetof(struct env_kernel, debug_options), 0, 0, NULL,
	 "kernel debug options"},
	S(env_kernel, "config_source", config_source),
	{"tick_hz", FIELD_INTEGER, offsetof(struct env_kernel, tick_hz), 0, 0, NULL, "kernel clock tick (Hz)"},
	F(env_kernel, "parameters", FIELD_STRINGS, parameters),
};
static const struct fields kernel_fields = FIELDS(kernel_rows, struct env_kernel);

static const struct field cpu_rows[] = {
	TELLS(env_cpu, "model", model, "CPU"),
	{"online", FIELD_INTEGER, offsetof(struct env_cpu, online), 0, 0, NULL, "CPUs online"},
	F(env_cpu, "allowed", FIELD_INTEGER, allowed),
	F(env_cpu, "mhz", FIELD_REAL, mhz),
	S(env_cpu, "smt", smt),
	TELLS(env_cpu, "governor", governor, "frequency governor"),
	S(env_cpu, "driver", driver),
	{"turbo", FIELD_TRUTH, offsetof(struct env_cpu, turbo), 0, 0, NULL, "turbo"},
	TELLS(env_cpu, "clocksource", clocksource, "clock source"),
	S(env_cpu, "isolated", isolated),
};
static const struct fields cpu_fields = FIELDS(cpu_rows, struct env_cpu);

static const struct field memory_rows[] = {
	{"total_bytes", FIELD_INTEGER, offsetof(struct env_memory, total_bytes), 0, 0, NULL, "memory (bytes)"},
	F(env_memory, "available_bytes", FIELD_INTEGER, available_bytes),
	F(env_memory, "swap_total_bytes", FIELD_INTEGER, swap_total_bytes),
	F(env_memory, "page_bytes", FIELD_INTEGER, page_bytes),
	TELLS(env_memory, "transparent_hugepages", transparent_hugepages, "transparent huge pages"),
};
static const struct fields memory_fields = FIELDS(memory_rows, struct env_memory);

static const struct field load_rows[] = {
	F(env_load, "1min", FIELD_REAL, one),
	F(env_load, "5min", FIELD_REAL, five),
	F(env_load, "15min", FIELD_REAL, fifteen),
};
static const struct fields load_fields = FIELDS(load_rows, struct env_load);

static const struct field fs_rows[] = {
	S(env_file_system, "directory", directory),
	TELLS(env_file_system, "type", type, "file system"),
	S(env_file_system, "source", source),
	S(env_file_system, "mount_point", mount_point),
	TELLS(env_file_system, "options", options, "mount options"),
	F(env_file_system, "block_bytes", FIELD_INTEGER, block_bytes),
	F(env_file_system, "total_bytes", FIELD_INTEGER, total_bytes),
	F(env_file_system, "free_bytes", FIELD_INTEGER, free_bytes),
	F(env_file_system, "in_memory", FIELD_TRUTH, in_memory),
	F(env_file_system, "compresses", FIELD_TRUTH, compresses),
	F(env_file_system, "shares_extents", FIELD_TRUTH, shares_extents),
	S(env_file_system, "io_scheduler", io_scheduler),
};
static const struct fields fs_fields = FIELDS(fs_rows, struct env_file_system);

static const struct field rows[] = {
	S(env, "host", host),
	TELLS(env, "os", os, "operating system"),
	TELLS(env, "libc", libc, "C library"),
	S(env, "date", date),
	F(env, "uptime_s", FIELD_REAL, uptime_s),
	{"kernel", FIELD_OBJECT, offsetof(struct env, kernel), 0, 0, &kernel_fields, NULL},
	{"cpu", FIELD_OBJECT, offsetof(struct env, cpu), 0, 0, &cpu_fields, NULL},
	{"mitigations", FIELD_TEXTS, offsetof(struct env, mitigations), 0, 0, NULL, "mitigation of"},
	TELLS(env, "hypervisor", hypervisor, "hypervisor"),
	TELLS(env, "container", container, "container"),
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
	struct buf date = {0};
	localtime_r(&now, &tm);
	strftime(s, sizeof(s), "%Y-%m-%dT%H:%M:%S%z", &tm);
	/* strftime(3) writes the offset as +0100. RFC 3339 requires +01:00. */
	size_t n = strlen(s);
	buf_addf(&date, "%.*s:%s", (int)n - 2, s, s + n - 2);
	field_set(to, buf_str(&date));
	buf_free(&date);
}
