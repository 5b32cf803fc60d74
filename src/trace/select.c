/* SPDX-License-Identifier: MIT */
#include "trace/select.h"

#include "base/buf.h"
#include "base/memory.h"
#include "base/size.h"
#include "base/words.h"
#include "decode/decode.h"
#include "engine/engine.h"
#include "run/field.h"
#include "stats/summary.h"
#include "syscall/call_table.h"
#include "trace/sink.h"
#include "trace/subject.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void trace_select_free(struct trace_select *s)
{
	filter_free(&s->calls);
	free(s->calls_text);
	vec_free(&s->errnos);
	for (size_t i = 0; i < s->paths.n; i++)
		free(s->paths.v[i]);
	vec_free(&s->paths);
	vec_free(&s->fds);
}

static int select_calls(void *select, const char *text, size_t *at, struct buf *why)
{
	struct trace_select *s = select;
	filter_free(&s->calls);
	field_set(&s->calls_text, text);
	s->by_call = true;
	return filter_parse(&s->calls, text, at, why);
}

int trace_each_word(const char *text, trace_word_fn *fn, void *ctx, size_t *at, struct buf *why)
{
	const char *p = text;
	for (;;) {
		size_t len = strcspn(p, ",");
		*at = (size_t)(p - text);
		char *word = memory_copy_part(p, len);
		int r = fn(ctx, word, why);
		free(word);
		if (r < 0)
			return r;
		p += len;
		if (!*p)
			return 0;
		p++;
	}
}

static const struct {
	const char *name;
	unsigned bit;
	bool misspelt; /* accepted, as by strace, but neither offered nor shown */
} status_names[] = {
	{"successful", STATUS_SUCCESSFUL, false},   {"successfull", STATUS_SUCCESSFUL, true},
	{"failed", STATUS_FAILED, false},           {"unfinished", STATUS_UNFINISHED, false},
	{"unavailable", STATUS_UNAVAILABLE, false}, {"detached", STATUS_DETACHED, false},
};

static int status_word(void *ctx, const char *word, struct buf *why)
{
	struct trace_select *s = ctx;
	struct near near = {.word = word};
	for (size_t i = 0; i < sizeof(status_names) / sizeof(*status_names); i++) {
		if (!status_names[i].misspelt)
			near_offer(&near, status_names[i].name);
		if (strcmp(status_names[i].name, word) != 0)
			continue;
		s->status |= status_names[i].bit;
		return 0;
	}
	buf_addf(why, "'%s' is not one of successful, failed, unfinished, unavailable, detached", word);
	near_say(&near, "", why);
	return -EINVAL;
}

static int select_status(void *select, const char *text, size_t *at, struct buf *why)
{
	struct trace_select *s = select;
	bool negated = text[0] == '!';
	s->status = 0;
	if (strcmp(text + negated, "all") == 0 || strcmp(text + negated, "none") == 0) {
		bool all = (text[negated] == 'a') != negated;
		s->status = all ? 0 : 1u << 31; /* a bit that no call has */
		*at = 0;
		return 0;
	}
	int r = trace_each_word(text + negated, status_word, s, at, why);
	*at += negated;
	if (negated)
		s->status = ~s->status;
	return r;
}

static int signal_word(void *ctx, const char *word, struct buf *why)
{
	struct trace_select *s = ctx;
	int64_t number;
	int sig = decode_signal_number(word);
	if (sig < 0 && number_parse(word, 1, 64, &number) == 0)
		sig = (int)number;
	if (sig < 1 || sig > 127) {
		struct near near = {.word = word};
		for (int i = 1; i < 32; i++) {
			const char *name = decode_signal_name(i);
			if (name)
				near_offer(&near, strncmp(word, "SIG", 3) == 0 ? name : name + 3);
		}
		buf_addf(why, "there is no signal '%s'", word);
		near_say(&near, "", why);
		return -EINVAL;
	}
	s->signals[sig / 64] |= UINT64_C(1) << (sig % 64);
	return 0;
}

static int select_signals(void *select, const char *text, size_t *at, struct buf *why)
{
	struct trace_select *s = select;
	bool negated = text[0] == '!';
	s->by_signal = true;
	s->signals[0] = s->signals[1] = 0;
	*at = negated;
	int r = 0;
	if (strcmp(text + negated, "all") == 0)
		s->signals[0] = s->signals[1] = UINT64_MAX;
	else if (strcmp(text + negated, "none") != 0)
		r = trace_each_word(text + negated, signal_word, s, at, why);
	if (negated) {
		s->signals[0] = ~s->signals[0];
		s->signals[1] = ~s->signals[1];
	}
	return r;
}

