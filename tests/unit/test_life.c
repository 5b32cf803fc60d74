/* SPDX-License-Identifier: MIT */
/*
 * Tests the life cycle of a call. Each row has the steps of one thread's calls, and the ends of calls that each step
 * must report.
 */
#include "syscall/life.h"

#include "base/buf.h"
#include "syscall/call_table.h"
#include "syscall/restart.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A call instruction of two bytes, and addresses after it. */
enum { LENGTH = 2, HERE = 0x1000, THERE = 0x2000, HANDLER = 0x3000 };
/* Stack pointers of the program, of a function that it calls, and of a signal handler. */
enum { PROGRAM = 0x9000, DEEPER = 0x8800, IN_HANDLER = 0x8000 };

enum what {
	END,
	ENTER,    /* a call begins, with `ip` and `sp` */
	EXIT,     /* the call returns `result`, 100 ns after its entry */
	UNSEEN,   /* a call whose entry was not seen is interrupted with `result` after 100 ns */
	FRAME,    /* the call is rt_sigreturn, which returns to `ip` with `result` */
	MOVED_ON, /* the thread continues, and signal frames cannot be read */
	VANISH,   /* the thread ends within the call */
	GONE,     /* the thread ends between calls */
};

struct step {
	enum what what;
	const char *name;
	uint64_t ip, sp;
	int64_t result;
	const char *
		ends; /* "returned CALL RESULT NS", an error as E9, "restarted CALL NS", "unfinished CALL"; NULL: none */
};

struct row {
	const char *what;
	struct step steps[12];
};

#define READ_ENTERS      ENTER, "read", HERE, PROGRAM, 0
#define READ_INTERRUPTED EXIT, "read", HERE, PROGRAM, -ERESTARTSYS
#define HANDLER_RETURNS  ENTER, "rt_sigreturn", HANDLER, IN_HANDLER, 0

