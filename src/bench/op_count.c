#include "bench/op_count.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/words.h"
#include "bench/stop.h"
#include "engine/engine.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * How many times an operation is executed while its system calls are counted. An operation that is faster than a system
 * call may make a call in only a few of its executions, such as when a buffer is empty, so it is executed more often.
 */
#define TIMES_FAST  8192
#define TIMES_CHEAP 128
#define TIMES_DEAR  8

/* Returns a time in ns that is shorter than any system call on this machine: 80 % of the time of the cheapest call. */
static double fast_ns(void)
{
	enum { BATCHES = 9, BATCH = 500 };
	const struct op *least = op_find("getpid-raw");
	struct op_state s = {0};
	double best = INFINITY;
	for (int i = 0; i < BATCHES; i++) {
		uint64_t from = clock_ns();
		least->once(&s, BATCH);
		best = fmin(best, (double)(clock_ns() - from) / BATCH);
	}
	return 0.8 * best;
}

uint64_t op_count_times(const struct op_result *r, double fast_ns)
{
	/* Other programs can only make an operation slower, so its shortest time tells whether it is fast. */
	double least = r->two_op_ns;
	for (size_t i = 0; i < r->ns.n; i++)
		least = fmin(least, r->ns.v[i]);
	if (r->op->cost == OP_DEAR)
		return TIMES_DEAR;
	return least < fast_ns ? TIMES_FAST : TIMES_CHEAP;
}

static void mark(size_t i, int end)
{
	syscall(SYS_close, INT_MIN + 2 * (int)i + end);
}

int op_count_run(int argc, char *const *argv)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		const struct op *op = op_find(argv[i]);
		uint64_t n = strtoull(argv[i + 1], NULL, 10);
		struct op_state s;
		auto_buf why = {0};
		if (!op)
			return -ENOENT;
		if (op_open(op, &s, argv[0], &why) == 0) {
			op->once(&s, 1); /* the first execution, which may load or allocate something, is not counted */
			mark((size_t)i / 2, 0);
			op->once(&s, n);
			mark((size_t)i / 2, 1);
			op_close(op, &s);
		}
	}
	return 0;
}

/* The state while the tracer counts the calls of the child. */
struct counting {
	struct op_result *results;
	size_t n;
	double fast;    /* the result of fast_ns() */
	size_t now;     /* index of the operation that is running; `n` if none is */
	uint64_t calls; /* number of calls since the operation began */
};

static void count_event(struct counting *c, const struct event *ev)
{
	if (ev->kind != EV_ENTER && ev->kind != EV_CALL)
		return;
	int fd = (int)ev->call.args[0];
	size_t i = ((unsigned)fd - (unsigned)INT_MIN) / 2;
	if (ev->call.nr != SYS_close || fd >= 0 || i >= c->n) {
		c->calls++;
		return;
	}
	if (!(fd & 1))
		c->now = i;
	else if (c->now == i)
		c->results[i].kernel = (double)c->calls / (double)op_count_times(&c->results[i], c->fast);
	c->calls = 0;
}

/* Returns the command line of the child. The caller frees it with words_free(). */
static char **make_words(const struct counting *c, const char *self, const char *dir)
{
	struct words words = {0};
	words_add(&words, self);
	words_add(&words, "bench");
	words_add(&words, OP_COUNT_WORD);
	words_add(&words, dir);
	for (size_t i = 0; i < c->n; i++) {
		struct buf times = {0};
		buf_addf(&times, "%llu", (unsigned long long)op_count_times(&c->results[i], c->fast));
		words_add(&words, c->results[i].op->name);
		words_take(&words, buf_take(&times));
	}
	return words_done(&words);
}

static int watch(struct engine *e, struct counting *c)
{
	for (;;) {
		struct event ev;
		int r = e->ops->next(e, &ev);
		if (r == 0)
			return 0;
		if (stop_signal()) {
			e->ops->kill(e, SIGKILL);
			return -EINTR;
		}
		if (r < 0 && r != -EINTR)
			return r;
		if (r > 0)
			count_event(c, &ev);
	}
}

int op_count_kernel(struct op_result *results, size_t n, const char *self, const char *dir, struct buf *why)
{
	const struct engine_ops *ops = engine_choose(NULL, CAP_EVENTS, why);
	if (!ops)
		return -ENOTSUP;
	struct counting c = {.results = results, .n = n, .fast = fast_ns(), .now = n};
	char **words = make_words(&c, self, dir);
	struct engine_config config = {
		.want = CAP_EVENTS,
		.spawn = {.argv = words, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1},
		.kill_on_exit = true,
	};
	struct engine *e;
	int err = ops->start(&e, &config, why);
	if (!err) {
		err = watch(e, &c);
		ops->stop(e);
	}
	words_free(words);
	return err;
}
