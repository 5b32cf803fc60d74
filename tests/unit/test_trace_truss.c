/* SPDX-License-Identifier: MIT */
/* Tests lines in the format of FreeBSD's truss. */
#include "trace/truss.h"

#include "trace_events.h"

struct fixture {
	struct rig rig;
	struct trace_truss_config c;
	struct trace_truss sink;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	f->c = (struct trace_truss_config){.out = &f->rig.out.common,
					   .decoding = {.string_max = 32, .look = &f->rig.look}};
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

static struct rig *start(struct fixture *f)
{
	trace_truss_init(&f->sink, &f->c);
	rig_start(&f->rig, &f->sink.sink);
	return &f->rig;
}

static void truss_has_tabs_and_hex(void **state)
{
	struct rig *r = start(*state);
	enter(r, 100, SYS_close, 3, 0, 0);
	leave(r, 100, SYS_close, 3, 0, 0, 0);
	wrote(r, "close(3)\t\t\t\t\t = 0 (0x0)\n");
	enter(r, 100, SYS_write, 1, 0x1000, sizeof(text) - 1);
	leave(r, 100, SYS_write, 1, 0x1000, sizeof(text) - 1, -ENOENT);
	wrote(r, "write(1,\"a \\33[31m \\\"b\\\"\\n\",12)\t\t\t ERR#2 'No such file or directory'\n");
	give(r, (struct event){.kind = EV_SIGNAL, .tid = 100, .pid = 100, .sig.si_signo = SIGTERM});
	wrote(r, "SIGNAL 15 (SIGTERM)\n");
	give(r, (struct event){.kind = EV_DEATH, .tid = 100, .pid = 100, .status = 0, .is_process = true});
	wrote(r, "process exit, rval = 0\n");
}

static void ids_and_times_stand_before_lines(void **state)
{
	struct fixture *f = *state;
	f->c.pids = f->c.tids = f->c.clock = f->c.relative = true;
	struct rig *r = start(f);
	enter(r, 101, SYS_close, 3, 0, 0);
	leave(r, 101, SYS_close, 3, 0, 0, 0);
	wrote(r, "  100:    101: 0.000004000 0.000001000 close(3)\t\t\t\t\t = 0 (0x0)\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(truss_has_tabs_and_hex, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ids_and_times_stand_before_lines, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
