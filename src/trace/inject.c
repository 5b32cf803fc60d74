/* SPDX-License-Identifier: MIT */
#include "trace/inject.h"

#include "base/buf.h"
#include "base/memory.h"
#include "base/size.h"
#include "base/words.h"
#include "decode/decode.h"
#include "trace/select.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static int set_result(struct trace_inject *r, int64_t result, struct buf *why)
{
	if (r->tamper.set_result) {
		buf_adds(why, "error and retval cannot be used together, because a call has one result");
		return -EINVAL;
	}
	r->tamper.set_result = true;
	r->tamper.result = result;
	return 0;
}

static int set_error(struct trace_inject *r, const char *value, struct buf *why)
{
	int64_t number;
	int err = decode_errno_number(value);
	if (err < 0 && number_parse(value, 1, 4095, &number) == 0)
		err = (int)number;
	if (err < 0) {
		buf_addf(why, "'%s' is not an error; write for example ENOSPC, or a number from 1 to 4095", value);
		return -EINVAL;
	}
	return set_result(r, -err, why);
}

static int set_retval(struct trace_inject *r, const char *value, struct buf *why)
{
	char *end;
	errno = 0;
	long long n = strtoll(value, &end, 0);
	if (!*value || *end || errno) {
		buf_addf(why, "'%s' is not a valid result; write a number", value);
		return -EINVAL;
	}
	return set_result(r, n, why);
}

static int set_signal(struct trace_inject *r, const char *value, struct buf *why)
{
	int64_t number;
	int sig = decode_signal_number(value);
	if (sig < 0 && number_parse(value, 1, 64, &number) == 0)
		sig = (int)number;
	if (sig < 1) {
		buf_addf(why, "'%s' is not a signal; write for example SIGTERM, or a number", value);
		return -EINVAL;
	}
	r->tamper.signal = sig;
	return 0;
}

static int parse_delay(const char *value, uint64_t *ns, struct buf *why)
{
	if (duration_parse(value, ns) == 0)
		return 0;
	buf_addf(why, "'%s' is not a valid delay; write for example 100 (microseconds), 5ms or 1s", value);
	return -EINVAL;
}

static int set_delay_enter(struct trace_inject *r, const char *value, struct buf *why)
{
	return parse_delay(value, &r->tamper.delay_enter_ns, why);
}

static int set_delay_exit(struct trace_inject *r, const char *value, struct buf *why)
{
	return parse_delay(value, &r->tamper.delay_exit_ns, why);
}

/* Parses the value of when=: N, N+, N+STEP, N..M, N..M+STEP. */
static int set_when(struct trace_inject *r, const char *value, struct buf *why)
{
	char *end;
	r->first = strtoul(value, &end, 10);
	r->last = r->first;
	r->step = 1;
	bool ok = end != value && r->first > 0 && value[0] != '-';
	if (ok && strncmp(end, "..", 2) == 0) {
		const char *m = end + 2;
		r->last = strtoul(m, &end, 10);
		ok = end != m && r->last >= r->first;
	} else if (ok && *end == '+')
		r->last = 0;
	if (ok && *end == '+') {
		const char *k = end + 1;
		r->step = *k ? strtoul(k, &end, 10) : 1;
		end = *k ? end : end + 1;
		ok = r->step > 0;
	}
	if (ok && !*end)
		return 0;
	buf_addf(why,
		 "'%s' does not select calls; write for example 3 (the third), 3+ (from the third on), 3+2 (every "
		 "second from the third on) or 3..7",
		 value);
	return -EINVAL;
}

static const struct {
	const char *name;
	int (*set)(struct trace_inject *r, const char *value, struct buf *why);
} actions[] = {
	{"error", set_error},           {"retval", set_retval},
	{"signal", set_signal},         {"delay_enter", set_delay_enter},
	{"delay_exit", set_delay_exit}, {"when", set_when},
};

#define ACTIONS (sizeof(actions) / sizeof(*actions))

static int apply(struct trace_inject *r, char *word, struct buf *why)
{
	char *value = strchr(word, '=');
	if (value)
		*value++ = '\0';
	struct near near = {.word = word};
	for (size_t i = 0; i < ACTIONS; i++) {
		near_offer(&near, actions[i].name);
		if (strcmp(actions[i].name, word) != 0)
			continue;
		if (value)
			return actions[i].set(r, value, why);
		buf_addf(why, "'%s' needs a value", word);
		return -EINVAL;
	}
	buf_addf(why, "'%s' is not an action", word);
	near_say(&near, "", why);
	for (size_t i = 0; !near.n && i < ACTIONS; i++)
		buf_addf(why, "%s %s", i ? "," : "; the actions are", actions[i].name);
	return -EINVAL;
}

