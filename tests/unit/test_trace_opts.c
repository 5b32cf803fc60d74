/* SPDX-License-Identifier: MIT */
/* Tests the tracer's options: the values that they accept and refuse, and the settings that they change. */
#include "cmd/trace/opts.h"

#include "base/buf.h"
#include "cmd/cmd.h"
#include "syscall/call_table.h"
#include "trace/subject.h"
#include "tracee/names.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

static enum opt_outcome parse(struct trace_opts *o, char **argv, struct buf *why)
{
	int argc = 0, first;
	while (argv[argc])
		argc++;
	trace_opts_init(o);
	buf_clear(why);
	enum opt_outcome r = opt_parse(&trace_command, o, argc, argv, &first, why);
	return r == OPT_OK && trace_opts_check(o, first < argc, why) < 0 ? OPT_ERROR : r;
}

#define PARSE(...) parse(&o, (char *[]){"sctrace", __VA_ARGS__, NULL}, &why)

static void mistakes_are_explained(void **state)
{
	(void)state;
	static const struct {
		char *argv[5];
		const char *says;
	} cases[] = {
		{{"sctrace"}, "no program was given"},
		{{"sctrace", "--syscall-limit=0", "x"}, "'0' is not a number of calls"},
		{{"sctrace", "--decode-pids=name", "x"}, "'name' is not one of comm"},
		{{"sctrace", "--syscall-times=m", "x"}, "'m' is not a precision; write s, ms, us or ns"},
		{{"sctrace", "-T=ns,wait", "x"}, "'wait' is not a precision; write s, ms, us or ns, or waits to mark"},
		{{"sctrace", "-k", "--waited", "x"}, "-k and --stacks stop threads at their calls"},
		{{"sctrace", "--record=r", "--waited", "x"}, "--record cannot select calls by their results"},
		{{"sctrace", "--io", "--waited", "x"}, "--slower and --waited"},
		{{"sctrace", "--absolute-timestamps=us,day", "x"}, "'day' is neither a format"},
		{{"sctrace", "-c", "-C", "x"}, "-c and -C cannot be used together"},
		{{"sctrace", "-ff", "x"}, "-ff needs -o FILE"},
		{{"sctrace", "-e", "trace=read,opnat", "x"}, "'opnat'; did you mean openat"},
		{{"sctrace", "-e", "trace=read,opnat", "x"}, "\n  trace=read,opnat\n             ^"},
		{{"sctrace", "-e", "!raed", "x"}, "\n  !raed\n   ^"},
		{{"sctrace", "-e", "status=failed,succesful", "x"}, "did you mean successful?\n"},
		{{"sctrace", "-e", "decode-fds=path,colour", "x"}, "\n  decode-fds=path,colour\n                  ^"},
		{{"sctrace", "-e", "errno=ENOENTT", "x"}, "did you mean ENOENT or ENONET?\n"},
		{{"sctrace", "-e", "signal=SIGTRM", "x"}, "did you mean SIGTERM"},
		{{"sctrace", "-e", "inject=read:eror=EIO", "x"}, "did you mean error?\n"},
		{{"sctrace", "-e", "inject=read", "x"}, "no action was given"},
		{{"sctrace", "-e", "inject=read:error=EIO:when=0", "x"}, "'0' does not select calls"},
		{{"sctrace", "-e", "colour=blue", "x"}, "-e does not know 'colour'"},
		{{"sctrace", "-e", "stats=failed", "x"},
		 "quiet, decode-fds, decode-pids, namespace; did you mean status?\n"},
		{{"sctrace", "--record=r", "--by=path", "x"}, "--record prints no table of calls"},
		{{"sctrace", "--record=r", "--save=s", "x"}, "--record prints no table of calls"},
		{{"sctrace", "--record=r", "-c", "--io", "x"}, "--record prints no table of calls"},
		{{"sctrace", "-Sc", "x"}, "under the name truss"},
		{{"sctrace", "--format=wide", "x"}, "add -c"},
		{{"sctrace", "--format=jsn", "x"}, "markdown, json, html, perfetto; did you mean json?"},
		{{"sctrace", "-p", "12,x"}, "is not a process number"},
		{{"sctrace", "-p", "0"}, "is not a process number"},
		{{"sctrace", "-b", "fork", "x"}, "accepts only execve"},
		{{"sctrace", "--interval=1us", "-c", "x"}, "the shortest interval"},
		{{"sctrace", "-E", "=x", "x"}, "does not name a variable"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct trace_opts o;
		struct buf why = {0};
		char *argv[6] = {0};
		memcpy(argv, cases[i].argv, sizeof(cases[i].argv));
		assert_int_equal(parse(&o, argv, &why), OPT_ERROR);
		if (!strstr(buf_str(&why), cases[i].says))
			assert_string_equal(buf_str(&why), cases[i].says);
		trace_opts_free(&o);
		buf_free(&why);
	}
}

static void choices_are_kept(void **state)
{
	(void)state;
	struct trace_opts o;
	struct buf why = {0};
	assert_int_equal(PARSE("-p", "1,2", "-p", "3", "-e", "trace=openat", "-tt", "-yy", "--slower=10ms"), OPT_OK);
	assert_int_equal(o.pids.n, 3);
	assert_int_equal(o.times.clock, CLOCK_DAY);
	assert_int_equal(o.times.clock_precision, PRECISION_US);
	assert_int_equal(o.look.fd_names, FD_IN_FULL);
	trace_opts_free(&o);
	assert_int_equal(PARSE("-t", "-tt", "-rT", "x"), OPT_OK);
	assert_int_equal(o.times.clock, CLOCK_EPOCH);
	assert_int_equal(o.times.clock_precision, PRECISION_US);
	assert_int_equal(o.times.relative, PRECISION_US);
	assert_int_equal(o.times.durations, PRECISION_US);
	trace_opts_free(&o);
	assert_int_equal(
		PARSE("--timestamps=precision:ns,format:unix", "--syscall-times=ns", "--relative-timestamps=s", "x"),
		OPT_OK);
	assert_int_equal(o.times.clock, CLOCK_EPOCH);
	assert_int_equal(o.times.clock_precision, PRECISION_NS);
	assert_int_equal(o.times.relative, PRECISION_S);
	assert_int_equal(o.times.durations, PRECISION_NS);
	trace_opts_free(&o);
	assert_int_equal(PARSE("-p", "1,2", "-p", "3", "-e", "trace=openat", "--slower=10ms"), OPT_OK);
	assert_int_equal(o.select.slower_ns, 10000000);
	assert_true(filter_matches(&o.select.calls, syscall_native_arch(), SYS_openat));
	assert_false(filter_matches(&o.select.calls, syscall_native_arch(), SYS_read));
	trace_opts_free(&o);
	assert_int_equal(PARSE("-e", "openat", "-Z", "-E", "A=1", "-E", "B", "--json", "x", "-c"), OPT_OK);
	assert_int_equal(o.select.status, STATUS_FAILED);
	assert_int_equal(o.env.n, 2);
	assert_int_equal(o.format, TRACE_JSON);
	assert_false(o.count);
	trace_opts_free(&o);
	buf_free(&why);
}

static void options_of_appearance_are_kept(void **state)
{
	(void)state;
	struct trace_opts o;
	struct buf why = {0};
	assert_int_equal(PARSE("-F", "--decode-fds=path,socket", "--decode-pids=comm", "-e", "quiet=!exit", "x"),
			 OPT_OK);
	assert_int_equal(o.look.fd_names, FD_PATHS | FD_SOCKETS);
	assert_int_equal(o.look.pid_names, 1);
	trace_opts_free(&o);
	assert_int_equal(PARSE("--decode-fds=none", "-e", "decode-pids=comm", "-e", "decode-fd=signalfd", "-N", "x"),
			 OPT_OK);
	assert_int_equal(o.look.fd_names, FD_SIGNALFDS);
	assert_int_equal(o.look.pid_names, 1);
	assert_true(o.arg_names);
	trace_opts_free(&o);
	assert_int_equal(PARSE("-Y", "--decode-pids=pidns", "x"), OPT_OK);
	assert_int_equal(o.look.pid_names, 0);
	assert_true(o.look.outer_ids);
	trace_opts_free(&o);
	assert_int_equal(PARSE("--decode-fds=none", "--always-show-pid", "--syscall-limit=9", "x"), OPT_OK);
	assert_int_equal(o.look.fd_names, 0);
	assert_int_equal(o.limit, 9);
	assert_true(o.always_pid);
	trace_opts_free(&o);
	assert_int_equal(PARSE("-e", "signal=sigint,Usr1", "-e", "inject=read:signal=term", "x"), OPT_OK);
	assert_int_equal(o.select.signals[0], 1ull << SIGINT | 1ull << SIGUSR1);
	trace_opts_free(&o);
	assert_int_equal(PARSE("--stack-traces", "x"), OPT_OK);
	assert_true(o.stacks);
	trace_opts_free(&o);
	assert_int_equal(PARSE("--errno=enoent", "-e", "fault=read:error=Eintr", "x"), OPT_OK);
	trace_opts_free(&o);
	assert_int_equal(PARSE("-c", "-O", "20", "x"), OPT_OK);
	assert_int_equal(o.overhead_ns, 20000);
	trace_opts_free(&o);
	assert_int_equal(PARSE("-c", "-O", "3ns", "x"), OPT_OK);
	assert_int_equal(o.overhead_ns, 3);
	trace_opts_free(&o);
	assert_int_equal(PARSE("-c", "-O", "much", "x"), OPT_ERROR);
	assert_non_null(strstr(buf_str(&why), "'much' is not a valid cost"));
	trace_opts_free(&o);
	assert_int_equal(PARSE("--decode-fds=path,colour", "x"), OPT_ERROR);
	assert_non_null(strstr(buf_str(&why), "'colour' is not one of path"));
	trace_opts_free(&o);
	assert_int_equal(PARSE("-e", "quiet=exti", "x"), OPT_ERROR);
	assert_non_null(strstr(buf_str(&why), "did you mean exit"));
	trace_opts_free(&o);
	buf_free(&why);
}

static void injections_are_kept(void **state)
{
	(void)state;
	struct trace_opts o;
	struct buf why = {0};
	assert_int_equal(PARSE("-e", "inject=read:signal=USR1:delay_exit=2ms:delay_enter=30:when=2..3", "x"), OPT_OK);
	assert_int_equal(o.injects.rules.n, 1);
	struct engine_tamper t = {0};
	struct event ev = {.kind = EV_ENTER, .tid = 1, .pid = 1};
	ev.call.arch = syscall_native_arch();
	ev.call.nr = SYS_read;
	ev.call.desc = syscall_lookup(ev.call.arch, SYS_read);
	assert_false(trace_inject_ask(&o.injects, &ev, &t));
	assert_true(trace_inject_ask(&o.injects, &ev, &t));
	assert_int_equal(t.signal, SIGUSR1);
	assert_int_equal(t.delay_exit_ns, 2000000);
	assert_int_equal(t.delay_enter_ns, 30000);
	assert_true(trace_inject_ask(&o.injects, &ev, &t));
	assert_false(trace_inject_ask(&o.injects, &ev, &t));
	trace_opts_free(&o);
	assert_int_equal(PARSE("-e", "inject=read:signal=9", "x"), OPT_OK);
	trace_opts_free(&o);
	assert_int_equal(PARSE("-e", "inject=read:signal=99", "x"), OPT_ERROR);
	assert_non_null(strstr(buf_str(&why), "'99' is not a signal"));
	trace_opts_free(&o);
	buf_free(&why);
}

static struct event entry(long nr, uint64_t a0)
{
	struct event ev = {.kind = EV_ENTER, .tid = 1, .pid = 1};
	ev.call.arch = syscall_native_arch();
	ev.call.nr = nr;
	ev.call.desc = syscall_lookup(ev.call.arch, nr);
	ev.call.args[0] = a0;
	return ev;
}

static bool selected(const struct trace_select *s, const struct event *ev)
{
	struct trace_subject subject = {0};
	trace_subject_begin(&subject, ev, &names_live);
	bool is = trace_select_enter(s, ev, &subject);
	trace_subject_free(&subject);
	return is;
}

static void calls_are_selected(void **state)
{
	(void)state;
	struct trace_opts o;
	struct buf why = {0};
	assert_int_equal(PARSE("--trace-fds=3,4", "-e", "errno=EIO,ENOSPC", "-e", "signal=!TERM", "x"), OPT_OK);
	struct event on3 = entry(SYS_close, 3), on5 = entry(SYS_close, 5);
	uint64_t unjudged = 0;
	assert_true(selected(&o.select, &on3));
	assert_false(selected(&o.select, &on5));
	assert_true(trace_select_needs_exit(&o.select));
	on3.kind = EV_EXIT;
	assert_false(trace_select_exit(&o.select, &on3, &unjudged));
	on3.call.error = true;
	on3.call.err = ENOSPC;
	assert_true(trace_select_exit(&o.select, &on3, &unjudged));
	assert_true(trace_select_signal(&o.select, SIGINT));
	assert_false(trace_select_signal(&o.select, SIGTERM));
	trace_opts_free(&o);
	assert_int_equal(PARSE("--slower=1us", "x"), OPT_OK);
	on5.kind = EV_EXIT;
	on5.call.duration_ns = 21000;
	on5.call.cost_ns = 20500;
	assert_false(trace_select_exit(&o.select, &on5, &unjudged));
	on5.call.cost_ns = 19000;
	assert_true(trace_select_exit(&o.select, &on5, &unjudged));
	trace_opts_free(&o);
	assert_int_equal(unjudged, 0);
	buf_free(&why);
}

static void calls_that_waited_are_selected(void **state)
{
	(void)state;
	struct trace_opts o;
	struct buf why = {0};
	uint64_t unjudged = 0;
	assert_int_equal(PARSE("--waited", "-z", "x"), OPT_OK);
	struct event ev = entry(SYS_read, 3);
	assert_true(selected(&o.select, &ev));
	assert_true(trace_select_needs_exit(&o.select));
	ev.kind = EV_EXIT;
	ev.call.wait = WAIT_NO;
	assert_false(trace_select_exit(&o.select, &ev, &unjudged));
	ev.call.wait = WAIT_YES;
	assert_true(trace_select_exit(&o.select, &ev, &unjudged));
	assert_int_equal(unjudged, 0);
	ev.call.wait = WAIT_UNKNOWN;
	assert_false(trace_select_exit(&o.select, &ev, &unjudged));
	assert_int_equal(unjudged, 1);
	ev.call.error = true; /* another option leaves it out */
	assert_false(trace_select_exit(&o.select, &ev, &unjudged));
	ev.kind = EV_VANISH;
	assert_false(trace_select_exit(&o.select, &ev, &unjudged));
	assert_int_equal(unjudged, 1);
	trace_opts_free(&o);
	buf_free(&why);
}

static void durations_are_parsed(void **state)
{
	(void)state;
	struct trace_opts o;
	struct buf why = {0};
	assert_int_equal(PARSE("-Tr", "x"), OPT_OK);
	assert_int_equal(o.times.durations, PRECISION_US);
	assert_int_equal(o.times.relative, PRECISION_US);
	assert_false(o.times.waits);
	trace_opts_free(&o);
	assert_int_equal(PARSE("-T=waits", "x"), OPT_OK);
	assert_int_equal(o.times.durations, PRECISION_US);
	assert_true(o.times.waits);
	trace_opts_free(&o);
	assert_int_equal(PARSE("-fT=ns,waits", "x"), OPT_OK);
	assert_int_equal(o.times.durations, PRECISION_NS);
	assert_true(o.times.waits);
	trace_opts_free(&o);
	buf_free(&why);
}

static void selections_are_said(void **state)
{
	(void)state;
	struct trace_opts o;
	struct buf why = {0};
	struct strings said = {0};
	static const char *const expect[] = {"-e trace=!%file",      "-e status=failed,unfinished,unavailable,detached",
					     "-e errno=!ENOENT,200", "-e fds=0,1",
					     "--slower 1500us",      "-P /nonexistent/..."};
	assert_int_equal(PARSE("-e", "trace=read", "--trace=!%file", "-e", "status=!successful", "-e",
			       "errno=!ENOENT,200", "-e", "fd=0,1", "--slower=1.5ms", "-P", "/nonexistent/...", "x"),
			 OPT_OK);
	trace_select_say(&o.select, &said);
	assert_int_equal(said.n, sizeof(expect) / sizeof(*expect));
	for (size_t i = 0; i < said.n; i++)
		assert_string_equal(said.v[i], expect[i]);
	strings_clear(&said);
	trace_opts_free(&o);
	assert_int_equal(PARSE("-e", "signal=none", "-e", "status=none", "x"), OPT_OK);
	trace_select_say(&o.select, &said);
	assert_int_equal(said.n, 1);
	assert_string_equal(said.v[0], "-e status=none");
	strings_clear(&said);
	trace_opts_free(&o);
	assert_int_equal(PARSE("-f", "x"), OPT_OK);
	trace_select_say(&o.select, &said);
	assert_int_equal(said.n, 0);
	trace_opts_free(&o);
	buf_free(&why);
}

static void tampering_takes_turns(void **state)
{
	(void)state;
	struct trace_opts o;
	struct buf why = {0};
	struct engine_tamper t;
	assert_int_equal(PARSE("-e", "inject=close:error=EIO:delay_enter=5ms:when=2+2", "x"), OPT_OK);
	struct event ev = entry(SYS_close, 3), other = entry(SYS_read, 3), thread = entry(SYS_close, 3);
	thread.tid = 2;
	static const bool turns[] = {false, true, false, true};
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(trace_inject_ask(&o.injects, &ev, &t), turns[i]);
		assert_false(trace_inject_ask(&o.injects, &other, &t));
	}
	assert_false(trace_inject_ask(&o.injects, &thread, &t));
	assert_int_equal(t.result, -EIO);
	assert_int_equal(t.delay_enter_ns, 5000000);
	trace_opts_free(&o);
	assert_int_equal(PARSE("-e", "fault=close:when=1..2", "x"), OPT_OK);
	assert_true(trace_inject_ask(&o.injects, &ev, &t));
	assert_int_equal(t.result, -ENOSYS);
	assert_true(trace_inject_ask(&o.injects, &ev, &t));
	assert_false(trace_inject_ask(&o.injects, &ev, &t));
	trace_injects_forget(&o.injects, ev.tid);
	assert_true(trace_inject_ask(&o.injects, &ev, &t)); /* another thread with the same id */
	trace_opts_free(&o);
	/* As in strace, each call of the set is counted for itself, and the last rule for a call applies. */
	assert_int_equal(PARSE("-e", "inject=close,read:error=EIO:when=2", "-e", "inject=read:retval=7:when=1", "x"),
			 OPT_OK);
	assert_false(trace_inject_ask(&o.injects, &ev, &t));
	assert_true(trace_inject_ask(&o.injects, &other, &t));
	assert_int_equal(t.result, 7);
	assert_true(trace_inject_ask(&o.injects, &ev, &t));
	assert_int_equal(t.result, -EIO);
	assert_false(trace_inject_ask(&o.injects, &other, &t));
	trace_opts_free(&o);
	buf_free(&why);
}

