#include "bench/results/common.h"

#include "base/buf.h"
#include "base/memory.h"
#include "bench/stop.h"
#include "bench/suite.h"
#include "measure/env.h"

#include <stdio.h>
#include <string.h>

struct run_subject *results_add(struct run *run, const char *name, const char *unit, const double *samples, size_t n)
{
	struct run_subject *to = run_add_subject(run, name, unit);
	for (size_t i = 0; i < n; i++)
		reals_add(&to->samples[METRIC_TIME], strcmp(unit, "ns") == 0 ? samples[i] / 1e9 : samples[i]);
	return to;
}

void results_say_cpus(struct buf *out, const struct cpu_list *cpus)
{
	buf_adds(out, cpus->n ? "CPU " : "any CPU");
	cpu_list_format(out, cpus);
}

void results_set_cpus(struct run *run, const struct cpu_list *cpus)
{
	struct buf b = {0};
	cpu_list_format(&b, cpus);
	field_set(&run->method.cpus, cpus->n ? buf_str(&b) : NULL);
	run->method.known = true;
	buf_free(&b);
}

void results_note_shortage(struct run *run, const char *test, size_t samples, const struct buf *rows)
{
	if (rows->len && !stop_signal())
		run_note(run,
			 "there was no time for %zu samples: only %s were taken; run sctrace bench %s with a longer "
			 "--time",
			 samples, buf_str(rows), test);
}

void results_add_work(struct run_subject *to, const struct load *load)
{
	for (size_t i = 0; i < load->parts; i++) {
		char key[64];
		snprintf(key, sizeof(key), "%s_%s", load->kind[i]->name, load->kind[i]->unit);
		numbers_add(&to->load_work, key, (double)load->work[i]);
	}
	to->load_span_s = (double)load->span_ns * 1e-9;
}

static bool has_kind(const struct load *loads, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < loads[i].parts; k++)
			if (strcmp(loads[i].kind[k]->name, name) == 0)
				return true;
	return false;
}

void results_note_loads(struct run *run, const char *dir, const struct load *loads, size_t n)
{
	struct env_fs fs;
	struct buf without = {0};
	struct buf why = {0};
	if (has_kind(loads, n, "disk") && env_fs_read(dir, &fs) == 0 && fs.in_memory)
		run_note(run,
			 "'%s' is in memory (%s), so the load 'disk' did not reach a device; choose another "
			 "directory with --dir",
			 dir, fs.mount.type);
	if (has_kind(loads, n, "suite"))
		suite_find_missing(dir, &without, &why);
	if (why.len)
		run_note(run, "operations that cannot run on this machine are omitted from the load 'suite': %s",
			 buf_str(&why));
	buf_free(&without);
	buf_free(&why);
}

void results_note_suite(struct run *run, const char *dir, struct buf *without)
{
	struct buf why = {0};
	suite_find_missing(dir, without, &why);
	if (why.len)
		run_note(run,
			 "operations that cannot run on this machine are omitted from the suite, so it takes less "
			 "time: %s",
			 buf_str(&why));
	buf_free(&why);
}
