/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/diag.h"
#include "base/outfile.h"
#include "bench/place.h"
#include "bench/stop.h"
#include "cli/opt.h"
#include "cmd/cmd.h"
#include "cmd/display.h"
#include "compare/compare.h"
#include "engine/engine.h"
#include "run/judge.h"
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* `sctrace compare`: calls its steps in order, and cleans up at the end. */
static void compare_free(struct compare *c)
{
	unsetenv("SCTRACE_RUN"); /* its value is in `c` */
	auto_buf why = {0};
	if (work_close(&c->work, &why) < 0)
		diag_note("%s", buf_str(&why));
	for (size_t i = 0; i < c->subjects.n; i++)
		compare_subject_free(c->subjects.v[i]);
	vec_free(&c->subjects);
	vec_free(&c->cpus);
	compare_options_free(&c->opt);
	run_free(&c->run);
	strings_clear(&c->failures);
	if (c->null_fd >= 0)
		close(c->null_fd);
}

static int read_cpus(struct compare *c, struct buf *why)
{
	struct cpu_list list = {0};
	int err = c->opt.cpus ? cpu_list_parse(&list, c->opt.cpus, why) : 0;
	for (size_t i = 0; i < list.n && !err; i++)
		vec_push(&c->cpus, list.v[i]);
	vec_free(&list);
	return err;
}

static int finish(struct compare *c, int err, const struct buf *why)
{
	int status = EXIT_OWN;
	const int sig = stop_signal(); /* after it, all programs are killed, and the work directory is removed */
	if (err == -EINTR || sig)
		status = 0;
	else if (err)
		display_usage_error("compare: ", why->len ? buf_str(why) : diag_error_text(-err));
	else if (!run_fastest(&c->run) && !c->failures.n)
		diag_error("compare: all strategies failed");
	else
		status = c->failures.n ? EXIT_OWN : 0;
	for (size_t i = 0; i < c->failures.n; i++)
		display_usage_error("compare: ", c->failures.v[i]);
	if (err == -EINVAL)
		status = EXIT_USAGE;
	compare_free(c);
	if (sig) {
		stop_release();
		raise(sig);
	}
	return status;
}

static int compare_run(struct compare *c, char *const *commands, size_t n)
{
	auto_buf why = {0};
	auto_buf uncounted = {0};
	int err = read_cpus(c, &why);
	if (!err)
		err = compare_prepare(c, commands, n, &why);
	if (!err)
		err = compare_measure(c, &uncounted, &why);
	if (uncounted.len)
		diag_note("compare: cannot count calls: %s", buf_str(&uncounted));
	bool shown = !err && (compare_any_result(c) || !c->failures.n);
	int status = shown ? display_run(&c->run, "compare", &c->opt.show) : 0;
	if (c->interrupted)
		diag_note("interrupted: these are the figures of the runs that were completed");
	else if (err == -EINTR)
		diag_note("interrupted before anything was measured");
	int end = finish(c, err, &why);
	return status ? status : end;
}

static int list(const struct compare_options *o)
{
	auto_buf out = {0};
	struct table_look look = display_look(&o->show);
	compare_list(&out, &look);
	return display_text(NULL, &out);
}

/* Checks that no output overwrites the input or another output. Returns 0, or an exit status after a message. */
static int check_files(const struct compare_options *o)
{
	const char *input = o->input && !work_makes_input(o->input) ? o->input : NULL;
	const char *output = o->command_output;
	bool written = output && strcmp(output, "null") != 0 && strcmp(output, "pipe") != 0 && !o->show_output;
	char *inputs[3] = {(char *)(input     ? input
				    : written ? output
					      : NULL),
			   (char *)(input && written ? output : NULL)};
	if (input && written && outfile_is_same(output, input)) {
		diag_error("compare: --command-output would overwrite the input '%s'; write to another file", input);
		return EXIT_USAGE;
	}
	int status = display_check("compare", &o->show, inputs);
	int err = !status && written ? outfile_check(output) : 0;
	if (err)
		diag_error("compare: cannot write '%s': %s", output, diag_error_text(-err));
	return err ? EXIT_OWN : status;
}

#define AT(field) .offset = offsetof(struct compare_options, field)

/* The names of all strategies of compare/strategy.c. A unit test compares the two lists. */
static const char strategy_words[] = "fgetc/fputc getc_unlocked fgets/fputs fread/fwrite setvbuf unbuffered "
				     "double-buffer read/write one-shot readv/writev pread/pwrite fadvise mmap+write "
				     "mmap+memcpy sendfile splice copy_file_range O_DIRECT O_SYNC threads io_uring";

static const char use_words[] = "all"
#define USE(member, word, title, unit) " " word
#include "run/uses.def"
#undef USE
	;

