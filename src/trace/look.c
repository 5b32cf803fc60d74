#include "trace/look.h"

#include "base/buf.h"
#include "base/near.h"
#include "base/size.h"
#include "engine/engine.h"
#include "trace/select.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void trace_look_free(struct trace_look *l)
{
	filter_free(&l->abbrev.calls);
	filter_free(&l->verbose.calls);
	filter_free(&l->raw.calls);
	vec_free(&l->read.fds);
	vec_free(&l->write.fds);
}

void trace_look_stops(const struct trace_look *l, struct call_set *stops)
{
	struct filter enter = {0};
	size_t at;
	if (!l->namespaces || filter_parse(&enter, "?clone,?clone3,?unshare,?setns", &at, NULL) < 0)
		return;
	for (size_t i = 0; i < sizeof(stops->bits) / sizeof(*stops->bits); i++)
		stops->bits[i] |= enter.native[i];
	filter_free(&enter);
}

static int parse_calls(void *set, const char *text, size_t *at, struct buf *why)
{
	struct look_calls *s = set;
	filter_free(&s->calls);
	s->given = true;
	return filter_parse(&s->calls, text, at, why);
}

static int fd_word(void *ctx, const char *word, struct buf *why)
{
	struct look_fds *s = ctx;
	int64_t fd;
	if (number_parse(word, 0, INT_MAX, &fd) < 0) {
		buf_addf(why, "'%s' is not a descriptor; write numbers such as 3,4, or all", word);
		return -EINVAL;
	}
	vec_push(&s->fds, (int)fd);
	return 0;
}

static int parse_fds(void *set, const char *text, size_t *at, struct buf *why)
{
	struct look_fds *s = set;
	s->negated = text[0] == '!';
	const char *list = text + s->negated;
	s->all = strcmp(list, "all") == 0;
	s->fds.n = 0;
	if (s->all || strcmp(list, "none") == 0)
		return 0;
	int r = trace_each_word(list, fd_word, s, at, why);
	*at += s->negated;
	return r;
}

static const struct {
	const char *name;
	unsigned bits;
} messages[] = {
	{"attach", QUIET_ATTACH},
	{"exit", QUIET_EXIT},
	{"exits", QUIET_EXIT},
	{"path-resolution", 0},
	{"path-resolve", 0},
	{"path", 0},
	{"personality", 0},
	{"superseded", QUIET_EXECVE},
	{"thread-execve", QUIET_EXECVE},
	{"thread-exec", QUIET_EXECVE},
	{"all", QUIET_ALL},
	{"none", 0},
};

/* Adds the messages that `word` names to *ctx. Words for messages that only strace prints add nothing. */
static int message_word(void *ctx, const char *word, struct buf *why)
{
	struct near near;
	near_init(&near, word);
	for (size_t i = 0; i < sizeof(messages) / sizeof(*messages); i++) {
		near_offer(&near, messages[i].name);
		if (strcmp(messages[i].name, word) != 0)
			continue;
		*(unsigned *)ctx |= messages[i].bits;
		return 0;
	}
	buf_addf(why, "'%s' is not one of attach, exit, thread-execve, all", word);
	near_say(&near, "", why);
	return -EINVAL;
}

static int parse_quiet(void *bits, const char *text, size_t *at, struct buf *why)
{
	unsigned *quiet = bits;
	bool negated = text[0] == '!';
	*quiet = 0;
	int r = trace_each_word(text + negated, message_word, quiet, at, why);
	*at += negated;
	if (negated)
		*quiet = ~*quiet & QUIET_ALL;
	return r;
}

