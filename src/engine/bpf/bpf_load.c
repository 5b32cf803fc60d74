/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/memory.h"
#include "engine/bpf/loader.h"
#include "engine/bpf/skeleton.h"
#include "tracee/proc.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Loads the kernel half: checks what it needs, sets the sizes of its maps, and attaches its programs. */
#define BTF_PATH "/sys/kernel/btf/vmlinux"

static bool capable(unsigned int cap)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};
	if (syscall(SYS_capget, &head, data) < 0)
		return false;
	return data[cap / 32].effective >> (cap % 32) & 1;
}

/* Checks the version: task storage for tracing programs needs Linux 5.11, compare-and-swap needs Linux 5.12. */
static int check_kernel(struct buf *why)
{
	struct utsname u;
	int major = 0, minor = 0;
	if (uname(&u) < 0 || sscanf(u.release, "%d.%d", &major, &minor) != 2 || major > 5 ||
	    (major == 5 && minor >= 12))
		return 0;
	buf_addf(why, "it needs Linux 5.12 or later, but this is %s", u.release);
	return -ENOSYS;
}

static int check_capabilities(struct buf *why)
{
	if (capable(CAP_SYS_ADMIN))
		return 0;
	bool bpf = capable(CAP_BPF), perfmon = capable(CAP_PERFMON);
	if (bpf && perfmon)
		return 0;
	buf_addf(why, "%s%s%s missing; run sctrace as root", bpf ? "" : "CAP_BPF", bpf || perfmon ? "" : " and ",
		 perfmon ? " is"
		 : bpf   ? "CAP_PERFMON is"
			 : "CAP_PERFMON are");
	return -EPERM;
}

/*
 * Tries a call of bpf(2). A check of the capabilities is not enough: the capabilities may be valid only in a user
 * namespace, or a seccomp filter may forbid bpf(2).
 */
static int check_call(struct buf *why)
{
	/* The size of a ring must be a multiple of the page size, which is 16 or 64 KiB on some machines. */
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "sctrace_probe", 0, 0, (uint32_t)sysconf(_SC_PAGESIZE), NULL);
	if (fd < 0) {
		buf_addf(why,
			 "bpf(2) is not permitted: %s (perhaps a container, a user namespace or a security module "
			 "forbids it)",
			 strerror(-fd));
		return fd;
	}
	close(fd);
	return 0;
}

int bpf_probe(unsigned want, struct buf *why)
{
	(void)want;
	int r = check_kernel(why);
	if (r == 0)
		r = check_capabilities(why);
	if (r == 0 && access(BTF_PATH, R_OK) < 0) {
		r = -errno;
		buf_addf(why, "cannot read %s: %s (the kernel needs CONFIG_DEBUG_INFO_BTF)", BTF_PATH, strerror(errno));
	}
	if (r == 0)
		r = check_call(why);
	if (r == 0)
		buf_adds(why, "tracepoints raw_syscalls, counted in the kernel");
	return r;
}

/* Reserves memory for rows and histograms: a process makes a few dozen calls, of a few powers of two of time. */
static void set_sizes(struct bpf_engine *b, unsigned int split)
{
	struct sctrace_bpf *k = b->skel;
	unsigned int max_chunks = split == SPLIT_NONE ? 4096 : 32768;
	b->max_slots = split == SPLIT_NONE ? 1024 : 16384;
	b->shards = 1;
	while (split == SPLIT_NONE && b->shards < b->cpus && b->shards < SHARDS_MAX)
		b->shards *= 2;
	k->bss->next_slot = k->bss->next_chunk = 1; /* 0 means none */
	k->bss->epoch = 1;
	k->rodata->shards = b->shards;
	k->rodata->max_slots = b->max_slots;
	k->rodata->max_chunks = max_chunks;
	struct bpf_map *by_slot[] = {k->maps.rows, k->maps.slots,      k->maps.hists,
				     k->maps.tags, k->maps.free_slots, k->maps.owners};
	for (size_t i = 0; i < sizeof(by_slot) / sizeof(*by_slot); i++)
		bpf_map__set_max_entries(by_slot[i], b->max_slots);
	bpf_map__set_max_entries(k->maps.free_chunks, max_chunks);
	bpf_map__set_max_entries(k->maps.chunks, max_chunks * b->shards);
	b->tags_size = b->max_slots * sizeof(struct row_tag);
	b->hists_size = b->max_slots * sizeof(struct row_hist);
	b->chunks_size = (size_t)max_chunks * b->shards * sizeof(struct hist_chunk);
}