static int parse_rule(struct trace_inject *r, const char *text, size_t *at, struct buf *why)
{
	auto_buf word = {0};
	size_t len = strcspn(text, ":");
	buf_add(&word, text, len);
	r->set = memory_copy(buf_str(&word));
	int err = filter_parse(&r->calls, buf_str(&word), at, why);
	while (err == 0 && text[len]) {
		size_t begin = len + 1;
		len = begin + strcspn(text + begin, ":");
		*at = begin;
		auto_free char *copy = memory_copy_part(text + begin, len - begin);
		err = apply(r, copy, why);
	}
	return err;
}

/* Adds one rule. Returns 0, or -EINVAL with the reason in `why` and the offset of the mistake in *at. */
static int add_rule(struct trace_injects *all, const char *text, bool fault, size_t *at, struct buf *why)
{
	struct trace_inject *r = memory_zeroed(1, sizeof(*r));
	vec_push(&all->rules, r);
	r->first = r->step = 1;
	int err = parse_rule(r, text, at, why);
	if (err < 0)
		return err;
	const struct engine_tamper *t = &r->tamper;
	if (fault && !t->set_result) {
		r->tamper.set_result = true;
		r->tamper.result = -ENOSYS;
	} else if (!t->set_result && !t->signal && !t->delay_enter_ns && !t->delay_exit_ns) {
		*at = strlen(text);
		buf_adds(why, "no action was given; add for example :error=ENOSPC, :retval=0, :signal=TERM, "
			      ":delay_enter=1ms or :delay_exit=1ms");
		return -EINVAL;
	}
	return 0;
}

int trace_inject_parse(struct trace_injects *all, const char *name, size_t len, const char *value, size_t *at,
		       struct buf *why)
{
	bool fault = len == 5 && memcmp(name, "fault", 5) == 0;
	if (!fault && (len != 6 || memcmp(name, "inject", 6) != 0))
		return 0;
	int r = add_rule(all, value, fault, at, why);
	return r < 0 ? r : 1;
}

/* Counts the call for thread `tid`. Returns true if the rule applies to this call. */
static bool due(struct trace_inject *r, pid_t tid, const struct call *c)
{
	struct map *calls = map_get(&r->threads, (uint64_t)tid);
	uint64_t key = (uint64_t)c->arch << 32 | (uint32_t)c->nr;
	if (!calls)
		map_put(&r->threads, (uint64_t)tid, calls = memory_zeroed(1, sizeof(*calls)));
	uintptr_t n = (uintptr_t)map_get(calls, key) + 1;
	map_put(calls, key, (void *)n);
	return n >= r->first && (!r->last || n <= r->last) && (n - r->first) % r->step == 0;
}

bool trace_inject_ask(void *ctx, const struct event *enter, struct engine_tamper *t)
{
	struct trace_injects *all = ctx;
	if (enter->launch)
		return false;
	for (size_t i = all->rules.n; i-- > 0;) {
		struct trace_inject *r = all->rules.v[i];
		if (!filter_takes(&r->calls, &enter->call))
			continue;
		*t = r->tamper;
		r->met = true;
		return due(r, enter->tid, &enter->call);
	}
	return false;
}

void trace_injects_stops(const struct trace_injects *all, struct call_set *stops)
{
	for (size_t k = 0; k < all->rules.n; k++)
		for (size_t i = 0; i < sizeof(stops->bits) / sizeof(*stops->bits); i++)
			stops->bits[i] |= all->rules.v[k]->calls.native[i];
}

void trace_injects_hint(const struct trace_injects *all, struct buf *out)
{
	for (size_t i = 0; i < all->rules.n && !out->len; i++)
		if (!all->rules.v[i]->met)
			trace_set_hint(all->rules.v[i]->set, out);
}

static void forget(struct trace_inject *r, pid_t tid)
{
	auto_free struct map *calls = map_remove(&r->threads, (uint64_t)tid);
	if (calls)
		map_free(calls);
}

void trace_injects_forget(struct trace_injects *all, pid_t tid)
{
	for (size_t i = 0; i < all->rules.n; i++)
		forget(all->rules.v[i], tid);
}

void trace_injects_free(struct trace_injects *all)
{
	struct map *calls;
	for (size_t i = 0; i < all->rules.n; i++) {
		filter_free(&all->rules.v[i]->calls);
		free(all->rules.v[i]->set);
		for (size_t k = 0; (calls = map_next(&all->rules.v[i]->threads, &k, NULL));) {
			map_free(calls);
			free(calls);
		}
		map_free(&all->rules.v[i]->threads);
		free(all->rules.v[i]);
	}
	vec_free(&all->rules);
}