static const struct row rows[] = {
	{"a call returns, or fails",
	 {{READ_ENTERS, NULL},
	  {EXIT, "read", HERE, PROGRAM, 7, "returned read 7 100"},
	  {ENTER, "read", HERE, PROGRAM, 0, NULL},
	  {EXIT, "read", HERE, PROGRAM, -EBADF, "returned read E9 100"}}},
	{"no handler: the next entry is the restart, and the call has the times of both entries",
	 {{READ_ENTERS, NULL},
	  {READ_INTERRUPTED, NULL},
	  {READ_ENTERS, "restarted read 100"},
	  {EXIT, "read", HERE, PROGRAM, 7, "returned read 7 200"}}},
	{"the restarted call may be interrupted again",
	 {{READ_ENTERS, NULL},
	  {EXIT, "read", HERE, PROGRAM, -ERESTARTNOINTR, NULL},
	  {READ_ENTERS, "restarted read 100"},
	  {EXIT, "read", HERE, PROGRAM, -ERESTARTNOHAND, NULL},
	  {READ_ENTERS, "restarted read 200"},
	  {EXIT, "read", HERE, PROGRAM, 1, "returned read 1 300"}}},
	{"restart_syscall continues the call, which keeps its name",
	 {{ENTER, "nanosleep", HERE, PROGRAM, 0, NULL},
	  {EXIT, "nanosleep", HERE, PROGRAM, -ERESTART_RESTARTBLOCK, NULL},
	  {ENTER, "restart_syscall", HERE, PROGRAM, 0, "restarted nanosleep 100"},
	  {EXIT, "nanosleep", HERE, PROGRAM, 0, "returned nanosleep 0 200"}}},
	{"ENOIOCTLCMD lies between the restart errors and is not one",
	 {{ENTER, "ioctl", HERE, PROGRAM, 0, NULL},
	  {EXIT, "ioctl", HERE, PROGRAM, -ENOIOCTLCMD, "returned ioctl E515 100"}}},
	{"a handler with SA_RESTART: its frame returns to the call instruction, and the call is restarted",
	 {{READ_ENTERS, NULL},
	  {READ_INTERRUPTED, NULL},
	  {ENTER, "write", HANDLER, IN_HANDLER, 0, NULL},
	  {EXIT, "write", HANDLER, IN_HANDLER, 1, "returned write 1 100"},
	  {HANDLER_RETURNS, NULL},
	  {FRAME, NULL, HERE - LENGTH, 0, 0, NULL},
	  {EXIT, "rt_sigreturn", HANDLER, IN_HANDLER, 0, "returned rt_sigreturn 0 100"},
	  {READ_ENTERS, "restarted read 100"},
	  {EXIT, "read", HERE, PROGRAM, 7, "returned read 7 200"}}},
	{"a handler without SA_RESTART: its frame returns after the call, which gave EINTR",
	 {{READ_ENTERS, NULL},
	  {READ_INTERRUPTED, NULL},
	  {HANDLER_RETURNS, NULL},
	  {FRAME, NULL, HERE, 0, -EINTR, "returned read E4 100"},
	  {EXIT, "rt_sigreturn", HANDLER, IN_HANDLER, -EINTR, "returned rt_sigreturn -4 100"},
	  {READ_ENTERS, NULL},
	  {EXIT, "read", HERE, PROGRAM, 7, "returned read 7 100"}}},
	{"a handler makes the same call, which is not the restart",
	 {{READ_ENTERS, NULL},
	  {READ_INTERRUPTED, NULL},
	  {ENTER, "read", HERE, IN_HANDLER, 0, NULL},
	  {EXIT, "read", HERE, IN_HANDLER, 3, "returned read 3 100"}}},
	{"a frame that returns to another address ends no call",
	 {{READ_ENTERS, NULL},
	  {READ_INTERRUPTED, NULL},
	  {HANDLER_RETURNS, NULL},
	  {FRAME, NULL, THERE, 0, -EINTR, NULL},
	  {GONE, NULL, 0, 0, 0, "unfinished read"}}},
	{"a handler interrupts a handler: each frame ends the call that it interrupted",
	 {{READ_ENTERS, NULL},
	  {READ_INTERRUPTED, NULL},
	  {ENTER, "poll", THERE, IN_HANDLER, 0, NULL},
	  {EXIT, "poll", THERE, IN_HANDLER, -ERESTARTNOHAND, NULL},
	  {ENTER, "rt_sigreturn", HANDLER, 0x7000, 0, NULL},
	  {FRAME, NULL, THERE, 0, -EINTR, "returned poll E4 100"},
	  {EXIT, "rt_sigreturn", HANDLER, 0x7000, 0, "returned rt_sigreturn 0 100"},
	  {HANDLER_RETURNS, NULL},
	  {FRAME, NULL, HERE - LENGTH, 0, 0, NULL},
	  {EXIT, "rt_sigreturn", HANDLER, IN_HANDLER, 0, "returned rt_sigreturn 0 100"},
	  {READ_ENTERS, "restarted read 100"}}},
	{"an outer frame: calls that were interrupted in inner handlers are unfinished",
	 {{READ_ENTERS, NULL},
	  {READ_INTERRUPTED, NULL},
	  {ENTER, "poll", THERE, IN_HANDLER, 0, NULL},
	  {EXIT, "poll", THERE, IN_HANDLER, -ERESTARTNOHAND, NULL},
	  {HANDLER_RETURNS, NULL},
	  {FRAME, NULL, HERE, 0, -EINTR, "unfinished poll, returned read E4 100"}}},
	{"longjmp(3) out of a handler: the call is unfinished once the stack pointer is above its frame",
	 {{ENTER, "read", HERE, DEEPER, 0, NULL},
	  {EXIT, "read", HERE, DEEPER, -ERESTARTSYS, NULL},
	  {ENTER, "poll", THERE, PROGRAM, 0, NULL},
	  {EXIT, "poll", THERE, PROGRAM, -ERESTARTNOHAND, "unfinished read"},
	  {ENTER, "poll", THERE, PROGRAM, 0, "restarted poll 100"}}},
	{"the thread ends within a call, or between calls",
	 {{READ_ENTERS, NULL},
	  {READ_INTERRUPTED, NULL},
	  {ENTER, "exit_group", HANDLER, IN_HANDLER, 0, NULL},
	  {VANISH, "exit_group", HANDLER, IN_HANDLER, 0, "unfinished exit_group, unfinished read"},
	  {GONE, NULL, 0, 0, 0, NULL}}},
	{"a call whose entry was not seen: its restart is seen, and has the times of both entries",
	 {{UNSEEN, "read", HERE, PROGRAM, -ERESTARTSYS, NULL},
	  {HANDLER_RETURNS, NULL},
	  {FRAME, NULL, HERE - LENGTH, 0, 0, NULL},
	  {READ_ENTERS, "restarted read 100"},
	  {EXIT, "read", HERE, PROGRAM, 1, "returned read 1 200"}}},
	{"a call whose entry was not seen gave EINTR",
	 {{UNSEEN, "read", HERE, PROGRAM, -ERESTARTSYS, NULL},
	  {HANDLER_RETURNS, NULL},
	  {FRAME, NULL, HERE, 0, -EINTR, "returned read E4 100"}}},
	{"frames cannot be read: the first entry that is not the restart ends all interrupted calls",
	 {{READ_ENTERS, NULL},
	  {READ_INTERRUPTED, NULL},
	  {ENTER, "write", THERE, PROGRAM, 0, NULL},
	  {MOVED_ON, NULL, 0, 0, 0, "returned read E4 100"},
	  {EXIT, "write", THERE, PROGRAM, 1, "returned write 1 100"}}},
};

