/* SPDX-License-Identifier: MIT */
/* Parsers of the tracer's option values. */
#include "base/buf.h"
#include "base/memory.h"
#include "base/size.h"
#include "base/words.h"
#include "cmd/trace/opts.h"
#include "engine/engine.h"
#include "trace/files.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

/*
 * `why` contains what is wrong with the word at offset `at` of `text`. Appends two lines to it: the text, and a caret
 * below that word. The command prints these two lines separately (display_usage_error()). An empty text is not shown.
 */
static int point_at(const char *text, size_t at, int r, struct buf *why)
{
	if (r < 0 && why->len && *text) {
		buf_addf(why, "\n  %s\n  ", text);
		buf_fill(why, ' ', at);
		buf_addc(why, '^');
	}
	return r;
}

int trace_opt_decode_fds(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	size_t at;
	(void)row;
	return trace_look_fd_names(&((struct trace_opts *)ctx)->look.fd_names, arg ? arg : "path", &at, why);
}

/* Parses -y, and the second one of -yy. */
int trace_opt_fd_names(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	struct trace_look *l = &((struct trace_opts *)ctx)->look;
	(void)row;
	(void)arg;
	(void)why;
	l->fd_names |= l->fd_names & FD_PATHS ? FD_IN_FULL : FD_PATHS;
	return 0;
}

/* Parses the name of a precision, after an optional "precision:". Returns PRECISION_NONE for another text. */
static enum trace_precision precision_of(const char *text)
{
	static const char *const names[] = {
		[PRECISION_S] = "s", [PRECISION_MS] = "ms", [PRECISION_US] = "us", [PRECISION_NS] = "ns"};
	text += strncmp(text, "precision:", 10) == 0 ? 10 : 0;
	for (unsigned i = PRECISION_S; i <= PRECISION_NS; i++)
		if (strcmp(names[i], text) == 0)
			return (enum trace_precision)i;
	return PRECISION_NONE;
}

int trace_opt_precision(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	enum trace_precision *p = (void *)((char *)ctx + row->offset);
	*p = arg ? precision_of(arg) : PRECISION_US;
	if (*p != PRECISION_NONE)
		return 0;
	buf_addf(why, "'%s' is not a precision; write s, ms, us or ns", arg);
	return -EINVAL;
}

static int duration_word(void *times, const char *word, struct buf *why)
{
	struct trace_times *t = times;
	enum trace_precision p = precision_of(word);
	bool waits = strcmp(word, "waits") == 0;
	t->waits |= waits;
	t->durations = p != PRECISION_NONE ? p : t->durations;
	if (waits || p != PRECISION_NONE)
		return 0;
	buf_addf(why, "'%s' is not a precision; write s, ms, us or ns, or waits to mark calls that waited", word);
	return -EINVAL;
}

/* Parses -T and --syscall-times, whose value is a list of a precision and the word waits. */
int trace_opt_durations(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	struct trace_times *t = &((struct trace_opts *)ctx)->times;
	size_t at = 0;
	(void)row;
	t->durations = PRECISION_US;
	int r = arg ? trace_each_word(arg, duration_word, t, &at, why) : 0;
	return r < 0 ? point_at(arg, at, r, why) : 0;
}

static int clock_word(void *times, const char *word, struct buf *why)
{
	static const char *const formats[] = {[CLOCK_NONE] = "none", [CLOCK_DAY] = "time", [CLOCK_EPOCH] = "unix"};
	struct trace_times *t = times;
	const char *format = word + (strncmp(word, "format:", 7) == 0 ? 7 : 0);
	enum trace_precision p = precision_of(word);
	if (p != PRECISION_NONE) {
		t->clock_precision = p;
		return 0;
	}
	for (unsigned i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (strcmp(formats[i], format) == 0) {
			t->clock = i;
			return 0;
		}
	buf_addf(why, "'%s' is neither a format (time, unix, none) nor a precision (s, ms, us, ns)", word);
	return -EINVAL;
}

/* Parses -t, -tt and -ttt, each of which adds to the previous one, and --absolute-timestamps=FORMAT,PRECISION. */
int trace_opt_clock(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	struct trace_times *t = &((struct trace_opts *)ctx)->times;
	size_t at = 0;
	bool once = row->letter && t->clock == CLOCK_DAY && t->clock_precision == PRECISION_S;
	bool twice = row->letter && t->clock != CLOCK_NONE && !once;
	t->clock = twice ? CLOCK_EPOCH : CLOCK_DAY;
	t->clock_precision = once || twice ? PRECISION_US : PRECISION_S;
	int r = arg ? trace_each_word(arg, clock_word, t, &at, why) : 0;
	return r < 0 ? point_at(arg, at, r, why) : 0;
}

int trace_opt_decode_pids(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	size_t at;
	(void)row;
	return trace_look_pids(&((struct trace_opts *)ctx)->look, arg, &at, why);
}

/* Reports that `word`, of `len` bytes, is not one of the words that -e accepts before '='. */
static void say_unknown(const char *word, size_t len, struct buf *why)
{
	static const char *const known[] = {"trace", "status",     "errno",       "signal",   "fds",    "inject",
					    "fault", "read",       "write",       "raw",      "abbrev", "verbose",
					    "quiet", "decode-fds", "decode-pids", "namespace"};
	auto_free char *text = memory_copy_part(word, len);
	struct near near = {.word = text};
	buf_addf(why, "-e does not know '%s'; it knows", text);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		buf_addf(why, "%s %s", i ? "," : "", known[i]);
		near_offer(&near, known[i]);
	}
	near_say(&near, "", why);
}

