/* SPDX-License-Identifier: MIT */
#include "stats/summary.h"

#include "base/memory.h"
#include "syscall/call_table.h"
#include "syscall/uring_ops.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The number of rows is limited, because a program may use any call numbers. The others share one row. */
enum { UNKNOWN_MAX = 4096, ERRNOS_MAX = 10000 };

static void group_free(struct summary_group *g)
{
	for (size_t i = 0; i < g->calls.n; i++) {
		hist_free(&g->calls.v[i]->hist);
		free(g->calls.v[i]);
	}
	vec_free(&g->calls);
	vec_free(&g->errnos);
	map_free(&g->index);
	free(g->name);
	free(g);
}

void summary_free(struct summary *s)
{
	for (size_t i = 0; i < s->groups.n; i++)
		group_free(s->groups.v[i]);
	vec_free(&s->groups);
	*s = (struct summary){0};
}

void summary_clear(struct summary *s)
{
	for (size_t i = 0; i < s->groups.n; i++) {
		struct summary_group *g = s->groups.v[i];
		for (size_t k = 0; k < g->calls.n; k++) {
			struct call_stats *c = g->calls.v[k];
			hist_free(&c->hist);
			*c = (struct call_stats){.arch = c->arch, .nr = c->nr};
		}
		g->errnos.n = 0;
		g->unfinished_ns = 0;
	}
}

static struct summary_group *group_new(struct summary *s, const char *name, int64_t id)
{
	struct summary_group *g = memory_zeroed(1, sizeof(*g));
	g->name = memory_copy(name);
	g->id = id;
	vec_push(&s->groups, g);
	return g;
}

struct summary_group *summary_group(struct summary *s, const char *name, int64_t id)
{
	for (size_t i = s->groups.n; i-- > 0;)
		if (s->groups.v[i]->id == id && strcmp(s->groups.v[i]->name, name) == 0)
			return s->groups.v[i];
	return s->groups.n < SUMMARY_GROUPS_MAX ? group_new(s, name, id) : summary_others(s);
}

struct summary_group *summary_others(struct summary *s)
{
	/* Called only if there are SUMMARY_GROUPS_MAX groups already. The shared group is the one after these. */
	if (s->groups.n > SUMMARY_GROUPS_MAX)
		return s->groups.v[SUMMARY_GROUPS_MAX];
	return group_new(s, "(all others)", -1);
}

/*
 * Returns the key of a call for the map. The low bits of `arch` are the ELF machine and the others are flags, so
 * different pairs of `arch` and `nr` get different keys in practice.
 */
static uint64_t call_key(uint32_t arch, int64_t nr)
{
	return (uint64_t)nr ^ (uint64_t)arch << 32;
}

struct call_stats *summary_call(struct summary *s, struct summary_group *g, uint32_t arch, int64_t nr)
{
	struct call_stats *c = map_get(&g->index, call_key(arch, nr));
	if (c)
		return c;
	if (nr != SYSCALL_OTHERS && arch != SYSCALL_URING_ARCH && !syscall_name_known(arch, nr) &&
	    s->unknown++ >= UNKNOWN_MAX) {
		s->unknown = UNKNOWN_MAX;
		return summary_call(s, g, arch, SYSCALL_OTHERS);
	}
	c = memory_zeroed(1, sizeof(*c));
	map_put(&g->index, call_key(arch, nr), c);
	vec_push(&g->calls, c);
	c->arch = arch;
	c->nr = nr;
	return c;
}

void summary_errno(struct summary *s, struct summary_group *g, const struct call_errno *e)
{
	for (size_t i = 0; i < g->errnos.n; i++) {
		struct call_errno *x = &g->errnos.v[i];
		if (x->arch == e->arch && x->nr == e->nr && x->err == e->err) {
			x->count += e->count;
			return;
		}
	}
	struct call_errno new = *e;
	if (g->errnos.n >= ERRNOS_MAX && e->nr != SYSCALL_OTHERS) {
		new.nr = SYSCALL_OTHERS; /* the shared rows need no limit: there is one for each error number */
		summary_errno(s, g, &new);
	} else
		vec_push(&g->errnos, new);
}

