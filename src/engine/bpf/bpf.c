/* SPDX-License-Identifier: MIT */
/* The bpf engine counts calls in the kernel and stops nothing. It needs permission to load BPF programs. */
#include "engine/engine.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/memory.h"
#include "engine/bpf/loader.h"
#include "engine/bpf/skeleton.h"
#include "engine/costs.h"
#include "tracee/proc.h"
#include "tracee/spawn.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* next() looks again after this time whether anything is left: no event can be reported while the ring is full. */
enum { LOOK_MS = 200 };

static struct bpf_engine *self(struct engine *e)
{
	return (struct bpf_engine *)e;
}

/* Can the process be counted? Otherwise `why` gets a message like that of the ptrace engine. */
static int check_target(pid_t pid, struct buf *why)
{
	struct proc_status s;
	const char *what = pid == getpid() ? "this is sctrace itself" : proc_why_untraceable(pid, &s);
	if (!what && s.tgid != pid)
		what = "it is a thread, not a process; use the process id";
	if (what)
		buf_addf(why, "cannot attach to process %d: %s", (int)pid, what);
	return what ? -ESRCH : 0;
}

/* Runs the kernel half's iterator over all threads once. The iterator marks the threads to count and has no output. */
static int mark_targets(struct bpf_engine *b)
{
	char nothing[64];
	struct bpf_link *link = bpf_program__attach_iter(b->skel->progs.mark_targets, NULL);
	if (!link)
		return -errno;
	int fd = bpf_iter_create(bpf_link__fd(link));
	int r = fd < 0 ? fd : 0;
	while (r == 0 && (r = (int)read(fd, nothing, sizeof(nothing))) > 0)
		r = 0;
	if (r < 0)
		r = -errno;
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return r;
}

/*
 * Marks the processes of the list. Those that have ended, or end meanwhile, are only reported, unless none is left, as by the
 * ptrace engine.
 */
static int attach_targets(struct bpf_engine *b, struct buf *why)
{
	int fd = bpf_map__fd(b->skel->maps.targets);
	auto_buf over = {0};
	size_t n = b->config.nattach, ended = 0;
	int r = 0;
	for (size_t i = 0; r == 0 && i < n; i++) {
		pid_t pid = b->config.attach[i];
		unsigned int none = 0;
		buf_clear(why);
		r = check_target(pid, why);
		if (r == 0)
			r = bpf_map_update_elem(fd, &pid, &none, BPF_ANY);
		else if (proc_is_over(pid))
			r = 0;
	}
	if (r == 0 && n)
		r = mark_targets(b);
	for (size_t i = 0; r == 0 && i < n; i++) {
		unsigned int found = 0;
		if (bpf_map_lookup_elem(fd, &b->config.attach[i], &found) < 0 || !found)
			buf_addf(&over, "%s%d", ended++ ? ", " : "", (int)b->config.attach[i]);
	}
	if (r == 0 && n && ended == n) {
		r = -ESRCH;
		if (!why->len)
			buf_addf(why, "cannot attach to process %d: no such process", (int)b->config.attach[n - 1]);
	} else if (r == 0) {
		buf_clear(why);
		if (ended)
			buf_addf(&b->note, ENGINE_SOME_ENDED, ended, n, buf_str(&over));
	}
	if (r < 0 && !buf_str(why)[0])
		buf_addf(why, "cannot attach: %s", strerror(-r));
	return r;
}

/* Marks the waiting child as counted and lets it execute the program. */
static int release_root(struct bpf_engine *b, struct spawned *p, struct buf *why)
{
	const char *name = b->config.spawn.argv[0];
	__atomic_fetch_add(&b->skel->bss->live, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&b->skel->bss->processes, 1, __ATOMIC_RELAXED);
	int r = bpf_mark(b, b->root, TASK_UNSEEN | TASK_WAITING);
	if (r == 0)
		r = spawn_go(p);
	int err = spawn_finish(p);
	if (r < 0)
		buf_addf(why, "cannot count '%s': %s", name, strerror(-r));
	else if (err)
		buf_addf(why, "cannot run '%s': %s", name, spawn_error(name, err));
	if (r < 0 || err) {
		if (b->root_is_child)
			waitpid(b->root, NULL, __WALL);
		b->root_ended = true;
		return r < 0 ? r : -err;
	}
	b->root_fd = (int)syscall(SYS_pidfd_open, b->root, 0);
	vec_push(&b->held, b->root);
	return 0;
}

