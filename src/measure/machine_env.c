/* SPDX-License-Identifier: MIT */
#include "measure/machine_env.h"

#include "base/buf.h"
#include "base/memory.h"
#include "base/size.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
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

/*
 * Reads the first line of a small text file, such as those in /proc and /sys, without its newline, and truncates the
 * line to `size` - 1 bytes. Returns false if the file cannot be read.
 */
static bool read_line(const char *path, char *line, int size)
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

static void set_line(char **to, const char *path)
{
	char line[1024];
	if (read_line(path, line, sizeof(line)) && *line)
		field_set(to, line);
}

static void set_text(char **to, const char *text)
{
	if (text && *text)
		field_set(to, text);
}

/* Copies the value of the first line of the file that has this key. Returns false if no line has this key. */
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

static double kib_field(const char *path, const char *key)
{
	char value[64];
	return field_of(path, key, value, sizeof(value)) ? (double)strtoll(value, NULL, 10) * 1024 : NAN;
}

struct kernel_config {
	const char *source; /* the file that was read; NULL if no file could be read */
	struct strings *debug;
	const char *preemption; /* NULL if unknown */
	int hz;
};

static void config_line(struct kernel_config *c, const char *line)
{
	const char *option = env_debug_option(line);
	const char *model = env_preemption_model(line);
	c->preemption = model ? model : c->preemption;
	sscanf(line, "CONFIG_HZ=%d", &c->hz);
	if (option)
		strings_add(c->debug, option);
}

/*
 * Opens /proc/config.gz for reading, or returns NULL. popen(3) sets ENOMEM whenever it cannot create the process, so
 * only memory_get(), which does not fail, finds out whether memory has run out.
 */
static FILE *unpack_config(void)
{
	static const char command[] = "gzip -dc /proc/config.gz 2>/dev/null";
	if (access("/proc/config.gz", R_OK) < 0)
		return NULL;
	FILE *f = popen(command, "re");
	if (f)
		return f;
	free(memory_get(BUFSIZ));
	return popen(command, "re");
}

/* Reads the build options of the kernel from the file that distributions install in /boot, or from /proc/config.gz. */
static void config_read(struct kernel_config *c, const char *release, char *boot_path, size_t size)
{
	snprintf(boot_path, size, "/boot/config-%s", release);
	FILE *f = memory_fopen(boot_path);
	bool piped = !f;
	if (piped)
		f = unpack_config();
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

/* Appends the model of a kernel with PREEMPT_DYNAMIC: preempt= on its command line, or else the default. */
static void say_dynamic_preemption(struct buf *out, const struct kernel_config *c)
{
	char line[4096];
	const char *asked = read_line("/proc/cmdline", line, sizeof(line)) ? strstr(line, "preempt=") : NULL;
	if (asked && (asked == line || asked[-1] == ' ')) {
		asked += strlen("preempt=");
		buf_addf(out, " (%.*s)", (int)strcspn(asked, " "), asked);
	} else if (c->preemption) {
		buf_addf(out, " (%s)", c->preemption);
	}
}

/*
 * Appends the preemption model. If debugfs is readable, the model is the word in parentheses in its file sched/preempt,
 * such as "none voluntary (full) lazy". Otherwise the model follows from the version and the configuration of the
 * kernel.
 */
static void say_preemption(struct buf *out, const char *version, const struct kernel_config *c)
{
	static const char *const named[] = {"PREEMPT_RT", "PREEMPT_DYNAMIC", "PREEMPT_LAZY", "PREEMPT"};
	char line[256];
	const char *base = NULL;
	for (size_t i = 0; !base && i < sizeof(named) / sizeof(*named); i++)
		if (strstr(version, named[i]))
			base = named[i];
	if (read_line("/sys/kernel/debug/sched/preempt", line, sizeof(line)) && strchr(line, '(')) {
		char *p = strchr(line, '(') + 1;
		p[strcspn(p, ")")] = '\0';
		buf_addf(out, "%s (%s)", base ? base : "none", p);
		return;
	}
	buf_adds(out, base ? base : c->preemption ? c->preemption : "none or voluntary");
	if (base && strcmp(base, "PREEMPT_DYNAMIC") == 0)
		say_dynamic_preemption(out, c);
}

static void collect_parameters(struct strings *found)
{
	char line[4096];
	if (!read_line("/proc/cmdline", line, sizeof(line)))
		return;
	found->known = true;
	char *save = NULL;
	for (char *word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save))
		if (env_is_telling(word))
			strings_add(found, word);
}

