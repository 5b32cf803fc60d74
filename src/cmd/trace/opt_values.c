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

static struct trace_opts *opts_of(const struct opt_use *u)
{
	return u->settings;
}

/*
 * If `r` is an error, `why` contains what is wrong with the word at offset `at` of the value. Appends two lines to it: the
 * value, and a caret below that word. The command prints these two lines separately (display_usage_error()). An empty
 * value is not shown.
 */
static int point_at(const struct opt_use *u, size_t at, int r)
{
	if (r < 0 && u->why->len && *u->value) {
		buf_addf(u->why, "\n  %s\n  ", u->value);
		buf_fill(u->why, ' ', at);
		buf_addc(u->why, '^');
	}
	return r;
}

/* Calls `fn` for each word of the value. An option without a value has none. */
static int each_word(const struct opt_use *u, trace_word_fn *fn, void *ctx)
{
	size_t at = 0;
	int r = u->value ? trace_each_word(u->value, fn, ctx, &at, u->why) : 0;
	return point_at(u, at, r);
}

int trace_opt_decode_fds(const struct opt_use *u)
{
	size_t at;
	return trace_look_fd_names(&opts_of(u)->look.fd_names, u->value ? u->value : "path", &at, u->why);
}

/* Parses -y, and the second one of -yy. */
int trace_opt_fd_names(const struct opt_use *u)
{
	struct trace_look *l = &opts_of(u)->look;
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

int trace_opt_precision(const struct opt_use *u)
{
	enum trace_precision *p = (void *)((char *)u->settings + u->row->offset);
	*p = u->value ? precision_of(u->value) : PRECISION_US;
	return *p != PRECISION_NONE ? 0 : opt_refuse(u, "'%s' is not a precision; write s, ms, us or ns", u->value);
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
int trace_opt_durations(const struct opt_use *u)
{
	struct trace_times *t = &opts_of(u)->times;
	t->durations = PRECISION_US;
	return each_word(u, duration_word, t);
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
int trace_opt_clock(const struct opt_use *u)
{
	struct trace_times *t = &opts_of(u)->times;
	bool once = u->row->letter && t->clock == CLOCK_DAY && t->clock_precision == PRECISION_S;
	bool twice = u->row->letter && t->clock != CLOCK_NONE && !once;
	t->clock = twice ? CLOCK_EPOCH : CLOCK_DAY;
	t->clock_precision = once || twice ? PRECISION_US : PRECISION_S;
	return each_word(u, clock_word, t);
}

int trace_opt_decode_pids(const struct opt_use *u)
{
	size_t at;
	return trace_look_pids(&opts_of(u)->look, u->value, &at, u->why);
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

int trace_opt_expr(const struct opt_use *u)
{
	struct trace_opts *o = opts_of(u);
	const char *arg = u->value;
	size_t len = strcspn(arg, "=");
	size_t at = 0;
	if (!arg[len]) {
		int r = trace_select_parse(&o->select, "trace", 5, arg, &at, u->why);
		return point_at(u, at, r < 0 ? -EINVAL : 0);
	}
	const char *value = arg + len + 1;
	int r = trace_select_parse(&o->select, arg, len, value, &at, u->why);
	if (r == 0)
		r = trace_inject_parse(&o->injects, arg, len, value, &at, u->why);
	if (r == 0)
		r = trace_look_parse(&o->look, arg, len, value, &at, u->why);
	if (r)
		return r > 0 ? 0 : point_at(u, len + 1 + at, r);
	say_unknown(arg, len, u->why);
	return point_at(u, 0, -EINVAL);
}

/* Parses the long forms --trace=SET, --status=SET and others. The name of the option is the qualifier. */
int trace_opt_named_expr(const struct opt_use *u)
{
	auto_buf text = {0};
	buf_addf(&text, "%s=%s", u->row->name, u->value);
	return trace_opt_expr(&(struct opt_use){u->settings, u->row, buf_str(&text), u->why});
}

int trace_opt_successful(const struct opt_use *u)
{
	opts_of(u)->select.status = u->row->letter == 'z' ? STATUS_SUCCESSFUL : STATUS_FAILED;
	return 0;
}

/* Parses -q, -qq and -qqq. As in strace, each further q suppresses more messages. */
int trace_opt_quiet(const struct opt_use *u)
{
	struct trace_look *l = &opts_of(u)->look;
	size_t at = 0;
	unsigned had = l->quiet;
	if (!u->value) {
		l->quiet |= had & QUIET_EXIT ? QUIET_ALL : had & QUIET_ATTACH ? QUIET_EXIT : QUIET_ATTACH;
		return 0;
	}
	int r = trace_look_parse(l, "quiet", 5, u->value, &at, u->why);
	return r < 0 ? point_at(u, at, r) : 0;
}

int trace_opt_constants(const struct opt_use *u)
{
	return trace_look_constants(&opts_of(u)->look, u->value, u->why);
}

int trace_opt_path(const struct opt_use *u)
{
	if (!u->value[0])
		return opt_refuse(u, "a path is missing");
	trace_select_path(&opts_of(u)->select, u->value);
	return 0;
}

static int parse_ids(const struct opt_use *u, void (*add)(struct trace_opts *o, pid_t id))
{
	const char *p = u->value;
	do {
		char *end;
		long id = strtol(p, &end, 10);
		if (end == p || id <= 0 || id > INT_MAX || !strchr(", \n\t", *end))
			return opt_refuse(
				u, "'%s' is not a process number; write for example 12, or 12,34 for several processes",
				u->value);
		add(opts_of(u), (pid_t)id);
		p = end + strspn(end, ", \n\t");
	} while (*p);
	return 0;
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

int trace_opt_pids(const struct opt_use *u)
{
	return parse_ids(u, add_attached);
}

/* --pid and --tid of `sctrace show`. */
int trace_opt_show_ids(const struct opt_use *u)
{
	return parse_ids(u, strcmp(u->row->name, "pid") == 0 ? add_shown_pid : add_shown_tid);
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

int trace_opt_comms(const struct opt_use *u)
{
	return each_word(u, comm_word, &opts_of(u)->comms);
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

int trace_opt_uids(const struct opt_use *u)
{
	return each_word(u, uid_word, u->settings);
}

int trace_opt_engine(const struct opt_use *u)
{
	opts_of(u)->engine = u->value;
	return engine_check(u->value, u->why);
}

int trace_opt_env(const struct opt_use *u)
{
	if (u->value[0] == '=' || !u->value[0])
		return opt_refuse(u, "'%s' does not name a variable; write NAME=VALUE to set one, or NAME to remove it",
				  u->value);
	vec_push(&opts_of(u)->env, u->value);
	return 0;
}

int trace_opt_expect(const struct opt_use *u)
{
	size_t at = 0;
	int r = conditions_parse(&opts_of(u)->expect, u->value, CONDITION_EXPECT, &at, u->why);
	return point_at(u, at, r);
}

int trace_opt_break(const struct opt_use *u)
{
	if (strcmp(u->value, "execve") != 0)
		return opt_refuse(u, "'%s' is not supported; --detach-on accepts only execve", u->value);
	opts_of(u)->break_execve = true;
	return 0;
}

int trace_opt_columns(const struct opt_use *u)
{
	return summary_columns_parse(u->value, &opts_of(u)->view.columns, u->why);
}

int trace_opt_sort(const struct opt_use *u)
{
	int r = summary_sort_parse(u->value, &opts_of(u)->view.sort, u->why);
	if (r < 0)
		buf_adds(u->why,
			 " (-S selects the order of the table; none: the order of appearance; to hide signals, write "
			 "-e signal=none, or run sctrace under the name truss, whose -S hides them)");
	return r;
}

static int set_format(const struct opt_use *u, const char *format)
{
	struct trace_opts *o = opts_of(u);
	auto_buf formats_of_tables = {0};
	o->html = strcmp(format, "html") == 0;
	o->paths = strcmp(format, "paths") == 0;
	if (strcmp(format, "perfetto") == 0) {
		o->format = TRACE_PERFETTO;
		return 0;
	}
	if (summary_format_parse(o->html || o->paths ? "text" : format, &o->view.format, &formats_of_tables) < 0)
		return opt_refuse_word(u);
	o->format = o->view.format == SUMMARY_JSON ? TRACE_JSON : TRACE_TEXT;
	return 0;
}

int trace_opt_format(const struct opt_use *u)
{
	return set_format(u, u->value);
}

int trace_opt_json(const struct opt_use *u)
{
	return set_format(u, "json");
}

int trace_opt_files(const struct opt_use *u)
{
	if (u->value)
		return trace_files_parse(u->value, &opts_of(u)->files, u->why);
	opts_of(u)->files = FILES_ALL;
	return 0;
}

int trace_opt_hist(const struct opt_use *u)
{
	char name[64];
	const char *rest = u->value;
	opts_of(u)->hist = rest;
	int r = *rest ? 0 : filter_check_name(rest, u->why);
	while (r == 0 && summary_next_hist(&rest, name, sizeof(name)))
		r = filter_check_name(name, u->why);
	return r;
}

int trace_opt_last(const struct opt_use *u)
{
	opts_of(u)->last_set = true;
	return recording_last_parse(u->value, &opts_of(u)->last, u->why);
}

int trace_opt_limit(const struct opt_use *u)
{
	int64_t n;
	if (number_parse(u->value, 1, INT64_MAX, &n) < 0)
		return opt_refuse(u, "'%s' is not a number of calls", u->value);
	opts_of(u)->limit = (uint64_t)n;
	return 0;
}

int trace_opt_overhead(const struct opt_use *u)
{
	opts_of(u)->overhead_set = true;
	if (duration_parse(u->value, &opts_of(u)->overhead_ns) < 0)
		return opt_refuse(u, "'%s' is not a valid cost; write for example 20 (microseconds) or 20us", u->value);
	return 0;
}

int trace_opt_top(const struct opt_use *u)
{
	int64_t n = 0;
	if (strcmp(u->value, "all") != 0 && number_parse(u->value, 1, 1000000, &n) < 0)
		return opt_refuse(u, "'%s' is not a number of rows; write for example 10, or all", u->value);
	opts_of(u)->view.top = (unsigned)n;
	opts_of(u)->top_set = true;
	return 0;
}

/* Accepts letters without effect: -w (times are always wall-clock times), and -F, an old form of -f. */
int trace_opt_nothing(const struct opt_use *u)
{
	(void)u;
	return 0;
}
