/* SPDX-License-Identifier: MIT */
#include "trace/tree.h"

#include "base/escape.h"
#include "base/memory.h"
#include "decode/decode.h"
#include "syscall/call_table.h"
#include "tracee/mem.h"
#include "tracee/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MOST   4096 /* maximum number of arguments of a command that are kept */
#define COMMAND_MOST 8192 /* a longer command is cut */
#define IOVECS_MOST  64   /* maximum number of buffers of a call that are read */
#define SAID_MOST    4096 /* the last bytes that a process has written to standard output or error */

struct trace_process {
	pid_t pid;
	struct trace_process *parent, *children, *last_child, *next; /* `next`: the next child of the parent */
	char *command; /* NULL: the process has executed no program since it was created */
	uint64_t start_ns, end_ns, cpu_ns, peak_rss_bytes;
	bool ended;
	int status;
	siginfo_t signal;   /* the last signal that was delivered */
	struct buf said[2]; /* the end of what it wrote to standard output, and to standard error */
};

static void set_parent(struct trace_process *p, struct trace_process *parent)
{
	p->parent = parent;
	if (parent->last_child)
		parent->last_child->next = p;
	else
		parent->children = p;
	parent->last_child = p;
}

static struct trace_process *add(struct trace_tree *t, pid_t pid, uint64_t ns, struct trace_process *parent)
{
	struct trace_process *p = memory_zeroed(1, sizeof(*p));
	p->pid = pid;
	p->start_ns = ns;
	if (parent)
		set_parent(p, parent);
	vec_push(&t->all, p);
	map_put(&t->by_pid, (uint64_t)pid, p);
	return p;
}

static struct trace_process *of(struct trace_tree *t, const struct event *ev)
{
	struct trace_process *p = map_get(&t->by_pid, (uint64_t)ev->pid);
	return p && !p->ended ? p : add(t, ev->pid, ev->time_ns, NULL);
}

/* Reads word `i` of an array of pointers or sizes. */
static bool get_word(const struct event *ev, uint64_t at, uint64_t i, uint64_t *v)
{
	size_t size = syscall_word_size(&ev->call);
	*v = 0;
	return mem_get(ev->mem, at + i * size, v, size) == 0;
}

/* Reads the command line that execve(2) will give to the new program. */
static void read_command(const struct event *ev, uint64_t argv, struct buf *out)
{
	char word[TRACE_TREE_STRING + 1];
	uint64_t at;
	buf_clear(out);
	for (uint64_t i = 0; i < WORDS_MOST && out->len < COMMAND_MOST && get_word(ev, argv, i, &at) && at; i++) {
		int ended;
		ssize_t n = mem_string(ev->mem, at, word, TRACE_TREE_STRING, &ended);
		if (n < 0)
			break;
		word[n] = '\0';
		buf_adds(out, out->len ? " " : "");
		escape_shell(out, word, (size_t)n);
	}
}

static void add_said(const struct event *ev, struct buf *said, uint64_t addr, uint64_t n)
{
	char bytes[TRACE_TREE_STRING];
	ssize_t got = mem_read(ev->mem, addr, bytes, n < sizeof(bytes) ? n : sizeof(bytes));
	if (got <= 0)
		return;
	buf_add(said, bytes, (size_t)got);
	if (said->len > 2 * SAID_MOST) {
		memmove(said->s, said->s + said->len - SAID_MOST, SAID_MOST);
		buf_truncate(said, SAID_MOST);
	}
}

static void tree_enter(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	const struct call *c = &ev->call;
	int argv = syscall_find_kind(c, K_ARGV), bytes = syscall_find_kind(c, K_IN_BYTES),
	    vector = syscall_find_kind(c, K_IN_IOVEC);
	if (ev->mem && argv >= 0)
		read_command(ev, c->args[argv], trace_own(s, k));
	if (!ev->mem || (bytes != 1 && vector != 1) || (c->args[0] != STDOUT_FILENO && c->args[0] != STDERR_FILENO))
		return;
	struct buf *said = &of((struct trace_tree *)s, ev)->said[c->args[0] == STDERR_FILENO];
	uint64_t addr, n;
	if (bytes == 1)
		add_said(ev, said, c->args[1], c->args[2]);
	for (uint64_t i = 0; vector == 1 && i < c->args[2] && i < IOVECS_MOST; i++)
		if (get_word(ev, c->args[1], 2 * i, &addr) && get_word(ev, c->args[1], 2 * i + 1, &n))
			add_said(ev, said, addr, n);
}