static int fd_name_word(void *ctx, const char *word, struct buf *why)
{
	static const struct {
		const char *word;
		unsigned names;
	} words[] = {{"none", FD_NUMBERS},     {"path", FD_PATHS},        {"paths", FD_PATHS}, {"all", FD_IN_FULL},
		     {"socket", FD_SOCKETS},   {"sockets", FD_SOCKETS},   {"dev", FD_DEVICES}, {"pidfd", FD_PIDFDS},
		     {"eventfd", FD_EVENTFDS}, {"signalfd", FD_SIGNALFDS}};
	unsigned *names = ctx;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(words[i].word, word) == 0) {
			*names |= words[i].names;
			return 0;
		}
	buf_addf(why, "'%s' is not one of path, socket, dev, pidfd, eventfd, signalfd, all, none", word);
	return -EINVAL;
}

int trace_look_fd_names(void *names, const char *list, size_t *at, struct buf *why)
{
	*(unsigned *)names = FD_NUMBERS;
	return trace_each_word(list, fd_name_word, names, at, why);
}

static int pid_word(void *look, const char *word, struct buf *why)
{
	struct trace_look *l = look;
	bool all = strcmp(word, "all") == 0, comm = strcmp(word, "comm") == 0, outer = strcmp(word, "pidns") == 0;
	if (!all && !comm && !outer && strcmp(word, "none") != 0) {
		buf_addf(why, "'%s' is not one of comm (the name of a process), pidns, all, none", word);
		return -EINVAL;
	}
	l->pid_names |= all || comm;
	l->outer_ids |= all || outer;
	return 0;
}

int trace_look_pids(void *look, const char *list, size_t *at, struct buf *why)
{
	struct trace_look *l = look;
	l->pid_names = 0;
	l->outer_ids = false;
	return trace_each_word(list, pid_word, look, at, why);
}

static int parse_namespace(void *namespaces, const char *text, size_t *at, struct buf *why)
{
	*at = 0;
	*(bool *)namespaces = strcmp(text, "new") == 0;
	if (*(bool *)namespaces)
		return 0;
	buf_addf(why, "'%s' is not new; namespace=new prints the namespaces that processes enter", text);
	return -EINVAL;
}

int trace_look_parse(struct trace_look *l, const char *name, size_t len, const char *value, size_t *at, struct buf *why)
{
#define AT(member) offsetof(struct trace_look, member)
	static const struct trace_part parts[] = {
		{"abbrev a", parse_calls, AT(abbrev)},
		{"verbose v", parse_calls, AT(verbose)},
		{"raw x", parse_calls, AT(raw)},
		{"read reads r", parse_fds, AT(read)},
		{"write writes w", parse_fds, AT(write)},
		{"quiet silent silence q", parse_quiet, AT(quiet)},
		{"decode-fds decode-fd", trace_look_fd_names, AT(fd_names)},
		{"decode-pids decode-pid", trace_look_pids, 0},
		{"namespace", parse_namespace, AT(namespaces)},
		{0},
	};
#undef AT
	return trace_part_parse(parts, l, name, len, value, at, why);
}

int trace_look_constants(struct trace_look *l, const char *word, struct buf *why)
{
	static const char *const words[] = {
		[CONSTANTS_NAMED] = "abbrev", [CONSTANTS_RAW] = "raw", [CONSTANTS_BOTH] = "verbose"};
	for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(words[i], word) == 0) {
			l->constants = (enum trace_constants)i;
			return 0;
		}
	buf_addf(why, "'%s' is not one of raw, abbrev, verbose", word);
	return -EINVAL;
}

static bool chosen(const struct look_calls *s, const struct call *c, bool otherwise)
{
	return s->given ? filter_takes(&s->calls, c) : otherwise;
}

bool trace_look_full(const struct trace_look *l, const struct call *c)
{
	return !chosen(&l->abbrev, c, true);
}

bool trace_look_deep(const struct trace_look *l, const struct call *c)
{
	return chosen(&l->verbose, c, true);
}

bool trace_look_raw(const struct trace_look *l, const struct call *c)
{
	return chosen(&l->raw, c, false);
}

bool trace_look_has_fd(const struct look_fds *s, int fd)
{
	bool in = s->all;
	for (size_t i = 0; !in && i < s->fds.n; i++)
		in = s->fds.v[i] == fd;
	return in != s->negated;
}