/* Loads the BPF programs, lets them start to count, and measures the cost of counting. */
static int set_up(struct bpf_engine *b, struct buf *why)
{
	bool counts = !(b->config.want & CAP_WATCH);
	double native_ns = counts ? costs_native(BPF_BATCHES, BPF_BATCH) : 0;
	int r = bpf_load(b, why);
	if (r == 0)
		r = bpf_attach(b, why);
	if (r == 0 && counts && (r = bpf_calibrate(b, native_ns)) < 0)
		buf_addf(why, "the bpf engine does not count correctly: %s", strerror(-r));
	return r;
}

/* In the child: asks the kernel to kill it when sctrace dies, for which this engine has no option of ptrace(2). */
static int die_with_parent(void *ctx)
{
	(void)ctx;
	return prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ? -errno : 0;
}

/*
 * Starts the program first. With -D, the present process executes the program, and a grandchild continues as sctrace.
 * BPF programs belong to the process that loads them, so they are loaded after the program has been started.
 */
static int start_all(struct bpf_engine *b, struct buf *why)
{
	struct spawned p = {.go_fd = -1, .err_fd = -1};
	pid_t before = getpid();
	if (b->config.spawn.argv) {
		if (b->config.kill_on_exit && !b->config.spawn.daemonize)
			b->config.spawn.before_exec = die_with_parent;
		int r = spawn_start(&b->config.spawn, &p, why);
		if (r < 0)
			return r;
		b->root = p.pid;
		b->root_is_child = getpid() == before;
		/*
		 * If SIGCHLD is ignored, the kernel keeps no exit statuses for wait(2). The child has already been
		 * started, so the program still inherits the previous setting.
		 */
		signal(SIGCHLD, SIG_DFL);
	}
	int r = set_up(b, why);
	if (r == 0)
		r = attach_targets(b, why);
	if (b->root && r == 0)
		return release_root(b, &p, why);
	if (b->root) { /* the child sees that the pipe is closed, and exits */
		close(p.go_fd);
		close(p.err_fd);
		if (b->root_is_child)
			waitpid(b->root, NULL, __WALL);
	}
	return r;
}

static int bpf_start(struct engine **out, const struct engine_config *config, struct buf *why)
{
	struct bpf_engine *b = memory_zeroed(1, sizeof(*b));
	b->base.ops = &engine_bpf;
	b->config = *config;
	b->root_fd = -1;
	int r = start_all(b, why);
	if (r < 0) {
		bpf_free(b);
		return r;
	}
	*out = &b->base;
	return 0;
}

/* Maintains the list of processes that kill() reaches. */
static void note_held(struct bpf_engine *b, const struct ring_event *r)
{
	if (r->kind == RING_NEW_TASK && !r->is_thread) {
		for (size_t i = 0; i < b->held.n; i++)
			/* attached processes and their children are not in the list */
			if (b->held.v[i] == (pid_t)r->pid) {
				vec_push(&b->held, (pid_t)r->other);
				return;
			}
	}
	if (r->kind != RING_DEATH || !r->is_process)
		return;
	if ((pid_t)r->pid == b->root && !b->root_is_child) { /* with -D, sctrace is not the parent, so only this
							      * event gives the exit status */
		b->result.status = r->status;
		b->root_ended = true;
	}
	for (size_t i = 0; i < b->held.n; i++)
		if (b->held.v[i] == (pid_t)r->pid)
			b->held.v[i--] = b->held.v[--b->held.n];
}