static void on_exec(struct trace_tree *t, struct trace_process *p, const struct event *ev, struct buf *command)
{
	const struct names *names = t->sink.session->names;
	if (!command->len)
		names->comm(names->ctx, ev->tid, command);
	free(p->command);
	p->command = command->len ? buf_take(command) : NULL;
	buf_clear(&p->said[0]);
	buf_clear(&p->said[1]);
}

static void tree_other(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	struct trace_tree *t = (struct trace_tree *)s;
	struct trace_process *p = of(t, ev);
	if (ev->kind == EV_EXEC)
		on_exec(t, p, ev, trace_own(s, k));
	else if (ev->kind == EV_SIGNAL)
		p->signal = ev->sig;
	else if (ev->kind == EV_NEW_TASK && !ev->is_thread) {
		struct trace_process *child = map_get(&t->by_pid, (uint64_t)ev->child);
		if (child && !child->ended && !child->parent && child != p)
			set_parent(child, p); /* an event of the child came first */
		else
			add(t, ev->child, ev->time_ns, p);
	} else if (ev->kind == EV_DEATH && ev->is_process) {
		p->ended = true;
		p->status = ev->status;
		p->end_ns = ev->time_ns;
		p->cpu_ns = ev->cpu_ns;
		p->peak_rss_bytes = ev->peak_rss_bytes;
	}
}

static void tree_gone(struct trace_sink *s, struct trace_task *k)
{
	buf_free(trace_own(s, k));
}

/* The sink's data for a thread is a struct buf: the command line of its last execve(2). */
static const struct trace_sink_ops tree_ops = {
	.task_size = sizeof(struct buf), .enter = tree_enter, .other = tree_other, .gone = tree_gone};

void trace_tree_init(struct trace_tree *t)
{
	*t = (struct trace_tree){.sink.ops = &tree_ops};
}

/* Returns the status as a shell reports it: the exit status, or 128 and the number of the signal. */
static int shell_status(const struct trace_process *p)
{
	return WIFSIGNALED(p->status) ? 128 + WTERMSIG(p->status) : WEXITSTATUS(p->status);
}

void trace_tree_attached(struct trace_tree *t, pid_t pid)
{
	const struct names *names = t->sink.session->names;
	struct trace_process *p = add(t, pid, t->sink.session->start_ns, NULL);
	struct buf command = {0};
	names->comm(names->ctx, pid, &command);
	p->command = command.len ? buf_take(&command) : NULL;
}

static bool has_failed(const struct trace_process *p)
{
	return p->ended && p->status != 0;
}

/*
 * Returns the child whose failure made `p` fail, as far as the order of the ends tells; NULL: none. If the child that ended
 * last has failed with the status of `p`, it is this child: `p` is probably a shell, and earlier failures may be answers to
 * its questions. Otherwise it is the child that failed first: make(1) waits for its other children after that.
 */
static const struct trace_process *guilty_child(const struct trace_process *p)
{
	const struct trace_process *first = NULL, *last = NULL;
	for (const struct trace_process *c = p->children; c; c = c->next) {
		if (!c->ended || (p->ended && c->end_ns > p->end_ns))
			continue;
		if (!last || c->end_ns >= last->end_ns)
			last = c;
		if (has_failed(c) && (!first || c->end_ns < first->end_ns))
			first = c;
	}
	return last && has_failed(last) && shell_status(last) == shell_status(p) ? last : first;
}

/*
 * Returns the process whose failure made the program fail: the end of the chain of failures that begins with the program.
 * If the program has not failed, returns NULL.
 */
static const struct trace_process *cause_of_failure(const struct trace_tree *t)
{
	const struct trace_process *p = NULL, *next;
	for (size_t i = 0; i < t->all.n && !p; i++)
		if (!t->all.v[i]->parent && has_failed(t->all.v[i]))
			p = t->all.v[i];
	while (p && (next = guilty_child(p)))
		p = next;
	return p;
}

/* Returns true if the line looks like the message of an error, and not like a line that only belongs to one. */
static bool names_error(const char *s, size_t n)
{
	static const char *const words[] = {"error",  "Error",  "ERROR",  "fatal",
					    "cannot", "Cannot", "failed", "No such"};
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (memmem(s, n, words[i], strlen(words[i])))
			return true;
	return false;
}