/* Each row of both tables can be used. It has a separate help text, unless it is hidden on purpose. */
static void tables_are_sound(void **state)
{
	(void)state;
	const struct opt_command *const commands[] = {&trace_command, &truss_command};
	for (size_t i = 0; i < 2; i++)
		for (const struct opt *o = commands[i]->table; o->letter || o->name || o->help; o++) {
			for (const struct opt *p = commands[i]->table; p < o; p++) {
				assert_false(o->letter && o->letter == p->letter);
				assert_false(o->name && p->name && strcmp(o->name, p->name) == 0);
			}
			assert_true(o->parse || (!o->letter && !o->name));
		}
	assert_non_null(trace_other_dialect(false, 'H'));
	assert_non_null(trace_other_dialect(true, 'T'));
	assert_null(trace_other_dialect(true, 'c'));
}

/* Completion offers the same metrics as the parser of conditions accepts. */
static void words_of_conditions(void **state)
{
	static const struct {
		const struct opt_command *command;
		const char *option;
		enum condition_use use;
	} rows[] = {{&trace_command, "expect", CONDITION_EXPECT}, {&report_command, "fail-if", CONDITION_FAIL_IF}};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct buf words = {0};
		const struct opt *o = rows[i].command->table;
		while (!o->name || strcmp(o->name, rows[i].option) != 0)
			o++;
		condition_words(rows[i].use, &words);
		assert_string_equal(o->words, buf_str(&words));
		buf_free(&words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mistakes_are_explained),
		cmocka_unit_test(choices_are_kept),
		cmocka_unit_test(options_of_appearance_are_kept),
		cmocka_unit_test(injections_are_kept),
		cmocka_unit_test(calls_are_selected),
		cmocka_unit_test(calls_that_waited_are_selected),
		cmocka_unit_test(durations_are_parsed),
		cmocka_unit_test(selections_are_said),
		cmocka_unit_test(tampering_takes_turns),
		cmocka_unit_test(words_of_conditions),
		cmocka_unit_test(tables_are_sound),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
