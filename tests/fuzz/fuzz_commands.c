/* SPDX-License-Identifier: MIT */
/*
 * Parses command lines of each command, with all kinds of values: filter expressions, faults to inject, columns,
 * durations, scans. Runs no program. The first byte selects the command; words end at a newline.
 */
#include "fuzz.h"

#include "base/buf.h"
#include "cli/opt.h"
#include "cmd/cmd.h"
#include "cmd/report/cmd_report.h"
#include "cmd/trace/opts.h"
#include "compare/compare.h"

#define WORDS_MAX 64

static int split(char *text, char **argv)
{
	static char name[] = "fuzz";
	int argc = 0;
	argv[argc++] = name;
	for (char *word = strtok(text, "\n"); word && argc < WORDS_MAX; word = strtok(NULL, "\n"))
		argv[argc++] = word;
	argv[argc] = NULL;
	return argc;
}

/* A parser that refuses a word must give a reason. */
static void parse(const struct opt_command *c, void *settings, int argc, char **argv, int *first, struct buf *why)
{
	enum opt_outcome outcome = opt_parse(c, settings, argc, argv, first, why);
	FUZZ_REQUIRE(outcome != OPT_ERROR || why->len > 0);
	FUZZ_REQUIRE(outcome != OPT_OK || (*first >= 1 && *first <= argc));
}

static void trace(const struct opt_command *c, int argc, char **argv, struct buf *why)
{
	struct trace_opts o = {0};
	int first = 1;
	trace_opts_init(&o);
	o.truss = c == &truss_command;
	parse(c, &o, argc, argv, &first, why);
	if (!why->len && trace_opts_check(&o, first < argc, why) < 0)
		FUZZ_REQUIRE(why->len > 0);
	trace_opts_free(&o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct compare_options compare = {0};
	struct report_options report = {0};
	char *argv[WORDS_MAX + 1];
	struct buf why = {0};
	int first = 1;
	if (size == 0)
		return 0;
	char *text = fuzz_string(data + 1, size - 1);
	int argc = split(text, argv);
	switch (data[0] % 4) {
	case 0:
		trace(&trace_command, argc, argv, &why);
		break;
	case 1:
		trace(&truss_command, argc, argv, &why);
		break;
	case 2:
		parse(&compare_command, &compare, argc, argv, &first, &why);
		compare_options_free(&compare);
		break;
	default:
		parse(&report_command, &report, argc, argv, &first, &why);
	}
	buf_free(&why);
	free(text);
	return 0;
}