/* Adds the value of an option that may be given several times to the option's list. */
static int opt_text(const struct opt_use *u)
{
	struct compare_texts *texts = (struct compare_texts *)(void *)((char *)u->settings + u->row->offset);
	vec_push(texts, u->value);
	return 0;
}

/* Adds the value of a scan or list option. The values keep their order, because rows are shown in that order. */
static int opt_scan(const struct opt_use *u)
{
	struct compare_options *c = u->settings;
	vec_push(&c->scans, (struct compare_scan){u->value, u->row->min});
	return 0;
}

/* Reads the list of exit statuses that --ignore-failure permits. Without a list, it permits all. */
static int opt_ignore(const struct opt_use *u)
{
	struct compare_options *c = u->settings;
	const char *arg = u->value;
	c->ignore_failure |= !arg;
	while (arg) {
		char *end;
		long code = strtol(arg, &end, 10);
		if (end == arg || code < 1 || code > 255 || (*end && *end != ','))
			return opt_refuse(
				u, "'%s' is not a list of exit statuses from 1 to 255; write for example 1,143", arg);
		vec_push(&c->ignored, (int)code);
		arg = *end ? end + 1 : NULL;
	}
	return 0;
}

static int opt_metric(const struct opt_use *u)
{
	return compare_metric_parse(u->settings, u->value, u->why);
}

static int opt_columns(const struct opt_use *u)
{
	int err = run_use_check(u->value, u->why);
	return err ? err : opt_string(u);
}

static int opt_engine(const struct opt_use *u)
{
	int err = engine_check(u->value, u->why);
	return err ? err : opt_string(u);
}

static const struct opt table[] = {
	{.help = "What is compared:"},
	{'s', "strategy", "LIST", opt_string, "compare these strategies, separated by commas (see --list)",
	 AT(strategies), .complete = COMPLETE_LIST, .words = strategy_words},
	{0, "all", NULL, opt_flag, "compare all strategies", AT(all)},
	{0, "list", NULL, opt_flag, "list the strategies and exit", AT(list)},
	{'b', "buffers", "LIST", opt_string, "buffer sizes, for example 1,4K,1M, or all (powers of two)", AT(buffers)},
	{'n', "size", "SIZE", opt_size, "number of bytes to copy (default: 1M)", AT(size)},
	{'i', "input", "WHAT", opt_string, "copy random bytes, zero bytes, or a FILE (default: random)", AT(input),
	 .complete = COMPLETE_FILE},
	{'d', "dir", "DIR", opt_string, "create the work directory in DIR (default: TMPDIR, /var/tmp or /tmp)", AT(dir),
	 .complete = COMPLETE_DIR},
	{0, "reference", "NAME", opt_string, "compute ratios to this row (default: the fastest)", AT(reference)},
	{.help = "Commands:"},
	{'N', "no-shell", NULL, opt_flag, "run commands without a shell", AT(no_shell)},
	{'S', "shell", "SHELL", opt_string, "run commands with this shell (default: sh)", AT(shell),
	 .complete = COMPLETE_FILE},
	{0, "command-name", "NAME", opt_text,
	 "the name of the first COMMAND in tables; if given again, of the next one", AT(names)},
	{0, "setup", "COMMAND", opt_text, "run this once before all runs of a command", AT(beside[BESIDE_SETUP])},
	{'p', "prepare", "COMMAND", opt_text, "run this before each run; its time is not measured",
	 AT(beside[BESIDE_PREPARE])},
	{'C', "conclude", "COMMAND", opt_text, "run this after each run; its time is not measured",
	 AT(beside[BESIDE_CONCLUDE])},
	{0, "cleanup", "COMMAND", opt_text, "run this once after all runs of a command", AT(beside[BESIDE_CLEANUP])},
	{'P', "parameter-scan", "NAME=FROM:TO[:STEP]", opt_scan,
	 "run each command once for each number; the number replaces {NAME}", .min = true},
	{'D', "parameter-step-size", "STEP", opt_string, "step of each --parameter-scan that has none (default: 1)",
	 AT(step)},
	{'L', "parameter-list", "NAME=A,B,...", opt_scan,
	 "run each command once for each word; the word replaces {NAME}", .min = false},
	{0, "ignore-failure", "[CODES]", opt_ignore, "measure a command also if it fails (with these exit statuses)"},
	{0, "timeout", "TIME", opt_duration, "kill a program whose run takes longer, and do not run it again",
	 AT(timeout), .min = 1000000},
	{0, "metric", "NAME=/REGEX/", opt_metric, "a metric: the number that REGEX finds in the output of each run"},
	{0, "command-output", "WHERE", opt_string,
	 "where commands write: null (/dev/null, default), pipe, inherit (this terminal), or a FILE",
	 AT(command_output), .complete = COMPLETE_FILE},
	{0, "show-output", NULL, opt_flag, "the same as --command-output=inherit", AT(show_output)},
	{.help = "Measuring:"},
	{'r', "runs", "N", opt_int, "time each program exactly N times", AT(runs), .min = 1, .max = 100000},
	{'m', "min-runs", "N", opt_int, "time each program at least N times (default: 5)", AT(min_runs), .min = 1,
	 .max = 100000},
	{'M', "max-runs", "N", opt_int, "time each program at most N times (default: 100)", AT(max_runs), .min = 1,
	 .max = 100000},
	{0, "max-time", "TIME", opt_duration, "total time for the runs beyond --min-runs (default: 10s)", AT(max_time),
	 .min = 1000000},
	{0, "min-time", "TIME", opt_duration, "time each program until its runs have taken this long", AT(min_time),
	 .min = 1000000},
	{'w', "warmup", "N", opt_int, "number of rounds that are not measured (default: 1)", AT(warmup), .min = 0,
	 .max = 1000},
	{0, "cold", NULL, opt_flag, "remove the input from the page cache before each run", AT(cold)},
	{0, "fsync", NULL, opt_flag, "include the time to write the copy to the device", AT(fsync)},
	{0, "cpus", "LIST", opt_string, "run on these CPUs only, for example 0,2-3", AT(cpus)},
	{0, "seed", "N", opt_int, "seed of the random order (default: 1)", AT(seed), .min = 0, .max = 2147483647},
	{0, "engine", "NAME", opt_engine, "count the calls with this engine (default: the best that works)", AT(engine),
	 COMPLETE_WORDS, ENGINE_WORDS},
	{0, "count-all", NULL, opt_flag, "count the calls over the whole input, however long this takes",
	 AT(count_all)},
	{0, "no-count", NULL, opt_flag, "measure time and memory only", AT(no_count)},
	{0, "no-trace", NULL, opt_flag,
	 "measure without any tracing, for programs that cannot be traced; no calls are counted", AT(no_trace)},
	{.help = "Output:"},
	DISPLAY_OPTIONS(struct compare_options),
	{0, "sort", "BY", opt_word, "sort the rows by wall, calls or peak_rss (default: as they were named)", AT(sort),
	 .complete = COMPLETE_WORDS, .words = "wall calls peak_rss"},
	{0, "explain", NULL, opt_flag, "explain the cost of each row", AT(explain)},
	{0, "usage", NULL, opt_flag, "also show context switches, page faults and device I/O", AT(usage)},
	{0, "columns", "LIST", opt_columns,
	 "also show how each program uses its files: sequential, random, reread, rewritten, size, seeks, syncs, opens, "
	 "read, written, or all",
	 AT(columns), .complete = COMPLETE_LIST, .words = use_words},
	{0},
};

