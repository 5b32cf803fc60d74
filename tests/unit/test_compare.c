/* What compare says of given samples: figures, sentences, warnings, commands. No program is run. */
#include "compare/compare.h"

#include "base/buf.h"
#include "base/size.h"
#include "base/words.h"
#include "cli/opt.h"
#include "cmd/cmd.h"
#include "cmd/put.h"
#include "out/table.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RUNS 12

/* A row of `strategy` whose runs take `ms` each, a per mille apart, `user` of them in the program. */
static void add(struct compare *c, const char *strategy, uint64_t buffer, double ms, double user, double rss)
{
	struct subject *s = calloc(1, sizeof(*s));
	s->name = strdup(strategy);
	s->strategy = strategy_find(strategy);
	s->buffer = buffer;
	for (int i = 0; i < RUNS; i++) {
		double ns = ms * 1e6 * (1 + 0.001 * i);
		struct sample x = {.wall_ns = (uint64_t)ns,
				   .user_ns = (uint64_t)(ns * user),
				   .system_ns = (uint64_t)(ns * (1 - user)),
				   .peak_rss_bytes = (uint64_t)rss,
				   .processes = 1};
		assert_true(vec_push(&s->samples, x));
	}
	assert_true(vec_push(&c->subjects, s));
}

static struct subject *last(struct compare *c)
{
	return c->subjects.v[c->subjects.n - 1];
}

/* Counts for the last row: calls in all, of the whole input. */
static void count(struct compare *c, uint64_t calls)
{
	last(c)->counted = true;
	last(c)->counted_bytes = c->work.size;
	last(c)->calls = calls;
}

static void start(struct compare *c)
{
	*c = (struct compare){.opt = {.seed = 1, .min_runs = 5}, .work = {.size = 1 << 20}, .resident = -1};
	c->env = json_object();
}

static void end(struct compare *c)
{
	for (size_t i = 0; i < c->subjects.n; i++)
		compare_subject_free(c->subjects.v[i]);
	vec_free(&c->subjects);
	json_decref(c->env);
}

static void has(const struct buf *b, const char *text)
{
	if (!strstr(buf_str(b), text))
		fail_msg("'%s' is not in: %s", text, buf_str(b));
}

static void lacks(const struct buf *b, const char *text)
{
	if (strstr(buf_str(b), text))
		fail_msg("'%s' is in: %s", text, buf_str(b));
}

/* The lesson's three programs, with a scan. */
static void lesson(struct compare *c)
{
	start(c);
	add(c, "fgetc/fputc", 0, 20, 0.9, 1.3e6);
	count(c, 552);
	add(c, "read/write", 1, 700, 0.1, 1.3e6);
	count(c, 2097190);
	add(c, "read/write", 4096, 2, 0.2, 1.3e6);
	count(c, 550);
	add(c, "read/write", 65536, 1.95, 0.2, 1.4e6);
	count(c, 70);
	add(c, "one-shot", 0, 3, 0.2, 2.4e6);
	count(c, 42);
	assert_int_equal(compare_evaluate(c), 0);
	/* compare_evaluate() adds up the calls of a summary, which is empty here. */
}

static void the_knee_is_the_least_buffer_that_none_beats(void **state)
{
	(void)state;
	struct compare c;
	lesson(&c);
	assert_ptr_equal(compare_knee(&c, "read/write"), c.subjects.v[2]);
	assert_null(compare_knee(&c, "sendfile"));
	assert_ptr_equal(compare_fastest(&c), c.subjects.v[3]);
	assert_true(fabs(compare_slowdown(&c, c.subjects.v[1]) - 700 / 1.95) < 0.01);
	end(&c);
}

