/* SPDX-License-Identifier: MIT */
#include "bench/results/results.h"

#include "base/buf.h"
#include "base/memory.h"
#include "bench/loads.h"
#include "bench/stop.h"
#include "measure/machine_env.h"
#include "run/judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	auto_buf b = {0};
	cpu_list_format(&b, cpus);
	field_set(&run->method.cpus, cpus->n ? buf_str(&b) : NULL);
	run->method.known = true;
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
	auto_buf without = {0};
	auto_buf why = {0};
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
}

void results_note_suite(struct run *run, const char *dir, struct buf *without)
{
	auto_buf why = {0};
	suite_find_missing(dir, without, &why);
	if (why.len)
		run_note(run,
			 "operations that cannot run on this machine are omitted from the suite, so it takes less "
			 "time: %s",
			 buf_str(&why));
}

/* What the runs of all tests have in common: their beginning and their end, and the run of all tests together. */
void results_begin(struct run *run, struct results_start *start, const char *kind, int argc, char *const *argv,
		   const char *dir)
{
	run_init(run, kind, 0, NULL);
	strings_add(&run->command, "sctrace");
	strings_add(&run->command, "bench");
	for (int i = 0; i < argc; i++)
		strings_add(&run->command, argv[i]);
	env_collect(&run->env, dir);
	env_activity_read(&start->activity);
	if (getloadavg(&start->load, 1) != 1)
		start->load = 0;
}

/*
 * Adds a note if the machine was busy when the test started, and a note if the hypervisor gave CPU time to other guests
 * during the measurement.
 */
static void note_activity(struct run *run, const struct results_start *start)
{
	struct env_activity now;
	const struct env_activity *before = &start->activity;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (start->load > 0.5 * (double)cpus)
		run_note(run, "the machine was busy at the start: load average %.2f on %ld CPUs", start->load, cpus);
	if (env_activity_read(&now) < 0)
		return;
	double steal = now.steal_s - before->steal_s;
	double all = steal + now.busy_s - before->busy_s + now.idle_s - before->idle_s;
	if (all > 0 && steal / all > 0.01)
		run_note(run, "the hypervisor gave %.1f %% of the CPU time to other guests (steal)", 100 * steal / all);
}

void results_end(struct run *run, const struct results_start *start)
{
	note_activity(run, start);
	if (stop_signal())
		run_note(run, run->subjects.n ? "interrupted: the figures cover only the time before the interruption"
					      : "interrupted before anything was measured");
	run->head.known = true;
	run->notes.known = true;
	run->interrupted = stop_signal() ? TRUTH_YES : TRUTH_NO;
	run_judge(run);
}

static struct run_method *method_of(struct run_methods *m, const char *test)
{
	const struct {
		const char *test;
		struct run_method *method;
	} all[] = {{"syscall", &m->syscall},
		   {"switch", &m->switches},
		   {"sched", &m->sched},
		   {"latency", &m->latency},
		   {"load", &m->load}};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (strcmp(all[i].test, test) == 0)
			return all[i].method;
	return NULL;
}

void results_join(struct run *whole, struct run *part, const char *test)
{
	struct run_method *to = method_of(&whole->methods, test);
	auto_buf text = {0};
	whole->methods.known = true;
	*to = part->method;
	fields_init(&run_method_fields, &part->method);
	for (size_t i = 0; i < part->head.n; i++)
		buf_addf(&text, "%s%s", i ? " " : "", part->head.v[i]); /* a heading is one line */
	texts_add(&whole->heads, test, buf_str(&text));
	for (size_t i = 0; i < part->subjects.n; i++) {
		/*
		 * Two tests can have subjects of the same name: "pipe" is an operation and a kind of switch. Therefore
		 * the name of the test is put before that of the subject.
		 */
		struct run_subject *x = &part->subjects.v[i];
		buf_clear(&text);
		buf_addf(&text, "%s %s", test, x->name);
		field_set(&x->name, buf_str(&text));
		field_set(&x->test, test);
		vec_push(&whole->subjects, *x);
		fields_init(&run_subject_fields, x); /* the subject has been moved */
	}
	for (size_t i = 0; i < part->notes.n; i++)
		run_note(whole, "%s: %s", test, part->notes.v[i]);
}
