#include "trace/trace_recorder.h"

#include "arch/arch.h"
#include "syscall/call_table.h"
#include "trace/look.h"
#include "trace/trace_stack.h"
#include "tracee/names.h"
#include "tracee/uring.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>

/* The sink's data for a thread. */
struct recorded {
	struct recording_thread thread;
	struct trace_line line; /* only `memo` and `given` are used, so it need not be freed */
	struct recording_asked_thread asked;
	bool has_stack; /* the stack of the call in progress was recorded at the call's entry */
};

static bool changes_names(const struct call *c)
{
	return !c->desc || syscall_changes_names(c->desc);
}

/*
 * Looks up names that other sinks may need but decoders do not look up: those of the thread and its process, and those
 * of the files behind descriptors, for -P, --by=fd and --by=path.
 */
static void ask_names(struct trace_recorder *r, struct recorded *own, struct trace_task *k, const struct event *ev)
{
	const struct names *n = &r->asked.names.names;
	struct trace_subject *s = &k->subject;
	buf_clear(&r->scratch);
	if (!own->asked.comm) {
		own->asked.comm = true;
		n->comm(n->ctx, ev->tid, &r->scratch);
		n->comm(n->ctx, ev->pid, &r->scratch);
	}
	/* --io needs the names of the files that requests of io_uring have opened. */
	for (size_t i = 0; ev->uring && i < ev->uring->completions.n; i++)
		if (uring_opens(&ev->uring->completions.v[i]))
			n->fd_in_full(n->ctx, ev->tid, ev->uring->completions.v[i].result, &r->scratch);
	if (!trace_begins(ev))
		return;
	const struct trace_ref *ref = trace_subject_refs(s);
	for (unsigned i = 0; i < s->n; i++, ref++)
		if ((ref->fd >= 0 || ref->fd == AT_FDCWD) && !recording_asked_has(&own->asked, ref->fd))
			n->fd_in_full(n->ctx, ev->tid, ref->fd, &r->scratch);
}

/*
 * -e read= and write=: reads all data of the call, so that `mem` keeps it. The text that trace_dump() would write is not
 * needed, so `out` discards this text.
 */
static void read_data(const struct trace_recorder *r, const struct event *ev, const struct mem *mem)
{
	if (r->c.string_max != UINT_MAX)
		return;
	struct trace_out out = {.failed = true};
	struct event copy = *ev;
	copy.mem = mem;
	trace_dump(r->c.look, &copy, &out);
	buf_free(&out.buf);
}

/*
 * Decodes the call as the writing sinks will do later, so that all memory that these sinks will read is captured now.
 * `before` is used if the call begins with this event, and `after` if it ends. They are the memory at that time, and
 * keep what is read; NULL: it cannot be read.
 */
static void read_all(struct trace_recorder *r, struct recorded *own, const struct event *ev, const struct mem *before,
		     const struct mem *after)
{
	struct emit e;
	struct trace_decoder d;
	buf_clear(&r->scratch);
	emit_none_init(&e, &r->scratch);
	trace_decoder_init(&d, &r->decoding, &r->sink, &own->line, ev, &e);
	const bool returned = d.decode.leaving;
	recording_asked_decode(&r->asked, &own->asked);
	if (trace_begins(ev)) {
		d.decode.leaving = false;
		d.decode.mem = before;
		own->line.given = decode_touch_enter(&d.decode);
	}
	if (returned) {
		d.decode.leaving = true;
		d.decode.mem = after;
		decode_touch_exit(&d.decode, own->line.given);
	}
	recording_asked_decode(&r->asked, NULL);
	if (returned)
		read_data(r, ev, after);
}

/* Reads the signal frame that trace/count.c needs to find out which call a signal handler returns to. */
static void read_frame(const struct event *ev, const struct mem *mem)
{
	const struct call *c = &ev->call;
	uint64_t ip;
	int64_t result;
	if (mem && trace_begins(ev) && c->desc && c->desc->nargs && c->desc->args[0].kind == K_SIGRETURN)
		(void)arch_sigframe(c->arch, mem, c->sp, &ip, &result);
}

