/* SPDX-License-Identifier: MIT */
/*
 * Tests the code of the patch engine for aarch64. This program patches its own call sites with the encoder, and copies the
 * agent to its address, as the engine will do with a traced program. So it needs no ptrace(2), and runs in qemu-aarch64.
 */
#include "patch_aarch64_steps.h"

static void check_kind(const struct variant *v, const struct kind *k, unsigned flags)
{
	struct state in = before_call(k, flags), native, patched;
	bool has_slot = k->made != REFUSED || (uint64_t)k->nr < AGENT_NUMBERS;
	memset(&native, 0, sizeof(native));
	memset(&patched, 0, sizeof(patched));
	rig_run(&in, &native);
	if (has_slot)
		map_call(k->nr, k->flags);
	begin_records();
	fill_stack();
	patch(v);
	rig_run(&in, &patched);
	unpatch();
	if (memcmp(&native, &patched, sizeof(native)) != 0)
		print_error("%s, %s, flags %x\n", v->name, k->name, flags);
	assert_memory_equal(&native, &patched, sizeof(native));
	check_stack();
	if (k->made == COUNTED)
		check_slot(k, (int64_t)native.x[0]);
	else if (k->made == RECORDED)
		check_record(k, (int64_t)native.x[0]);
	else if (has_slot)
		assert_int_equal(slots[agent_row((uint64_t)k->nr)].entered +
					 sum_of_buckets(&slots[agent_row((uint64_t)k->nr)]),
				 0);
	if (has_slot)
		data->map[agent_row((uint64_t)k->nr)] = 0;
}

/* After each kind of call, all registers, the flags and the stack are as without sctrace, and counts and records are right. */
static void test_calls(void **state)
{
	struct kind kinds[KINDS + RECORDS];
	size_t n = get_kinds(kinds);
	(void)state;
	n += get_records(kinds + n);
	for (size_t i = 0; i < VARIANTS * n; i++)
		for (unsigned flags = 0; may_use(&variants[i / n]) && flags < 16; flags++)
			check_kind(&variants[i / n], &kinds[i % n], flags);
}

/* A call that the agent does not know, and all calls while BASE_APART is set, are left to the stub. */
static void test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < VARIANTS; i++) {
		if (!may_use(&variants[i]))
			continue;
		map_call(SYS_getppid, 0);
		patch(&variants[i]);
		data->base |= 1ull << BASE_APART;
		assert_int_equal(rig_call(0, SYS_getppid), getppid());
		data->base = AGENT_BASE;
		data->map[SYS_getppid] = 0;
		assert_int_equal(rig_call(0, SYS_getppid), getppid());
		unpatch();
		assert_int_equal(slots[SYS_getppid].entered, 0);
	}
}

/* A new process continues after the call, and exits without a stack. */
static void test_processes(void **state)
{
	const struct kind fork = {"clone", SYS_clone, {SIGCHLD}, SLOT_F_FORKS | SLOT_F_CHECK, REFUSED};
	const struct kind leave = {"exit", SYS_exit, {7}, 0, COUNTED};
	int status;
	(void)state;
	for (size_t i = 0; i < VARIANTS; i++) {
		struct state in = before_call(&fork, 9), out, last = before_call(&leave, 9);
		if (!may_use(&variants[i]))
			continue;
		map_call(SYS_clone, fork.flags);
		map_call(SYS_exit, 0);
		patch(&variants[i]);
		rig_run(&in, &out);
		last.sp = 0;
		if (!out.x[0])
			rig_run(&last, &out);
		unpatch();
		assert_int_equal(waitpid((pid_t)out.x[0], &status, 0), out.x[0]);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
		assert_int_equal(slots[SYS_exit].entered, 1);
		assert_int_equal(slots[SYS_clone].entered, 0);
	}
}

enum { THREADS = 4, CALLS = 5000 };

static void *make_calls(void *arg)
{
	for (int i = 0; i < CALLS; i++)
		rig_call(0, SYS_getppid);
	return arg;
}

