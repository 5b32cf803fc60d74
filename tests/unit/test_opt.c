/* SPDX-License-Identifier: MIT */
#include "cli/opt.h"

#include "base/buf.h"
#include "base/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct settings {
	bool count;
	int times, limit;
	const char *file, *format, *when;
	uint64_t size, slower;
};

#define AT(member) .offset = offsetof(struct settings, member)

static const struct opt table[] = {
	{.help = "What:"},
	{'c', "summary-only", NULL, opt_flag, "count only", AT(count)},
	{'t', NULL, NULL, opt_count, "time of day; more: finer", AT(times)},
	{'s', "string-limit", "N", opt_int, "show N bytes of a string", AT(limit), .min = 0, .max = 1000},
	{'o', "output", "FILE", opt_string, "write to FILE", AT(file), COMPLETE_FILE},
	{.help = "How:"},
	{0, "format", "FORMAT", opt_word, "layout", AT(format), COMPLETE_WORDS, "csv json wide"},
	{0, "color", "[WHEN]", opt_word, "colour", AT(when), COMPLETE_WORDS, "auto always never"},
	{0, "size", "SIZE", opt_size, "bytes", AT(size)},
	{0, "slower", "DURATION", opt_duration,
	 "only calls slower than this, which is a long text that has to be wrapped at the width of the terminal",
	 AT(slower)},
	{0},
};

static const char *const usage[] = {"[OPTIONS] [FILE...]", NULL};
static const struct opt_command permuting = {"prog", usage, "Does things.", table, NULL, false};
static const struct opt_command stopping = {"prog", usage, "Does things.", table, NULL, true};

static enum opt_outcome parse(const struct opt_command *c, struct settings *s, char **argv, int *first, struct buf *why)
{
	int argc = 0;
	while (argv[argc])
		argc++;
	*s = (struct settings){0};
	buf_clear(why);
	return opt_parse(c, s, argc, argv, first, why);
}

#define PARSE(c, ...) parse(&(c), &s, (char *[]){"prog", __VA_ARGS__, NULL}, &first, &why)

static void values_in_every_spelling(void **state)
{
	(void)state;
	struct settings s;
	struct buf why = {0};
	int first;
	assert_int_equal(PARSE(stopping, "-cttos", "-s", "7", "prog"), OPT_OK);
	assert_true(s.count);
	assert_int_equal(s.times, 2);
	assert_string_equal(s.file, "s");
	assert_int_equal(s.limit, 7);
	assert_int_equal(first, 4);
	assert_int_equal(PARSE(stopping, "--string-limit=9", "--out", "x", "--size", "4K", "--slower=10ms"), OPT_OK);
	assert_int_equal(s.limit, 9);
	assert_string_equal(s.file, "x");
	assert_int_equal(s.size, 4096);
	assert_int_equal(s.slower, 10000000);
	assert_int_equal(PARSE(stopping, "--color", "never"), OPT_OK);
	assert_string_equal(s.when, "");
	assert_int_equal(first, 2);
	assert_int_equal(PARSE(stopping, "--color=never"), OPT_OK);
	assert_string_equal(s.when, "never");
	buf_free(&why);
}

static void operands_keep_their_order(void **state)
{
	(void)state;
	struct settings s;
	struct buf why = {0};
	int first;
	char *argv[] = {"prog", "a", "-c", "b", "-s", "3", "-", "--", "-c", "d", NULL};
	assert_int_equal(parse(&permuting, &s, argv, &first, &why), OPT_OK);
	assert_int_equal(first, 5);
	assert_string_equal(argv[5], "a");
	assert_string_equal(argv[6], "b");
	assert_string_equal(argv[7], "-");
	assert_string_equal(argv[8], "-c");
	assert_string_equal(argv[9], "d");
	char *own[] = {"prog", "-c", "ls", "-t", "--", "x", NULL};
	assert_int_equal(parse(&stopping, &s, own, &first, &why), OPT_OK);
	assert_int_equal(first, 2);
	assert_int_equal(s.times, 0);
	assert_int_equal(PARSE(stopping, "-c", "--", "-x"), OPT_OK);
	assert_int_equal(first, 3);
	buf_free(&why);
}

