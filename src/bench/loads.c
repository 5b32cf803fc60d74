/* SPDX-License-Identifier: MIT */
#include "bench/loads.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/memory.h"
#include "base/size.h"
#include "base/words.h"
#include "bench/op.h"
#include "bench/stop.h"
#include "measure/sample.h"
#include "run/run.h"
#include "stats/random.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_WORK_NS (30 * NSEC_PER_SEC) /* a load that has done no work after this time has failed */

static const struct load_kind *find(const char *name)
{
	for (size_t i = 0; load_kind_at(i); i++)
		if (strcmp(load_kind_at(i)->name, name) == 0)
			return load_kind_at(i);
	return NULL;
}

/* Appends why `word`, a part of the load `l`, is wrong. */
static void say_wrong(const struct load *l, const char *word, struct buf *why)
{
	struct near near = {.word = word};
	if (strcmp(word, "none") == 0) {
		buf_addf(why, "'%s' joins 'none' with another load; 'none' can only stand alone", l->name);
		return;
	}
	buf_addf(why, "there is no load '%s'; choose from none", word);
	near_offer(&near, "none");
	for (size_t i = 0; load_kind_at(i); i++) {
		buf_addf(why, ", %s", load_kind_at(i)->name);
		near_offer(&near, load_kind_at(i)->name);
	}
	buf_adds(why, "; join several with +");
	near_say(&near, "", why);
}

/* Adds the part `word` to the load. Returns 0, or -EINVAL with the reason in `why`. */
static int add_part(struct load *l, const char *word, struct buf *why)
{
	const struct load_kind *k = find(word);
	bool twice = false;
	for (size_t i = 0; i < l->parts; i++)
		twice |= l->kind[i] == k;
	if (k && !twice && l->parts < LOAD_PARTS) {
		l->kind[l->parts++] = k;
		return 0;
	}
	if (!k)
		say_wrong(l, word, why);
	else if (twice)
		buf_addf(why, "'%s' joins the load '%s' with itself", l->name, word);
	else
		buf_addf(why, "'%s' joins more than %d loads", l->name, LOAD_PARTS);
	return -EINVAL;
}

int load_parse(struct load *l, const char *name, struct buf *why)
{
	int rc = 0;
	*l = (struct load){.name = name};
	if (strcmp(name, "none") == 0)
		return 0;
	for (const char *p = name; p && rc == 0; p = strchr(p, '+') ? strchr(p, '+') + 1 : NULL) {
		auto_free char *word = memory_copy_part(p, strcspn(p, "+"));
		rc = add_part(l, word, why);
	}
	return rc;
}

int load_list_parse(struct load_list *l, const char *text, struct buf *why)
{
	l->n = 0;
	for (const char *p = text; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		if (l->n == LOADS_MAX) {
			buf_addf(why, "there are more than %d loads", LOADS_MAX);
			return -EINVAL;
		}
		snprintf(l->names[l->n], sizeof(l->names[0]), "%.*s", (int)strcspn(p, ","), p);
		if (load_parse(&l->v[l->n], l->names[l->n], why) < 0)
			return -EINVAL;
		for (size_t i = 0; i < l->n; i++)
			if (strcmp(l->names[i], l->names[l->n]) == 0) {
				buf_addf(why, "the load '%s' is named twice; use --runs for several runs", l->names[i]);
				return -EINVAL;
			}
		l->n++;
	}
	return 0;
}

void load_describe(struct buf *out)
{
	buf_addf(out, "%-8s %s\n", "none", "no additional load");
	for (size_t i = 0; load_kind_at(i); i++)
		buf_addf(out, "%-8s %s\n", load_kind_at(i)->name, load_kind_at(i)->about);
}

