/* SPDX-License-Identifier: MIT */
#include "trace/waiting.h"

#include "base/buf.h"
#include "base/escape.h"
#include "base/memory.h"
#include "base/size.h"
#include "syscall/call_table.h"
#include "tracee/mem.h"
#include "tracee/names.h"
#include "tracee/proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PEERS_MOST 8 /* maximum number of processes that a line names */

struct waiting_thread {
	pid_t lock_holder; /* the process that holds the lock of a file that its process waits for, or 0 */
	char state;
	double asleep_ns; /* how long it has not run; below 0: unknown */
};

/* Reads the numbers in the names of a folder of /proc, such as the processes or the threads of one. */
static void each_id(const char *folder, void (*fn)(void *ctx, pid_t id), void *ctx)
{
	const struct dirent *e;
	DIR *d = opendir(folder);
	while (d && (e = readdir(d)))
		if (atoi(e->d_name) > 0)
			fn(ctx, (pid_t)atoi(e->d_name));
	if (d)
		closedir(d);
}

static void each_thread(pid_t pid, void (*fn)(void *ctx, pid_t tid), void *ctx)
{
	char folder[64];
	snprintf(folder, sizeof(folder), "/proc/%d/task", (int)pid);
	each_id(folder, fn, ctx);
}

/* Returns when the thread last began to run or was last seen running, in ms on the clock of its CPU; below 0: unknown. */
static double last_ran_ms(pid_t tid)
{
	auto_buf text = {0};
	const char *at = proc_read(tid, "sched", &text) == 0 ? strstr(buf_str(&text), "se.exec_start") : NULL;
	at = at ? strchr(at, ':') : NULL;
	return at ? strtod(at + 1, NULL) : -1;
}

/* Returns the CPU on which the thread last ran (proc_pid_stat(5), field 39), or -1. */
static int last_cpu(pid_t tid)
{
	auto_buf text = {0};
	const char *at = proc_read(tid, "stat", &text) == 0 ? strrchr(buf_str(&text), ')') : NULL;
	for (int field = 2; at && field < 39; field++)
		at = strchr(at + 1, ' ');
	return at ? atoi(at + 1) : -1;
}

/*
 * Returns how long the thread has not run. The clock of the scheduler is different on each CPU, so sctrace moves to the CPU of
 * the thread and compares the thread's time with its own.
 */
static double asleep_ns(pid_t tid)
{
	cpu_set_t before, one;
	int cpu = last_cpu(tid);
	double then = last_ran_ms(tid), now = -1;
	if (cpu < 0 || cpu >= CPU_SETSIZE || then < 0 || sched_getaffinity(0, sizeof(before), &before) < 0)
		return -1;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) == 0) {
		sched_yield(); /* the scheduler notes the time of this process */
		now = last_ran_ms(getpid());
		sched_setaffinity(0, sizeof(before), &before);
	}
	return now >= then ? (now - then) * 1e6 : -1;
}

/*
 * Returns the process that holds the lock of a file that `pid` waits for, or 0. In /proc/locks (proc_locks(5)), the line of a
 * process that waits contains "->" and follows that of the lock. The line disappears when a tracer interrupts the wait.
 */
static pid_t lock_holder(pid_t waiter)
{
	char line[256];
	long holder = 0, pid, found = 0;
	FILE *f = memory_fopen("/proc/locks");
	while (f && !found && fgets(line, sizeof(line), f)) {
		const char *at = strstr(line, "READ");
		at = at ? at : strstr(line, "WRITE");
		if (!at || sscanf(at, "%*s %ld", &pid) != 1)
			continue;
		if (!strstr(line, "->"))
			holder = pid;
		else if (pid == waiter && holder > 0)
			found = holder;
	}
	if (f)
		fclose(f);
	return (pid_t)found;
}

static void look_at(void *ctx, pid_t tid)
{
	struct trace_waiting *w = ctx;
	struct proc_status s;
	if (map_get(&w->threads, (uint64_t)tid) || proc_status(tid, &s) < 0)
		return;
	struct waiting_thread *t = memory_zeroed(1, sizeof(*t));
	t->state = s.state;
	t->asleep_ns = s.state == 'R' ? -1 : asleep_ns(tid);
	t->lock_holder = s.state == 'S' ? lock_holder(s.tgid) : 0;
	map_put(&w->threads, (uint64_t)tid, t);
}

void trace_waiting_look(struct trace_waiting *w, pid_t pid)
{
	each_thread(pid, look_at, w);
}