/* No update is lost if several threads count in the same slot. */
static void test_threads(void **state)
{
	const struct agent_slot *s = &slots[SYS_getppid];
	(void)state;
	for (size_t i = 0; i < VARIANTS; i++) {
		pthread_t threads[THREADS];
		if (!may_use(&variants[i]))
			continue;
		map_call(SYS_getppid, SLOT_F_BYTES);
		patch(&variants[i]);
		for (int t = 0; t < THREADS; t++)
			assert_int_equal(pthread_create(&threads[t], NULL, make_calls, NULL), 0);
		for (int t = 0; t < THREADS; t++)
			assert_int_equal(pthread_join(threads[t], NULL), 0);
		unpatch();
		assert_int_equal(s->entered, THREADS * CALLS);
		assert_int_equal(s->unarmed, THREADS * CALLS);
		assert_int_equal(s->bytes, (uint64_t)getppid() * THREADS * CALLS);
		assert_int_equal(sum_of_buckets(s), THREADS * CALLS);
		assert_true(~s->min_not <= s->ticks / (THREADS * CALLS) && s->max >= s->ticks / (THREADS * CALLS));
	}
}

/* If a bucket is half full, the agent makes no more calls with this number until the tracer has emptied it. */
static void test_half_full(void **state)
{
	(void)state;
	for (size_t i = 0; i < VARIANTS; i++) {
		if (!may_use(&variants[i]))
			continue;
		map_call(SYS_getppid, 0);
		for (size_t b = 0; b < SLOT_BUCKETS; b++)
			slots[SYS_getppid].hist[b] = 1u << 31;
		patch(&variants[i]);
		assert_int_equal(rig_call(0, SYS_getppid), getppid());
		assert_int_equal(rig_call(0, SYS_getppid), getppid());
		unpatch();
		assert_int_equal(slots[SYS_getppid].entered, 1);
		assert_int_equal(data->map[SYS_getppid], 0);
	}
}

/* The first error of a call is counted in its slot. Each other one has a row, and when half of the rows are in use, the tracer sees the next call. */
static void test_errors(void **state)
{
	const uint64_t key = (uint64_t)SYS_fchdir << ERRNO_BITS | EBADF, half = ERRNOS_SIZE / sizeof(*errnos) / 2;
	(void)state;
	for (size_t i = 0; i < VARIANTS; i++) {
		if (!may_use(&variants[i]))
			continue;
		map_call(SYS_fchdir, 0);
		map_call(SYS_close, 0);
		patch(&variants[i]);
		for (int n = 0; n < 3; n++) {
			rig_call((uint64_t)zero, SYS_fchdir);
			rig_call((uint64_t)-1, SYS_fchdir);
			rig_call((uint64_t)-1, SYS_close);
		}
		assert_int_equal(slots[SYS_close].failed, -EBADF);
		assert_int_equal(slots[SYS_fchdir].failed, -ENOTDIR);
		assert_true(slots[SYS_close].fails == 3 && slots[SYS_fchdir].fails == 3);
		assert_true(slots[SYS_close].errors == 0 && slots[SYS_fchdir].errors == 3);
		assert_int_equal(errnos[0].key, key);
		assert_true(errnos[0].count == 3 && !errnos[1].key);
		for (size_t k = 0; k < half; k++)
			errnos[k].key = 1;
		assert_int_equal(rig_call((uint64_t)-1, SYS_fchdir), -EBADF);
		assert_int_equal(errnos[half].key, key);
		assert_int_equal(errnos[half].count, 1);
		assert_int_equal(data->map[SYS_fchdir], 0);
		unpatch();
		data->map[SYS_close] = 0;
	}
}