int trace_opt_expr(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	struct trace_opts *o = ctx;
	(void)row;
	size_t len = strcspn(arg, "=");
	size_t at = 0;
	if (!arg[len]) {
		int r = trace_select_parse(&o->select, "trace", 5, arg, &at, why);
		return point_at(arg, at, r < 0 ? -EINVAL : 0, why);
	}
	const char *value = arg + len + 1;
	int r = trace_select_parse(&o->select, arg, len, value, &at, why);
	if (r == 0)
		r = trace_inject_parse(&o->injects, arg, len, value, &at, why);
	if (r == 0)
		r = trace_look_parse(&o->look, arg, len, value, &at, why);
	if (r)
		return r > 0 ? 0 : point_at(arg, len + 1 + at, r, why);
	say_unknown(arg, len, why);
	return point_at(arg, 0, -EINVAL, why);
}

/* Parses the long forms --trace=SET, --status=SET and others. The name of the option is the qualifier. */
int trace_opt_named_expr(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	auto_buf text = {0};
	buf_addf(&text, "%s=%s", row->name, arg);
	return trace_opt_expr(ctx, row, buf_str(&text), why);
}

int trace_opt_successful(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	(void)arg;
	(void)why;
	((struct trace_opts *)ctx)->select.status = row->letter == 'z' ? STATUS_SUCCESSFUL : STATUS_FAILED;
	return 0;
}

/* Parses -q, -qq and -qqq. As in strace, each further q suppresses more messages. */
int trace_opt_quiet(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	struct trace_opts *o = ctx;
	(void)row;
	if (arg) {
		size_t at = 0;
		int r = trace_look_parse(&o->look, "quiet", 5, arg, &at, why);
		return r < 0 ? point_at(arg, at, r, why) : 0;
	}
	unsigned had = o->look.quiet;
	o->look.quiet |= had & QUIET_EXIT ? QUIET_ALL : had & QUIET_ATTACH ? QUIET_EXIT : QUIET_ATTACH;
	return 0;
}

int trace_opt_constants(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	(void)row;
	return trace_look_constants(&((struct trace_opts *)ctx)->look, arg, why);
}

int trace_opt_path(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	struct trace_opts *o = ctx;
	(void)row;
	if (!arg[0]) {
		buf_adds(why, "a path is missing");
		return -EINVAL;
	}
	trace_select_path(&o->select, arg);
	return 0;
}

static int parse_ids(const char *arg, void (*add)(struct trace_opts *o, pid_t id), struct trace_opts *o,
		     struct buf *why)
{
	const char *p = arg;
	for (;;) {
		char *end;
		long id = strtol(p, &end, 10);
		if (end == p || id <= 0 || id > INT_MAX || !strchr(", \n\t", *end)) {
			buf_addf(why,
				 "'%s' is not a process number; write for example 12, or 12,34 for several processes",
				 arg);
			return -EINVAL;
		}
		add(o, (pid_t)id);
		p = end + strspn(end, ", \n\t");
		if (!*p)
			return 0;
	}
}

static void add_attached(struct trace_opts *o, pid_t pid)
{
	for (size_t i = 0; i < o->pids.n; i++)
		if (o->pids.v[i] == pid)
			return;
	vec_push(&o->pids, pid);
}

static void add_shown_pid(struct trace_opts *o, pid_t pid)
{
	vec_push(&o->show_pids, pid);
}

static void add_shown_tid(struct trace_opts *o, pid_t tid)
{
	vec_push(&o->show_tids, tid);
}

int trace_opt_pids(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	(void)row;
	return parse_ids(arg, add_attached, ctx, why);
}

/* --pid and --tid of `sctrace show`. */
int trace_opt_show_ids(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	return parse_ids(arg, strcmp(row->name, "pid") == 0 ? add_shown_pid : add_shown_tid, ctx, why);
}

static int comm_word(void *names, const char *word, struct buf *why)
{
	if (!*word) {
		buf_adds(why, "a name is missing");
		return -EINVAL;
	}
	strings_add(names, word);
	return 0;
}

int trace_opt_comms(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	size_t at = 0;
	(void)row;
	int r = trace_each_word(arg, comm_word, &((struct trace_opts *)ctx)->comms, &at, why);
	return point_at(arg, at, r, why);
}