static void set_config(struct bpf_engine *b)
{
	const struct engine_config *c = &b->config;
	struct sctrace_bpf *k = b->skel;
	k->rodata->split = c->want & CAP_BY_THREAD    ? SPLIT_THREAD
			   : c->want & CAP_BY_PROCESS ? SPLIT_PROCESS
						      : SPLIT_NONE;
	k->rodata->scope = c->cgroup ? SCOPE_CGROUP : c->want & CAP_SYSTEM ? SCOPE_ALL : SCOPE_TASKS;
	k->rodata->follow = c->follow;
	k->rodata->self_tgid = (unsigned int)getpid();
	k->rodata->only_comms = c->ncomms > 0;
	k->rodata->only_uids = c->nuids > 0;
	if (c->want & CAP_WATCH)
		bpf_watch_configure(b);
	set_sizes(b, k->rodata->split);
}

/* Maps an array of the kernel half, to use it without system calls. Returns NULL and sets errno on failure. */
static void *map_array(const struct bpf_map *map, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	return p == MAP_FAILED ? NULL : p;
}

static int map_counts(struct bpf_engine *b)
{
	b->per_cpu = memory_zeroed(b->cpus, sizeof(*b->per_cpu));
	b->tags = map_array(b->skel->maps.tags, b->tags_size);
	b->hists = map_array(b->skel->maps.hists, b->hists_size);
	b->chunks = map_array(b->skel->maps.chunks, b->chunks_size);
	return b->tags && b->hists && b->chunks ? 0 : -ENOMEM;
}

/* Handles an event from the ring while bpf_next() consumes it. */
static int on_ring(void *ctx, void *data, size_t size)
{
	struct bpf_engine *b = ctx;
	struct ring_event e;
	if (size < sizeof(e))
		return 0;
	memcpy(&e, data, sizeof(e));
	const unsigned int split = b->skel->rodata->split;
	if (e.kind == RING_NEW_TASK)
		map_remove(&b->ended, e.other);
	else if (e.kind == RING_DEATH && (split == SPLIT_THREAD || (split == SPLIT_PROCESS && e.is_process)))
		map_put(&b->ended, split == SPLIT_THREAD ? e.tid : e.pid, b);
	bool call = e.kind == RING_CALL || e.kind == RING_VANISH;
	if (call) {
		e.other = (unsigned int)b->calls.n;
		bpf_watch_store(b, data, size);
	}
	/* With --all and --cgroup, fork events may be missed, so only calls and ends of threads are reported. */
	if (b->skel->rodata->scope == SCOPE_TASKS || call || (e.kind == RING_DEATH && b->skel->rodata->watch))
		vec_push(&b->events, e);
	return 0;
}

int bpf_load(struct bpf_engine *b, struct buf *why)
{
	libbpf_set_print(NULL); /* libbpf would print to standard error; sctrace's messages are returned in `why` */
	int r = libbpf_num_possible_cpus();
	if (r > 0) {
		b->cpus = (unsigned int)r;
		b->skel = sctrace_bpf__open();
		r = b->skel ? 0 : -errno;
	}
	if (r == 0) {
		set_config(b);
		r = sctrace_bpf__load(b->skel);
	}
	/*
	 * libbpf reports success even if it could not map the kernel half's variables: the kernel may lack mappable
	 * arrays, or the check for them may have failed.
	 */
	if (r == 0 && (!b->skel->bss || !b->skel->rodata))
		r = -ENOMEM;
	if (r == 0)
		r = map_counts(b);
	if (r == 0) {
		b->ring = ring_buffer__new(bpf_map__fd(b->skel->maps.ring), on_ring, b, NULL);
		r = b->ring ? 0 : -errno;
	}
	if (r < 0)
		buf_addf(why, "the bpf engine cannot be loaded: %s%s", strerror(-r),
			 r == -EPERM || r == -EINVAL ? " (the kernel may be locked down, or may lack a required option)"
						     : "");
	return r;
}

/* Writes the mount point of cgroup2 to `path` (of `size` bytes), or "" if it is not mounted. */
static void cgroup_root(char *path, size_t size)
{
	auto_buf text = {0};
	struct proc_mount m;
	path[0] = '\0';
	if (proc_read(getpid(), "mountinfo", &text) == 0)
		for (const char *line = buf_str(&text); line && !path[0]; line = strchr(line, '\n')) {
			line += *line == '\n';
			if (proc_mount_parse(line, &m) && strcmp(m.type, "cgroup2") == 0)
				snprintf(path, size, "%s", m.mount_point);
		}
}