static int start_part(struct load *l, size_t part, const char *dir, struct kid_guard *guard)
{
	const struct load_kind *k = l->kind[part];
	struct load_board *b = kid_share(sizeof(*b));
	l->board[part] = b;
	long n = k->per_cpu ? sysconf(_SC_NPROCESSORS_ONLN) : 1;
	for (long i = 0; i < n && l->nkids < LOAD_KIDS; i++) {
		pid_t kid = kid_fork();
		if (kid < 0)
			return kid;
		if (kid == 0) {
			close(guard->fd); /* with a copy of this descriptor open, the guard would not notice the exit
					   * of sctrace */
			k->run(b, dir);
			_exit(1);
		}
		l->kids[l->nkids++] = kid;
		kid_guard_tell(guard, kid);
	}
	return 0;
}

static void end_all(struct load *l, struct kid_guard *guard)
{
	for (size_t i = 0; i < l->nkids; i++) {
		kid_kill(l->kids[i]);
		kid_guard_tell(guard, -l->kids[i]);
	}
	l->nkids = 0;
	for (size_t i = 0; i < l->parts; i++) {
		if (l->board[i])
			munmap(l->board[i], sizeof(*l->board[i]));
		l->board[i] = NULL;
	}
}

/* Waits until part number `part` of the load has done some work. Returns 0, or -errno with the reason in `why`. */
static int wait_for_work(const struct load *l, size_t part, struct buf *why)
{
	const struct load_board *b = l->board[part];
	uint64_t start = clock_ns();
	while (!b->work) {
		if (stop_signal())
			return -EINTR;
		if (b->why[0]) {
			buf_addf(why, "the load '%s' cannot run on this machine: %s", l->kind[part]->name, b->why);
			return -EIO;
		}
		if (clock_ns() - start > FIRST_WORK_NS) {
			buf_addf(why, "the load '%s' did no work for half a minute", l->kind[part]->name);
			return -ETIMEDOUT;
		}
		clock_sleep_ns(1000000);
	}
	return 0;
}

int load_start(struct load *l, const char *dir, struct kid_guard *guard, struct buf *why)
{
	int err = 0;
	l->nkids = 0;
	for (size_t i = 0; i < l->parts && !err; i++) {
		err = start_part(l, i, dir, guard);
		if (err)
			buf_addf(why, "cannot start the load '%s': %s", l->kind[i]->name, diag_error_text(-err));
	}
	for (size_t i = 0; i < l->parts && !err; i++)
		err = wait_for_work(l, i, why);
	if (err)
		end_all(l, guard);
	l->mark_ns = clock_ns();
	for (size_t i = 0; i < l->parts && !err; i++)
		l->start_work[i] = l->board[i]->work;
	return err;
}

int load_stop(struct load *l, struct kid_guard *guard, struct buf *why)
{
	int err = 0;
	l->span_ns += clock_ns() - l->mark_ns;
	for (size_t i = 0; i < l->parts; i++) {
		uint64_t done = l->board[i]->work - l->start_work[i];
		l->work[i] += done;
		if (l->board[i]->why[0])
			buf_addf(why, "%sthe load '%s' stopped early: %s", err ? "; " : "", l->kind[i]->name,
				 l->board[i]->why);
		else if (!done)
			buf_addf(why, "%sthe load '%s' did no work", err ? "; " : "", l->kind[i]->name);
		else
			continue;
		err = -EIO;
	}
	end_all(l, guard);
	return err;
}

int load_begin(struct load *l, const char *dir, struct kid_guard *guard, struct run *run)
{
	auto_buf why = {0};
	int err = load_start(l, dir, guard, &why);
	if (why.len)
		run_note(run, "%s was not measured: %s", l->name, buf_str(&why));
	return err;
}

void load_end(struct load *l, struct kid_guard *guard, struct run *run)
{
	auto_buf why = {0};
	if (load_stop(l, guard, &why) < 0 && run)
		run_note(run, "in at least one run, %s", buf_str(&why));
}

/* The table of background loads, and the work that each of them does. */
#define MIB          (UINT64_C(1) << 20)
#define DISK_FILE    (512 * MIB)
#define MEMORY_BYTES (64 * MIB)
#define PACKET_BYTES 64
#define SUITE_CHEAP  100

static void give_up(struct load_board *b, const char *what)
{
	snprintf(b->why, sizeof(b->why), "%s: %s", what, strerror(errno));
}