static const char *const usage[] = {"[OPTIONS]", "[OPTIONS] COMMAND...", NULL};

const struct opt_command compare_command = {
	.name = "sctrace compare",
	.usage = usage,
	.about = "Compares strategies for copying a file, or any commands, and shows the cost of each: system calls, "
		 "time and memory.",
	.table = table,
	.epilog = "In a COMMAND, {in}, {out} and {buffer} are replaced by the input, the output and each size in "
		  "--buffers. Calls are counted in one run; time and memory are measured in others. See "
		  "sctrace-compare(1).",
	.commands = true,
};

enum { MIN_RUNS = 5 };

/* Returns a message about options that are wrong or contradict each other, or NULL. */
static const char *contradiction(const struct compare_options *o, bool commands)
{
	if (o->size == 0)
		return "an input of 0 bytes cannot be compared; --size must be at least 1";
	if (o->columns && (o->no_count || o->no_trace))
		return "--columns needs a run that is traced, so --no-count and --no-trace cannot be used with it";
	if (o->show.output && (strcmp(o->show.output, "null") == 0 || strcmp(o->show.output, "pipe") == 0 ||
			       strcmp(o->show.output, "inherit") == 0))
		return "--output names the file of the report; where commands write is --command-output (for a file of "
		       "this name, write --output=./NAME)";
	if (o->sort && strcmp(o->sort, "calls") == 0 && (o->no_count || o->no_trace))
		return "--sort=calls needs the calls to be counted, so --no-count and --no-trace cannot be used with "
		       "it";
	if (o->count_all && o->no_count)
		return "--count-all and --no-count cannot be used together";
	if (o->count_all && o->no_trace)
		return "--count-all and --no-trace cannot be used together";
	if (o->metrics.n && !commands)
		return "--metric needs a COMMAND; strategies print nothing";
	if (o->metrics.n && (o->show_output || (o->command_output && (strcmp(o->command_output, "inherit") == 0 ||
								      strcmp(o->command_output, "null") == 0 ||
								      strcmp(o->command_output, "pipe") == 0))))
		return "--metric reads the output of the commands, so it can be used only with --command-output=FILE";
	if (o->command_output && !commands)
		return "--command-output needs a COMMAND; strategies write to a file";
	if (o->command_output && o->show_output && strcmp(o->command_output, "inherit") != 0)
		return "--command-output and --show-output cannot be used together";
	if (o->runs && (o->min_time || o->max_time))
		return "--runs sets the exact number of runs, so --min-time and --max-time cannot be used with it";
	if (o->runs && (o->min_runs || o->max_runs))
		return "--runs sets the exact number of runs, so --min-runs and --max-runs cannot be used with it";
	if (o->max_runs && o->min_runs > o->max_runs)
		return "--min-runs is larger than --max-runs";
	if (!commands && o->names.n)
		return "--command-name needs a COMMAND; strategies already have names";
	if (commands && (o->strategies || o->all))
		return "strategies and COMMANDs cannot be compared in one run; give only one of them";
	if (!commands && o->scans.n)
		return "--parameter-scan and --parameter-list need a COMMAND; for strategies, use --buffers";
	if (o->step && !o->scans.n)
		return "--parameter-step-size needs a --parameter-scan";
	if (o->shell && o->no_shell)
		return "--shell and --no-shell cannot be used together";
	if ((o->show_output || (o->command_output && strcmp(o->command_output, "inherit") == 0)) &&
	    display_is_data(&o->show))
		return DISPLAY_MIXED;
	if (o->strategies && o->all)
		return "--strategy and --all cannot be used together";
	return NULL;
}

