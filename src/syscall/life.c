/* SPDX-License-Identifier: MIT */
#include "syscall/life.h"

#include "syscall/call_table.h"
#include "syscall/restart.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void life_free(struct call_life *l)
{
	vec_free(&l->interrupted);
}

static bool is_call(const struct call *c, const char *name)
{
	return c->nr >= 0 && c->nr == syscall_number(c->arch, name); /* -1: the architecture does not have the call */
}

static void add_end(struct life_ends *out, enum call_end end, const struct call *c, uint64_t ns, void *tag)
{
	out->v[out->n++] = (struct life_end){.end = end, .call = *c, .ns = ns, .tag = tag};
}

static struct life_interrupted *newest(const struct call_life *l)
{
	return l->interrupted.n ? &l->interrupted.v[l->interrupted.n - 1] : NULL;
}

struct call *life_interrupted(const struct call_life *l)
{
	return newest(l) ? &newest(l)->call : NULL;
}

/* Ends the newest interrupted call. */
static void end_newest(struct call_life *l, enum call_end end, struct life_ends *out)
{
	const struct life_interrupted *it = newest(l);
	add_end(out, end, &it->call, it->ns, it->tag);
	l->interrupted.n--;
}

static void end_with_eintr(struct call_life *l, struct life_ends *out)
{
	struct call *c = &newest(l)->call;
	c->error = true;
	c->err = EINTR;
	end_newest(l, CALL_RETURNED, out);
}

static bool continues(const struct life_interrupted *it, const struct call *c)
{
	return it->restarting && c->arch == it->call.arch && c->ip == it->call.ip && c->sp == it->call.sp &&
	       (c->nr == it->call.nr || is_call(c, "restart_syscall"));
}

void life_enter(struct call_life *l, struct call *c, struct life_ends *out)
{
	struct life_interrupted *it = newest(l);
	out->n = 0;
	c->restart = it && continues(it, c);
	l->carried_ns = 0;
	l->carried_wait = WAIT_UNKNOWN;
	if (c->restart) {
		c->nr = it->call.nr;
		memcpy(c->args, it->call.args, sizeof(c->args));
		l->carried_ns = it->ns;
		l->carried_wait = it->call.wait;
		l->tag = it->tag;
		end_newest(l, CALL_RESTARTED, out);
	} else if (it)
		it->restarting = false; /* the next call was not the restart, so a signal handler is running */
}

static void interrupt(struct call_life *l, const struct life_interrupted *it, struct life_ends *out)
{
	/*
	 * Stack frames below the frame of this call no longer exist. If calls were interrupted there, the program has
	 * left them by longjmp(3).
	 */
	while (newest(l) && newest(l)->call.sp <= it->call.sp)
		end_newest(l, CALL_UNFINISHED, out);
	if (l->interrupted.n == LIFE_DEPTH) {
		const struct life_interrupted *oldest = l->interrupted.v;
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the list is not empty */
		add_end(out, CALL_UNFINISHED, &oldest->call, 0, oldest->tag);
		l->interrupted.n--;
		memmove(l->interrupted.v, l->interrupted.v + 1, l->interrupted.n * sizeof(*l->interrupted.v));
	}
	vec_push(&l->interrupted, *it);
}

void life_exit(struct call_life *l, struct call *c, uint64_t ns, struct life_ends *out)
{
	out->n = 0;
	if (c->error && (is_call(c, "rt_sigreturn") || is_call(c, "sigreturn"))) {
		c->error = false;
		c->err = 0;
	}
	ns += l->carried_ns;
	l->carried_ns = 0;
	/* A call has waited if one of its entries has. The caller's copy tells only of the last entry. */
	struct call whole = *c;
	whole.wait = l->carried_wait == WAIT_YES ? WAIT_YES : c->wait;
	l->carried_wait = WAIT_UNKNOWN;
	if (c->error && IS_RESTART_ERROR(c->err))
		interrupt(l, &(struct life_interrupted){.call = whole, .ns = ns, .restarting = true, .tag = l->tag},
			  out);
	else
		add_end(out, CALL_RETURNED, &whole, ns, l->tag);
}

void life_interrupt_unseen(struct call_life *l, const struct call *c, uint64_t ns, struct life_ends *out)
{
	out->n = 0;
	interrupt(l, &(struct life_interrupted){.call = *c, .ns = ns, .begun_unseen = true, .tag = l->tag}, out);
}

const struct life_interrupted *life_restarting(const struct call_life *l)
{
	return newest(l) && newest(l)->restarting ? newest(l) : NULL;
}

bool life_wants_frame(const struct call_life *l, const struct call *c)
{
	return l->interrupted.n && is_call(c, "rt_sigreturn");
}

void life_return_to(struct call_life *l, const struct life_frame *f, struct life_ends *out)
{
	size_t i = l->interrupted.n;
	bool again = false, failed = false;
	out->n = 0;
	while (i > 0 && !again && !failed) {
		const struct call *c = &l->interrupted.v[--i].call;
		again = f->ip + f->length == c->ip;
		failed = f->ip == c->ip && f->result == -EINTR;
	}
	if (!again && !failed)
		return;
	while (l->interrupted.n > i + 1)
		end_newest(l, CALL_UNFINISHED, out);
	struct life_interrupted *it = newest(l);
	it->restarting = again;
	if (failed)
		end_with_eintr(l, out);
}

void life_moved_on(struct call_life *l, struct life_ends *out)
{
	out->n = 0;
	while (newest(l))
		end_with_eintr(l, out);
}

void life_vanish(struct call_life *l, const struct call *c, struct life_ends *out)
{
	out->n = 0;
	if (c)
		add_end(out, CALL_UNFINISHED, c, 0, l->tag);
	while (newest(l))
		end_newest(l, CALL_UNFINISHED, out);
}