static void sentences_come_from_the_rows(void **state)
{
	(void)state;
	struct compare c;
	struct buf out = {0};
	lesson(&c);
	compare_lessons(&c, &out);
	has(&out, "read/write with 1 B at a time makes 2,097,190 calls");
	has(&out, "90 % of its CPU time in the kernel");
	has(&out, "with 4 KiB it makes 550 calls");
	has(&out, "350 times less");
	has(&out, "From a buffer of 4 KiB on, no larger one is seen to gain 10 %");
	has(&out, "fgetc/fputc handles single bytes too, but makes 552 calls only, like read/write with 4 KiB");
	has(&out, "90 % of its CPU time is spent outside the kernel");
	has(&out, "1.5 times slower all the same");
	buf_free(&out);
	end(&c);
}

/* What chance may have made is not told as a finding. */
static void no_difference_is_no_sentence(void **state)
{
	(void)state;
	struct compare c;
	struct buf out = {0};
	start(&c);
	add(&c, "sendfile", 0, 10, 0.1, 1e6);
	add(&c, "splice", 0, 10.001, 0.1, 1e6);
	assert_int_equal(compare_evaluate(&c), 0);
	assert_int_equal(compare_relate(&c), 0);
	assert_true(c.subjects.v[1]->same_as_reference);
	compare_lessons(&c, &out);
	has(&out, "No difference in time is seen between sendfile and splice");
	buf_clear(&out);
	c.opt.reference = "sendfile";
	compare_show(&c, &out, NULL);
	has(&out, "no difference seen");
	buf_free(&out);
	end(&c);
}

static void memory_is_not_said_to_grow_where_it_does_not(void **state)
{
	(void)state;
	struct compare c;
	struct buf out = {0};
	start(&c);
	add(&c, "read/write", 4096, 2, 0.2, 1.4e6);
	add(&c, "one-shot", 0, 3, 0.2, 1.41e6);
	assert_int_equal(compare_evaluate(&c), 0);
	compare_lessons(&c, &out);
	has(&out, "too small for that to show");
	lacks(&out, "slower");
	buf_free(&out);
	end(&c);
}

static void a_row_that_cannot_run_is_no_figure(void **state)
{
	(void)state;
	struct compare c;
	struct buf out = {0};
	lesson(&c);
	add(&c, "O_DIRECT", 4096, 1, 0.2, 1e6);
	vec_free(&last(&c)->samples);
	last(&c)->unable = strdup("Invalid argument");
	assert_int_equal(compare_evaluate(&c), 0);
	assert_int_equal(compare_relate(&c), 0);
	compare_warn_find(&c);
	assert_int_equal(compare_show(&c, &out, NULL), 0);
	compare_notes(&c, &out);
	has(&out, "O_DIRECT 4K cannot run here: Invalid argument");
	lacks(&out, "nan");
	assert_ptr_equal(compare_fastest(&c), c.subjects.v[3]);
	buf_free(&out);
	end(&c);
}

static bool warned(const struct compare *c, enum warning w)
{
	return c->warned & 1u << w;
}