/* Reports the next event from the ring. Returns false if there is none. */
static bool take_event(struct bpf_engine *b, struct event *ev)
{
	static const enum event_kind kinds[] = {
		[RING_NEW_TASK] = EV_NEW_TASK, [RING_EXEC] = EV_EXEC, [RING_DEATH] = EV_DEATH};
	if (b->next_event == b->events.n) {
		b->next_event = b->events.n = b->calls.n = 0;
		return false;
	}
	const struct ring_event *r = &b->events.v[b->next_event];
	if (r->kind == RING_CALL || r->kind == RING_VANISH) {
		bool begins = r->kind == RING_VANISH && !b->vanishes;
		bpf_watch_event(b, r->other, r->kind == RING_CALL ? EV_CALL : begins ? EV_ENTER : EV_VANISH, ev);
		b->vanishes = begins;
		b->next_event += !begins;
		return true;
	}
	b->next_event++;
	note_held(b, r);
	*ev = (struct event){.kind = kinds[r->kind],
			     .tid = (pid_t)r->tid,
			     .pid = (pid_t)r->pid,
			     .time_ns = r->time_ns,
			     .child = (pid_t)r->other,
			     .is_thread = r->is_thread,
			     .is_process = r->is_process,
			     .status = r->status};
	return true;
}

/* How often the kernel may refuse a request that should never fail. */
#define REFUSALS_MAX 3

/* Gets the exit status of an ended program. Returns -errno if wait4(2) fails REFUSALS_MAX times in succession. */
static int reap_root(struct bpf_engine *b)
{
	if (!b->root || b->root_ended)
		return 0;
	/*
	 * With -D, the program's end is enough: sctrace must not wait until the program's parent reaps it. The parent
	 * may be waiting until sctrace closes a file that both have open for writing.
	 */
	struct pollfd end = {.fd = b->root_fd, .events = POLLIN};
	if (!b->root_is_child) {
		b->root_ended = b->root_fd < 0 ? kill(b->root, 0) < 0 && errno == ESRCH : poll(&end, 1, 0) > 0;
		return 0;
	}
	pid_t pid = wait4(b->root, &b->result.status, WNOHANG | __WALL, &b->result.usage);
	b->root_ended = pid == b->root;
	b->refusals = pid < 0 ? b->refusals + 1 : 0; /* a signal cannot interrupt wait4(2) with WNOHANG */
	return b->refusals < REFUSALS_MAX ? 0 : -errno;
}

/*
 * Sleeps until there may be an event. Returns 0, -EINTR after a signal, or another -errno. Also returns -EINTR after
 * LOOK_MS, so that the caller notices a signal that came just before the sleep.
 */
static int sleep_until_news(const struct bpf_engine *b)
{
	struct pollfd fds[] = {{.fd = ring_buffer__epoll_fd(b->ring), .events = POLLIN},
			       {.fd = b->root_ended ? -1 : b->root_fd, .events = POLLIN}};
	int n = poll(fds, 2, LOOK_MS);
	return n > 0 ? 0 : n == 0 ? -EINTR : -errno;
}

/* True if nothing is left that could make a counted call. */
static bool all_ended(const struct bpf_engine *b)
{
	if (b->detached)
		return true;
	if (b->root && !b->root_ended)
		return false;
	if (b->skel->rodata->scope != SCOPE_TASKS)
		return b->root != 0;
	return __atomic_load_n(&b->skel->bss->live, __ATOMIC_ACQUIRE) <= 0;
}

/* If calls could not be reported, says so, at most once per second and at the end. */
static bool say_lost(struct bpf_engine *b, bool last, struct event *ev)
{
	uint64_t lost = b->config.want & CAP_WATCH ? bpf_lost(b) : 0, now = clock_ns();
	if (lost == b->lost_said || (!last && now - b->said_at_ns < NSEC_PER_SEC))
		return false;
	buf_clear(&b->note);
	uint64_t n = lost - b->lost_said;
	buf_addf(&b->note, "%llu call%s not printed, because calls came faster than they could be printed",
		 (unsigned long long)n, n == 1 ? " was" : "s were");
	b->lost_said = lost;
	b->said_at_ns = now;
	*ev = (struct event){.kind = EV_NOTE, .text = buf_str(&b->note)};
	return true;
}