static void collect_kernel(struct env_kernel *k, const struct utsname *u)
{
	char boot_path[sizeof(u->release) + 16];
	struct kernel_config c = {.debug = &k->debug_options};
	auto_buf preemption = {0};
	k->known = true;
	config_read(&c, u->release, boot_path, sizeof(boot_path));
	k->debug_options.known = c.source != NULL;
	set_text(&k->release, u->release);
	set_text(&k->version, u->version);
	set_text(&k->machine, u->machine);
	say_preemption(&preemption, u->version, &c);
	set_text(&k->preemption, buf_str(&preemption));
	set_text(&k->config_source, c.source);
	k->tick_hz = c.hz ? c.hz : NAN;
	collect_parameters(&k->parameters);
}

/* Returns whether the CPU may exceed its base frequency. It depends on the driver which of the two files exists. */
static enum truth turbo(void)
{
	char line[16];
	if (read_line("/sys/devices/system/cpu/intel_pstate/no_turbo", line, sizeof(line)))
		return line[0] == '0' ? TRUTH_YES : TRUTH_NO;
	if (read_line("/sys/devices/system/cpu/cpufreq/boost", line, sizeof(line)))
		return line[0] == '1' ? TRUTH_YES : TRUTH_NO;
	return TRUTH_UNKNOWN;
}