static void run_cpu(struct load_board *b, const char *dir)
{
	(void)dir;
	for (;;) {
		for (int i = 0; i < 1000000; i++)
			__asm__ volatile("" ::: "memory");
		atomic_fetch_add_explicit(&b->work, 1, memory_order_relaxed);
	}
}

/* Writes 1 MiB. Returns false, with errno, if this fails; a short write alone sets no errno. */
static bool write_block(int fd, const char *block, uint64_t at)
{
	ssize_t n = 1;
	for (size_t done = 0; done < MIB && n > 0; done += (size_t)n)
		n = pwrite(fd, block + done, MIB - done, (off_t)(at + done));
	return n > 0;
}

/* Writes a file of 512 MiB in blocks of 1 MiB, and flushes the file to the device, again and again. */
static void run_disk(struct load_board *b, const char *dir)
{
	struct statvfs fs;
	if (statvfs(dir, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize < 2 * DISK_FILE) {
		snprintf(b->why, sizeof(b->why),
			 "less than 1 GiB is free on the file system; choose another directory with --dir");
		return;
	}
	auto_free char *block = memory_get(MIB);
	int fd = op_nameless_file(dir);
	const char *failed = fd < 0 ? "cannot create a file" : NULL;
	memset(block, 0x5a, MIB);
	while (!failed) {
		for (uint64_t at = 0; at < DISK_FILE && !failed; at += MIB)
			if (write_block(fd, block, at))
				atomic_fetch_add(&b->work, 1);
			else
				failed = "write";
		if (!failed && (fdatasync(fd) < 0 || ftruncate(fd, 0) < 0))
			failed = "fdatasync";
	}
	give_up(b, failed);
}

/* Sends small datagrams to itself as fast as possible, and counts those that arrive. */
static void run_net(struct load_board *b, const char *dir)
{
	(void)dir;
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(to);
	char packet[PACKET_BYTES] = {0};
	int in = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (in < 0 || bind(in, (struct sockaddr *)&to, sizeof(to)) < 0 ||
	    getsockname(in, (struct sockaddr *)&to, &len) < 0) {
		give_up(b, "cannot open a socket on 127.0.0.1");
		return;
	}
	pid_t parent = getpid();
	pid_t sender = fork();
	if (sender < 0) {
		give_up(b, "fork");
		return;
	}
	if (sender == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == parent)
			for (int i = 0; i < 1000; i++)
				sendto(in, packet, sizeof(packet), 0, (struct sockaddr *)&to, sizeof(to));
		_exit(0);
	}
	for (;;)
		if (recv(in, packet, sizeof(packet), 0) > 0)
			atomic_fetch_add_explicit(&b->work, 1, memory_order_relaxed);
}

static void run_fork(struct load_board *b, const char *dir)
{
	(void)dir;
	for (;;) {
		pid_t pid = fork();
		if (pid == 0)
			_exit(0);
		if (pid < 0) {
			give_up(b, "fork");
			return;
		}
		waitpid(pid, NULL, 0);
		atomic_fetch_add(&b->work, 1);
	}
}

static void run_memory(struct load_board *b, const char *dir)
{
	(void)dir;
	char *p = mmap(NULL, 2 * MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) {
		give_up(b, "mmap");
		return;
	}
	memset(p, 1, MEMORY_BYTES);
	for (size_t from = 0;; from ^= MEMORY_BYTES)
		for (size_t at = 0; at < MEMORY_BYTES; at += MIB) {
			memcpy(p + (from ^ MEMORY_BYTES) + at, p + from + at, MIB);
			atomic_fetch_add(&b->work, 1);
		}
}

/* Returns true if the list `without` contains the name of `op`. */
static bool suite_is_without(const char *without, const struct op *op)
{
	size_t len = strlen(op->name);
	for (const char *p = without; *p; p += *p == ',') {
		size_t n = strcspn(p, ",");
		if (n == len && strncmp(p, op->name, n) == 0)
			return true;
		p += n;
	}
	return false;
}