/* Passes b->config.cgroup to the kernel half: the path of a folder, or a path below the mount point of cgroup2. */
static int set_cgroup(struct bpf_engine *b, struct buf *why)
{
	char path[1024], root[512];
	unsigned int zero = 0;
	int fd = open(b->config.cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		cgroup_root(root, sizeof(root));
		snprintf(path, sizeof(path), "%s/%s", root, b->config.cgroup);
		fd = root[0] ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	}
	int r = fd < 0 ? -errno : bpf_map_update_elem(bpf_map__fd(b->skel->maps.cgroup), &zero, &fd, BPF_ANY);
	if (r < 0)
		buf_addf(why, "cannot count control group '%s': %s", b->config.cgroup,
			 fd < 0 ? strerror(-r) : "it is not a cgroup v2 control group");
	if (fd >= 0)
		close(fd);
	return r < 0 ? -EINVAL : 0; /* -ENOENT would mean that the program does not exist */
}

int bpf_attach(struct bpf_engine *b, struct buf *why)
{
	struct sctrace_bpf *k = b->skel;
	int r = b->config.cgroup ? set_cgroup(b, why) : 0;
	if (r < 0)
		return r;
	r = bpf_watch_filter(b);
	if (r < 0)
		buf_addf(why, "cannot select processes: %s", strerror(-r));
	struct {
		struct bpf_program *prog;
		struct bpf_link **link;
	} hooks[] = {
		{k->progs.on_death, &k->links.on_death}, {k->progs.on_fork, &k->links.on_fork},
		{k->progs.on_exec, &k->links.on_exec},   {k->progs.on_signal, &k->links.on_signal},
		{k->progs.on_exit, &k->links.on_exit},   {k->progs.on_enter, &k->links.on_enter},
	};
	for (size_t i = 0; r == 0 && i < sizeof(hooks) / sizeof(*hooks); i++) {
		*hooks[i].link = bpf_program__attach(hooks[i].prog);
		if (*hooks[i].link)
			continue;
		r = -errno;
		buf_addf(why, "the bpf engine cannot be attached to %s: %s", bpf_program__name(hooks[i].prog),
			 strerror(-r));
	}
	return r;
}

void bpf_stop_counting(struct bpf_engine *b)
{
	b->detached = true;
	if (!b->skel)
		return;
	__atomic_store_n(&b->skel->bss->closing, 1, __ATOMIC_SEQ_CST);
	/* the entry hook is removed first, so that calls in progress still reach the exit hook */
	bpf_link__destroy(b->skel->links.on_enter);
	b->skel->links.on_enter = NULL;
	sctrace_bpf__detach(b->skel);
}

void bpf_free(struct bpf_engine *b)
{
	ring_buffer__free(b->ring);
	if (b->tags)
		munmap(b->tags, b->tags_size);
	if (b->hists)
		munmap(b->hists, b->hists_size);
	if (b->chunks)
		munmap(b->chunks, b->chunks_size);
	sctrace_bpf__destroy(b->skel);
	free(b->per_cpu);
	vec_free(&b->rows);
	vec_free(&b->errnos);
	vec_free(&b->chunks_seen);
	vec_free(&b->events);
	vec_free(&b->calls);
	buf_free(&b->note);
	vec_free(&b->held);
	map_free(&b->ended);
	summary_free(&b->retired);
	if (b->root_fd >= 0)
		close(b->root_fd);
	free(b);
}

int bpf_mark(struct bpf_engine *b, pid_t pid, unsigned int flags)
{
	struct task_state t = {.flags = flags};
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	int tasks = bpf_map__fd(b->skel->maps.tasks);
	int r = fd < 0  ? -errno
		: flags ? bpf_map_update_elem(tasks, &fd, &t, BPF_NOEXIST)
			: bpf_map_delete_elem(tasks, &fd);
	if (fd >= 0)
		close(fd);
	return r;
}

/* Returns how often the kernel did not run `prog`, because a BPF program was already running on that CPU. */
static uint64_t skipped_runs(const struct bpf_program *prog)
{
	struct bpf_prog_info info = {0};
	__u32 size = sizeof(info);
	if (bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &size) < 0)
		return 0;
	return info.recursion_misses;
}

uint64_t bpf_lost(const struct bpf_engine *b)
{
	return __atomic_load_n(&b->skel->bss->lost, __ATOMIC_RELAXED) + skipped_runs(b->skel->progs.on_enter) +
	       skipped_runs(b->skel->progs.on_exit);
}