/*
 * Stores the message of a process: its first line on standard error that names an error, or else its last line. If it wrote
 * nothing there, takes standard output: `echo ... >&2` of a shell writes to descriptor 1, which is then a copy of 2.
 */
static void set_message(struct run_tree_process *r, const struct trace_process *p)
{
	const char *best = NULL;
	size_t len = 0;
	bool found = false;
	const struct buf *said = &p->said[p->said[1].len > 0];
	for (const char *at = buf_str(said), *end = at + said->len; at < end && !found;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t n = newline ? (size_t)(newline - at) : (size_t)(end - at);
		found = names_error(at, n);
		if (n) {
			best = at;
			len = n;
		}
		at += n + 1;
	}
	auto_buf text = {0};
	escape_line(&text, best, len);
	field_set(&r->message, text.len ? buf_str(&text) : NULL);
}

/* Stores which signal ended the process, and what is known of its cause. */
static void set_signal(struct run_tree_process *r, const struct trace_process *p)
{
	int sig = WTERMSIG(p->status);
	const siginfo_t *si = &p->signal;
	bool known = si->si_signo == sig;
	auto_buf text = {0};
	field_set(&r->killed_by, decode_signal_name(sig));
	if (known && (si->si_code == SI_USER || si->si_code == SI_TKILL || si->si_code == SI_QUEUE))
		buf_addf(&text, si->si_pid == p->pid ? "sent by the process itself" : "sent by process %d",
			 (int)si->si_pid);
	else if (known && si->si_code > 0 && (sig == SIGSEGV || sig == SIGBUS || sig == SIGILL || sig == SIGFPE))
		buf_addf(&text, "at address %p", si->si_addr);
	field_set(&r->reason, text.len ? buf_str(&text) : NULL);
}

static void set_command(struct run_tree_process *r, const struct trace_process *p)
{
	const struct trace_process *of = p;
	auto_buf text = {0}, line = {0};
	while (!of->command && of->parent)
		of = of->parent;
	buf_addf(&text, of == p ? "%s" : "(%s)", of->command ? of->command : "?");
	escape_line(&line, buf_str(&text), text.len);
	field_set(&r->command, buf_str(&line));
}

static void add_process(struct run_tree *out, const struct trace_tree *t, const struct trace_process *p, unsigned depth,
			const struct trace_process *cause)
{
	uint64_t origin = t->sink.session->start_ns;
	vec_push(&out->processes, (struct run_tree_process){.pid = p->pid, .depth = depth});
	struct run_tree_process *r = &out->processes.v[out->processes.n - 1];
	r->parent = p->parent ? p->parent->pid : NAN;
	r->start_s = p->start_ns > origin ? (double)(p->start_ns - origin) / 1e9 : 0;
	r->wall_s = p->ended ? (double)(p->end_ns - p->start_ns) / 1e9 : NAN;
	r->cpu_s = p->cpu_ns ? (double)p->cpu_ns / 1e9 : NAN;
	r->peak_rss_bytes = p->peak_rss_bytes ? (double)p->peak_rss_bytes : NAN;
	r->exit_status = p->ended && WIFEXITED(p->status) ? WEXITSTATUS(p->status) : NAN;
	r->is_cause = p == cause ? TRUTH_YES : TRUTH_NO;
	if (p->ended && WIFSIGNALED(p->status))
		set_signal(r, p);
	set_command(r, p);
	if (has_failed(p))
		set_message(r, p);
}

void trace_tree_finish(struct trace_tree *t, struct run_tree *out)
{
	const struct trace_process *cause = cause_of_failure(t);
	out->known = true;
	for (size_t i = 0; i < t->all.n; i++) {
		const struct trace_process *p = t->all.v[i]->parent ? NULL : t->all.v[i];
		for (unsigned depth = 0; p;) {
			add_process(out, t, p, depth, cause);
			if (p->children) {
				p = p->children;
				depth++;
				continue;
			}
			while (p->parent && !p->next) {
				p = p->parent;
				depth--;
			}
			p = p->next;
		}
	}
}

void trace_tree_free(struct trace_tree *t)
{
	for (size_t i = 0; i < t->all.n; i++) {
		free(t->all.v[i]->command);
		buf_free(&t->all.v[i]->said[0]);
		buf_free(&t->all.v[i]->said[1]);
		free(t->all.v[i]);
	}
	vec_free(&t->all);
	map_free(&t->by_pid);
}
