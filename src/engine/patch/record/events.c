/* What threads have recorded, as events in the order of time. */
#include "engine/patch/record/record.h"

#include "base/clock.h"
#include "engine/patch/image/image.h"
#include "engine/patch/image/site.h"
#include "engine/ptrace/state/event.h"
#include "engine/ptrace/state/give_up.h"
#include "syscall/table.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#define RED_ZONE 128
/* What agent_entry has pushed below the stub's return address: rdx, the flags, the number. */
#define FRAME     24
#define FRAME_RDX 0
#define FRAME_AH  8

/* How many bytes an operation of the recipe wants of what the call was given, at most `most`; 0: nothing that was there before. */
static uint64_t wanted_before(const struct record *rec, const struct agent_record *c, unsigned rule, unsigned arg,
			      uint64_t size)
{
	uint64_t next = arg < 5 ? c->args[arg + 1] : 0;
	switch (rule) {
	case RECIPE_STRING:
		return PATH_MAX;
	case RECIPE_IN:
	case RECIPE_FUTEX_TIME:
	case RECIPE_EPOLL_EVENT:
		return size;
	case RECIPE_IN_BYTES:
		return next < rec->string_max ? next : rec->string_max;
	case RECIPE_IN_SIZED:
		return (uint32_t)next < size ? (uint32_t)next : size;
	case RECIPE_IN_ARRAY:
		return (uint32_t)next * size;
	default:
		return 0;
	}
}

/* The beginning of a call in progress is told now: what it was given is read while it is in progress. */
static void capture_open(const struct patch *p, struct record_thread *th)
{
	struct record_reader *r = &th->reader;
	const struct agent_recipe *recipe =
		(const struct agent_recipe *)(const void *)(p->recorder + RECORDER_ROOM) + r->open.nr;
	pid_t tid = th->tid;
	const struct mem live = {p->t.userfaultfd ? mem_read_present : mem_read_process, &tid};
	unsigned char bytes[RECORD_MOST];
	for (unsigned i = 0; i < recipe->n; i++) {
		unsigned arg = recipe->op[i].arg, rule = recipe->op[i].rule;
		uint64_t addr = r->open.args[arg];
		uint64_t want = addr ? wanted_before(p->record, &r->open, rule, arg, recipe->op[i].size) : 0;
		int ended;
		want = want < sizeof(bytes) ? want : sizeof(bytes);
		ssize_t got = !want                   ? 0
			      : rule == RECIPE_STRING ? mem_string(&live, addr, (char *)bytes, (size_t)want, &ended)
						      : mem_read(&live, addr, bytes, (size_t)want);
		if (rule == RECIPE_STRING && got >= 0 && want && ended)
			bytes[got++] = 0;
		void *to = got > 0 ? reader_capture_open(r, addr, (uint32_t)got) : NULL;
		if (to)
			memcpy(to, bytes, (size_t)got);
	}
	reader_verify_open(r);
}

static void look_at(struct patch *p, struct record_thread *th)
{
	int err = reader_fill(&th->reader);
	if (err == 0 && th->reader.ring && reader_wants_open(&th->reader))
		capture_open(p, th);
	if (err == -EPROTO && !p->record->overwritten) {
		p->record->overwritten = true;
		tracer_note(&p->t, "the program overwrote the records of thread %d: calls of it are missing",
			    (int)th->tid);
	}
	if (err == -ENOMEM)
		tracer_give_up(&p->t, err, "cannot keep the records of thread %d", (int)th->tid);
}

void record_look(struct patch *p)
{
	struct record *rec = p->record;
	rec->sync_ns = clock_ns();
	rec->sync_ticks = __rdtsc();
	/* The longer the run, the better the length of a tick is known; the calibration may have failed. */
	if (rec->sync_ns - p->ns0 > NSEC_PER_SEC / 1000)
		p->tick_ns = (double)(rec->sync_ns - p->ns0) / (double)(rec->sync_ticks - p->tsc0);
	for (size_t i = 0; i < rec->threads.n; i++)
		look_at(p, rec->threads.v[i]);
}

static uint64_t to_ns(const struct patch *p, uint64_t ticks)
{
	double ago = (double)(int64_t)(p->record->sync_ticks - ticks) * p->tick_ns;
	return (uint64_t)((int64_t)p->record->sync_ns - (int64_t)ago);
}

