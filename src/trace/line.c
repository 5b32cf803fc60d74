#include "trace/line.h"

void trace_decoder(struct trace *t, struct trace_task *k, const struct event *ev, struct emit *e,
		   struct decode_opts *opts, struct decode *d)
{
	*opts = (struct decode_opts){.string_max = (unsigned)t->o.string_max,
				     .verbose = t->o.verbose_count > 0 || trace_look_full(&t->o.look, &ev->call),
				     .shallow = !trace_look_deep(&t->o.look, &ev->call),
				     .raw = trace_look_raw(&t->o.look, &ev->call),
				     .fd_names = t->o.fd_names ? t->o.fd_names > 1 ? FD_IN_FULL : FD_PATHS : FD_NUMBERS,
				     .pid_names = t->o.pid_names > 0,
				     .names = &names_live};
	*d = (struct decode){.out = e,
			     .call = &ev->call,
			     .mem = ev->mem,
			     .opts = opts,
			     .pid = ev->tid,
			     .leaving = ev->kind == EV_EXIT,
			     .memo = &k->memo};
}

unsigned trace_text_flags(const struct trace *t)
{
	unsigned hex = t->o.hex > 1 ? EMIT_HEX_STRINGS : t->o.hex ? EMIT_HEX_NONPRINT : 0;
	static const unsigned constants[] = {
		[CONSTANTS_NAMED] = 0, [CONSTANTS_RAW] = EMIT_RAW_NAMES, [CONSTANTS_BOTH] = EMIT_BOTH_NAMES};
	return hex | constants[t->o.look.constants] | (t->colour ? EMIT_COLOUR : 0);
}

uint64_t trace_real_ns(const struct trace *t, uint64_t monotonic_ns)
{
	return (uint64_t)((int64_t)monotonic_ns + t->real_offset_ns);
}

double trace_own_ns(const struct call *c, enum resolved *how)
{
	double own = (double)c->duration_ns - (double)c->cost_ns;
	*how = own <= 0 ? UNRESOLVED : own < 3 * (double)c->spread_ns ? DOUBTFUL : RESOLVED;
	return own > 0 ? own : 0;
}
