/* SPDX-License-Identifier: MIT */
/* Parses a command line of any words, with a table that has each kind of option. Words end at a newline. */
#include "fuzz.h"

#include "base/buf.h"
#include "cli/opt.h"

#define WORDS_MAX 64

struct settings {
	bool flag;
	int count, number;
	const char *string, *word;
	uint64_t size, duration;
};

/* An optional value. */
static int parse_when(const struct opt_use *u)
{
	return u->value ? opt_string(u) : 0;
}

#define AT(member) .offset = offsetof(struct settings, member)

static const struct opt table[] = {
	{.help = "A heading"},
	{.letter = 'f', .name = "flag", .parse = opt_flag, .help = "a flag", AT(flag)},
	{.letter = 'v', .name = "verbose", .parse = opt_count, .help = "counted", AT(count)},
	{.letter = 'n',
	 .name = "number",
	 .arg = "N",
	 .parse = opt_int,
	 .help = "a number",
	 AT(number),
	 .min = -5,
	 .max = 500},
	{.letter = 's', .name = "string", .arg = "TEXT", .parse = opt_string, .help = "a text", AT(string)},
	{.name = "size", .arg = "SIZE", .parse = opt_size, .help = "a size", AT(size)},
	{.letter = 't', .name = "time", .arg = "TIME", .parse = opt_duration, .help = "a duration", AT(duration)},
	{.letter = 'c', .name = "colour", .arg = "[WHEN]", .parse = parse_when, .help = "left out", AT(string)},
	{.letter = 'w',
	 .name = "word",
	 .arg = "WORD",
	 .parse = opt_word,
	 .help = "a word",
	 AT(word),
	 .words = "auto never"},
	{0},
};

static const char *const usage[] = {"[OPTION...] [FILE...]", NULL};

/* Splits the text into words in place: argv[0] and the following, NULL-terminated. Returns their number. */
static int split(char *text, char **argv)
{
	int argc = 0;
	static char name[] = "fuzz";
	argv[argc++] = name;
	for (char *word = strtok(text, "\n"); word && argc < WORDS_MAX; word = strtok(NULL, "\n"))
		argv[argc++] = word;
	argv[argc] = NULL;
	return argc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_string(data, size), *argv[WORDS_MAX + 1];
	struct opt_command command = {"fuzz", usage, "Takes anything.", table, NULL, size % 2 == 0};
	struct settings settings = {.number = 1};
	struct buf why = {0};
	int first = 0, argc = split(text, argv);
	switch (opt_parse(&command, &settings, argc, argv, &first, &why)) {
	case OPT_OK:
		FUZZ_REQUIRE(first >= 1 && first <= argc);
		FUZZ_REQUIRE(settings.number >= -5 && settings.number <= 500);
		break;
	case OPT_ERROR:
		FUZZ_REQUIRE(why.len > 0);
		break;
	case OPT_HELP:
	case OPT_VERSION:
		break;
	}
	buf_free(&why);
	free(text);
	return 0;
}
