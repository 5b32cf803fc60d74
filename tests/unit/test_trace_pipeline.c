/* SPDX-License-Identifier: MIT */
/* Tests which events reach a sink, with which threads, and the data that a sink keeps for each thread. */
#include "trace/pipeline.h"

#include "trace_events.h"

#include <linux/audit.h>

/* A sink that writes one word for each event. */
struct notes {
	struct trace_sink sink;
	struct buf text;
	struct call last;
};

struct kept {
	unsigned events;
};

static void note(struct trace_sink *s, struct trace_task *k, const char *what)
{
	struct kept *own = trace_own(s, k);
	buf_addf(&((struct notes *)s)->text, "%s%d/%u ", what, (int)k->tid, ++own->events);
}

static void on_enter(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	((struct notes *)s)->last = ev->call;
	note(s, k, "enter");
}

static void on_leave(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	((struct notes *)s)->last = ev->call;
	note(s, k, "leave");
}

static void on_other(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	(void)ev;
	note(s, k, "other");
}

static void on_unwanted(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	note(s, k, ev->kind == EV_ENTER ? "(enter)" : "(leave)");
}

static void on_gone(struct trace_sink *s, struct trace_task *k)
{
	note(s, k, s->session->ending ? "left" : "gone");
}

static void on_end(struct trace_sink *s)
{
	buf_adds(&((struct notes *)s)->text, "end");
}

static const struct trace_sink_ops ops = {.task_size = sizeof(struct kept),
					  .enter = on_enter,
					  .leave = on_leave,
					  .other = on_other,
					  .unwanted = on_unwanted,
					  .gone = on_gone,
					  .end = on_end};

struct fixture {
	struct rig rig;
	struct notes a, b;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	f->a.sink.ops = f->b.sink.ops = &ops;
	trace_pipeline_add(&f->rig.p, &f->a.sink);
	rig_start(&f->rig, &f->b.sink);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	rig_free(&f->rig);
	buf_free(&f->a.text);
	buf_free(&f->b.text);
	free(f);
	return 0;
}

static void both_noted(struct fixture *f, const char *expected)
{
	assert_string_equal(buf_str(&f->a.text), expected);
	assert_string_equal(buf_str(&f->b.text), expected);
	buf_clear(&f->a.text);
	buf_clear(&f->b.text);
}

static void threads_have_state_of_their_own(void **state)
{
	struct fixture *f = *state;
	enter(&f->rig, 100, SYS_close, 3, 0, 0);
	enter(&f->rig, 101, SYS_close, 3, 0, 0);
	assert_int_equal(f->rig.p.session.tasks, 2);
	leave(&f->rig, 100, SYS_close, 3, 0, 0, 0);
	give(&f->rig, (struct event){.kind = EV_DEATH, .tid = 101, .pid = 100});
	both_noted(f, "enter100/1 enter101/1 leave100/2 other101/2 gone101/3 ");
	assert_int_equal(f->rig.p.session.tasks, 1);
	assert_int_equal(f->rig.p.session.tasks_seen, 2);
	trace_pipeline_end(&f->rig.p);
	assert_string_equal(buf_str(&f->a.text), "left100/3 end");
	buf_clear(&f->a.text);
	buf_clear(&f->b.text);
}

/* A call that began before tracing has no entry, so its end is dropped. */
static void ends_need_their_entries(void **state)
{
	struct fixture *f = *state;
	leave(&f->rig, 100, SYS_close, 3, 0, 0, 0);
	both_noted(f, "(leave)100/1 ");
}