static void note_spread(struct call_stats *c, double spread_ns)
{
	if (spread_ns > c->spread_ns)
		c->spread_ns = spread_ns;
}

static void record_returned(struct call_stats *c, const struct call_outcome *o)
{
	double own = o->ns - o->cost_ns;
	double shown = own > 0 ? own : 0;
	if (!c->returned || shown < c->min_ns)
		c->min_ns = shown;
	if (!c->returned || shown > c->max_ns)
		c->max_ns = shown;
	c->returned++;
	c->ns += o->ns;
	call_stats_charge(c, 1, o->cost_ns, o->spread_ns);
	c->ns_squared += own * own;
	c->bytes += o->bytes;
	c->judged += o->wait != WAIT_UNKNOWN;
	if (o->wait == WAIT_YES) {
		c->waits++;
		c->waited_ns += shown;
	}
	hist_add(&c->hist, (uint64_t)shown, 1);
}

void summary_record(struct summary *s, struct summary_group *g, uint32_t arch, int64_t nr, const struct call_outcome *o)
{
	struct call_stats *c = summary_call(s, g, arch, nr);
	c->entered++;
	note_spread(c, o->spread_ns);
	c->restarted += o->end == CALL_RESTARTED;
	if (o->end != CALL_RETURNED)
		return;
	record_returned(c, o);
	if (!o->error)
		return;
	c->errors++;
	/* Of the row `c`, which may be the one that all other calls share. */
	summary_errno(s, g, &(struct call_errno){c->arch, c->nr, o->err, 1});
}

void summary_end(struct summary *s, struct summary_group *g, const struct life_end *e)
{
	const struct call *c = &e->call;
	const struct syscall_desc *d = c->desc ? c->desc : syscall_lookup(c->arch, c->nr);
	/* rt_sigreturn(2) does not return to the agent of the patch engine, so its record has no duration. */
	bool timeless = !e->ns && d && d->nargs && d->args[0].kind == K_SIGRETURN;
	bool returned = e->end == CALL_RETURNED && !timeless;
	bool bytes = returned && !c->error && c->result > 0 && d && d->result == R_BYTES;
	summary_record(s, g, c->arch, c->nr,
		       &(struct call_outcome){.end = timeless ? CALL_UNFINISHED : e->end,
					      .ns = (double)e->ns,
					      .cost_ns = returned ? (double)c->cost_ns : 0,
					      .spread_ns = (double)c->spread_ns,
					      .wait = c->wait,
					      .error = c->error,
					      .err = c->err,
					      .bytes = bytes ? (uint64_t)c->result : 0});
}

double call_own_ns(const struct call *c)
{
	return (double)c->duration_ns - (double)c->cost_ns;
}

void call_stats_charge(struct call_stats *c, double n, double cost_ns, double spread_ns)
{
	c->ns -= n * cost_ns;
	c->cost_ns += n * cost_ns;
	note_spread(c, spread_ns);
}

void call_stats_add(struct call_stats *to, const struct call_stats *from)
{
	if (from->returned && (!to->returned || from->min_ns < to->min_ns))
		to->min_ns = from->min_ns;
	if (from->returned && (!to->returned || from->max_ns > to->max_ns))
		to->max_ns = from->max_ns;
	to->entered += from->entered;
	to->returned += from->returned;
	to->errors += from->errors;
	to->restarted += from->restarted;
	to->bytes += from->bytes;
	to->ns += from->ns;
	to->ns_squared += from->ns_squared;
	to->cost_ns += from->cost_ns;
	to->judged += from->judged;
	to->waits += from->waits;
	to->waited_ns += from->waited_ns;
	note_spread(to, from->spread_ns);
	hist_merge(&to->hist, &from->hist);
}

