/* SPDX-License-Identifier: MIT */
#include "decode/decode_capture.h"

#include "base/memory.h"
#include "decode/kinds.h"
#include "syscall/call_table.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The functions that syscall/capture.h needs. */
static inline uint64_t capture_load(void *to, const void *memory, uint64_t addr, uint64_t n)
{
	ssize_t got = n ? mem_read(memory, addr, to, (size_t)n) : 0;
	return got > 0 ? (uint64_t)got : 0;
}

static inline uint64_t capture_text(void *to, const void *memory, uint64_t addr, uint64_t n)
{
	int ended = 0;
	char *text = to;
	ssize_t got = n ? mem_string(memory, addr, text, (size_t)n, &ended) : -1;
	if (got >= 0 && ended)
		text[got++] = 0;
	return got > 0 ? (uint64_t)got : 0;
}

/* Paths have at most PATH_MAX bytes with their NUL. Of other strings, -s limits what is shown. */
static inline uint64_t text_most(uint64_t string_max)
{
	enum { MOST = 1 << 20 }; /* as in show.c */
	return string_max < PATH_MAX ? PATH_MAX : string_max < MOST ? string_max + 2 : MOST + 2;
}

/*
 * How much of the frame of a signal is captured: the registers and the mask. On x86-64 the stack pointer points at a
 * ucontext, elsewhere at a siginfo that precedes it.
 */
#ifdef __x86_64__
#define SIGNAL_FRAME_SIZE (296 + 8)
#else
#define SIGNAL_FRAME_SIZE 640
#endif

#define CAPTURE_PART         static
#define CAPTURE_HELPER       static inline
#define CAPTURE_SURE         1
#define CAPTURE_WORD(c)      ((c)->word)
#define CAPTURE_TEXT_MOST(c) text_most((c)->string_max)
#include "syscall/capture.h"

/* Both structures are large, so *c is filled in directly; a copy takes as long as a capture. */
static void capture_of(struct capture *c, const struct capture_room *room, const struct capture_source *from)
{
	*c = (struct capture){.tables = from->tables,
			      .args = from->args,
			      .result = from->result,
			      .string_max = from->string_max,
			      .bytes = room->bytes,
			      .head = room->head,
			      .at = room->at,
			      .room = room->most,
			      .unfinished = !from->made,
			      .word = 8,
			      .memory = from->live};
}

void decode_capture_rules(struct capture_room *room, const struct capture_source *from,
			  const struct memory_rule_of *rules, unsigned n)
{
	struct capture c;
	capture_of(&c, room, from);
	for (unsigned i = 0; i < n; i++)
		capture_after(&c, &from->tables->needs[rules[i].need], rules[i].arg);
	room->at = c.at;
}

void decode_captures_init(struct decode_captures *c, uint64_t string_max, size_t most)
{
	decode_memory_tables(&c->tables);
	c->string_max = string_max;
	/* Pages that no capture needs take no memory. */
	c->room = (struct capture_room){.bytes = memory_get(most), .most = most};
}

void decode_captures_free(struct decode_captures *c)
{
	free(c->room.bytes);
}

void decode_captures_clear(struct decode_captures *c)
{
	c->room.at = 0;
}

void decode_captures_add_list(struct decode_captures *c, const struct captured_list *list)
{
	struct capture_room *r = &c->room;
	size_t n = list->to - list->from;
	if (!n || n > r->most - r->at) /* a list without captures may have no memory */
		return;
	memcpy(r->bytes + r->at, list->bytes + list->from, n);
	r->at += n;
}

void decode_captures_add(struct decode_captures *c, uint64_t addr, const void *bytes, size_t n, bool before)
{
	struct capture_room *r = &c->room;
	struct captured head = {.addr = addr, .len = (uint32_t)n, .before = before};
	if (r->most - r->at < sizeof(head) + n + 7)
		return;
	memcpy(r->bytes + r->at, &head, sizeof(head));
	memcpy(r->bytes + r->at + sizeof(head), bytes, n);
	r->at += sizeof(head) + ((n + 7) & ~(size_t)7);
}

struct captured_list decode_captures_list(const struct decode_captures *c)
{
	return (struct captured_list){c->room.bytes, 0, c->room.at};
}

/* The result as the rules see it: negative only if the call failed, or has not been made. */
static int64_t result_of(const struct call *c, bool made)
{
	if (!made || c->error)
		return made && c->result < 0 ? c->result : -1;
	return c->result < 0 ? 0 : c->result;
}

static void begin(struct capture *k, const struct decode_captures *c, const struct call *call, const struct mem *mem,
		  bool made)
{
	const struct capture_source from = {&c->tables, call->args, mem, c->string_max, result_of(call, made), made};
	capture_of(k, &c->room, &from);
	k->word = syscall_word_size(call);
	k->frame_mask = decode_frame_mask(call);
}

void decode_capture_enter(struct decode_captures *c, const struct call *call, const struct mem *mem)
{
	struct capture k;
	begin(&k, c, call, mem, false);
	k.before = 1;
	for (unsigned i = 0; call->desc && i < call->desc->nargs; i++) {
		const struct memory_need n = decode_memory_of(call->desc, i, true);
		if (n.rule == MEMORY_FRAME_MASK) /* trace/count.c needs the registers */
			put_any(&k, call->sp, SIGNAL_FRAME_SIZE);
		capture_before(&k, &n, i);
		capture_after(&k, &n, i);
	}
	c->room.at = k.at;
}

/*
 * Does the kernel only read the memory? Then it was captured at the entry of the call. poll(2) writes to a part of each
 * struct pollfd; this part is shown with the result.
 */
static bool is_input(const struct syscall_desc *d, unsigned rule)
{
	if (d->result == R_POLL)
		return false;
	return rule == MEMORY_STRING || rule == MEMORY_IN || rule == MEMORY_WRITTEN || rule == MEMORY_DOUBTFUL ||
	       rule == MEMORY_EPOLL_EVENT || rule == MEMORY_REQUEST || rule == MEMORY_REQUESTS ||
	       rule == MEMORY_IN_IOVEC || rule == MEMORY_SOCK_BYTES || rule == MEMORY_MSG;
}

void decode_capture_exit(struct decode_captures *c, const struct call *call, const struct mem *mem)
{
	struct capture k;
	begin(&k, c, call, mem, true);
	for (unsigned i = 0; call->desc && i < call->desc->nargs; i++) {
		const struct memory_need of = decode_memory_of(call->desc, i, true);
		const struct memory_need *n = of.rule == MEMORY_COMMAND ? command_need(&k, &of, i) : &of;
		if (n && !is_input(call->desc, n->rule))
			capture_after(&k, n, i);
	}
	c->room.at = k.at;
}
