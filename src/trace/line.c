/* SPDX-License-Identifier: MIT */
#include "trace/line.h"

#include "base/clock.h"
#include "syscall/call_table.h"

void trace_line_free(struct trace_line *l)
{
	buf_free(&l->text);
	buf_free(&l->stack);
}

void trace_decoder_init(struct trace_decoder *d, const struct trace_decoding *c, const struct trace_sink *s,
			struct trace_line *l, const struct event *ev, struct emit *e)
{
	d->opts = (struct decode_opts){.string_max = c->string_max,
				       .verbose = c->verbose || trace_look_full(c->look, &ev->call),
				       .shallow = !trace_look_deep(c->look, &ev->call),
				       .raw = trace_look_raw(c->look, &ev->call),
				       .fd_names = c->fd_names,
				       .pid_names = c->pid_names,
				       .outer_ids = c->outer_ids,
				       .namespaces = c->namespaces,
				       .names = s->session->names};
	d->decode = (struct decode){.out = e,
				    .call = &ev->call,
				    .mem = ev->mem,
				    .opts = &d->opts,
				    .uring = ev->uring,
				    .pid = ev->tid,
				    .leaving = trace_returns(ev),
				    .memo = &l->memo};
}

void trace_decoder_init_signal(struct trace_decoder *d, const struct trace_decoding *c, const struct trace_sink *s,
			       const struct event *ev, struct emit *e)
{
	d->opts =
		(struct decode_opts){.pid_names = c->pid_names, .outer_ids = c->outer_ids, .names = s->session->names};
	d->decode = (struct decode){.out = e, .opts = &d->opts, .pid = ev->tid};
}

void trace_decode_ended(struct trace_decoder *d, struct trace_line *l, const struct event *ev)
{
	if (ev->kind == EV_CALL) {
		d->decode.leaving = false;
		d->decode.mem = ev->entry_mem;
		l->given = decode_enter(&d->decode);
		d->decode.leaving = true;
		d->decode.mem = ev->mem;
	}
	if (d->decode.leaving)
		decode_exit(&d->decode, l->given);
}

uint64_t trace_real_ns(const struct trace_sink *s, uint64_t monotonic_ns)
{
	return (uint64_t)((int64_t)monotonic_ns + s->session->real_offset_ns);
}

double trace_own_ns(const struct call *c, enum resolved *how)
{
	double own = call_own_ns(c);
	*how = own <= 0 ? UNRESOLVED : own < 3 * (double)c->spread_ns ? DOUBTFUL : RESOLVED;
	return own > 0 ? own : 0;
}

void trace_call_name(const struct call *c, struct buf *out)
{
	syscall_name_of(out, c->desc, c->arch, c->nr);
	if (c->foreign)
		buf_adds(out, "#32");
}

/* Returns the length of the last decimal in ns. */
static uint64_t unit_of(enum trace_precision p)
{
	static const uint64_t units[] = {[PRECISION_NONE] = NSEC_PER_SEC,
					 [PRECISION_S] = NSEC_PER_SEC,
					 [PRECISION_MS] = NSEC_PER_SEC / 1000,
					 [PRECISION_US] = 1000,
					 [PRECISION_NS] = 1};
	return units[p];
}

void trace_add_decimals(struct buf *out, uint64_t ns, enum trace_precision p)
{
	if (p <= PRECISION_S)
		return;
	buf_addc(out, '.');
	buf_add_decimal(out, ns % NSEC_PER_SEC / unit_of(p), 3 * (unsigned)(p - PRECISION_S));
}

void trace_add_seconds(struct buf *out, uint64_t ns, enum trace_precision p)
{
	buf_add_decimal(out, ns / NSEC_PER_SEC, 1);
	trace_add_decimals(out, ns, p);
}

uint64_t trace_round(double ns, enum trace_precision p)
{
	return (uint64_t)ns + unit_of(p) / 2;
}
