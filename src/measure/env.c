#include "measure/env.h"

#include "base/buf.h"
#include "base/memory.h"
#include "measure/env_text.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

bool env_read_line(const char *path, char *line, int size)
{
	FILE *f = memory_fopen(path);
	if (!f)
		return false;
	bool ok = fgets(line, size, f) != NULL;
	fclose(f);
	if (ok)
		line[strcspn(line, "\n")] = '\0';
	return ok;
}

/* What /proc and /sys hold is not always UTF-8; JSON must be. */
static json_t *text(const char *s)
{
	json_t *j = s && *s ? json_string(s) : NULL;
	return j ? j : json_null();
}

static json_t *line_of(const char *path)
{
	char line[1024];
	return env_read_line(path, line, sizeof(line)) ? text(line) : json_null();
}

/* The value of the file's first line that is of `key`, in `value`; false where there is none. */
static bool field_of(const char *path, const char *key, char *value, size_t size)
{
	FILE *f = memory_fopen(path);
	if (!f)
		return false;
	char line[4096];
	bool found = false;
	while (!found && fgets(line, sizeof(line), f))
		found = env_field(line, key, value, size);
	fclose(f);
	return found;
}

static json_t *kib_field(const char *path, const char *key)
{
	char value[64];
	if (!field_of(path, key, value, sizeof(value)))
		return json_null();
	return json_integer(strtoll(value, NULL, 10) * 1024);
}

struct kernel_config {
	const char *source; /* NULL: not readable */
	json_t *debug;
	const char *preemption; /* NULL: not told */
	int hz;
};

static void config_line(struct kernel_config *c, const char *line)
{
	const char *option = env_debug_option(line);
	const char *model = env_preemption_model(line);
	c->preemption = model ? model : c->preemption;
	sscanf(line, "CONFIG_HZ=%d", &c->hz);
	if (option)
		json_array_append_new(c->debug, json_string(option));
}

/* The kernel's build options: /proc/config.gz where there is one, else the file that distributions put in /boot. */
static void config_read(struct kernel_config *c, const char *release, char *boot_path, size_t size)
{
	snprintf(boot_path, size, "/boot/config-%s", release);
	FILE *f = memory_fopen(boot_path);
	bool piped = !f && access("/proc/config.gz", R_OK) == 0;
	if (piped)
		f = popen("gzip -dc /proc/config.gz 2>/dev/null", "re");
	if (piped && !f && errno == ENOMEM)
		memory_note_failure();
	if (!f)
		return;
	char line[1024];
	bool any = false;
	while (fgets(line, sizeof(line), f)) {
		config_line(c, line);
		any = true;
	}
	if (piped)
		pclose(f);
	else
		fclose(f);
	if (any)
		c->source = piped ? "/proc/config.gz" : boot_path;
}

/* The model a kernel with PREEMPT_DYNAMIC runs by: preempt= of its command line, else what it was built to begin with. */
static json_t *dynamic_preemption(const struct kernel_config *c)
{
	char line[4096];
	const char *asked = env_read_line("/proc/cmdline", line, sizeof(line)) ? strstr(line, "preempt=") : NULL;
	if (asked && (asked == line || asked[-1] == ' ')) {
		asked += strlen("preempt=");
		return json_sprintf("PREEMPT_DYNAMIC (%.*s)", (int)strcspn(asked, " "), asked);
	}
	return c->preemption ? json_sprintf("PREEMPT_DYNAMIC (%s)", c->preemption) : json_string("PREEMPT_DYNAMIC");
}

/* "full" of "none voluntary (full) lazy" where debugfs can be read; else what version line and configuration say. */
static json_t *preemption(const char *version, const struct kernel_config *c)
{
	static const char *const named[] = {"PREEMPT_RT", "PREEMPT_DYNAMIC", "PREEMPT_LAZY", "PREEMPT"};
	char line[256];
	const char *base = NULL;
	for (size_t i = 0; !base && i < sizeof(named) / sizeof(*named); i++)
		if (strstr(version, named[i]))
			base = named[i];
	if (env_read_line("/sys/kernel/debug/sched/preempt", line, sizeof(line)) && strchr(line, '(')) {
		char *p = strchr(line, '(') + 1;
		p[strcspn(p, ")")] = '\0';
		return json_sprintf("%s (%s)", base ? base : "none", p);
	}
	if (base && strcmp(base, "PREEMPT_DYNAMIC") == 0)
		return dynamic_preemption(c);
	return json_string(base ? base : c->preemption ? c->preemption : "none or voluntary");
}