/* Runs the operations of `bench syscall` in turn, except those that cannot run on this machine. */
static void run_suite(struct load_board *b, const char *dir)
{
	auto_buf without = {0};
	auto_buf why = {0};
	suite_find_missing(dir, &without, &why);
	buf_clear(&why);
	for (size_t i = 0;; i = op_at(i + 1) ? i + 1 : 0) {
		const struct op *op = op_at(i);
		struct op_state s;
		uint64_t n = op->cost == OP_DEAR ? 1 : SUITE_CHEAP;
		if (suite_is_without(buf_str(&without), op))
			continue;
		if (op_open(op, &s, dir, &why) < 0)
			break;
		op->once(&s, n);
		op_close(op, &s);
		atomic_fetch_add(&b->work, n);
	}
	snprintf(b->why, sizeof(b->why), "%s", buf_str(&why));
}

static const struct load_kind kinds[] = {
	{"cpu", "CPU-bound processes, one for each CPU", "Mloops", 1, run_cpu},
	{"disk", "repeated writes of 512 MiB in blocks of 1 MiB", "MiB", 0, run_disk},
	{"net", "small datagrams through the loopback device, as fast as possible", "packets", 0, run_net},
	{"fork", "processes that start and end", "forks", 0, run_fork},
	{"memory", "processes that copy 64 MiB back and forth, one for each CPU", "MiB", 1, run_memory},
	{"suite", "the operations of bench syscall, one after the other", "operations", 0, run_suite},
};

const struct load_kind *load_kind_at(size_t i)
{
	return i < sizeof(kinds) / sizeof(*kinds) ? &kinds[i] : NULL;
}

/*
 * How many times the suite executes each operation, which takes about half a second in total. These numbers must never
 * change, because users compare saved runs of different kernels.
 */
#define TIMES_CHEAP 20000
#define TIMES_DEAR  60

void suite_find_missing(const char *dir, struct buf *without, struct buf *why)
{
	for (size_t i = 0; op_at(i); i++) {
		const struct op *op = op_at(i);
		struct op_state s;
		auto_buf missing = {0};
		if (op_open(op, &s, dir, &missing) == 0)
			op_close(op, &s);
		else {
			buf_addf(without, "%s%s", without->len ? "," : "", op->name);
			buf_addf(why, "%s%s (%s)", why->len ? ", " : "", op->name, buf_str(&missing));
		}
	}
}

/* Runs the operation `op` TIMES_CHEAP or TIMES_DEAR times. Returns 0, or -errno with the reason in `why`. */
static int run_op(const struct op *op, const char *dir, struct buf *why)
{
	struct op_state s;
	auto_buf missing = {0};
	int err = op_open(op, &s, dir, &missing);
	if (err)
		buf_addf(why, "the operation %s of the suite cannot run any more: %s", op->name, buf_str(&missing));
	if (err)
		return err;
	op->once(&s, op->cost == OP_DEAR ? TIMES_DEAR : TIMES_CHEAP);
	if (s.wrong) {
		buf_addf(why, "the operation %s of the suite does not work correctly on this machine", op->name);
		err = -EIO;
	}
	op_close(op, &s);
	return err;
}

int suite_run(const char *dir, uint64_t times, const char *without, struct buf *why)
{
	for (uint64_t t = 0; t < times; t++)
		for (size_t i = 0; op_at(i); i++) {
			int err = suite_is_without(without, op_at(i)) ? 0 : run_op(op_at(i), dir, why);
			if (err)
				return err;
		}
	return 0;
}

/* A measurement of `bench load`. */
struct timing {
	const struct slowdown_plan *plan;
	struct sample_spec spec;
	struct kid_guard guard;
	struct run *run;
	struct buf *why;
};

static void keep(struct slowdown_row *row, const struct sample *m)
{
	vec_push(&row->wall, (double)m->wall_ns * 1e-9);
	vec_push(&row->user, (double)m->user_ns * 1e-9);
	vec_push(&row->system, (double)m->system_ns * 1e-9);
}