static int uid_word(void *ctx, const char *word, struct buf *why)
{
	struct trace_opts *o = ctx;
	int64_t uid;
	const struct passwd *pw = getpwnam(word);
	if (!pw && number_parse(word, 0, UINT32_MAX - 1, &uid) < 0) {
		buf_addf(why, "there is no user '%s' on this machine; write a name or a number", word);
		return -EINVAL;
	}
	vec_push(&o->uids, pw ? pw->pw_uid : (uid_t)uid);
	return 0;
}

int trace_opt_uids(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	size_t at = 0;
	(void)row;
	int r = trace_each_word(arg, uid_word, ctx, &at, why);
	return point_at(arg, at, r, why);
}

int trace_opt_engine(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	(void)row;
	((struct trace_opts *)ctx)->engine = arg;
	return engine_check(arg, why);
}

int trace_opt_env(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	struct trace_opts *o = ctx;
	(void)row;
	if (arg[0] == '=' || !arg[0]) {
		buf_addf(why, "'%s' does not name a variable; write NAME=VALUE to set one, or NAME to remove it", arg);
		return -EINVAL;
	}
	vec_push(&o->env, arg);
	return 0;
}

int trace_opt_expect(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	size_t at = 0;
	(void)row;
	int r = conditions_parse(&((struct trace_opts *)ctx)->expect, arg, CONDITION_EXPECT, &at, why);
	return point_at(arg, at, r, why);
}

int trace_opt_break(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	(void)row;
	if (strcmp(arg, "execve") != 0) {
		buf_addf(why, "'%s' is not supported; --detach-on accepts only execve", arg);
		return -EINVAL;
	}
	((struct trace_opts *)ctx)->break_execve = true;
	return 0;
}

int trace_opt_columns(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	(void)row;
	return summary_columns_parse(arg, &((struct trace_opts *)ctx)->view.columns, why);
}

int trace_opt_sort(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	(void)row;
	int r = summary_sort_parse(arg, &((struct trace_opts *)ctx)->view.sort, why);
	if (r < 0)
		buf_adds(why,
			 " (-S selects the order of the table; none: the order of appearance; to hide signals, write "
			 "-e signal=none, or run sctrace under the name truss, whose -S hides them)");
	return r;
}

int trace_opt_format(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	struct trace_opts *o = ctx;
	(void)row;
	o->html = strcmp(arg, "html") == 0;
	o->paths = strcmp(arg, "paths") == 0;
	if (strcmp(arg, "perfetto") == 0) {
		o->format = TRACE_PERFETTO;
		return 0;
	}
	auto_buf formats_of_tables = {0};
	int r = summary_format_parse(o->html || o->paths ? "text" : arg, &o->view.format, &formats_of_tables);
	if (r < 0) {
		opt_say_words(row, arg, why);
		return r;
	}
	o->format = o->view.format == SUMMARY_JSON ? TRACE_JSON : TRACE_TEXT;
	return 0;
}

int trace_opt_files(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	struct trace_opts *o = ctx;
	(void)row;
	if (!arg)
		o->files = FILES_ALL;
	return arg ? trace_files_parse(arg, &o->files, why) : 0;
}

int trace_opt_hist(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	(void)row;
	char name[64];
	const char *rest = arg;
	((struct trace_opts *)ctx)->hist = arg;
	int r = *arg ? 0 : filter_check_name(arg, why);
	while (r == 0 && summary_next_hist(&rest, name, sizeof(name)))
		r = filter_check_name(name, why);
	return r;
}

int trace_opt_json(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	return trace_opt_format(ctx, row, arg ? arg : "json", why);
}

int trace_opt_last(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	struct trace_opts *o = ctx;
	(void)row;
	o->last_set = true;
	return recording_last_parse(arg, &o->last, why);
}

int trace_opt_limit(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	int64_t n;
	(void)row;
	if (number_parse(arg, 1, INT64_MAX, &n) < 0) {
		buf_addf(why, "'%s' is not a number of calls", arg);
		return -EINVAL;
	}
	((struct trace_opts *)ctx)->limit = (uint64_t)n;
	return 0;
}

int trace_opt_overhead(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	struct trace_opts *o = ctx;
	(void)row;
	int r = duration_parse(arg, &o->overhead_ns);
	if (r < 0)
		buf_addf(why, "'%s' is not a valid cost; write for example 20 (microseconds) or 20us", arg);
	o->overhead_set = true;
	return r < 0 ? -EINVAL : 0;
}

int trace_opt_top(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	struct trace_opts *o = ctx;
	int64_t n = 0;
	(void)row;
	if (strcmp(arg, "all") != 0 && number_parse(arg, 1, 1000000, &n) < 0) {
		buf_addf(why, "'%s' is not a number of rows; write for example 10, or all", arg);
		return -EINVAL;
	}
	o->view.top = (unsigned)n;
	o->top_set = true;
	return 0;
}

/* Accepts letters without effect: -w (times are always wall-clock times), and -F, an old form of -f. */
int trace_opt_nothing(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	(void)ctx;
	(void)row;
	(void)arg;
	(void)why;
	return 0;
}
