/* `sctrace compare`: calls its steps in order, and cleans up at the end. */
#include "compare/compare.h"

#include "base/buf.h"
#include "base/diag.h"
#include "base/error.h"
#include "base/outfile.h"
#include "bench/place.h"
#include "cmd/cmd.h"
#include "cmd/display.h"
#include "cmd/put.h"
#include "run/judge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The signal that asked sctrace to end, or 0. After it, all programs are killed, and the work directory is removed. */
static volatile sig_atomic_t stop_signal;

static void on_signal(int sig)
{
	stop_signal = sig;
}

/*
 * Installs handlers. SIG_IGN cannot be used instead, because the programs that sctrace runs would inherit it across
 * execve(2). Signals that were already ignored (nohup) stay ignored.
 */
static void catch_signals(void)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction old;
	for (size_t i = 0; i < sizeof(ending) / sizeof(*ending); i++)
		if (sigaction(ending[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(ending[i], &(struct sigaction){.sa_handler = on_signal}, NULL);
	outfile_catch_signals();
	/* If the parent of sctrace ignored SIGCHLD, the kernel would not report the ends of sctrace's children. */
	sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
}

/* Ends sctrace by the signal, as if sctrace had not caught it. */
static int end_by_signal(int sig)
{
	signal(sig, SIG_DFL);
	raise(sig);
	return 128 + sig;
}

static void compare_free(struct compare *c)
{
	struct buf why = {0};
	if (work_close(&c->work, &why) < 0)
		diag_note("%s", buf_str(&why));
	buf_free(&why);
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
	if (err == -EINTR || stop_signal)
		status = 0;
	else if (err)
		put_usage_error("compare: ", why->len ? buf_str(why) : error_text(-err));
	else if (!run_fastest(&c->run) && !c->failures.n)
		diag_error("compare: all strategies failed");
	else
		status = c->failures.n ? EXIT_OWN : 0;
	for (size_t i = 0; i < c->failures.n; i++)
		put_usage_error("compare: ", c->failures.v[i]);
	if (err == -EINVAL)
		status = EXIT_USAGE;
	compare_free(c);
	return stop_signal ? end_by_signal(stop_signal) : status;
}

static int compare_run(struct compare *c, char *const *commands, size_t n)
{
	struct buf why = {0};
	struct buf uncounted = {0};
	int err = read_cpus(c, &why);
	if (!err)
		err = compare_prepare(c, commands, n, &why);
	if (!err)
		err = compare_measure(c, &uncounted, &why);
	if (uncounted.len)
		diag_note("compare: cannot count calls: %s", buf_str(&uncounted));
	buf_free(&uncounted);
	bool shown = !err && (compare_any_result(c) || !c->failures.n);
	int status = shown ? display_run(&c->run, "compare", &c->opt.show) : 0;
	if (c->interrupted)
		diag_note("interrupted: these are the figures of the runs that were completed");
	else if (err == -EINTR)
		diag_note("interrupted before anything was measured");
	int end = finish(c, err, &why);
	buf_free(&why);
	return status ? status : end;
}

static int list(const struct compare_options *o)
{
	struct buf out = {0};
	struct table_look look = display_look(&o->show);
	compare_list(&out, &look);
	int status = put_text(NULL, &out);
	buf_free(&out);
	return status;
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
		diag_error("compare: cannot write '%s': %s", output, error_text(-err));
	return err ? EXIT_OWN : status;
}

int cmd_compare(int argc, char **argv)
{
	struct compare c = {.stop = &stop_signal, .resident = -1, .other_share = -1, .steal_share = -1};
	int first;
	int status;
	int parsed = compare_parse(&c.opt, argc, argv, &first, &status);
	if (parsed == 0 && c.opt.list)
		status = list(&c.opt);
	else if (parsed == 0) {
		status = check_files(&c.opt);
	}
	if (parsed < 0 || c.opt.list || status) {
		compare_options_free(&c.opt);
		return status;
	}
	catch_signals();
	run_init(&c.run, "compare", argc, argv);
	c.work.stop = &stop_signal;
	c.progress = isatty(STDERR_FILENO) && !c.opt.show_output;
	c.null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	return compare_run(&c, argv + first, (size_t)(argc - first));
}