static void warnings_have_their_reasons(void **state)
{
	(void)state;
	struct compare c;
	struct buf out = {0};
	lesson(&c);
	compare_warn_find(&c);
	assert_true(warned(&c, WARN_SHORT));
	assert_false(warned(&c, WARN_SPREAD) || warned(&c, WARN_NOISY) || warned(&c, WARN_OUTLIERS));
	assert_false(warned(&c, WARN_MEMORY_FS) || warned(&c, WARN_NO_RSS) || warned(&c, WARN_NOT_COLD));
	c.other_share = 0.5;
	c.steal_share = 0.5;
	c.fs = (struct env_fs){.in_memory = true, .compresses = true, .shares_extents = true};
	c.opt.cold = true;
	c.resident = 0.25;
	c.subjects.v[0]->samples.v[0].wall_ns *= 9;
	c.subjects.v[1]->has_first = true;
	c.subjects.v[1]->first.wall_ns = 2000000000;
	c.subjects.v[3]->buffer = 4 << 20;
	json_object_set_new(c.env, "cpu", json_pack("{s:s}", "governor", "powersave"));
	json_object_set_new(c.env, "kernel", json_pack("{s:[s]}", "debug_options", "CONFIG_KASAN"));
	assert_int_equal(compare_evaluate(&c), 0);
	compare_warn_find(&c);
	static const enum warning expected[] = {WARN_NOISY,    WARN_STEAL,     WARN_MEMORY_FS,  WARN_COMPRESSES,
						WARN_SHARED,   WARN_GOVERNOR,  WARN_NOT_COLD,   WARN_DEBUG_KERNEL,
						WARN_OUTLIERS, WARN_FIRST_RUN, WARN_SMALL_INPUT};
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
		if (!warned(&c, expected[i]))
			fail_msg("warning %d is missing", expected[i]);
	compare_warn_say(&c, "! ", &out);
	has(&out, "(fgetc/fputc: 1 of 12)");
	has(&out, "read/write 1: 2.00 s and then ");
	lacks(&out, "this machine was busy when it began");
	json_t *names = compare_warn_json(&c);
	assert_true(json_array_size(names) >= 11);
	json_decref(names);
	/* Without a warm-up the first timed run is looked at, against the others. */
	c.subjects.v[1]->has_first = false;
	assert_false(compare_first_differs(c.subjects.v[1]));
	c.subjects.v[1]->samples.v[0].wall_ns = 3000000000;
	assert_true(compare_first_differs(c.subjects.v[1]));
	assert_true(compare_first_s(c.subjects.v[1]) == 3);
	/* Many rows are not all named; a run too short to tell what else ran goes by the load before it. */
	for (size_t i = 0; i < c.subjects.n; i++)
		c.subjects.v[i]->samples.v[1].wall_ns *= 9;
	c.other_share = -1;
	json_object_set_new(c.env, "load", json_pack("{s:f}", "1min", 3.5));
	json_object_set_new(c.env, "cpu", json_pack("{s:i}", "online", 2));
	assert_int_equal(compare_evaluate(&c), 0);
	c.warned = 0;
	compare_warn_find(&c);
	assert_true(warned(&c, WARN_LOAD) && !warned(&c, WARN_NOISY));
	buf_clear(&out);
	compare_warn_say(&c, "! ", &out);
	has(&out, "this machine was busy when it began (load average 3.50)");
	has(&out, " and 1 more)");
	buf_free(&out);
	end(&c);
}

static void a_saved_run_has_every_sample(void **state)
{
	(void)state;
	struct compare c;
	lesson(&c);
	c.argv = (char *[]){"compare"};
	c.argc = 1;
	assert_int_equal(compare_relate(&c), 0);
	json_t *doc = compare_document(&c);
	assert_non_null(doc);
	const json_t *results = json_object_get(doc, "results");
	assert_int_equal(json_array_size(results), 5);
	const json_t *row = json_array_get(results, 2);
	assert_string_equal(json_string_value(json_object_get(row, "name")), "read/write 4K");
	assert_int_equal(json_array_size(json_object_get(row, "samples_s")), RUNS);
	assert_true(json_real_value(json_array_get(json_object_get(row, "samples_s"), 0)) == 0.002);
	assert_int_equal(json_integer_value(json_object_get(row, "peak_rss_bytes")), 1300000);
	json_decref(doc);
	end(&c);
}

static void words_are_split_as_a_shell_does(void **state)
{
	(void)state;
	struct buf why = {0};
	char **v = compare_split(" a  'b c'\"d \\\" e\"f \\ g '' ", &why);
	assert_non_null(v);
	assert_string_equal(v[0], "a");
	assert_string_equal(v[1], "b cd \" ef");
	assert_string_equal(v[2], " g");
	assert_string_equal(v[3], "");
	assert_null(v[4]);
	words_free(v);
	assert_null(compare_split("a 'b", &why));
	has(&why, "has no end");
	buf_free(&why);
}