/* Returns 0, or -ECANCELED with the reason if the suite or the command has failed and must not fail. */
static int check_status(const struct timing *t, int status)
{
	const char *what = t->plan->command ? "the command" : "the suite";
	if (status == 0 || t->plan->ignore_failure)
		return 0;
	if (WIFSIGNALED(status))
		buf_addf(t->why, "%s was killed by signal %d (%s), so its time is not valid", what, WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else
		buf_addf(t->why, "%s exited with status %d, so its time is not valid", what, WEXITSTATUS(status));
	if (t->plan->command)
		buf_adds(t->why, "; use --ignore-failure to accept it");
	return -ECANCELED;
}

/* Runs the suite or the command once under one load. Returns 0, or -errno, which ends the test. */
static int time_once(struct timing *t, struct slowdown_row *row)
{
	struct sample m;
	int err = load_begin(row->load, t->plan->dir, &t->guard, t->run);
	if (err)
		return err == -EINTR ? err : 0;
	err = sample_take(&t->spec, &m, t->why);
	load_end(row->load, &t->guard, err ? NULL : t->run);
	if (!err)
		err = check_status(t, m.status);
	if (!err)
		keep(row, &m);
	return err;
}

/* Measures in rounds: each round has all loads in a new random order. Returns 0 or -errno. */
static int time_all(struct timing *t, struct slowdown_row *rows, size_t n)
{
	struct rng rng;
	size_t order[LOADS_MAX];
	struct progress progress = t->plan->progress;
	int err = kid_guard_open(&t->guard);
	rng_seed(&rng, t->plan->seed);
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	progress.all = (double)n * t->plan->runs;
	for (int run = 0; run < t->plan->runs && !err; run++) {
		rng_shuffle(&rng, order, n);
		for (size_t i = 0; i < n && !err && !stop_signal(); i++, progress.done++) {
			progress.what = rows[order[i]].load->name;
			progress_show(&progress);
			err = time_once(t, &rows[order[i]]);
		}
	}
	kid_guard_close(&t->guard);
	return err;
}

/*
 * Finds out how often the suite must run to take about the requested time, and sets *times. This first run also warms
 * up the caches. Returns 0 or -errno.
 */
static int find_times(const struct timing *t, uint64_t *times)
{
	struct sample m;
	progress_say(&t->plan->progress, "once to warm up");
	*times = 1;
	int err = sample_take(&t->spec, &m, t->why);
	if (!err)
		err = check_status(t, m.status);
	if (err || !t->plan->time_ns)
		return err;
	*times = (t->plan->time_ns + m.wall_ns / 2) / (m.wall_ns + 1);
	if (*times >= 1)
		return 0;
	buf_adds(t->why, "--time is too short for the suite, which takes ");
	duration_human(t->why, (double)m.wall_ns);
	buf_adds(t->why, " to run once");
	return -ERANGE;
}

int slowdown_measure(const struct slowdown_plan *plan, struct slowdown_row *rows, size_t n, uint64_t *times,
		     struct run *run, struct buf *why)
{
	char count[32] = "1";
	char *suite[] = {(char *)plan->self,    "bench", SUITE_WORD, (char *)plan->dir, count,
			 (char *)plan->without, NULL};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	/* The standard error of the suite is not redirected, so that the user sees why the suite has failed. */
	struct timing t = {
		.plan = plan,
		.spec = {.argv = plan->command ? plan->command : suite,
			 .stdin_fd = null,
			 .stdout_fd = plan->show_output ? -1 : null,
			 .stderr_fd = plan->show_output || !plan->command ? -1 : null,
			 .cpus = plan->cpus,
			 .ncpus = plan->ncpus,
			 .stop = stop_flag()},
		.run = run,
		.why = why,
	};
	int err = find_times(&t, times);
	snprintf(count, sizeof(count), "%llu", (unsigned long long)*times);
	if (!err)
		err = time_all(&t, rows, n);
	if (null >= 0)
		close(null);
	return err;
}

void slowdown_rows_free(struct slowdown_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		vec_free(&rows[i].wall);
		vec_free(&rows[i].user);
		vec_free(&rows[i].system);
	}
}