static void take_stack(struct trace_recorder *r, struct recorded *own, const struct event *ev)
{
	if (!r->c.stack || !r->c.call_stacks)
		return;
	bool lost = ev->kind == EV_ENTER && trace_stack_is_lost(ev);
	bool now = lost || (ev->kind == EV_EXIT && !own->has_stack);
	own->has_stack = lost;
	if (now)
		stack_walk(r->c.stack, ev, recording_frame, r->c.writer);
}

static void begin(struct trace_recorder *r, struct recorded *own, const struct event *ev)
{
	uint64_t block = recording_event_begin(r->c.writer, &own->thread, ev);
	recording_asked_event(&r->asked, &own->asked, block, ev->time_ns);
}

static void record_call(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	struct trace_recorder *r = (struct trace_recorder *)s;
	struct recorded *own = trace_own(s, k);
	if (ev->call.withdrawn && !own->has_stack && recording_withdraw(r->c.writer, &own->thread))
		return;
	if (!r->c.all_calls || (ev->kind == EV_EXIT && changes_names(&ev->call)))
		recording_asked_changed(&r->asked);
	begin(r, own, ev);
	const bool whole = ev->kind == EV_CALL;
	captures_begin(&r->captures, whole ? ev->entry_mem : ev->mem);
	captures_begin(&r->after, whole ? ev->mem : NULL);
	for (size_t i = 0; ev->uring && i < ev->uring->reads.n; i++)
		captures_add(&r->captures, ev->uring->reads.v[i].addr, ev->uring->bytes.s + ev->uring->reads.v[i].at,
			     ev->uring->reads.v[i].n);
	struct mem keeping = captures_keeping(&r->captures), after = captures_keeping(&r->after);
	const struct mem *mem = r->captures.under ? &keeping : NULL;
	read_all(r, own, ev, mem, whole ? &after : mem);
	ask_names(r, own, k, ev);
	read_frame(ev, mem);
	take_stack(r, own, ev);
	recording_event(r->c.writer, &own->thread, ev, &r->captures, &r->after);
}

static void unwanted(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	(void)k;
	if (ev->kind == EV_EXIT && changes_names(&ev->call))
		recording_asked_changed(&((struct trace_recorder *)s)->asked);
}

static void record_other(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	struct trace_recorder *r = (struct trace_recorder *)s;
	struct recorded *own = trace_own(s, k);
	if (ev->kind == EV_ATTACH)
		return;
	if (ev->kind == EV_EXEC)
		recording_asked_changed(&r->asked);
	begin(r, own, ev);
	ask_names(r, own, k, ev);
	bool crash = ev->kind == EV_SIGNAL && trace_is_crash(ev->sig.si_signo);
	if (r->c.stack && ev->kind == EV_SIGNAL && (r->c.crash_stacks ? crash : r->c.call_stacks))
		trace_stack_signal(r->c.stack, ev, recording_frame, r->c.writer);
	if (crash)
		recording_crash(r->c.writer, &own->thread);
	recording_event(r->c.writer, &own->thread, ev, &r->captures, NULL);
}

static void record_gone(struct trace_sink *s, struct trace_task *k)
{
	struct recorded *own = trace_own(s, k);
	recording_thread_free(((struct trace_recorder *)s)->c.writer, &own->thread);
}

static const struct trace_sink_ops recorder_ops = {.task_size = sizeof(struct recorded),
						   .of_id = true,
						   .enter = record_call,
						   .leave = record_call,
						   .takes_calls = true,
						   .other = record_other,
						   .unwanted = unwanted,
						   .gone = record_gone};

void trace_recorder_init(struct trace_recorder *r, const struct trace_recorder_config *c, struct trace_session *session)
{
	*r = (struct trace_recorder){.sink.ops = &recorder_ops, .c = *c};
	recording_asked_init(&r->asked, session->names, c->writer);
	session->names = &r->asked.names.names;
	r->decoding = (struct trace_decoding){.string_max = c->string_max,
					      .verbose = true,
					      .fd_names = FD_IN_FULL,
					      .pid_names = true,
					      .look = c->look};
}

void trace_recorder_free(struct trace_recorder *r)
{
	recording_asked_free(&r->asked);
	captures_free(&r->captures);
	captures_free(&r->after);
	buf_free(&r->scratch);
}