static int errno_word(void *ctx, const char *word, struct buf *why)
{
	struct trace_select *s = ctx;
	int64_t number;
	int err = decode_errno_number(word);
	if (err < 0 && number_parse(word, 1, 4095, &number) == 0)
		err = (int)number;
	if (err < 1) {
		struct near near = {.word = word};
		for (int i = 1; i < 134; i++)
			if (decode_errno_name(i))
				near_offer(&near, decode_errno_name(i));
		buf_addf(why, "there is no error '%s'", word);
		near_say(&near, "", why);
		return -EINVAL;
	}
	vec_push(&s->errnos, err);
	return 0;
}

static int select_errnos(void *select, const char *text, size_t *at, struct buf *why)
{
	struct trace_select *s = select;
	s->not_errnos = text[0] == '!';
	int r = trace_each_word(text + s->not_errnos, errno_word, s, at, why);
	*at += s->not_errnos;
	return r;
}

static int fd_word(void *ctx, const char *word, struct buf *why)
{
	struct trace_select *s = ctx;
	int64_t fd;
	if (number_parse(word, 0, INT_MAX, &fd) < 0) {
		buf_addf(why, "'%s' is not a descriptor; write numbers such as 1,2", word);
		return -EINVAL;
	}
	vec_push(&s->fds, (int)fd);
	return 0;
}

static int select_fds(void *select, const char *text, size_t *at, struct buf *why)
{
	return trace_each_word(text, fd_word, select, at, why);
}

int trace_part_parse(const struct trace_part *parts, void *settings, const char *name, size_t len, const char *value,
		     size_t *at, struct buf *why)
{
	for (; parts->names; parts++)
		for (const char *p = parts->names; *p; p += strspn(p, " ")) {
			size_t n = strcspn(p, " ");
			if (n == len && memcmp(p, name, len) == 0) {
				int r = parts->parse((char *)settings + parts->offset, value, at, why);
				return r < 0 ? r : 1;
			}
			p += n;
		}
	return 0;
}

int trace_select_parse(struct trace_select *s, const char *name, size_t len, const char *value, size_t *at,
		       struct buf *why)
{
	static const struct trace_part parts[] = {
		{"trace t", select_calls, 0}, {"signal signals s", select_signals, 0}, {"status", select_status, 0},
		{"errno", select_errnos, 0},  {"trace-fds fds fd", select_fds, 0},     {0}};
	return trace_part_parse(parts, s, name, len, value, at, why);
}

/* Returns true if the path ends in "/...": a folder and all below it. *len is the length without "/...". */
static bool is_tree(const char *path, size_t *len)
{
	*len = strlen(path);
	if (*len < 4 || strcmp(path + *len - 4, "/...") != 0)
		return false;
	*len -= 4;
	return true;
}

void trace_select_path(struct trace_select *s, const char *path)
{
	size_t len;
	auto_buf plain = {0}, full = {0};
	bool tree = is_tree(path, &len);
	buf_add(&plain, len ? path : "/", len ? len : 1);
	auto_free char *real = realpath(buf_str(&plain), NULL);
	buf_adds(&full, real ? real : path);
	if (real && tree)
		buf_adds(&full, "/...");
	vec_push(&s->paths, memory_copy(path));
	if (strcmp(buf_str(&full), path) != 0)
		vec_push(&s->paths, buf_take(&full));
}

/* Returns true if `path` is a selected path, or "/etc" or below it if "/etc/..." is selected. */
static bool path_matches(const struct trace_select *s, const struct buf *path)
{
	for (size_t i = 0; i < s->paths.n; i++) {
		const char *p = s->paths.v[i];
		size_t n;
		bool tree = is_tree(p, &n);
		if (path->len >= n && path->len && memcmp(path->s, p, n) == 0 &&
		    (path->len == n || (tree && path->s[n] == '/')))
			return true;
	}
	return false;
}

static bool fd_matches(const struct trace_select *s, struct trace_subject *subject, struct trace_ref *r)
{
	for (size_t i = 0; i < s->fds.n; i++)
		if (s->fds.v[i] == r->fd)
			return true;
	return s->paths.n && path_matches(s, trace_ref_text(subject, r));
}

static bool string_matches(const struct trace_select *s, struct trace_subject *subject, struct trace_ref *r)
{
	return s->paths.n && ((path_matches(s, trace_ref_text(subject, r)) && r->whole) ||
			      path_matches(s, trace_ref_full(subject, r)));
}