static int next_event(struct bpf_engine *b, struct event *ev)
{
	if (b->note.len && !b->said_at_ns) { /* the note of attach_targets() */
		b->said_at_ns = clock_ns();
		*ev = (struct event){.kind = EV_NOTE, .text = buf_str(&b->note)};
		return 1;
	}
	for (;;) {
		if (take_event(b, ev))
			return 1;
		int r = reap_root(b);
		bool ended = all_ended(b);
		if (r == 0)
			r = ring_buffer__consume(b->ring);
		if (r >= 0)
			r = bpf_retire(b);
		if (r < 0)
			return r;
		if (b->events.n)
			continue;
		if (say_lost(b, ended, ev))
			return 1;
		if (ended)
			return 0;
		if (b->config.idle)
			b->config.idle(b->config.idle_ctx);
		r = sleep_until_news(b);
		if (r < 0)
			return r;
	}
}

static void bpf_kill(struct engine *e, int sig)
{
	struct bpf_engine *b = self(e);
	for (size_t i = 0; i < b->held.n; i++)
		kill(b->held.v[i], sig);
}

static int bpf_next(struct engine *e, struct event *ev)
{
	int r = next_event(self(e), ev);
	if (r < 0 && r != -EINTR)
		bpf_kill(e, SIGKILL); /* attached processes are not in `held`, so they are not killed */
	return r;
}

static int bpf_detach(struct engine *e)
{
	struct bpf_engine *b = self(e);
	if (b->root && !b->root_ended && b->config.kill_on_exit)
		kill(b->root, SIGKILL);
	bpf_stop_counting(b);
	return 0;
}

static void bpf_result(const struct engine *e, struct engine_result *r)
{
	const struct bpf_engine *b = (const struct bpf_engine *)e;
	const struct sctrace_bpf__bss *k = b->skel->bss;
	*r = b->result;
	r->wall_ns = k->root_exit_ns > k->root_exec_ns ? k->root_exit_ns - k->root_exec_ns : 0;
	r->peak_rss_bytes = k->peak_rss_pages * (uint64_t)sysconf(_SC_PAGESIZE);
	r->rss_is_largest = k->processes_measured > 1;
	r->processes = k->processes;
	r->unfollowed = k->unfollowed;
	r->lost = bpf_lost(b);
	r->main_found = MAIN_UNKNOWN;
}

static void bpf_footer(const struct engine *e, struct buf *text)
{
	const struct bpf_engine *b = (const struct bpf_engine *)e;
	const struct sctrace_bpf__bss *k = b->skel->bss;
	double us = b->cost.ns / 1e3;
	buf_addf(text, "engine: bpf; the cost of tracing, %.2f us per call (+- %.2f us, standard deviation), ",
		 us < 0 ? -us : us, b->cost.spread_ns / 1e3);
	buf_adds(text, us < 0 ? "was added to the times above, because the kernel's hooks do not measure the whole call"
			      : "was subtracted from the times above");
	if (k->untimed)
		buf_addf(text, "; %llu calls that a seccomp filter answered are counted without a time", k->untimed);
	if (k->no_chunk)
		buf_addf(text, "; %llu times did not fit into the histograms", k->no_chunk);
	if (k->lost_errnos)
		buf_addf(text, "; %llu errors were counted without their error number", k->lost_errnos);
}

static void bpf_stop(struct engine *e)
{
	bpf_stop_counting(self(e));
	bpf_free(self(e));
}

const struct engine_ops engine_bpf = {
	.name = "bpf",
	.purpose = "counts calls in the kernel without stopping programs; also for control groups and the whole "
		   "system, whose calls it can print; needs privileges",
	.caps = CAP_COUNTS | CAP_BY_PROCESS | CAP_BY_THREAD | CAP_ATTACH | CAP_LEAVE | CAP_FOLLOW | CAP_CGROUP |
		CAP_SYSTEM | CAP_ERRNOS | CAP_WATCH | CAP_WAITS,
	.probe = bpf_probe,
	.start = bpf_start,
	.next = bpf_next,
	.collect = bpf_collect,
	.detach = bpf_detach,
	.kill = bpf_kill,
	.result = bpf_result,
	.footer = bpf_footer,
	.stop = bpf_stop,
};
