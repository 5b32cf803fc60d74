/* Walks stacks with libunwind and libdw: decides what is cached for each process, and when it is read again. */
#include "stack/stack.h"

#include "base/buf.h"
#include "base/memory.h"
#include "event.h"
#include "stack/symbol.h"
#include "stack/unwind.h"
#include "tracee/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct process {
	uint64_t fingerprint; /* hash of the mappings from which the other members were computed */
	struct unwind *unwind;
	struct symbols *symbols;
};

struct native_stack {
	struct stack base;    /* must be the first member, so that a struct stack * can be cast to this type */
	struct map processes; /* pid -> struct process */
	struct map devices;   /* for symbol_open() */
};

static void process_free(struct process *p)
{
	unwind_close(p->unwind);
	symbol_close(p->symbols);
	free(p);
}

static int native_open(struct stack **out, struct buf *why)
{
	auto_buf reason = {0};
	int r = unwind_load(&reason);
	if (r == 0)
		r = symbol_load(&reason);
	if (r < 0)
		buf_addf(why, "cannot print stacks: %s (install libunwind and libdw)", buf_str(&reason));
	if (r < 0)
		return r;
	struct native_stack *s = memory_zeroed(1, sizeof(*s));
	*out = &s->base;
	return 0;
}

static void native_close(struct stack *base)
{
	struct native_stack *s = (struct native_stack *)base;
	struct process *p;
	for (size_t i = 0; (p = map_next(&s->processes, &i, NULL));)
		process_free(p);
	map_free(&s->processes);
	map_free(&s->devices);
	free(s);
}

static void native_forget(struct stack *base, pid_t pid)
{
	struct native_stack *s = (struct native_stack *)base;
	struct process *p = map_remove(&s->processes, (uint64_t)pid);
	if (p)
		process_free(p);
}

/* Reads again everything that depends on the mappings. */
static int refresh(struct process *p, struct map *devices, const struct event *ev, uint64_t fingerprint)
{
	unwind_close(p->unwind);
	p->unwind = unwind_open(ev->pid, ev->mem);
	if (p->unwind && unwind_is_blind(p->unwind)) { /* elfutils will be used; its unwinder keeps the image that it
							* saw first, so elfutils is opened again */
		symbol_close(p->symbols);
		p->symbols = NULL;
	}
	if (!p->symbols)
		p->symbols = symbol_open(ev->pid, devices);
	else if (symbol_refresh(p->symbols) < 0) {
		symbol_close(p->symbols);
		p->symbols = NULL;
	}
	p->fingerprint = p->unwind && p->symbols ? fingerprint : 0;
	return p->fingerprint ? 0 : -ESRCH;
}

static struct process *process_of(struct native_stack *s, const struct event *ev, int *err)
{
	uint64_t fingerprint = unwind_fingerprint(ev->pid);
	struct process *p = map_get(&s->processes, (uint64_t)ev->pid);
	*err = fingerprint ? 0 : -ESRCH;
	if (*err)
		return NULL;
	if (!p) {
		p = memory_zeroed(1, sizeof(*p));
		map_put(&s->processes, (uint64_t)ev->pid, p);
	}
	if (p->fingerprint != fingerprint)
		*err = refresh(p, &s->devices, ev, fingerprint);
	return *err ? NULL : p;
}

struct walk {
	struct process *process;
	stack_frame_fn fn;
	void *ctx;
	unsigned index;
};

static bool on_frame(void *ctx, uint64_t ip, bool exact)
{
	struct walk *w = ctx;
	struct stack_frame f;
	symbol_resolve(w->process->symbols, ip, exact, &f);
	f.index = w->index++;
	return w->fn(w->ctx, &f);
}

static int native_walk(struct stack *base, const struct event *ev, stack_frame_fn fn, void *ctx)
{
	int err;
	struct walk w = {.fn = fn, .ctx = ctx};
	w.process = process_of((struct native_stack *)base, ev, &err);
	if (!w.process)
		return err;
	/* elfutils reads any memory, so it is not used if a traced program may have to provide the memory. */
	if (unwind_is_blind(w.process->unwind) && ev->mem->read != mem_read_present)
		return symbol_walk(w.process->symbols, ev->tid, on_frame, &w);
	return unwind_walk(w.process->unwind, ev->tid, ev->mem, on_frame, &w);
}

const struct stack_ops stack_native_ops = {
	.name = "libunwind",
	.open = native_open,
	.walk = native_walk,
	.forget = native_forget,
	.close = native_close,
};