static void placeholders_are_filled_and_quoted(void **state)
{
	(void)state;
	struct compare c;
	struct buf why = {0};
	start(&c);
	c.work.out = (char[]){"/tmp/it's"};
	struct parameters n = {.v = &(struct parameter){(char[]){"n"}, (char[]){"7"}}, .n = 1};
	char **v = compare_command_argv(&c, "dd if={in} of={out} bs={buffer} {n} {other} {", 4096, &n, "/a b", &why);
	assert_string_equal(v[0], "sh");
	assert_string_equal(v[2], "dd if='/a b' of='/tmp/it'\\''s' bs=4096 7 {other} {");
	words_free(v);
	c.opt.no_shell = true;
	v = compare_command_argv(&c, "cat {in} x{out}", 0, NULL, "/a b", &why);
	assert_string_equal(v[1], "/a b");
	assert_string_equal(v[2], "x/tmp/it's");
	assert_null(v[3]);
	words_free(v);
	assert_null(compare_command_argv(&c, "", 0, NULL, "in", &why));
	buf_free(&why);
	end(&c);
}

static void parameters_are_combined(void **state)
{
	(void)state;
	struct compare_scan given[] = {{"n", true}, {"w=a,b", false}};
	struct compare_options o = {.scans = {.v = given, .n = 2}, .step = "0.5"};
	char *const words[] = {(char[]){"1000000"}, (char[]){"1000001"}, (char[]){"make {n}"}};
	struct combinations all = {0};
	struct buf why = {0};
	size_t taken;
	assert_int_equal(compare_combine(&o, words, 3, &taken, &all, &why), 0);
	assert_int_equal(taken, 2);
	assert_int_equal(all.n, 6);
	assert_string_equal(all.v[3].v[0].value, "1000000.5");
	assert_string_equal(all.v[3].v[1].name, "w");
	assert_string_equal(all.v[3].v[1].value, "b");
	assert_string_equal(all.v[5].v[0].value, "1000001");
	compare_combinations_free(&all);
	assert_int_equal(compare_combine(&o, words, 1, &taken, &all, &why), -EINVAL);
	has(&why, "'n' has no parameter");
	compare_combinations_free(&all);
	buf_free(&why);
}

/* A command's buffers are a scan, too; what noise hides is not called absent. */
static void commands_are_scanned(void **state)
{
	(void)state;
	struct compare c;
	struct buf out = {0};
	start(&c);
	for (uint64_t buffer = 1024; buffer <= 65536; buffer *= 8)
		add(&c, "dd bs={buffer}", buffer, 20.0 - (double)buffer / 8192, 0.5, 2e6);
	for (size_t k = 0; k < c.subjects.n; k++)
		for (size_t i = 0; i < RUNS; i += 2)
			c.subjects.v[k]->samples.v[i].wall_ns *= 3;
	assert_int_equal(compare_evaluate(&c), 0);
	assert_string_equal(compare_scanned(&c), "dd bs={buffer}");
	compare_lessons(&c, &out);
	has(&out,
	    "dd bs={buffer}: From a buffer of 1 KiB on, no larger one is seen to gain 10 % (some do by their medians");
	buf_clear(&out);
	assert_int_equal(compare_draw_scan(&c, 0, &out), 0);
	has(&out, "stops paying: 1K");
	lacks(&out, "system calls");
	buf_free(&out);
	end(&c);
}

/* One run of each: no claim, no interval. */
static void one_run_proves_nothing(void **state)
{
	(void)state;
	struct compare c;
	struct buf out = {0};
	lesson(&c);
	for (size_t i = 0; i < c.subjects.n; i++)
		c.subjects.v[i]->samples.n = 1;
	assert_int_equal(compare_evaluate(&c), 0);
	assert_int_equal(compare_relate(&c), 0);
	assert_false(compare_slower(&c, c.subjects.v[1], c.subjects.v[2]));
	assert_true(isnan(c.subjects.v[1]->relative_ci.low));
	assert_ptr_equal(compare_knee(&c, "read/write"), c.subjects.v[2]);
	compare_lessons(&c, &out);
	assert_string_equal(buf_str(&out), "One run of each cannot tell a difference from chance: give more --runs.\n");
	buf_free(&out);
	end(&c);
}