static uint64_t instructions_most(const struct kind *k, const struct state *native, int64_t failed)
{
	const bool fails = native->x[0] >= (uint64_t)-4095, again = failed == (int64_t)native->x[0];
	const uint64_t row = failed && !again ? ANOTHER_MOST - FAILED_MOST : 0;
	if (k->made == RECORDED)
		return fails ? UINT64_MAX : arms.has_area ? JUDGED_MOST : RECORDED_MOST;
	if ((uint64_t)k->nr >= AGENT_NUMBERS)
		return OTHER_MOST + row;
	if (k->flags & SLOT_F_CHECK)
		return CHECKED_MOST + row;
	if (arms.has_area)
		return arms.waits == DID_NOT_WAIT && !arms.later ? ARMED_MOST : WAITED_MOST;
	return !fails ? COUNTED_MOST : !failed ? FIRST_MOST : FAILED_MOST + row;
}

/*
 * Counts the instructions of sctrace that a call executes, and checks the state after single steps as well. `failed` is how
 * an earlier call with this number has failed, or 0.
 */
static void step_kind(const struct variant *v, const struct kind *k, const struct state *native, int64_t failed)
{
	struct state in = before_call(k, 5), patched;
	memset(&patched, 0, sizeof(patched));
	map_call(k->nr, k->flags);
	slots[agent_row((uint64_t)k->nr)].failed = (uint64_t)failed;
	begin_records();
	fill_stack();
	patch(v);
	begin_steps(0, NULL, k->made == RECORDED);
	rig_run(&in, &patched);
	uint64_t ours = end_steps(); /* with the branch at the site, and without the program's own svc */
	unpatch();
	data->map[agent_row((uint64_t)k->nr)] = 0;
	assert_memory_equal(native, &patched, sizeof(patched));
	check_stack();
	print_message("# %s, %s%s: %lu instructions\n", v->name, k->name,
		      !failed                           ? ""
		      : failed == (int64_t)native->x[0] ? ", again"
							: ", otherwise",
		      (unsigned long)ours);
	if (v->needs)
		assert_true(ours <= instructions_most(k, native, failed));
}

static void step_kinds(const struct variant *v, const struct kind *k)
{
	struct state in = before_call(k, 5), native;
	memset(&native, 0, sizeof(native));
	rig_run(&in, &native);
	step_kind(v, k, &native, 0);
	if (k->made == COUNTED && native.x[0] >= (uint64_t)-4095) {
		step_kind(v, k, &native, (int64_t)native.x[0]);
		step_kind(v, k, &native, -4095);
	}
}

/* Leaves the agent at this stop, which is one at the instruction `only`, if that is not NULL. Returns false if the call is over before. */
static bool leave_kind(const struct variant *v, const struct kind *k, const struct state *native, uint64_t stop,
		       uint32_t *only, int64_t failed)
{
	const bool has_slot = k->made != REFUSED || (uint64_t)k->nr < AGENT_NUMBERS;
	struct state in = before_call(k, 5), patched;
	memset(&patched, 0, sizeof(patched));
	if (has_slot)
		map_call(k->nr, k->flags);
	if (has_slot)
		slots[agent_row((uint64_t)k->nr)].failed = (uint64_t)failed;
	begin_records();
	left.made = false;
	fill_stack();
	patch(v);
	begin_steps(stop, only, k->made == RECORDED);
	rig_run(&in, &patched);
	end_steps();
	unpatch();
	if (has_slot)
		data->map[agent_row((uint64_t)k->nr)] = 0;
	if (memcmp(native, &patched, sizeof(patched)) != 0)
		print_error("%s, %s, stop %lu at %p\n", v->name, k->name, (unsigned long)stop, (void *)only);
	assert_memory_equal(native, &patched, sizeof(patched));
	check_stack();
	if (k->made == COUNTED)
		check_slot(k, (int64_t)native->x[0]);
	if (k->made == RECORDED && left.made && !ring->produced) /* sctrace completes the record */
		assert_int_equal(left.result, native->x[0]);
	else if (k->made == RECORDED)
		check_record(k, (int64_t)native->x[0]);
	return stepper.stops >= stop;
}

