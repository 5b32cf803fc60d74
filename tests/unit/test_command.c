/* SPDX-License-Identifier: MIT */
/* Tests how compare splits commands into words, and fills in placeholders and parameters. Runs no program. */
#include "compare/compare.h"

#include "base/buf.h"
#include "base/words.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void has(const struct buf *b, const char *text)
{
	if (!strstr(buf_str(b), text))
		fail_msg("'%s' is not in: %s", text, buf_str(b));
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
	has(&why, "is not closed");
	buf_free(&why);
}

static void placeholders_are_filled_and_quoted(void **state)
{
	(void)state;
	struct compare c = {0};
	struct buf why = {0};
	c.work.in = (char[]){"/a b"};
	c.work.out = (char[]){"/tmp/it's"};
	struct texts n = {.v = &(struct named_text){(char[]){"n"}, (char[]){"7"}}, .n = 1};
	struct texts none = {0};
	char **v = compare_command_argv(&c, "dd if={in} of={out} bs={buffer} {n} {other} {", 4096, &n, &why);
	assert_string_equal(v[0], "sh");
	assert_string_equal(v[2], "dd if='/a b' of='/tmp/it'\\''s' bs=4096 7 {other} {");
	words_free(v);
	v = compare_command_argv(&c, "\"{in}\" '{in}' \"{out}$(x '{in}' {in})\" \\\" {in}", 0, &none, &why);
	assert_string_equal(v[2], "\"/a b\" '/a b' \"/tmp/it's$(x '/a b' '/a b')\" \\\" '/a b'");
	words_free(v);
	v = compare_command_argv(&c, "'{out}' ({in})", 0, &none, &why);
	assert_string_equal(v[2], "'/tmp/it'\\''s' ('/a b')");
	words_free(v);
	c.opt.no_shell = true;
	v = compare_command_argv(&c, "cat {in} x{out}", 0, &none, &why);
	assert_string_equal(v[1], "/a b");
	assert_string_equal(v[2], "x/tmp/it's");
	assert_null(v[3]);
	words_free(v);
	assert_null(compare_command_argv(&c, "", 0, &none, &why));
	buf_free(&why);
}

/* A parameter is text, as for hyperfine(1): it may be several words of the command, or none. */
static void parameters_are_not_quoted(void **state)
{
	(void)state;
	struct compare c = {0};
	struct buf why = {0};
	struct texts empty = {.v = &(struct named_text){(char[]){"opt"}, (char[]){""}}, .n = 1};
	struct texts two = {.v = &(struct named_text){(char[]){"opt"}, (char[]){"-a -b"}}, .n = 1};
	char **v = compare_command_argv(&c, "ls {opt} /", 0, &empty, &why);
	assert_string_equal(v[2], "ls  /");
	words_free(v);
	v = compare_command_argv(&c, "ls {opt} /", 0, &two, &why);
	assert_string_equal(v[2], "ls -a -b /");
	words_free(v);
	c.opt.no_shell = true;
	v = compare_command_argv(&c, "ls {opt} /", 0, &empty, &why);
	assert_string_equal(v[1], "/");
	assert_null(v[2]);
	words_free(v);
	v = compare_command_argv(&c, "ls {opt} /", 0, &two, &why);
	assert_string_equal(v[2], "-b");
	assert_string_equal(v[3], "/");
	words_free(v);
	buf_free(&why);
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
	assert_string_equal(all.v[3].v[0].text, "1000000.5");
	assert_string_equal(all.v[3].v[1].name, "w");
	assert_string_equal(all.v[3].v[1].text, "b");
	assert_string_equal(all.v[5].v[0].text, "1000001");
	compare_combinations_free(&all);
	assert_int_equal(compare_combine(&o, words, 1, &taken, &all, &why), -EINVAL);
	has(&why, "'n' does not name a parameter");
	compare_combinations_free(&all);
	buf_clear(&why);
	given[0] = (struct compare_scan){"o=", false};
	assert_int_equal(compare_combine(&o, words, 1, &taken, &all, &why), -EINVAL);
	has(&why, "'o=' contains no words after the =; write for example o=a,b");
	compare_combinations_free(&all);
	buf_free(&why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_split_as_a_shell_does),
		cmocka_unit_test(placeholders_are_filled_and_quoted),
		cmocka_unit_test(parameters_are_not_quoted),
		cmocka_unit_test(parameters_are_combined),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