void trace_waiting_say(const struct trace_waiting *w, const struct event *ev, struct buf *out)
{
	static const struct {
		char letter;
		const char *word;
	} states[] = {{'R', "running"},
		      {'S', "sleeping"},
		      {'D', "in uninterruptible sleep"},
		      {'T', "stopped"},
		      {'t', "stopped by a tracer"}};
	const struct waiting_thread *t = map_get(&w->threads, (uint64_t)ev->tid);
	for (size_t i = 0; t && i < sizeof(states) / sizeof(*states); i++)
		if (states[i].letter == t->state)
			buf_adds(out, states[i].word);
	if (t && t->asleep_ns >= 0) {
		buf_adds(out, " for ");
		duration_human(out, t->asleep_ns);
	}
}

/* Appends "12 (name)". */
static void add_process(pid_t pid, struct buf *out)
{
	char name[PROC_NAME];
	proc_comm(pid, name, sizeof(name));
	buf_addf(out, "%d", (int)pid);
	if (*name) {
		buf_adds(out, " (");
		escape_line(out, name, strlen(name));
		buf_addc(out, ')');
	}
}

static bool is_thread_of(pid_t tid, pid_t pid)
{
	struct proc_status s;
	return tid > 0 && proc_status(tid, &s) == 0 && s.tgid == pid;
}

/*
 * pthread_mutex_t of glibc and musl: the word that is waited for is followed by a counter and, in glibc, by the owner. musl and
 * mutexes with priority inheritance store the owner in the word itself. pthread_join(3) waits until the id of the thread is
 * removed from the word.
 */
static void explain_futex(const struct event *ev, struct buf *out)
{
	const struct call *c = &ev->call;
	int op = (int)c->args[1] & FUTEX_CMD_MASK;
	uint32_t word[3] = {0};
	bool waits = op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET || op == FUTEX_LOCK_PI || op == FUTEX_LOCK_PI2;
	if (!waits || !ev->mem || mem_get(ev->mem, c->args[0], word, sizeof(word)) < 0)
		return;
	pid_t in_word = (pid_t)(word[0] & FUTEX_TID_MASK), owner = (pid_t)word[2];
	bool joins = op != FUTEX_LOCK_PI && op != FUTEX_LOCK_PI2 && !((int)c->args[1] & FUTEX_PRIVATE_FLAG) &&
		     (uint32_t)c->args[2] == word[0] && is_thread_of((pid_t)word[0], ev->pid);
	if (joins) {
		buf_adds(out, " = waits for the end of thread ");
		add_process((pid_t)word[0], out);
	} else if (in_word > 2 && is_thread_of(in_word, ev->pid)) {
		buf_adds(out, " = the mutex is owned by thread ");
		add_process(in_word, out);
	} else if (word[0] && is_thread_of(owner, ev->pid)) {
		buf_adds(out, owner == ev->tid ? " = the mutex is owned by this thread itself, "
					       : " = the mutex is owned by thread ");
		add_process(owner, out);
	} else
		return;
	buf_addc(out, '\n');
}

/* A search for the processes that have opened a pipe or a socket. */
struct peers {
	const char *link; /* what /proc/PID/fd/N refers to */
	int mode;         /* the end of a pipe: O_RDONLY or O_WRONLY; -1: any */
	pid_t self;       /* a process that is not reported, or 0 */
	pid_t found[PEERS_MOST];
	size_t n;
};

/* Returns the access mode of a descriptor (proc_pid_fdinfo(5)), or -1. */
static int mode_of(pid_t pid, int fd)
{
	char name[32];
	auto_buf text = {0};
	snprintf(name, sizeof(name), "fdinfo/%d", fd);
	const char *at = proc_read(pid, name, &text) == 0 ? strstr(buf_str(&text), "flags:") : NULL;
	return at ? (int)(strtol(at + 6, NULL, 8) & O_ACCMODE) : -1;
}

static void look_for_peer(void *ctx, pid_t pid)
{
	struct peers *p = ctx;
	char path[64], text[64];
	const struct dirent *e;
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	DIR *d = p->n < PEERS_MOST && pid != getpid() && pid != p->self ? opendir(path) : NULL;
	while (d && (e = readdir(d))) {
		ssize_t len = readlinkat(dirfd(d), e->d_name, text, sizeof(text) - 1);
		text[len > 0 ? len : 0] = '\0';
		if (strcmp(text, p->link) != 0)
			continue;
		int mode = p->mode < 0 ? -1 : mode_of(pid, atoi(e->d_name));
		if (mode == p->mode || mode == O_RDWR) {
			p->found[p->n++] = pid;
			break;
		}
	}
	if (d)
		closedir(d);
}