/* Leaves the agent or the recorder at each instruction that a recorded call executes. */
static void leave_each(const struct variant *v, const struct kind *k, const struct state *native)
{
	leave_kind(v, k, native, 0, NULL, 0);
	const uint64_t n = stepper.stops;
	assert_true(n > 150);
	arms.left = true;
	for (uint64_t i = 0; i < n; i++)
		assert_true(leave_kind(v, k, native, 1, stepper.path[i], 0));
	arms.left = false;
}

/* Leaves the agent at each instruction that a counted call executes, after one that has failed, if `failed` is not 0. */
static void leave_all(const struct variant *v, const struct kind *k, const struct state *native, int64_t failed)
{
	uint64_t stop = 1;
	arms.left = true;
	while (leave_kind(v, k, native, stop, NULL, failed))
		stop++;
	arms.left = false;
	assert_true(stop > 10);
}

/* If a signal comes at any instruction of the agent or of the stub, all is as if the program had made the call itself. */
static void test_signals(void **state)
{
	struct kind kinds[KINDS + RECORDS];
	size_t n = get_kinds(kinds);
	(void)state;
	n += get_records(kinds + n);
	for (size_t i = 0; i < VARIANTS * n; i++) {
		const struct kind *k = &kinds[i % n];
		struct state in = before_call(k, 5), native;
		if (!may_use(&variants[i / n]))
			continue;
		memset(&native, 0, sizeof(native));
		rig_run(&in, &native);
		if (k->made == RECORDED) {
			leave_each(&variants[i / n], k, &native);
			continue;
		}
		leave_all(&variants[i / n], k, &native, 0);
		if (k->made == COUNTED && native.x[0] >= (uint64_t)-4095) {
			leave_all(&variants[i / n], k, &native, (int64_t)native.x[0]);
			leave_all(&variants[i / n], k, &native, -4095);
		}
	}
}

static unsigned knocks;
static void on_knock(int sig, siginfo_t *info, void *context)
{
	(void)context;
	knocks += sig == KNOCK_SIGNAL && info->si_code == SI_QUEUE && info->si_value.sival_ptr == (void *)KNOCK_VALUE;
}

/*
 * In attached processes, the agent calls for sctrace before a call that it does not make, by one signal, even if the program blocks
 * it. All else is as if the program had made the call itself, also if sctrace no longer lives, and if a signal comes meanwhile.
 */
static void test_knocks(void **state)
{
	struct kind kinds[KINDS + RECORDS];
	size_t n = get_kinds(kinds);
	struct sigaction action = {.sa_sigaction = on_knock, .sa_flags = SA_SIGINFO | SA_ONSTACK}, old;
	sigset_t blocked, before;
	(void)state;
	sigemptyset(&blocked);
	sigaddset(&blocked, KNOCK_SIGNAL);
	/* sctrace must see new code. */
	kinds[n++] = (struct kind){"mmap of code", SYS_mmap, {0, 0, 5}, SLOT_F_CHECK, REFUSED};
	kinds[n++] = (struct kind){"mprotect to code", SYS_mprotect, {7, 1, 5}, SLOT_F_CHECK, REFUSED};
	((struct agent_tail *)TAIL_SELECTOR)->selector = 1;
	for (size_t i = 0; i < VARIANTS * n; i++) {
		const struct kind *k = &kinds[i % n];
		struct state in = before_call(k, 5), native;
		if (!may_use(&variants[i / n]) || k->made != REFUSED)
			continue;
		memset(&native, 0, sizeof(native));
		rig_run(&in, &native);
		leave_all(&variants[i / n], k, &native, 0);
		sigaction(KNOCK_SIGNAL, &action, &old);
		for (unsigned twice = 0; twice < 2; twice++) {
			sigprocmask(twice ? SIG_BLOCK : SIG_UNBLOCK, &blocked, &before);
			knocks = 0;
			check_kind(&variants[i / n], k, 3);
			assert_int_equal(knocks, 1);
			sigprocmask(SIG_UNBLOCK, &blocked, &before);
			assert_int_equal(sigismember(&before, KNOCK_SIGNAL), twice);
			assert_int_equal(knocks, 1);
		}
		sigaction(KNOCK_SIGNAL, &old, NULL);
	}
	((struct agent_tail *)TAIL_SELECTOR)->selector = 0;
}