static void help_and_version_are_known(void **state)
{
	(void)state;
	struct settings s;
	struct buf why = {0};
	int first;
	assert_int_equal(PARSE(stopping, "-ch"), OPT_HELP);
	assert_int_equal(PARSE(stopping, "--help"), OPT_HELP);
	assert_int_equal(PARSE(stopping, "-V"), OPT_VERSION);
	assert_int_equal(PARSE(stopping, "--vers"), OPT_VERSION);
	buf_free(&why);
}

static void errors_name_the_option(void **state)
{
	(void)state;
	struct settings s;
	struct buf why = {0};
	int first;
	struct {
		char *arg, *value;
		const char *says;
	} cases[] = {
		{"--fromat", NULL, "unknown option '--fromat'; did you mean --format?"},
		{"--s", NULL, "option '--s' could be --summary-only, --string-limit, --size, --slower"},
		{"-cq", NULL, "unknown option '-q' in -cq"},
		{"-q", NULL, "unknown option '-q'"},
		{"--", NULL, NULL},
		{"-s", NULL, "option -s needs a value: -s N"},
		{"--size", NULL, "option --size needs a value: --size=SIZE"},
		{"--summary-only=x", NULL, "option --summary-only takes no value"},
		{"-s", "x", "option -s: 'x' is not a whole number"},
		{"-s", "1001", "option -s: 1001 is out of range; write a number from 0 to 1000"},
		{"--size", "12x", "option --size: '12x' is not a size; write for example 4096, 4K or 1M"},
		{"--slower=soon", NULL,
		 "option --slower: 'soon' is not a duration; write for example 250ms, 1.5s or 10us"},
		{"--format=jsno", NULL, "option --format: 'jsno' is not one of csv, json, wide; did you mean json?"},
		{"--=x", NULL, "unknown option '--'"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		enum opt_outcome got = PARSE(stopping, cases[i].arg, cases[i].value);
		assert_int_equal(got, cases[i].says ? OPT_ERROR : OPT_OK);
		assert_string_equal(buf_str(&why), cases[i].says ? cases[i].says : "");
	}
	buf_free(&why);
}

static void help_is_wrapped(void **state)
{
	(void)state;
	struct buf help = {0};
	opt_help(&stopping, &help, 60, false);
	assert_non_null(strstr(buf_str(&help), "Usage: prog [OPTIONS] [FILE...]\n"));
	assert_non_null(strstr(buf_str(&help), "\nHow:\n"));
	assert_non_null(strstr(buf_str(&help), "  -s, --string-limit=N   show N bytes of a string\n"));
	assert_non_null(strstr(buf_str(&help), "      --color[=WHEN]     colour\n"));
	assert_non_null(strstr(buf_str(&help), "  -h, --help             print this help\n"));
	for (const char *line = buf_str(&help), *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		assert_non_null(end);
		assert_true(end - line <= 60);
	}
	buf_free(&help);
}

static bool completion_has(const char *shell, const char *text)
{
	const struct opt_command *const all[] = {&stopping};
	struct buf script = {0};
	assert_int_equal(opt_completion(all, 1, shell, &script), 0);
	bool has = strstr(buf_str(&script), text) != NULL;
	buf_free(&script);
	return has;
}

static void lists_are_completed(void)
{
	static const struct opt rows[] = {
		{'e', NULL, "EXPR", opt_string, "which", .complete = COMPLETE_EXPR, .words = "trace status"},
		{0, "trace", "SET", opt_string, "calls", .complete = COMPLETE_SET},
		{0, "status", "LIST", opt_string, "ends", .complete = COMPLETE_LIST, .words = "failed successful"},
		{0},
	};
	static const struct opt_command outer = {
		.name = "sctrace", .about = "Traces", .table = rows, .set_words = "%file read"};
	static const struct opt_command inner = {
		.name = "sctrace bench syscall", .about = "Measures", .table = rows + 1, .operands = "getpid loop"};
	static const struct opt_command *const both[] = {&outer, &inner};
	static const struct {
		const char *shell, *text;
	} expected[] = {
		{"bash", "\t:--trace) _sctrace_list '%file read'; return ;;\n"},
		{"bash", "\tbench\\ syscall:--status) _sctrace_list 'failed successful'; return ;;\n"},
		{"bash", "[[ $command == 'bench syscall' ]]; then\n\t\tCOMPREPLY=($(compgen -W 'getpid loop'"},
		{"zsh", "\t(status=*) compset -P 1 '*='; _sctrace_list failed successful ;;\n"},
		{"zsh", "'*-e+[which]:EXPR: _sctrace_expr' \\\n"},
		{"zsh", "\t\t'*:what:(getpid loop)'\n"},
		{"fish", "\t\tcase 'status=*'\n\t\t\t__sctrace_list failed successful\n"},
		{"fish", "-n '__sctrace_command \"bench syscall\"' -f -a 'getpid loop'\n"},
	};
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		struct buf script = {0};
		assert_int_equal(opt_completion(both, 2, expected[i].shell, &script), 0);
		if (!strstr(buf_str(&script), expected[i].text))
			fail_msg("%s completion has no %s", expected[i].shell, expected[i].text);
		buf_free(&script);
	}
}