/* Returns true if an argument of the call refers to one of the selected paths or descriptors. */
static bool touches(const struct trace_select *s, struct trace_subject *subject)
{
	struct trace_ref *r = trace_subject_refs(subject);
	for (unsigned i = 0; i < subject->n; i++, r++)
		if (r->kind == REF_PATH ? string_matches(s, subject, r) : fd_matches(s, subject, r))
			return true;
	return false;
}

void trace_select_only(const struct trace_select *s, struct call_set *only)
{
	static const char *const always[] = {"restart_syscall", "rt_sigreturn"};
	memset(only, 0xff, sizeof(*only));
	if (!s->by_call)
		return;
	memcpy(only->bits, s->calls.native, sizeof(s->calls.native));
	for (size_t i = 0; i < sizeof(always) / sizeof(*always); i++) {
		int64_t nr = syscall_number(syscall_native_arch(), always[i]);
		if (nr >= 0 && nr < CALL_SET_MAX)
			only->bits[nr / 64] |= UINT64_C(1) << (nr % 64);
	}
	/* To show the requests of io_uring_enter(2), the calls that set up the rings must be seen. */
	int64_t enter = syscall_number(syscall_native_arch(), "io_uring_enter");
	if (enter >= 0 && enter < CALL_SET_MAX && only->bits[enter / 64] >> (enter % 64) & 1)
		trace_select_rings(only);
}

void trace_select_rings(struct call_set *only)
{
	const struct syscall_desc *d;
	for (int64_t nr = 0; nr < CALL_SET_MAX; nr++)
		if ((d = syscall_lookup(syscall_native_arch(), nr)) && d->groups & G_RINGS)
			only->bits[nr / 64] |= UINT64_C(1) << (nr % 64);
}

void trace_select_naming(struct call_set *only)
{
	const struct syscall_desc *d;
	for (int64_t nr = 0; nr < CALL_SET_MAX; nr++)
		if ((d = syscall_lookup(syscall_native_arch(), nr)) && syscall_changes_names(d))
			only->bits[nr / 64] |= UINT64_C(1) << (nr % 64);
}

/* Do the files that calls use decide which calls are selected (-P, fds=)? */
static bool by_file(const struct trace_select *s)
{
	return s->paths.n || s->fds.n;
}

bool trace_select_enter(const struct trace_select *s, const struct event *ev, struct trace_subject *subject)
{
	if (s->by_call && !filter_takes(&s->calls, &ev->call))
		return false;
	return !by_file(s) || touches(s, subject);
}

bool trace_select_needs_exit(const struct trace_select *s)
{
	return s->status || s->errnos.n || s->slower_ns || s->waited;
}

static void add_word(struct buf *out, const char *word)
{
	buf_addf(out, "%s%s", out->len ? "," : "", word);
}

static void say_status(const struct trace_select *s, struct buf *out)
{
	for (size_t i = 0; i < sizeof(status_names) / sizeof(*status_names); i++)
		if (!status_names[i].misspelt && s->status & status_names[i].bit)
			add_word(out, status_names[i].name);
	buf_adds(out, out->len ? "" : "none");
}

static void say_errnos(const struct trace_select *s, struct buf *out)
{
	for (size_t i = 0; i < s->errnos.n; i++) {
		char number[16];
		const char *name = decode_errno_name(s->errnos.v[i]);
		snprintf(number, sizeof(number), "%d", s->errnos.v[i]);
		add_word(out, name ? name : number);
	}
}

static void say_fds(const struct trace_select *s, struct buf *out)
{
	for (size_t i = 0; i < s->fds.n; i++)
		buf_addf(out, "%s%d", i ? "," : "", s->fds.v[i]);
}

void trace_select_say(const struct trace_select *s, struct strings *out)
{
	auto_buf status = {0}, errnos = {0}, fds = {0}, slower = {0};
	say_status(s, &status);
	say_errnos(s, &errnos);
	say_fds(s, &fds);
	buf_addf(&slower, "%gus", (double)s->slower_ns / 1e3);
	const struct {
		bool given;
		const char *option, *value;
	} parts[] = {{s->by_call, "-e trace=", s->calls_text},
		     {s->status, "-e status=", buf_str(&status)},
		     {s->errnos.n, s->not_errnos ? "-e errno=!" : "-e errno=", buf_str(&errnos)},
		     {s->fds.n, "-e fds=", buf_str(&fds)},
		     {s->slower_ns, "--slower ", buf_str(&slower)},
		     {s->waited, "--waited", ""}};
	auto_buf text = {0};
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (parts[i].given) {
			buf_clear(&text);
			buf_addf(&text, "%s%s", parts[i].option, parts[i].value);
			strings_add(out, buf_str(&text));
		}
	for (size_t i = 0; i < s->paths.n; i++) {
		buf_clear(&text);
		buf_addf(&text, "-P %s", s->paths.v[i]);
		strings_add(out, buf_str(&text));
	}
}