/* The thread whose item is the earliest; *item is that. Those that have nothing more to tell, and never will, go. */
static struct record_thread *earliest(struct record *rec, struct record_item *item)
{
	struct record_thread *found = NULL;
	item->kind = RECORD_NONE;
	for (size_t i = 0; i < rec->threads.n; i++) {
		struct record_thread *th = rec->threads.v[i];
		struct record_item it = reader_peek(&th->reader);
		if (it.kind == RECORD_NONE && th->reader.gone) {
			rec->threads.v[i--] = rec->threads.v[--rec->threads.n];
			record_thread_free(th);
		} else if (it.kind != RECORD_NONE && (!found || it.ticks < item->ticks)) {
			found = th;
			*item = it;
		}
	}
	return found;
}

static const struct mem *memory_of(struct patch *p, const struct record_thread *th, const struct record_item *item)
{
	struct record *rec = p->record;
	if (!item->live)
		rec->mem = (struct mem){captures_read, (void *)(uintptr_t)item->record};
	else {
		rec->mem_pid = th->tid;
		rec->mem = (struct mem){p->t.userfaultfd ? mem_read_present : mem_read_process, &rec->mem_pid};
	}
	return &rec->mem;
}

static void fill_call(const struct patch *p, const struct record_thread *th, const struct record_item *item,
		      struct call *c)
{
	const struct agent_record *rec = item->record;
	const struct site *s = th->reader.gone ? NULL : site_of_stub(th->image, rec->ret);
	uint64_t began = to_ns(p, item->began);
	*c = (struct call){.arch = syscall_native_arch(),
			   .nr = (int64_t)rec->nr,
			   .desc = syscall_lookup(syscall_native_arch(), (int64_t)rec->nr),
			   .ip = s ? s->ip : rec->ret,
			   .sp = rec->sp + FRAME + sizeof(uint64_t) + RED_ZONE,
			   .enter_ns = began,
			   .restart = item->continued,
			   .cost_ns = (uint64_t)p->fast.ns,
			   .spread_ns = (uint64_t)p->fast.spread_ns};
	memcpy(c->args, rec->args, sizeof(c->args));
	if (item->kind != RECORD_EXIT)
		return;
	c->result = rec->result;
	c->error = (uint64_t)rec->result >= (uint64_t)-4095;
	c->err = c->error ? (int)-rec->result : 0;
	c->duration_ns = item->ticks > item->began ? (uint64_t)((double)(item->ticks - item->began) * p->tick_ns) : 0;
}

/* A handler's calls, and the restart of what it interrupted, may be recorded, and may stop: all are one thread's. */
static void note_life(struct call_life *l, enum record_item_kind kind, struct call *c)
{
	struct life_ends ends; /* nobody counts them here */
	if (kind == RECORD_ENTER)
		life_enter(l, c, &ends);
	else if (kind == RECORD_EXIT)
		life_exit(l, c, c->duration_ns, &ends);
}

bool record_next(struct patch *p, struct event *ev)
{
	static const enum event_kind kinds[] = {
		[RECORD_ENTER] = EV_ENTER, [RECORD_EXIT] = EV_EXIT, [RECORD_VANISH] = EV_VANISH};
	struct record_item item;
	/* What was told last is taken away now: until here the event's memory had to last. */
	if (p->record->told)
		reader_pop(p->record->told);
	p->record->told = NULL;
	struct record_thread *th = earliest(p->record, &item);
	const struct task *task = th && !th->reader.gone ? tasks_find(&p->t.tasks, th->tid) : NULL;
	if (!th)
		return false;
	*ev = (struct event){.kind = kinds[item.kind], .tid = th->tid, .pid = th->pid, .time_ns = to_ns(p, item.ticks)};
	fill_call(p, th, &item, &ev->call);
	if (task)
		note_life(&thread_of(task)->life, item.kind, &ev->call);
	ev->mem = memory_of(p, th, &item);
	p->record->told = &th->reader;
	return true;
}

void record_thread_free(struct record_thread *th)
{
	reader_free(&th->reader);
	free(th);
}

void record_leave(struct patch *p, struct task *task)
{
	struct record_thread *th = recorded_of(task);
	if (!th)
		return;
	look_at(p, th);
	const struct agent_record *open = &th->reader.open;
	/* It was ended right behind a call: that is told, though nothing that it left in memory. */
	if (th->reader.has_open && open->t1)
		(void)reader_complete(&th->reader, open->result, open->t1);
	th->reader.gone = true;
	th->reader.gone_at = __rdtsc();
	th->reader.ring = NULL;
	record_dismiss(th);
	patch_task_of(task)->recorded = NULL;
}