static void add_peers(struct peers *p, const char *what, const char *none, struct buf *out)
{
	each_id("/proc", look_for_peer, p);
	if (!p->n) {
		buf_addf(out, " = %s\n", none);
		return;
	}
	buf_addf(out, " = %s", what);
	for (size_t i = 0; i < p->n; i++) {
		buf_adds(out, i ? ", " : " ");
		add_process(p->found[i], out);
	}
	buf_adds(out, p->n == PEERS_MOST ? ", ...\n" : "\n");
}

/* A pipe: who has the other end open? A Unix socket: who has its peer? */
static void explain_fd(const struct event *ev, int fd, struct buf *out)
{
	auto_buf name = {0}, full = {0};
	char link[64];
	bool known = names_live.fd(NULL, ev->tid, fd, &name);
	if (known && strncmp(buf_str(&name), "pipe:", 5) == 0) {
		int mode = mode_of(ev->tid, fd);
		struct peers p = {.link = buf_str(&name), .mode = mode == O_WRONLY ? O_RDONLY : O_WRONLY};
		if (mode == O_WRONLY)
			add_peers(&p, "the pipe is open for reading in", "no process has the pipe open for reading",
				  out);
		else
			add_peers(&p, "the pipe is open for writing in", "no process has the pipe open for writing",
				  out);
	} else if (known && strncmp(buf_str(&name), "socket:", 7) == 0 &&
		   names_live.fd_in_full(NULL, ev->tid, fd, &full)) {
		const char *peer = strncmp(buf_str(&full), "UNIX", 4) == 0 ? strstr(buf_str(&full), "->") : NULL;
		snprintf(link, sizeof(link), "socket:[%lu]", peer ? strtoul(peer + 2, NULL, 10) : 0);
		struct peers p = {.link = link, .mode = -1};
		if (peer)
			add_peers(&p, "the other end of the socket is open in",
				  "no process has the other end of the socket open", out);
	}
}

void trace_waiting_explain(const struct trace_waiting *w, const struct event *ev, struct buf *out)
{
	const struct waiting_thread *t = map_get(&w->threads, (uint64_t)ev->tid);
	const struct syscall_desc *d = ev->call.desc;
	if (!d)
		return;
	if (strcmp(d->name, "futex") == 0)
		explain_futex(ev, out);
	else if (strcmp(d->name, "flock") == 0 || strcmp(d->name, "fcntl") == 0 || strcmp(d->name, "fcntl64") == 0) {
		if (t && t->lock_holder) {
			buf_adds(out, " = the lock is held by process ");
			add_process(t->lock_holder, out);
			buf_addc(out, '\n');
		}
	} else if (d->nargs && d->args[0].kind == K_FD)
		explain_fd(ev, (int)ev->call.args[0], out);
}

/* How many threads wait in each call. */
struct waiting_calls {
	VEC(struct waiting_call {
		int64_t nr;
		size_t n;
	})
	calls;
};

/* proc_pid_syscall(5): the number of the call, unless the thread runs. */
static void count_call(void *ctx, pid_t tid)
{
	struct waiting_calls *w = ctx;
	auto_buf text = {0};
	char *end;
	long long nr = proc_read(tid, "syscall", &text) == 0 ? strtoll(buf_str(&text), &end, 10) : -1;
	size_t i = 0;
	if (text.len && end != buf_str(&text) && nr >= 0) {
		while (i < w->calls.n && w->calls.v[i].nr != nr)
			i++;
		if (i == w->calls.n)
			vec_push(&w->calls, (struct waiting_call){.nr = nr});
		w->calls.v[i].n++;
	}
}

void trace_waiting_calls(const pid_t *pids, size_t n, struct buf *out)
{
	struct waiting_calls w = {0};
	for (size_t i = 0; i < n; i++)
		each_thread(pids[i], count_call, &w);
	for (size_t i = 0; i < w.calls.n; i++) {
		buf_adds(out, i ? ", " : "");
		syscall_name(out, syscall_native_arch(), w.calls.v[i].nr);
		buf_addf(out, " %zu", w.calls.v[i].n);
	}
	vec_free(&w.calls);
}

void trace_waiting_free(struct trace_waiting *w)
{
	size_t i = 0;
	struct waiting_thread *t;
	while ((t = map_next(&w->threads, &i, NULL)))
		free(t);
	map_free(&w->threads);
}