/* Calls that libraries of today do not make, or that only programs of 32 bits can make, and what is made instead. */
static const char *const successors[][2] = {
	{"open", "openat"},
	{"creat", "openat"},
	{"stat", "newfstatat"},
	{"lstat", "newfstatat"},
	{"fstat", "newfstatat"},
	{"stat64", "newfstatat"},
	{"fstat64", "newfstatat"},
	{"send", "sendto"},
	{"recv", "recvfrom"},
	{"waitpid", "wait4"},
	{"fork", "clone"},
	{"select", "pselect6"},
	{"_llseek", "lseek"},
	{"mmap2", "mmap"},
	{"getdents", "getdents64"},
	{"readdir", "getdents64"},
	{"getrlimit", "prlimit64"},
	{"setrlimit", "prlimit64"},
	{"sigaction", "rt_sigaction"},
	{"sigprocmask", "rt_sigprocmask"},
	{"signal", "rt_sigaction"},
	{"exit", "exit_group"},
	{"epoll_create", "epoll_create1"},
	{"inotify_init", "inotify_init1"},
	{"eventfd", "eventfd2"},
	{"signalfd", "signalfd4"},
	{"pipe", "pipe2"},
};

/* Calls that programs seldom make, because the C library gets the same from memory that the kernel provides (vdso(7)). */
static const char *const without_call[] = {"clock_gettime", "clock_getres", "gettimeofday", "time", "getcpu"};

/* What is known of the words of a set of calls. */
struct hints {
	struct buf made, answered;
};

static int hint_word(void *ctx, const char *word, struct buf *why)
{
	struct hints *h = ctx;
	(void)why;
	word += word[0] == '?';
	for (size_t i = 0; i < sizeof(successors) / sizeof(*successors); i++)
		if (strcmp(successors[i][0], word) == 0) {
			buf_addf(&h->made, "%s%s instead of %s", h->made.len ? ", " : "", successors[i][1], word);
			return 0;
		}
	for (size_t i = 0; i < sizeof(without_call) / sizeof(*without_call); i++)
		if (strcmp(without_call[i], word) == 0) {
			buf_addf(&h->answered, "%s%s", h->answered.len ? ", " : "", word);
			return 0;
		}
	return -ENOENT;
}

void trace_set_hint(const char *set, struct buf *out)
{
	struct hints h = {0};
	auto_buf why = {0};
	size_t at;
	bool all = trace_each_word(set, hint_word, &h, &at, &why) == 0;
	if (all && h.made.len)
		buf_addf(out, "most programs of today make %s", buf_str(&h.made));
	if (all && h.answered.len)
		buf_addf(out, "%svdso(7) answers %s without a call", h.made.len ? ", and " : "", buf_str(&h.answered));
	buf_free(&h.made);
	buf_free(&h.answered);
}

void trace_select_hint(const struct trace_select *s, struct buf *out)
{
	if (s->by_call && s->calls_text)
		trace_set_hint(s->calls_text, out);
}

static unsigned status_of(const struct event *ev)
{
	if (ev->kind == EV_VANISH)
		return STATUS_UNFINISHED;
	return ev->call.error ? STATUS_FAILED : STATUS_SUCCESSFUL;
}

bool trace_select_exit(const struct trace_select *s, const struct event *ev, uint64_t *unjudged)
{
	if (s->status && !(s->status & status_of(ev)))
		return false;
	if (s->errnos.n) {
		bool in = false;
		for (size_t i = 0; i < s->errnos.n; i++)
			in |= trace_returns(ev) && ev->call.error && s->errnos.v[i] == ev->call.err;
		if (in == s->not_errnos)
			return false;
	}
	if (s->slower_ns && call_own_ns(&ev->call) <= (double)s->slower_ns)
		return false;
	bool returned = trace_returns(ev);
	*unjudged += s->waited && returned && ev->call.wait == WAIT_UNKNOWN;
	return !s->waited || (returned && ev->call.wait == WAIT_YES);
}

bool trace_select_signal(const struct trace_select *s, int sig)
{
	return !s->by_signal || (sig > 0 && sig < 128 && (s->signals[sig / 64] >> (sig % 64) & 1));
}