/* Sets *first to the index of the first COMMAND. Returns 0, or -1 if sctrace must exit with *status. */
static int parse(struct compare_options *o, int argc, char **argv, int *first, int *status)
{
	*o = (struct compare_options){.warmup = 1, .seed = 1, .size = UINT64_MAX};
	auto_buf why = {0};
	enum opt_outcome outcome = opt_parse(&compare_command, o, argc, argv, first, &why);
	const char *wrong = outcome == OPT_OK ? contradiction(o, *first < argc) : NULL;
	*status = wrong ? EXIT_USAGE : display_outcome(&compare_command, outcome, "compare: ", &why);
	if (wrong)
		diag_error("compare: %s", wrong);
	if (o->show_output)
		o->command_output = "inherit";
	o->show_output = o->command_output && strcmp(o->command_output, "inherit") == 0;
	/* As in hyperfine, --shell=none means that no shell is used. */
	if (o->shell && strcmp(o->shell, "none") == 0) {
		o->shell = NULL;
		o->no_shell = true;
	}
	if (o->size == UINT64_MAX)
		o->size = 0;
	/* The default limit of the number of runs must not end the measurement before the minimum time. */
	if (!o->min_runs)
		o->min_runs = o->max_runs && o->max_runs < MIN_RUNS ? o->max_runs : MIN_RUNS;
	if (!o->max_runs)
		o->max_runs = o->min_time ? 100000 : o->min_runs > 100 ? o->min_runs : 100;
	if (o->runs)
		o->min_runs = o->max_runs = o->runs;
	if (!o->max_time)
		o->max_time = 10000000000ull;
	return outcome == OPT_OK && !wrong ? 0 : -1;
}

void compare_options_free(struct compare_options *o)
{
	for (int i = 0; i < BESIDES; i++)
		vec_free(&o->beside[i]);
	vec_free(&o->names);
	vec_free(&o->ignored);
	for (size_t i = 0; i < o->metrics.n; i++) {
		regfree(&o->metrics.v[i].pattern);
		free(o->metrics.v[i].name);
	}
	vec_free(&o->metrics);
	vec_free(&o->scans);
}

int cmd_compare(int argc, char **argv)
{
	struct compare c = {.stop = stop_flag(), .resident = -1, .other_share = -1, .steal_share = -1};
	int first;
	int status;
	int parsed = parse(&c.opt, argc, argv, &first, &status);
	if (parsed == 0 && c.opt.list)
		status = list(&c.opt);
	else if (parsed == 0)
		status = check_files(&c.opt);
	if (parsed < 0 || c.opt.list || status) {
		compare_options_free(&c.opt);
		return status;
	}
	stop_catch();
	run_init(&c.run, "compare", argc, argv);
	c.work.stop = stop_flag();
	c.progress = isatty(STDERR_FILENO) && !c.opt.show_output;
	c.null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	return compare_run(&c, argv + first, (size_t)(argc - first));
}