static bool is_empty(const struct call_stats *c)
{
	return !c->entered && !c->returned && !c->restarted;
}

void summary_merge_group(struct summary *s, struct summary_group *to, const struct summary_group *from)
{
	for (size_t k = 0; k < from->calls.n; k++) {
		const struct call_stats *c = from->calls.v[k];
		if (!is_empty(c))
			call_stats_add(summary_call(s, to, c->arch, c->nr), c);
	}
	for (size_t k = 0; k < from->errnos.n; k++)
		summary_errno(s, to, &from->errnos.v[k]);
	if (from->first_ns && (!to->first_ns || from->first_ns < to->first_ns))
		to->first_ns = from->first_ns;
	if (from->last_ns > to->last_ns)
		to->last_ns = from->last_ns;
	to->unfinished_ns += from->unfinished_ns;
}

void summary_merge(struct summary *s, const struct summary *from)
{
	for (size_t i = 0; i < from->groups.n; i++) {
		const struct summary_group *f = from->groups.v[i];
		summary_merge_group(s, summary_group(s, f->name, f->id), f);
	}
}

uint64_t summary_calls(const struct summary *s)
{
	uint64_t n = 0;
	for (size_t i = 0; i < s->groups.n; i++)
		for (size_t k = 0; k < s->groups.v[i]->calls.n; k++)
			if (!call_stats_is_request(s->groups.v[i]->calls.v[k]))
				n += call_stats_calls(s->groups.v[i]->calls.v[k]);
	return n;
}

bool call_stats_is_request(const struct call_stats *c)
{
	return c->arch == SYSCALL_URING_ARCH;
}

uint64_t call_stats_calls(const struct call_stats *c)
{
	return c->entered - c->restarted;
}

uint64_t call_stats_unfinished(const struct call_stats *c)
{
	return c->entered - c->returned - c->restarted;
}

double call_stats_mean(const struct call_stats *c)
{
	return c->returned && c->ns > 0 ? c->ns / (double)c->returned : 0;
}

/*
 * Returns the sum of the squared deviations from the mean, limited to what the range of the n values allows. The limits
 * matter if an engine computes `ns_squared` from a histogram, whose buckets are wider than the differences between few
 * calls. The smallest and the largest value alone contribute at least range^2 / 2 (Szokefalvi-Nagy, 1918), and all
 * values contribute at most n * range^2 / 4 (Popoviciu, 1935). For two values, both limits are the exact sum.
 */
static double squared_deviations(const struct call_stats *c, double n)
{
	double range = c->max_ns - c->min_ns;
	double squares = c->ns_squared - c->ns * c->ns / n;
	return fmin(fmax(squares, range * range / 2), n * range * range / 4);
}

double call_stats_stddev(const struct call_stats *c)
{
	if (c->returned < 2 || isnan(c->ns_squared))
		return NAN;
	double n = (double)c->returned;
	return sqrt(squared_deviations(c, n) / (n - 1));
}

double call_stats_quantile(const struct call_stats *c, double q)
{
	double x = hist_quantile(&c->hist, q);
	return x < c->min_ns ? c->min_ns : x > c->max_ns ? c->max_ns : x;
}

double call_stats_resolution(const struct call_stats *c)
{
	return 3 * c->spread_ns;
}

enum resolved call_stats_resolved(const struct call_stats *c)
{
	if (!c->returned)
		return RESOLVED;
	double mean = c->ns / (double)c->returned;
	return mean <= 0 ? UNRESOLVED : mean < call_stats_resolution(c) ? DOUBTFUL : RESOLVED;
}

bool call_stats_consistent(const struct call_stats *c)
{
	return c->hist.total == c->returned && c->returned + c->restarted <= c->entered && c->errors <= c->returned &&
	       c->waits <= c->judged && c->judged <= c->returned;
}