/* It is found out whether calls wait, if the thread has an area, and an area of which it is not known is not changed. */
static void test_waits(void **state)
{
	static const struct {
		struct kind kind;
		struct arms arms;
	} rows[] = {
		{{"getppid, armed", SYS_getppid, {1, 2, 3, 4, 5, 6}, 0, COUNTED}, {true, true, 0, DID_NOT_WAIT}},
		{{"mmap, armed", SYS_mmap, {0, 0}, SLOT_F_CHECK, COUNTED}, {true, true, 0, DID_NOT_WAIT}},
		{{"a later row", SYS_getppid, {1, 2}, 0, COUNTED}, {true, true, 0, DID_NOT_WAIT, .later = true}},
		{{"foreign", SYS_getppid, {1, 2}, 0, COUNTED}, {true, true, 0x4000, DID_NOT_WAIT}},
		{{"unknown area", SYS_getppid, {1, 2}, 0, COUNTED}, {true, false, 0, UNKNOWN}},
		{{"read, waited", SYS_read, {0, 0, 8}, SLOT_F_BYTES, COUNTED}, {true, true, 0, WAITED}},
		{{"foreign, waited", SYS_read, {0, 0, 8}, SLOT_F_BYTES, COUNTED}, {true, true, 64, WAITED}},
		{{"getppid, recorded", SYS_getppid, {1, 2}, SLOT_F_RECORD, RECORDED}, {true, true, 0, DID_NOT_WAIT}},
		{{"later, recorded", SYS_getppid, {1}, SLOT_F_RECORD, RECORDED},
		 {true, true, 0, DID_NOT_WAIT, .later = true}},
		{{"foreign, recorded", SYS_getppid, {1}, SLOT_F_RECORD, RECORDED}, {true, true, 0x4000, DID_NOT_WAIT}},
		{{"unknown, recorded", SYS_getppid, {1, 2}, SLOT_F_RECORD, RECORDED}, {true, false, 0, UNKNOWN}},
		{{"waited, recorded", SYS_read, {0, 0, 8}, SLOT_F_RECORD, RECORDED}, {true, true, 0, WAITED}},
	};
	struct agent_recipe *recipes = (struct agent_recipe *)RECIPES_AT;
	(void)state;
	for (size_t i = 0; i < VARIANTS * sizeof(rows) / sizeof(rows[0]); i++) {
		struct kind k = rows[i / VARIANTS].kind;
		const struct variant *v = &variants[i % VARIANTS];
		if (!may_use(v))
			continue;
		if (k.nr == SYS_read) {
			k.args[0] = FD(zero);
			k.args[1] = AT(&area.cs);
		}
		arms = rows[i / VARIANTS].arms;
		recipes[k.nr].waits = k.made == RECORDED;
		check_kind(v, &k, 5);
		struct state in = before_call(&k, 5), native;
		memset(&native, 0, sizeof(native));
		rig_run(&in, &native);
		step_kind(v, &k, &native, 0);
		if (k.made == RECORDED)
			leave_each(v, &k, &native);
		else
			leave_all(v, &k, &native, 0);
		recipes[k.nr].waits = 0;
	}
	arms = (struct arms){.has_area = false};
}

/* Leaves the agent at `label` + `offset`, with x14 and the time of the call in x16. */
static struct resume_todo leave_at(const unsigned char *label, uint64_t offset, uint64_t x14, uint64_t time)
{
	const uint64_t frame[FRAME_SIZE / 8] = {0};
	struct resume_regs r = {.sp = AT(stack), .pc = AGENT_AT(label) + offset};
	struct resume_todo todo;
	r.x[10] = r.x[11] = AGENT_STATS;
	r.x[12] = 1;
	r.x[14] = x14;
	r.x[16] = time;
	assert_true(resume_leave(&r, 0, AT(rig_site), frame, 0, &todo));
	return todo;
}

