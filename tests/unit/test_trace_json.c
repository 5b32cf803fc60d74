/* SPDX-License-Identifier: MIT */
/* Tests the JSON objects, one in each line, and Perfetto's document. */
#include "trace/json.h"

#include "trace_events.h"

#include <jansson.h>

struct fixture {
	struct rig rig;
	struct trace_json_config c;
	struct trace_json sink;
	struct trace_csv csv;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	f->c = (struct trace_json_config){.out = &f->rig.out, .decoding = {.string_max = 32, .look = &f->rig.look}};
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	rig_free(&f->rig);
	free(f);
	return 0;
}

static void json_is_json(void **state)
{
	struct fixture *f = *state;
	struct rig *r = &f->rig;
	trace_json_init(&f->sink, &f->c);
	rig_start(r, &f->sink.sink);
	enter(r, 100, SYS_write, 1, 0x1000, sizeof(text) - 1);
	leave(r, 100, SYS_write, 1, 0x1000, sizeof(text) - 1, -ENOSPC);
	json_t *o = json_loads(buf_str(&r->out.common.buf), 0, NULL);
	assert_non_null(o);
	assert_string_equal(json_string_value(json_object_get(o, "name")), "write");
	assert_string_equal(json_string_value(json_object_get(o, "errno")), "ENOSPC");
	json_t *args = json_object_get(o, "args");
	assert_int_equal(json_integer_value(json_object_get(json_object_get(args, "fd"), "raw")), 1);
	assert_non_null(json_object_get(args, "count"));
	assert_true(json_is_true(json_object_get(o, "resolved")));
	assert_true(json_real_value(json_object_get(o, "time")) == 4000 / 1e9);
	json_decref(o);
	buf_clear(&r->out.common.buf);
	/* The thread vanished before all arguments were known, but the object is valid JSON. */
	enter(r, 100, SYS_read, 0, 0x1000, 4);
	give(r, call_event(EV_VANISH, 100, SYS_read, 0, 0x1000, 4, 0));
	o = json_loads(buf_str(&r->out.common.buf), 0, NULL);
	assert_non_null(o);
	assert_true(json_is_true(json_object_get(o, "unfinished")));
	json_decref(o);
}

static ssize_t read_before(void *ctx, uint64_t addr, void *buf, size_t n)
{
	ssize_t got = fake_read(ctx, addr, buf, n);
	for (ssize_t i = 0; i < got; i++)
		((char *)buf)[i] = 'B';
	return got;
}

/* A call that is one event has the same object and the same row as one that is two events. */
static void check_whole_calls(struct rig *r, struct trace_sink *sink)
{
	static const long calls[] = {SYS_write, SYS_read, SYS_fsync};
	const struct mem before = {.read = read_before};
	rig_start(r, sink);
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		struct event begins = call_event(EV_ENTER, 100, calls[i], 1, 0x1000, 2, 0);
		begins.mem = &before;
		buf_clear(&r->out.common.buf);
		give(r, begins);
		leave(r, 100, calls[i], 1, 0x1000, 2, 2);
		char *two = strdup(buf_str(&r->out.common.buf));
		buf_clear(&r->out.common.buf);
		whole(r, &before, calls[i], 1, 0x1000, 2, 2);
		assert_non_null(strstr(two, i == 0 ? "BB" : i == 1 ? "a " : "fsync"));
		assert_non_null(
			strstr(two, buf_str(&r->out.common.buf))); /* the first row follows the columns' names */
		assert_true(r->out.common.buf.len > 40);
		free(two);
	}
}

static void whole_calls_are_shown_like_others(void **state)
{
	struct fixture *f = *state;
	trace_json_init(&f->sink, &f->c);
	check_whole_calls(&f->rig, &f->sink.sink);
}

static void whole_calls_are_rows_like_others(void **state)
{
	static struct trace_csv csv;
	struct fixture *f = *state;
	trace_csv_init(&csv, &f->c);
	check_whole_calls(&f->rig, &csv.json.sink);
}