static void collect_cpu(struct env_cpu *c)
{
	char model[256] = "";
	char mhz[64] = "";
	cpu_set_t set;
	c->known = true;
	if (!field_of("/proc/cpuinfo", "model name", model, sizeof(model)) &&
	    !field_of("/proc/cpuinfo", "Processor", model, sizeof(model)))
		field_of("/proc/cpuinfo", "CPU part", model, sizeof(model));
	set_text(&c->model, model);
	if (field_of("/proc/cpuinfo", "cpu MHz", mhz, sizeof(mhz)))
		c->mhz = strtod(mhz, NULL);
	c->online = (double)sysconf(_SC_NPROCESSORS_ONLN);
	c->allowed = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 0;
	set_line(&c->smt, "/sys/devices/system/cpu/smt/control");
	set_line(&c->governor, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
	set_line(&c->driver, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver");
	c->turbo = turbo();
	set_line(&c->clocksource, "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	set_line(&c->isolated, "/sys/devices/system/cpu/isolated");
}

static void collect_mitigations(struct texts *all)
{
	static const char dir[] = "/sys/devices/system/cpu/vulnerabilities";
	DIR *d = opendir(dir);
	if (!d && errno == ENOMEM)
		memory_exhausted();
	if (!d)
		return;
	struct dirent *e;
	while ((e = readdir(d))) {
		char path[sizeof(dir) + sizeof(e->d_name) + 1];
		char line[1024];
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		if (e->d_name[0] != '.')
			texts_add(all, e->d_name, read_line(path, line, sizeof(line)) ? line : NULL);
	}
	closedir(d);
}

/* Stores the signature of CPUID leaf 0x40000000, for env_hypervisor_name(); "" without a hypervisor. */
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

static void collect_hypervisor(char **to)
{
	char name[64];
	if (read_line("/sys/hypervisor/type", name, sizeof(name))) {
		set_text(to, name);
		return;
	}
	hypervisor_signature(name);
	if (*name)
		set_text(to, env_hypervisor_name(name));
	else
		set_line(to, "/proc/device-tree/hypervisor/compatible");
}

static void collect_container(char **to)
{
	char line[256];
	if (read_line("/run/systemd/container", line, sizeof(line)))
		set_text(to, line);
	else if (access("/.dockerenv", F_OK) == 0)
		field_set(to, "docker");
	else if (access("/run/.containerenv", F_OK) == 0)
		field_set(to, "podman");
}

static void collect_memory(struct env_memory *m)
{
	static const char info[] = "/proc/meminfo";
	m->known = true;
	m->total_bytes = kib_field(info, "MemTotal");
	m->available_bytes = kib_field(info, "MemAvailable");
	m->swap_total_bytes = kib_field(info, "SwapTotal");
	m->page_bytes = (double)sysconf(_SC_PAGESIZE);
	set_line(&m->transparent_hugepages, "/sys/kernel/mm/transparent_hugepage/enabled");
}

/* Describes the limits of the control groups, or "none". */
static void collect_limits(struct env *e)
{
	struct env_limits l;
	auto_buf cpus = {0}, memory = {0};
	env_limits_read(ENV_GROUPS, ENV_GROUPS_DIR, &l);
	isfinite(l.cpus) ? buf_addf(&cpus, "%.2f CPUs", l.cpus) : buf_adds(&cpus, "none");
	isfinite(l.memory_bytes) ? size_human(&memory, (uint64_t)l.memory_bytes) : buf_adds(&memory, "none");
	field_set(&e->cpu.limit, buf_str(&cpus));
	field_set(&e->memory.limit, buf_str(&memory));
}

static void collect_load(struct env_load *load)
{
	double l[3];
	load->known = getloadavg(l, 3) == 3;
	if (load->known) {
		load->one = l[0];
		load->five = l[1];
		load->fifteen = l[2];
	}
}

/* Sets *to to the I/O scheduler of the device that contains `dir`. A partition has the scheduler of its disk. */
static void collect_io_scheduler(char **to, const char *dir)
{
	static const char *const places[] = {"/sys/dev/block/%u:%u/queue/scheduler",
					     "/sys/dev/block/%u:%u/../queue/scheduler"};
	struct stat st;
	char path[128];
	for (size_t i = 0; i < 2 && !*to && stat(dir, &st) == 0; i++) {
		snprintf(path, sizeof(path), i ? places[1] : places[0], major(st.st_dev), minor(st.st_dev));
		set_line(to, path);
	}
}

static void collect_file_system(struct env_file_system *to, const char *dir)
{
	struct env_fs fs;
	struct statvfs v;
	if (!dir || env_fs_read(dir, &fs) < 0 || statvfs(dir, &v) < 0)
		return;
	to->known = true;
	set_text(&to->directory, dir);
	set_text(&to->type, fs.mount.type);
	set_text(&to->source, fs.mount.source);
	set_text(&to->mount_point, fs.mount.mount_point);
	set_text(&to->options, fs.mount.options);
	to->block_bytes = (double)v.f_bsize;
	to->total_bytes = (double)(v.f_blocks * v.f_frsize);
	to->free_bytes = (double)(v.f_bavail * v.f_frsize);
	set_text(&to->below, fs.below);
	if (!fs.hidden) {
		to->in_memory = fs.in_memory;
		to->compresses = fs.compresses;
		to->shares_extents = fs.shares_extents;
	}
	collect_io_scheduler(&to->io_scheduler, dir);
}

void env_collect(struct env *e, const char *work_dir)
{
	struct utsname u;
	char text[256];
	uname(&u);
	e->known = true;
	set_text(&e->host, u.nodename);
	if (field_of("/etc/os-release", "PRETTY_NAME", text, sizeof(text)))
		set_text(&e->os, text);
#ifdef __GLIBC__
	snprintf(text, sizeof(text), "glibc %s", gnu_get_libc_version());
	field_set(&e->libc, text);
#endif
	env_now(&e->date);
	if (read_line("/proc/uptime", text, sizeof(text)))
		e->uptime_s = strtod(text, NULL);
	collect_kernel(&e->kernel, &u);
	collect_cpu(&e->cpu);
	collect_mitigations(&e->mitigations);
	collect_hypervisor(&e->hypervisor);
	collect_container(&e->container);
	collect_memory(&e->memory);
	collect_limits(e);
	collect_load(&e->load);
	collect_file_system(&e->file_system, work_dir);
}

int env_activity_read(struct env_activity *a)
{
	char line[512];
	*a = (struct env_activity){0};
	if (!read_line("/proc/stat", line, sizeof(line)))
		return -errno;
	return env_activity_parse(line, a) ? 0 : -EINVAL;
}

int env_runnable_read(void)
{
	char line[128];
	if (!read_line("/proc/loadavg", line, sizeof(line)))
		return -errno;
	int all = env_runnable_parse(line);
	return all > 0 ? all - 1 : -EINVAL;
}
