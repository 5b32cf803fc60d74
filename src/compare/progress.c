/* The progress line on standard error: what runs, for how long, and how much time remains. */
#include "compare/compare.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/size.h"
#include "out/width.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Prints the line, escaped, and truncated to the width of the terminal. */
static void show(const struct buf *line)
{
	auto_buf shown = {0};
	struct table_look look = term_look(STDERR_FILENO);
	size_t room = look.width > 1 ? (size_t)look.width - 1 : 79;
	escape_line(&shown, buf_str(line), line->len);
	size_t columns = 0;
	size_t end = 0;
	while (end < shown.len && columns < room) {
		size_t len = escape_utf8_len(shown.s + end, shown.len - end);
		end += len ? len : 1;
		columns++;
	}
	fprintf(stderr, "\r\033[K%.*s", (int)end, buf_str(&shown));
	fflush(stderr);
}

void compare_progress_end(const struct compare *c)
{
	if (c->progress)
		fputs("\r\033[K", stderr);
}

void compare_progress_count(const struct compare *c, size_t i)
{
	if (!c->progress)
		return;
	auto_buf line = {0};
	buf_addf(&line, "counting calls, %zu of %zu: ", i + 1, c->subjects.n);
	compare_label(&line, c->subjects.v[i]);
	show(&line);
}

/*
 * Returns the mean time of the runs so far in seconds; before the first run, the time of the warm-up; before the
 * warm-up, 0.
 */
static double typical_s(const struct subject *s)
{
	double sum = 0;
	for (size_t i = 0; i < s->samples.n; i++)
		sum += (double)s->samples.v[i].wall_ns * 1e-9;
	if (s->samples.n)
		return sum / (double)s->samples.n;
	return s->has_first ? (double)s->first.wall_ns * 1e-9 : 0;
}

double compare_left_s(const struct compare *c, double elapsed_s)
{
	double due = 0;  /* time of the runs that are certainly still to come */
	double done = 0; /* time of the runs so far, including warm-ups */
	double over = 0; /* time of the runs beyond the minimum number */
	for (size_t i = 0; i < c->subjects.n; i++) {
		const struct subject *s = c->subjects.v[i];
		double one = typical_s(s);
		double ran = one * (double)s->samples.n;
		double wanted = one * c->opt.min_runs;
		double least = (double)c->opt.min_time * 1e-9;
		wanted = wanted > least ? wanted : least;
		if (s->unable)
			continue;
		done += ran + (s->has_first ? (double)s->first.wall_ns * 1e-9 : 0);
		due += wanted > ran ? wanted - ran : 0;
		over += ran > wanted ? ran - wanted : 0;
	}
	/* The time between runs (to start programs, to check copies) is added in proportion. */
	double stretch = done > 0 && elapsed_s > done ? elapsed_s / done : 1;
	double budget = c->opt.runs || c->opt.min_time ? 0 : (double)c->opt.max_time * 1e-9;
	/* After the minimum number of runs, further runs start until max_time is used up or the times are precise. */
	double beyond = budget - over * stretch;
	return due * stretch + (beyond > 0 ? beyond : 0);
}

void compare_progress_time(const struct compare *c, size_t i, int round)
{
	if (!c->progress)
		return;
	const struct subject *s = c->subjects.v[i];
	auto_buf line = {0};
	if (round < 0)
		buf_addf(&line, "warm-up, %zu of %zu: ", i + 1, c->subjects.n);
	else
		buf_addf(&line, "timed run %d, %s %.0f s left: ", round + 1,
			 c->opt.runs || c->opt.min_time ? "about" : "at most",
			 compare_left_s(c, (double)(clock_ns() - c->started_ns) * 1e-9));
	compare_label(&line, s);
	if (round >= 0 && typical_s(s) > 0) {
		buf_adds(&line, ", ");
		duration_human(&line, typical_s(s) * 1e9);
	}
	show(&line);
}