static void objects_say_whether_calls_waited(void **state)
{
	static const char *const members[] = {
		[WAIT_UNKNOWN] = "\"resolved\":true}",
		[WAIT_NO] = "\"resolved\":true,\"waited\":false}",
		[WAIT_YES] = "\"resolved\":true,\"waited\":true}",
	};
	struct fixture *f = *state;
	struct rig *r = &f->rig;
	trace_json_init(&f->sink, &f->c);
	rig_start(r, &f->sink.sink);
	for (unsigned i = 0; i < sizeof(members) / sizeof(*members); i++) {
		struct event ev = call_event(EV_CALL, 100, SYS_close, 9, 0, 0, 0);
		ev.entry_mem = &memory;
		ev.call.wait = (enum call_wait)i;
		buf_clear(&r->out.common.buf);
		give(r, ev);
		assert_non_null(strstr(buf_str(&r->out.common.buf), members[i]));
	}
}

static void each_kind_of_event_is_an_object(void **state)
{
	struct fixture *f = *state;
	struct rig *r = &f->rig;
	trace_json_init(&f->sink, &f->c);
	rig_start(r, &f->sink.sink);
	give(r, (struct event){.kind = EV_NEW_TASK, .tid = 100, .pid = 100, .child = 101, .is_thread = true});
	wrote(r, "{\"type\":\"birth\",\"time\":0.000000000,\"time_ns\":0,\"pid\":100,\"tid\":100,\"child\":101,"
		 "\"thread\":true}\n");
	give(r, (struct event){.kind = EV_DEATH, .tid = 101, .pid = 100, .status = 9});
	wrote(r,
	      "{\"type\":\"exit\",\"time\":0.000000000,\"time_ns\":0,\"pid\":100,\"tid\":101,\"killed_by\":\"SIGKILL\","
	      "\"core_dumped\":false,\"process\":false}\n");
	give(r, (struct event){.kind = EV_STOP, .tid = 100, .pid = 100, .sig.si_signo = SIGSTOP});
	wrote(r, "{\"type\":\"stop\",\"time\":0.000000000,\"time_ns\":0,\"pid\":100,\"tid\":100,\"signal\":\"SIGSTOP\"}"
		 "\n");
	/* The engine does not know the signal that continues the process, and `sig` has no meaning. */
	give(r, (struct event){.kind = EV_CONT, .tid = 100, .pid = 100, .sig.si_signo = SIGTRAP});
	wrote(r, "{\"type\":\"continue\",\"time\":0.000000000,\"time_ns\":0,\"pid\":100,\"tid\":100}\n");
}

static void csv_is_one_row(void **state)
{
	struct fixture *f = *state;
	struct rig *r = &f->rig;
	char *const program[] = {"=cmd()", "it's", NULL};
	f->c.host = "a\"b";
	f->c.recording = "c,d\n\xff";
	f->c.program = program;
	r->out.common.empty = true;
	trace_csv_init(&f->csv, &f->c);
	rig_start(r, &f->csv.json.sink);
	enter(r, 100, SYS_close, 3, 0, 0);
	leave(r, 100, SYS_close, 3, 0, 0, -EBADF);
	give(r, call_event(EV_ENTER, 101, SYS_exit_group, 7, 0, 0, 0));
	give(r, call_event(EV_VANISH, 101, SYS_exit_group, 7, 0, 0, 0));
	const char *same = "\"a\"\"b\",\"c,d\\n\\xff\",'=cmd()' 'it'\\''s',4000,100";
	struct buf expected = {0};
	buf_addf(&expected,
		 "host,recording,command,time_ns,pid,tid,process,name,nr,arch,args,path,result,errno,duration_ns,"
		 "resolved,waited,unfinished,restarted,injected,delayed,stack\n"
		 "%s,100,program100,close,%d,%u,\"{\"\"fd\"\":{\"\"raw\"\":3,\"\"value\"\":3}}\",/file3,-1,EBADF,10000,"
		 "true,,false,false,false,false,\n"
		 "%s,101,program100,exit_group,%d,%u,\"{\"\"status\"\":{\"\"raw\"\":7,\"\"value\"\":7}}\",,,,,,,"
		 "true,false,false,false,\n",
		 same, SYS_close, syscall_native_arch(), same, SYS_exit_group, syscall_native_arch());
	wrote(r, buf_str(&expected));
	buf_free(&expected);
}