static json_t *parameters(void)
{
	char line[4096];
	if (!env_read_line("/proc/cmdline", line, sizeof(line)))
		return json_null();
	json_t *found = json_array();
	char *save = NULL;
	for (char *word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save))
		if (env_is_telling(word))
			json_array_append_new(found, text(word));
	return found;
}

static json_t *kernel(const struct utsname *u)
{
	char boot_path[sizeof(u->release) + 16];
	struct kernel_config c = {.debug = json_array()};
	config_read(&c, u->release, boot_path, sizeof(boot_path));
	json_t *debug = c.source ? c.debug : json_null();
	if (!c.source)
		json_decref(c.debug);
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "release", text(u->release), "version",
			 text(u->version), "machine", text(u->machine), "preemption", preemption(u->version, &c),
			 "debug_options", debug, "config_source", text(c.source), "tick_hz",
			 c.hz ? json_integer(c.hz) : json_null(), "parameters", parameters());
}

/* true, false or null from the two ways a kernel tells whether the CPU may go above its base clock. */
static json_t *turbo(void)
{
	char line[16];
	if (env_read_line("/sys/devices/system/cpu/intel_pstate/no_turbo", line, sizeof(line)))
		return json_boolean(line[0] == '0');
	if (env_read_line("/sys/devices/system/cpu/cpufreq/boost", line, sizeof(line)))
		return json_boolean(line[0] == '1');
	return json_null();
}

static json_t *cpu(void)
{
	char model[256] = "";
	char mhz[64] = "";
	if (!field_of("/proc/cpuinfo", "model name", model, sizeof(model)) &&
	    !field_of("/proc/cpuinfo", "Processor", model, sizeof(model)))
		field_of("/proc/cpuinfo", "CPU part", model, sizeof(model));
	field_of("/proc/cpuinfo", "cpu MHz", mhz, sizeof(mhz));
	cpu_set_t set;
	int allowed = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 0;
	return json_pack("{s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "model", text(model), "online",
			 (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "allowed", (json_int_t)allowed, "mhz",
			 *mhz ? json_real(strtod(mhz, NULL)) : json_null(), "smt",
			 line_of("/sys/devices/system/cpu/smt/control"), "governor",
			 line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"), "driver",
			 line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver"), "turbo", turbo(),
			 "clocksource", line_of("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
			 "isolated", line_of("/sys/devices/system/cpu/isolated"));
}

static json_t *mitigations(void)
{
	static const char dir[] = "/sys/devices/system/cpu/vulnerabilities";
	DIR *d = opendir(dir);
	if (!d && errno == ENOMEM)
		memory_note_failure();
	if (!d)
		return json_null();
	json_t *all = json_object();
	struct dirent *e;
	while ((e = readdir(d))) {
		char path[sizeof(dir) + sizeof(e->d_name) + 1];
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		if (e->d_name[0] != '.')
			json_object_set_new(all, e->d_name, line_of(path));
	}
	closedir(d);
	return all;
}

/* The signature a hypervisor gives in CPUID leaf 0x40000000, as env_hypervisor_name() knows it; empty: none. */
static void hypervisor_signature(char name[13])
{
	name[0] = '\0';
#if defined(__x86_64__) || defined(__i386__)
	unsigned a, b, c, d;
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & 1u << 31))
		return;
	__cpuid(0x40000000, a, b, c, d);
	memcpy(name, &b, 4);
	memcpy(name + 4, &c, 4);
	memcpy(name + 8, &d, 4);
	name[12] = '\0';
	if (!*name)
		strcpy(name, "unnamed");
#endif
}