/* States that a call does not reach at will: a store that failed, a call of many minutes, exit(2). */
static void test_rare_states(void **state)
{
	const struct agent_labels *l = &agent_labels[1];
	struct resume_todo todo;
	(void)state;
	assert_true(leave_at(l->add_ticks, 4, 1, 5).ticks);
	assert_false(leave_at(l->add_ticks, 4, 0, 5).ticks);
	assert_true(leave_at(l->add_ticks, 4, 0, 5).unarmed);
	for (size_t i = 0; i < AGENT_VARIANTS; i++) {
		l = &agent_labels[i];
		todo = leave_at(l->too_long, 0, 0, 1ull << 50);
		assert_true(todo.hist && todo.bucket == SLOT_BUCKETS - 1 && todo.min_not && !todo.errors && !todo.max);
		assert_int_equal(todo.time, 1ull << 50);
		todo = leave_at(l->add_long, 0, 0, ~(1ull << 50));
		assert_true(todo.hist && todo.min_not && todo.time == 1ull << 50);
		todo = leave_at(l->longest, 0, 0, 0);
		assert_true(todo.hist && todo.bucket == SLOT_BUCKETS - 1 && !todo.min_not);
		todo = leave_at(l->half, 0, 0, 5);
		assert_false(todo.hist || todo.min_not || todo.errors || todo.bytes);
		assert_false(leave_at(l->exit, 4, 0, 5).uncount);
		assert_true(leave_at(l->exit_counts, 8, 0, 5).uncount);
		todo = leave_at(l->refuse, 0, 0, 5);
		assert_false(todo.slot);
	}
}

static void test_instructions(void **state)
{
	struct kind kinds[KINDS + RECORDS];
	size_t n = get_kinds(kinds);
	(void)state;
	n += get_records(kinds + n);
	for (size_t i = 0; i < VARIANTS * n; i++)
		if (may_use(&variants[i / n]) && (kinds[i % n].made == COUNTED || kinds[i % n].made == RECORDED))
			step_kinds(&variants[i / n], &kinds[i % n]);
}

/* The encoder reaches 128 MiB, and says so if an address is farther away. */
static void test_reach(void **state)
{
	const uint64_t at = 0x100000000, reach = 1 << 27;
	unsigned char code[STUB_SIZE];
	uint32_t jump;
	(void)state;
	assert_true(encode_branch(&jump, at, at + 8));
	assert_int_equal(jump, 0x14000002);
	assert_true(encode_branch(&jump, at, at - 4));
	assert_int_equal(jump, 0x17ffffff);
	assert_true(encode_branch(&jump, at, at + reach - 4));
	assert_true(encode_branch(&jump, at, at - reach));
	assert_false(encode_branch(&jump, at, at + reach));
	assert_false(encode_branch(&jump, at, at - reach - 4));
	assert_false(encode_branch(&jump, at, at + 2));
	assert_true(encode_stub(code, at, at - STUB_AREA + STUB_SIZE, at + reach, NULL, 0, false));
	assert_false(encode_stub(code, at, at - STUB_AREA + STUB_SIZE, at + STUB_AFTER_CALL + reach, NULL, 0, false));
	assert_false(encode_stub(code, at, at + (1 << 21), at, NULL, 0, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reach),   cmocka_unit_test(test_calls),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_processes),
		cmocka_unit_test(test_threads), cmocka_unit_test(test_half_full),
		cmocka_unit_test(test_errors),  cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_signals), cmocka_unit_test(test_rare_states),
		cmocka_unit_test(test_waits),   cmocka_unit_test(test_knocks),
	};
	if (!has_address(AGENT_CODE)) {
		printf("1..0 # SKIP this kernel gives programs too few addresses for the agent "
		       "(CONFIG_ARM64_VA_BITS)\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, set_up, NULL);
}
