/* `sctrace bench` alone: a short form of every test, and the machine on one page. */
#include "cmd/bench/bench.h"

#include "base/diag.h"
#include "bench/stop.h"
#include "cmd/put.h"
#include "run/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 32

/* What the short form of a test is: the words one would type for it. */
static const struct shortened {
	const struct bench_test *test;
	const char *words[WORDS_MAX];
} shortened[] = {
	{&bench_syscall_test,
	 {"--runs=200", "loop", "getpid", "monotonic", "monotonic-raw", "read-zero", "read-file", "fgets-1",
	  "write-null", "stat", "open-close", "pipe", "mmap", "page-fault", "signal", "thread", "fork", "spawn"}},
	{&bench_switch_test, {"--runs=50", "--time=200ms", "pipe", "futex-thread", "yield", "ucontext", "bare"}},
	{&bench_sched_test, {"--runs=1", "--time=200ms"}},
	{&bench_latency_test, {"--time=2s", "--loads=none,cpu,disk"}},
	{&bench_load_test, {"--runs=2", "--loads=none,net,disk"}},
};
#define TESTS (sizeof(shortened) / sizeof(*shortened))

static const struct opt options[] = {
	{.name = "dir",
	 .arg = "DIR",
	 .parse = opt_string,
	 .offset = offsetof(struct bench_shared, dir),
	 .help = "where files are made (default: $TMPDIR, else /var/tmp)",
	 .complete = COMPLETE_DIR},
	{.name = "format",
	 .arg = "FORMAT",
	 .parse = opt_word,
	 .offset = offsetof(struct bench_shared, format),
	 .help = "text (default), markdown, or json: the saved run",
	 .complete = COMPLETE_WORDS,
	 .words = "text markdown json"},
	{.letter = 'o',
	 .name = "output",
	 .arg = "FILE",
	 .parse = opt_string,
	 .offset = offsetof(struct bench_shared, out),
	 .help = "write the result to FILE instead of standard output",
	 .complete = COMPLETE_FILE},
	{.name = "save",
	 .arg = "RUN.json",
	 .parse = opt_string,
	 .offset = offsetof(struct bench_shared, save),
	 .help = "save the run with every sample, for sctrace report",
	 .complete = COMPLETE_FILE},
	{.name = "svg",
	 .arg = "FILE",
	 .parse = opt_svg,
	 .offset = offsetof(struct bench_shared, svg),
	 .help = "draw the results of all tests below each other",
	 .complete = COMPLETE_FILE},
	{.letter = 'q',
	 .name = "quiet",
	 .parse = opt_flag,
	 .offset = offsetof(struct bench_shared, quiet),
	 .help = "no progress"},
	{0},
};
static const char *const usage[] = {"[OPTIONS]", "syscall|switch|sched|latency|load [OPTIONS] ...", NULL};
static const struct opt_command face = {
	.name = "sctrace bench",
	.usage = usage,
	.about = "What a system call, a switch, a time slice and a wake-up cost here. Without the name of a test: a "
		 "short form "
		 "of all, in less than a minute.",
	.table = options,
	.epilog = "syscall: what single operations cost\n"
		  "switch: what it costs to go from one task to another\n"
		  "sched: how processes that only compute share CPUs\n"
		  "latency: how late a task wakes up from a timer, under loads\n"
		  "load: how much slower a suite, or a command, runs under loads\n\n"
		  "Each test has a --help of its own. How to read the results: sctrace-bench(1).",
};

/* The number behind `key` (" width=\"") in the first lines of a picture; 0 where there is none. */
static int svg_number(const char *svg, const char *key)
{
	const char *p = strstr(svg, key);
	return p ? atoi(p + strlen(key)) : 0;
}

/* Puts a picture below what `all` holds: `*height` grows by it. */
static void stack_picture(struct buf *all, int *width, int *height, const char *svg)
{
	int w = svg_number(svg, " width=\"");
	int h = svg_number(svg, " height=\"");
	if (w <= 0 || h <= 0 || strncmp(svg, "<svg ", 5) != 0)
		return;
	buf_addf(all, "<svg y=\"%d\" %s", *height, svg + 5);
	*width = w > *width ? w : *width;
	*height += h;
}

/* Moves what a test found over to the page: its first table, its results, its notes. */
static void take_over(struct bench_session *s, struct bench_session *part, const char *name)
{
	size_t i;
	json_t *result;
	struct buf title = {0};
	struct buf prefix = {0};
	buf_addf(&prefix, "%s: ", name);
	buf_add(&title, part->head.s, part->head.len);
	if (title.len)
		buf_truncate(&title, title.len - 1); /* the last newline */
	if (part->parts.n) {
		bench_add_table(s, buf_str(&title), part->parts.v[0].table);
		part->parts.v[0].table = NULL;
	}
	buf_free(&title);
	json_array_foreach(run_results(part->run), i, result)
	{
		/* A pipe is an operation and a switch: names stay apart. */
		const char *short_name = json_string_value(json_object_get(result, "name"));
		json_object_set_new(result, "name", json_sprintf("%s %s", name, short_name ? short_name : "?"));
		json_object_set_new(result, "test", json_string(name));
		json_array_append(run_results(s->run), result);
	}
	json_object_set(json_object_get(s->run, "method"), name, json_object_get(part->run, "method"));
	put_lines(&s->notes, buf_str(&prefix), buf_str(&part->notes), 0);
	buf_free(&prefix);
}

/* One test; 0, or an exit status that ends all. */
static int run_one(struct bench_session *s, const struct shortened *p, struct buf *pictures, int *width, int *height)
{
	struct bench_session part;
	char *argv[WORDS_MAX + 4] = {(char *)p->test->name};
	int argc = 1;
	while (argc <= WORDS_MAX && p->words[argc - 1]) {
		argv[argc] = (char *)p->words[argc - 1];
		argc++;
	}
	argv[argc++] = "--dir";
	argv[argc++] = (char *)s->dir;
	if (s->o->quiet)
		argv[argc++] = "--quiet";
	int status = bench_measure(p->test, &part, argc, argv);
	if (status != BENCH_DONE)
		return bench_quit(&part, status);
	s->err = part.err;
	if (!s->err)
		take_over(s, &part, p->test->name);
	if (part.svg)
		stack_picture(pictures, width, height, part.svg);
	return bench_quit(&part, 0);
}

int cmd_bench_all(int argc, char **argv)
{
	struct bench_session s = {.o = calloc(1, sizeof(struct bench_shared))};
	struct buf pictures = {0};
	struct buf svg = {0};
	int first;
	int status;
	int width = 0;
	int height = 0;
	if (!s.o)
		return EXIT_OWN;
	if (!bench_parse(&face, s.o, argc, argv, &first, &status))
		return bench_quit(&s, status);
	if (first < argc) {
		diag_error("no test is called '%s'; there are syscall, switch, sched, latency and load", argv[first]);
		return bench_quit(&s, EXIT_USAGE);
	}
	status = bench_begin(&s, s.o, "bench", argc - 1, argv + 1);
	if (!status)
		json_object_set_new(s.run, "method", json_object());
	for (size_t i = 0; i < TESTS && !status && !s.err && !stop_signal(); i++)
		status = run_one(&s, &shortened[i], &pictures, &width, &height);
	buf_addf(&svg,
		 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
		 "%d\">\n%s</svg>\n",
		 width, height, width, height, buf_str(&pictures));
	s.svg = height ? buf_take(&svg) : NULL;
	buf_free(&svg);
	buf_free(&pictures);
	return status ? bench_quit(&s, status) : bench_end(&s);
}