static json_t *hypervisor(void)
{
	char name[64];
	if (env_read_line("/sys/hypervisor/type", name, sizeof(name)))
		return text(name);
	/* Signatures by which these are known (their documentation; virt-what and systemd-detect-virt have the same). */
	static const char *const known[][2] = {{"KVMKVMKVM", "KVM"},       {"TCGTCGTCGTCG", "QEMU (TCG)"},
					       {"VMwareVMware", "VMware"}, {"Microsoft Hv", "Hyper-V"},
					       {"XenVMMXenVMM", "Xen"},    {"VBoxVBoxVBox", "VirtualBox"},
					       {"bhyve bhyve ", "bhyve"},  {"ACRNACRNACRN", "ACRN"}};
	hypervisor_signature(name);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strcmp(name, known[i][0]) == 0)
			return text(known[i][1]);
	if (*name)
		return text(env_hypervisor_name(name));
	return line_of("/proc/device-tree/hypervisor/compatible");
}

static json_t *container(void)
{
	char line[256];
	if (env_read_line("/run/systemd/container", line, sizeof(line)))
		return text(line);
	if (access("/.dockerenv", F_OK) == 0)
		return json_string("docker");
	if (access("/run/.containerenv", F_OK) == 0)
		return json_string("podman");
	return json_null();
}

static json_t *memory(void)
{
	static const char info[] = "/proc/meminfo";
	return json_pack("{s:o, s:o, s:o, s:I, s:o}", "total_bytes", kib_field(info, "MemTotal"), "available_bytes",
			 kib_field(info, "MemAvailable"), "swap_total_bytes", kib_field(info, "SwapTotal"),
			 "page_bytes", (json_int_t)sysconf(_SC_PAGESIZE), "transparent_hugepages",
			 line_of("/sys/kernel/mm/transparent_hugepage/enabled"));
}

static json_t *load(void)
{
	double l[3];
	if (getloadavg(l, 3) != 3)
		return json_null();
	return json_pack("{s:f, s:f, s:f}", "1min", l[0], "5min", l[1], "15min", l[2]);
}

/* The queue's scheduler of the device under `dir`; partitions share their disk's. */
static json_t *io_scheduler(const char *dir)
{
	struct stat st;
	char path[128];
	char line[256];
	if (stat(dir, &st) < 0)
		return json_null();
	static const char *const places[] = {"/sys/dev/block/%u:%u/queue/scheduler",
					     "/sys/dev/block/%u:%u/../queue/scheduler"};
	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), i ? places[1] : places[0], major(st.st_dev), minor(st.st_dev));
		if (env_read_line(path, line, sizeof(line)))
			return text(line);
	}
	return json_null();
}

static json_t *file_system(const char *dir)
{
	struct env_fs fs;
	struct statvfs v;
	if (!dir || env_fs_read(dir, &fs) < 0 || statvfs(dir, &v) < 0)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:b, s:b, s:b, s:o}", "directory", text(dir), "type",
			 text(fs.mount.type), "source", text(fs.mount.source), "mount_point",
			 text(fs.mount.mount_point), "options", text(fs.mount.options), "block_bytes",
			 (json_int_t)v.f_bsize, "total_bytes", (json_int_t)(v.f_blocks * v.f_frsize), "free_bytes",
			 (json_int_t)(v.f_bavail * v.f_frsize), "in_memory", fs.in_memory, "compresses", fs.compresses,
			 "shares_extents", fs.shares_extents, "io_scheduler", io_scheduler(dir));
}

static json_t *date(void)
{
	time_t now = time(NULL);
	struct tm tm;
	char s[64];
	localtime_r(&now, &tm);
	strftime(s, sizeof(s), "%Y-%m-%dT%H:%M:%S%z", &tm);
	/* RFC 3339 wants a colon inside the offset. */
	size_t n = strlen(s);
	return json_sprintf("%.*s:%s", (int)n - 2, s, s + n - 2);
}

static json_t *libc(void)
{
#ifdef __GLIBC__
	return json_sprintf("glibc %s", gnu_get_libc_version());
#else
	return json_null();
#endif
}

json_t *env_collect(const char *work_dir)
{
	struct utsname u;
	uname(&u);
	char os[256] = "";
	char up[64] = "";
	field_of("/etc/os-release", "PRETTY_NAME", os, sizeof(os));
	env_read_line("/proc/uptime", up, sizeof(up));
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "host", text(u.nodename),
			 "os", text(os), "libc", libc(), "date", date(), "uptime_s",
			 *up ? json_real(strtod(up, NULL)) : json_null(), "kernel", kernel(&u), "cpu", cpu(),
			 "mitigations", mitigations(), "hypervisor", hypervisor(), "container", container(), "memory",
			 memory(), "load", load(), "file_system", file_system(work_dir));
}