static void write_end(struct buf *out, const struct life_end *e)
{
	static const char *const names[] = {
		[CALL_RETURNED] = "returned", [CALL_RESTARTED] = "restarted", [CALL_UNFINISHED] = "unfinished"};
	buf_addf(out, "%s%s ", out->len ? ", " : "", names[e->end]);
	syscall_name(out, e->call.arch, e->call.nr);
	if (e->end == CALL_RETURNED)
		buf_addf(out, e->call.error ? " E%lld" : " %lld",
			 e->call.error ? e->call.err : (long long)e->call.result);
	if (e->end != CALL_UNFINISHED)
		buf_addf(out, " %llu", (unsigned long long)e->ns);
}

static void take(struct call_life *l, const struct step *s, struct call *c, struct life_ends *ends)
{
	const struct life_frame f = {.ip = s->ip, .result = s->result, .length = LENGTH};
	if (s->name && s->what != EXIT)
		*c = (struct call){.arch = syscall_native_arch(),
				   .nr = syscall_number(syscall_native_arch(), s->name),
				   .ip = s->ip,
				   .sp = s->sp};
	if (s->name && s->result < 0) {
		c->error = true;
		c->err = (int)-s->result;
	}
	if (s->name)
		c->result = s->result;
	ends->n = 0;
	switch (s->what) {
	case END:
		break;
	case ENTER:
		life_enter(l, c, ends);
		assert_int_equal(life_wants_frame(l, c), l->interrupted.n && strcmp(s->name, "rt_sigreturn") == 0);
		break;
	case EXIT:
		life_exit(l, c, 100, ends);
		assert_false(l->interrupted.n && l->interrupted.v[l->interrupted.n - 1].call.ip == c->ip &&
			     l->interrupted.v[l->interrupted.n - 1].begun_unseen);
		break;
	case UNSEEN:
		life_interrupt_unseen(l, c, 100, ends);
		assert_true(l->interrupted.v[l->interrupted.n - 1].begun_unseen);
		break;
	case FRAME:
		life_return_to(l, &f, ends);
		break;
	case MOVED_ON:
		life_moved_on(l, ends);
		break;
	case VANISH:
	case GONE:
		life_vanish(l, s->what == VANISH ? c : NULL, ends);
		break;
	}
}

static void every_row_gives_its_ends(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct call_life l = {0};
		struct call c = {0};
		for (size_t k = 0; k < 12 && rows[i].steps[k].what; k++) {
			const struct step *s = &rows[i].steps[k];
			struct life_ends ends;
			struct buf text = {0};
			take(&l, s, &c, &ends);
			for (size_t e = 0; e < ends.n; e++)
				write_end(&text, &ends.v[e]);
			if (strcmp(buf_str(&text), s->ends ? s->ends : "") != 0)
				fail_msg("%s, step %zu: '%s' instead of '%s'", rows[i].what, k + 1, buf_str(&text),
					 s->ends ? s->ends : "");
			buf_free(&text);
		}
		life_free(&l);
	}
}