static void completion_for_each_shell(void **state)
{
	(void)state;
	assert_true(completion_has("bash", "\t:-o|:--output) _sctrace_files -f; return ;;\n"));
	assert_true(completion_has("bash", ":--format) COMPREPLY=($(compgen -W 'csv json wide' -- \"$cur\"))"));
	assert_true(completion_has("zsh", "'*--format=[layout]:FORMAT:(csv json wide)' \\\n"));
	assert_true(completion_has("zsh", "'*-o+[write to FILE]:FILE:_files' \\\n"));
	assert_true(completion_has("fish", "-l format -x -a 'csv json wide' -d 'layout'\n"));
	struct buf script = {0};
	lists_are_completed();
	assert_true(opt_completion((const struct opt_command *const[]){&stopping}, 1, "csh", &script) < 0);
	buf_free(&script);
}

static void distances(void **state)
{
	(void)state;
	assert_int_equal(near_distance("open", "open"), 0);
	assert_int_equal(near_distance("opne", "open"), 1);
	assert_int_equal(near_distance("opn", "open"), 1);
	assert_int_equal(near_distance("", "read"), 4);
	assert_int_equal(near_distance("kitten", "sitting"), 3);
}

static void suggestions_are(const char *word, const char *expected)
{
	static const char *const known[] = {"read/write", "readv/writev", "fgetc/fputc", "mmap", "wall"};
	struct buf out = {0};
	struct near near = {.word = word};
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		near_offer(&near, known[i]);
	near_say(&near, "", &out);
	assert_string_equal(buf_str(&out), expected);
	buf_free(&out);
}

static void words_that_are_similar_or_longer_are_suggested(void **state)
{
	(void)state;
	suggestions_are("fgetc", "; did you mean fgetc/fputc?");
	suggestions_are("read", "; did you mean read/write or readv/writev?");
	suggestions_are("mmpa", "; did you mean mmap?");
	suggestions_are("fg", "");
	suggestions_are("mmapped", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_in_every_spelling),
		cmocka_unit_test(operands_keep_their_order),
		cmocka_unit_test(help_and_version_are_known),
		cmocka_unit_test(errors_name_the_option),
		cmocka_unit_test(help_is_wrapped),
		cmocka_unit_test(completion_for_each_shell),
		cmocka_unit_test(distances),
		cmocka_unit_test(words_that_are_similar_or_longer_are_suggested),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