static void unwanted_calls_are_marked(void **state)
{
	struct fixture *f = *state;
	f->rig.select.status = STATUS_FAILED;
	vec_push(&f->rig.select.fds, 3);
	enter(&f->rig, 100, SYS_close, 4, 0, 0);
	leave(&f->rig, 100, SYS_close, 4, 0, 0, -EBADF);
	enter(&f->rig, 100, SYS_close, 3, 0, 0);
	leave(&f->rig, 100, SYS_close, 3, 0, 0, 0);
	enter(&f->rig, 100, SYS_close, 3, 0, 0);
	leave(&f->rig, 100, SYS_close, 3, 0, 0, -EBADF);
	both_noted(f, "(enter)100/1 (leave)100/2 enter100/3 (leave)100/4 enter100/5 leave100/6 ");
}

static void unwanted_signals_are_dropped(void **state)
{
	struct fixture *f = *state;
	f->rig.select.by_signal = true;
	f->rig.select.signals[0] = UINT64_C(1) << SIGUSR1;
	give(&f->rig, (struct event){.kind = EV_SIGNAL, .tid = 100, .pid = 100, .sig.si_signo = SIGTERM});
	give(&f->rig, (struct event){.kind = EV_SIGNAL, .tid = 100, .pid = 100, .sig.si_signo = SIGUSR1});
	both_noted(f, "other100/1 ");
}

/* A thread that calls execve(2) continues under the id of its leader. */
static void an_exec_takes_the_thread_away(void **state)
{
	struct fixture *f = *state;
	enter(&f->rig, 100, SYS_close, 3, 0, 0);
	enter(&f->rig, 101, SYS_execve, 0, 0, 0);
	give(&f->rig, (struct event){.kind = EV_EXEC, .tid = 100, .pid = 100, .child = 101});
	leave(&f->rig, 100, SYS_execve, 0, 0, 0, 0);
	give(&f->rig, (struct event){.kind = EV_EXEC, .tid = 100, .pid = 100, .child = 100});
	both_noted(f, "enter100/1 enter101/1 other100/2 gone101/2 leave100/3 other100/4 ");
}

/* The memory of socketcall(SYS_LISTEN, {3, 5}) of i386. The arguments are overwritten before the call ends. */
static ssize_t read_words(void *ctx, uint64_t addr, void *buf, size_t n)
{
	static const uint32_t words[] = {3, 5};
	if (addr != 0x2000 || n > sizeof(words) || *(const bool *)ctx)
		return -EFAULT;
	memcpy(buf, words, n);
	return (ssize_t)n;
}

static void a_call_inside_another_takes_its_place(void **state)
{
	struct fixture *f = *state;
	bool gone = false;
	const struct mem mem = {read_words, &gone};
	struct event ev = {.kind = EV_ENTER, .tid = 100, .pid = 100, .mem = &mem};
	ev.call = (struct call){.arch = AUDIT_ARCH_I386, .nr = 102, .args = {4, 0x2000}};
	ev.call.desc = syscall_lookup(ev.call.arch, ev.call.nr);
	struct event end = ev;
	give(&f->rig, ev);
	assert_string_equal(f->a.last.desc->name, "listen");
	assert_int_equal(f->a.last.args[1], 5);
	gone = true;
	f->a.last = (struct call){0};
	end.kind = EV_EXIT;
	give(&f->rig, end);
	assert_string_equal(f->a.last.desc->name, "listen");
	assert_int_equal(f->a.last.args[0], 3);
	both_noted(f, "enter100/1 leave100/2 ");
}

static void a_whole_call_becomes_two_events(void **state)
{
	struct fixture *f = *state;
	whole(&f->rig, &memory, SYS_close, 3, 0, 0, -EBADF);
	assert_int_equal(f->a.last.err, EBADF);
	assert_true(f->a.last.error);
	both_noted(f, "enter100/1 leave100/2 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(threads_have_state_of_their_own, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ends_need_their_entries, set_up, tear_down),
		cmocka_unit_test_setup_teardown(unwanted_calls_are_marked, set_up, tear_down),
		cmocka_unit_test_setup_teardown(unwanted_signals_are_dropped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_exec_takes_the_thread_away, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_call_inside_another_takes_its_place, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_whole_call_becomes_two_events, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