static void perfetto_is_one_document(void **state)
{
	struct fixture *f = *state;
	struct rig *r = &f->rig;
	trace_perfetto_init(&f->sink, &f->c);
	rig_start(r, &f->sink.sink);
	for (int i = 0; i < 2; i++) {
		enter(r, 100, SYS_close, 3, 0, 0);
		leave(r, 100, SYS_close, 3, 0, 0, 0);
	}
	trace_pipeline_end(&r->p);
	json_t *o = json_loads(buf_str(&r->out.common.buf), 0, NULL);
	assert_non_null(o);
	json_t *calls[2] = {0}, *event;
	size_t n = 0, i;
	json_array_foreach(json_object_get(o, "traceEvents"), i, event)
	{
		if (strcmp(json_string_value(json_object_get(event, "ph")), "X") != 0)
			continue;
		assert_true(n < 2);
		calls[n++] = event;
	}
	assert_int_equal(n, 2);
	/*
	 * ts is the time from the start of the trace to the call's entry, dur from the entry to the end of the call, in
	 * microseconds.
	 */
	assert_true(json_real_value(json_object_get(calls[0], "ts")) == 3);
	assert_true(json_real_value(json_object_get(calls[0], "dur")) == 1);
	json_decref(o);
}

/* The metadata `what` of a thread: its name or its position. */
static json_t *about(const json_t *document, const char *what, int tid)
{
	json_t *found = NULL, *event;
	size_t i;
	json_array_foreach(json_object_get(document, "traceEvents"), i, event)
	{
		if (strcmp(json_string_value(json_object_get(event, "ph")), "M") != 0 ||
		    strcmp(json_string_value(json_object_get(event, "name")), what) != 0 ||
		    json_integer_value(json_object_get(event, "tid")) != tid)
			continue;
		json_t *args = json_object_get(event, "args");
		json_t *name = json_object_get(args, "name");
		found = name ? name : json_object_get(args, "sort_index");
	}
	assert_non_null(found);
	return found;
}

static void perfetto_names_threads_and_processes(void **state)
{
	struct fixture *f = *state;
	struct rig *r = &f->rig;
	trace_perfetto_init(&f->sink, &f->c);
	rig_start(r, &f->sink.sink);
	for (int tid = 100; tid <= 101; tid++) {
		enter(r, tid, SYS_close, 3, 0, 0);
		leave(r, tid, SYS_close, 3, 0, 0, 0);
	}
	trace_pipeline_end(&r->p);
	json_t *o = json_loads(buf_str(&r->out.common.buf), 0, NULL);
	assert_non_null(o);
	assert_string_equal(json_string_value(about(o, "thread_name", 100)), "program100");
	assert_string_equal(json_string_value(about(o, "thread_name", 101)), "program101");
	assert_string_equal(json_string_value(about(o, "process_name", 101)), "program100");
	assert_int_equal(json_integer_value(about(o, "thread_sort_index", 101)), 101);
	assert_int_equal(json_integer_value(about(o, "process_sort_index", 101)), 100);
	json_decref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(json_is_json, set_up, tear_down),
		cmocka_unit_test_setup_teardown(whole_calls_are_shown_like_others, set_up, tear_down),
		cmocka_unit_test_setup_teardown(whole_calls_are_rows_like_others, set_up, tear_down),
		cmocka_unit_test_setup_teardown(objects_say_whether_calls_waited, set_up, tear_down),
		cmocka_unit_test_setup_teardown(each_kind_of_event_is_an_object, set_up, tear_down),
		cmocka_unit_test_setup_teardown(csv_is_one_row, set_up, tear_down),
		cmocka_unit_test_setup_teardown(perfetto_is_one_document, set_up, tear_down),
		cmocka_unit_test_setup_teardown(perfetto_names_threads_and_processes, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