static void what_is_left_is_estimated(void **state)
{
	(void)state;
	struct compare c;
	start(&c);
	add(&c, "sendfile", 0, 100, 0.1, 1e6);
	c.subjects.v[0]->samples.n = 2;
	c.opt.runs = c.opt.min_runs = 5;
	double left = compare_left_s(&c, 0.2);
	assert_true(left > 0.29 && left < 0.31);
	/* As much again goes into what is not the program's. */
	left = compare_left_s(&c, 0.4);
	assert_true(left > 0.58 && left < 0.62);
	c.opt.runs = 0;
	c.opt.max_time = 10000000000u;
	left = compare_left_s(&c, 0.2);
	assert_true(left > 10.29 && left < 10.31);
	c.opt.min_time = 1000000000u;
	left = compare_left_s(&c, 0.2);
	assert_true(left > 0.79 && left < 0.81);
	end(&c);
}

/* Completion and help know each strategy. */
static void options_name_every_strategy(void **state)
{
	(void)state;
	const struct opt *o = compare_command.table;
	while (o->letter || o->name || o->help) {
		if (o->name && strcmp(o->name, "strategy") == 0)
			break;
		o++;
	}
	struct buf names = {0};
	size_t n;
	const struct strategy *all = strategy_all(&n);
	for (size_t i = 0; i < n; i++)
		buf_addf(&names, "%s%s", i ? " " : "", all[i].name);
	assert_string_equal(o->words, buf_str(&names));
	buf_free(&names);
}

static void prose_is_wrapped(void **state)
{
	(void)state;
	struct buf out = {0};
	put_lines(&out, "", "one two three four five\nsix\n\na-very-very-very-long-word x\n", 21);
	assert_string_equal(buf_str(&out), "one two three four\nfive\nsix\n\na-very-very-very-long-word\nx\n");
	buf_clear(&out);
	count_human(&out, 20971550);
	count_human(&out, 999);
	count_human(&out, 1000);
	assert_string_equal(buf_str(&out), "20,971,5509991,000");
	buf_clear(&out);
	factor_human(&out, 1.6);
	buf_addc(&out, ' ');
	factor_human(&out, 17);
	buf_addc(&out, ' ');
	factor_human(&out, 1466.4);
	assert_string_equal(buf_str(&out), "1.60 17.0 1466");
	buf_clear(&out);
	factor_interval(&out, 5.126, 12);
	buf_addc(&out, ' ');
	factor_interval(&out, 5.126, INFINITY);
	assert_string_equal(buf_str(&out), "5.13 to 12.0 above 5.13");
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_knee_is_the_least_buffer_that_none_beats),
		cmocka_unit_test(sentences_come_from_the_rows),
		cmocka_unit_test(no_difference_is_no_sentence),
		cmocka_unit_test(memory_is_not_said_to_grow_where_it_does_not),
		cmocka_unit_test(a_row_that_cannot_run_is_no_figure),
		cmocka_unit_test(warnings_have_their_reasons),
		cmocka_unit_test(a_saved_run_has_every_sample),
		cmocka_unit_test(words_are_split_as_a_shell_does),
		cmocka_unit_test(placeholders_are_filled_and_quoted),
		cmocka_unit_test(parameters_are_combined),
		cmocka_unit_test(commands_are_scanned),
		cmocka_unit_test(one_run_proves_nothing),
		cmocka_unit_test(what_is_left_is_estimated),
		cmocka_unit_test(options_name_every_strategy),
		cmocka_unit_test(prose_is_wrapped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