int env_activity_read(struct env_activity *a)
{
	char line[512];
	*a = (struct env_activity){0};
	if (!env_read_line("/proc/stat", line, sizeof(line)))
		return -errno;
	return env_activity_parse(line, a) ? 0 : -EINVAL;
}

/* What must be equal for figures of two machines to mean the same, and what people call it. */
static const struct {
	const char *section, *key, *words;
} telling[] = {
	{"kernel", "release", "kernel"},
	{"kernel", "version", "kernel build"},
	{"kernel", "machine", "architecture"},
	{"kernel", "preemption", "kernel preemption"},
	{"kernel", "debug_options", "kernel debug options"},
	{"kernel", "tick_hz", "kernel clock tick (Hz)"},
	{"cpu", "model", "CPU"},
	{"cpu", "online", "CPUs online"},
	{"cpu", "governor", "frequency governor"},
	{"cpu", "turbo", "turbo"},
	{"cpu", "clocksource", "clock source"},
	{"mitigations", NULL, NULL},
	{"hypervisor", NULL, "hypervisor"},
	{"container", NULL, "container"},
	{"os", NULL, "operating system"},
	{"libc", NULL, "C library"},
	{"memory", "total_bytes", "memory (bytes)"},
	{"memory", "transparent_hugepages", "transparent huge pages"},
	{"file_system", "type", "file system"},
	{"file_system", "options", "mount options"},
};

/* "on", "6.1.0", "CONFIG_KASAN, CONFIG_KCSAN", "none" of an empty list. */
static void say_value(struct buf *out, const json_t *v)
{
	size_t i;
	json_t *x;
	if (!v || json_is_null(v))
		buf_adds(out, "unknown");
	else if (json_is_string(v))
		buf_adds(out, json_string_value(v));
	else if (json_is_boolean(v))
		buf_adds(out, json_is_true(v) ? "on" : "off");
	else if (json_is_integer(v))
		buf_addf(out, "%lld", (long long)json_integer_value(v));
	else if (json_is_real(v))
		buf_addf(out, "%g", json_real_value(v));
	else if (json_array_size(v) == 0)
		buf_adds(out, "none");
	json_array_foreach(v, i, x)
		buf_addf(out, "%s%s", i ? ", " : "", json_string_value(x) ? json_string_value(x) : "?");
}

/* One line where `x` and `y` differ; what is unknown on both sides is no difference. Returns 0 or 1. */
static int say_difference(struct buf *out, const char *what, const json_t *x, const json_t *y)
{
	bool no_x = !x || json_is_null(x);
	bool no_y = !y || json_is_null(y);
	if ((no_x && no_y) || (!no_x && !no_y && json_equal(x, y)))
		return 0;
	buf_addf(out, "%s: ", what);
	say_value(out, x);
	buf_adds(out, " | ");
	say_value(out, y);
	buf_addc(out, '\n');
	return 1;
}

static int say_mitigation(struct buf *out, const char *name, const json_t *x, const json_t *y)
{
	struct buf what = {0};
	buf_addf(&what, "mitigation of %s", name);
	int n = say_difference(out, buf_str(&what), x, y);
	buf_free(&what);
	return n;
}

/* Mitigations one by one, so that the reader sees which. */
static int mitigation_differences(const json_t *x, const json_t *y, struct buf *out)
{
	int n = 0;
	const char *name;
	json_t *v;
	json_object_foreach((json_t *)x, name, v) n += say_mitigation(out, name, v, json_object_get(y, name));
	json_object_foreach((json_t *)y, name, v) if (!json_object_get(x, name)) n +=
		say_mitigation(out, name, NULL, v);
	return n;
}

int env_differences(const json_t *a, const json_t *b, struct buf *out)
{
	int n = 0;
	for (size_t i = 0; i < sizeof(telling) / sizeof(*telling); i++) {
		const char *section = telling[i].section;
		const char *key = telling[i].key;
		const json_t *x = json_object_get(a, section);
		const json_t *y = json_object_get(b, section);
		if (strcmp(section, "mitigations") == 0)
			n += mitigation_differences(x, y, out);
		else
			n += say_difference(out, telling[i].words, key ? json_object_get(x, key) : x,
					    key ? json_object_get(y, key) : y);
	}
	return n;
}