/* Signals interrupt handlers repeatedly. The memory is bounded, and each entry has one end. */
static void depth_is_bounded(void **state)
{
	(void)state;
	struct call_life l = {0};
	struct life_ends ends;
	size_t ended = 0;
	for (uint64_t i = 0; i < 3 * LIFE_DEPTH; i++) {
		struct call c = {.arch = syscall_native_arch(), .ip = HERE, .sp = PROGRAM - i};
		life_enter(&l, &c, &ends);
		ended += ends.n;
		c.error = true;
		c.err = ERESTARTSYS;
		life_exit(&l, &c, 1, &ends);
		ended += ends.n;
		assert_in_range(l.interrupted.n, 0, LIFE_DEPTH);
	}
	life_vanish(&l, NULL, &ends);
	assert_int_equal(ended + ends.n, 3 * LIFE_DEPTH);
	life_free(&l);
}

/* The arguments and tag of the first entry apply to the whole call. */
static void a_restart_keeps_arguments_and_tag(void **state)
{
	(void)state;
	struct call_life l = {0};
	struct life_ends ends;
	char tag;
	struct call c = {.arch = syscall_native_arch(),
			 .nr = syscall_number(syscall_native_arch(), "nanosleep"),
			 .args = {1, 2}};
	life_enter(&l, &c, &ends);
	assert_false(c.restart);
	l.tag = &tag;
	c.error = true;
	c.err = ERESTART_RESTARTBLOCK;
	life_exit(&l, &c, 1, &ends);
	l.tag = NULL;
	c = (struct call){.arch = syscall_native_arch(),
			  .nr = syscall_number(syscall_native_arch(), "restart_syscall")};
	life_enter(&l, &c, &ends);
	assert_true(c.restart);
	assert_int_equal(c.args[1], 2);
	assert_ptr_equal(ends.v[0].tag, &tag);
	life_exit(&l, &c, 1, &ends);
	assert_ptr_equal(ends.v[0].tag, &tag);
	life_free(&l);
}

/* A call has waited if one of its entries has. What is known of the last entry remains with that entry. */
static void a_restart_keeps_that_the_call_waited(void **state)
{
	(void)state;
	static const struct {
		enum call_wait first, last, whole;
	} rows_of_waits[] = {{WAIT_YES, WAIT_UNKNOWN, WAIT_YES},
			     {WAIT_YES, WAIT_NO, WAIT_YES},
			     {WAIT_UNKNOWN, WAIT_NO, WAIT_NO},
			     {WAIT_UNKNOWN, WAIT_YES, WAIT_YES}};
	for (size_t i = 0; i < sizeof(rows_of_waits) / sizeof(*rows_of_waits); i++) {
		struct call_life l = {0};
		struct life_ends ends;
		for (int entry = 0; entry < 3; entry++) {
			struct call c = {.arch = syscall_native_arch(), .ip = HERE, .sp = PROGRAM};
			life_enter(&l, &c, &ends);
			assert_int_equal(c.restart, entry > 0);
			c.error = entry < 2;
			c.err = entry < 2 ? ERESTARTSYS : 0;
			c.wait = entry ? rows_of_waits[i].last : rows_of_waits[i].first;
			life_exit(&l, &c, 1, &ends);
			assert_int_equal(c.wait, entry ? rows_of_waits[i].last : rows_of_waits[i].first);
		}
		assert_int_equal(ends.v[0].call.wait, rows_of_waits[i].whole);
		struct call next = {.arch = syscall_native_arch(), .ip = HERE, .sp = PROGRAM};
		life_enter(&l, &next, &ends);
		life_exit(&l, &next, 1, &ends);
		assert_int_equal(ends.v[0].call.wait, WAIT_UNKNOWN);
		life_free(&l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_gives_its_ends),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(a_restart_keeps_arguments_and_tag),
		cmocka_unit_test(a_restart_keeps_that_the_call_waited),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
