/* SPDX-License-Identifier: MIT */
#include "stack/stack.h"

#include "base/buf.h"
#include "base/escape.h"
#include "base/memory.h"
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef SCTRACE_UNWIND_MISSING
/* libunwind or libdw was not found. The message in `why` tells the user why there are no stacks. */
static int missing_open(struct stack **out, struct buf *why)
{
	(void)out;
	buf_adds(why, "cannot print stacks: sctrace was built without libunwind and libdw");
	return -ENOSYS;
}

static const struct stack_ops stack_native_ops = {.name = "missing", .open = missing_open};
#else
extern const struct stack_ops stack_native_ops; /* defined in libunwind.c */
#endif

int stack_open(struct stack **out, struct buf *why)
{
	int err = stack_native_ops.open(out, why);
	if (err == 0)
		(*out)->ops = &stack_native_ops;
	return err;
}

int stack_walk(struct stack *s, const struct event *ev, stack_frame_fn fn, void *ctx)
{
	return s->ops->walk(s, ev, fn, ctx);
}

void stack_forget(struct stack *s, pid_t pid)
{
	s->ops->forget(s, pid);
}

void stack_close(struct stack *s)
{
	if (s)
		s->ops->close(s);
}

void stack_frame_text(struct buf *out, const struct stack_frame *f)
{
	if (f->module)
		escape_line(out, f->module, strlen(f->module));
	else
		buf_adds(out, "?");
	buf_addc(out, '(');
	if (f->function) {
		escape_line(out, f->function, strlen(f->function));
		buf_addf(out, "+0x%llx", (unsigned long long)f->offset);
	}
	buf_addf(out, ") [0x%llx]", (unsigned long long)f->module_addr);
	if (!f->file)
		return;
	buf_addc(out, ' ');
	escape_line(out, f->file, strlen(f->file));
	buf_addf(out, ":%d", f->line);
}

/* A program may have any number of different stacks. When there are this many, all further ones share one line. */
#define LINES_MAX 100000
static const char others[] = "(all others)";

struct folded_line {
	char *text;
	uint64_t weight;
	struct folded_line *next; /* another line with the same hash */
};

static void drop_frames(struct stack_folded *f)
{
	for (size_t i = 0; i < f->frames.n; i++)
		free(f->frames.v[i]);
	f->frames.n = 0;
	free(f->program);
	f->program = NULL;
}

/* Returns a copy of the name without newlines and semicolons, which separate lines and frames in the format. */
static char *frame_name(const char *name)
{
	struct buf b = {0};
	escape_line(&b, name, strlen(name));
	for (size_t i = 0; i < b.len; i++)
		if (b.s[i] == ';')
			b.s[i] = ':';
	return buf_take(&b);
}

void stack_folded_begin(struct stack_folded *f, const char *program)
{
	drop_frames(f);
	f->program = frame_name(program);
}

bool stack_folded_frame(void *folded, const struct stack_frame *frame)
{
	struct stack_folded *f = folded;
	auto_buf b = {0};
	const char *slash = frame->module ? strrchr(frame->module, '/') : NULL;
	if (frame->function)
		buf_adds(&b, frame->function);
	else if (frame->module)
		buf_addf(&b, "%s+0x%llx", slash ? slash + 1 : frame->module, (unsigned long long)frame->module_addr);
	else
		buf_addf(&b, "0x%llx", (unsigned long long)frame->ip);
	char *name = frame_name(buf_str(&b));
	vec_push(&f->frames, name);
	return true;
}

/* Returns the line with this text, and adds it if there is none. The function takes ownership of `text`. */
static struct folded_line *line_of(struct stack_folded *f, char *text)
{
	uint64_t hash = map_key(text);
	struct folded_line *first = map_get(&f->index, hash);
	for (struct folded_line *l = first; l; l = l->next)
		if (strcmp(l->text, text) == 0) {
			free(text);
			return l;
		}
	if (f->lines.n >= LINES_MAX - 1 && strcmp(text, others) != 0) {
		free(text);
		return line_of(f, memory_copy(others));
	}
	struct folded_line *line = memory_get(sizeof(*line));
	*line = (struct folded_line){.text = text, .next = first};
	vec_push(&f->lines, line);
	map_put(&f->index, hash, line);
	return line;
}

void stack_folded_take(struct stack_folded *f, struct buf *stack)
{
	buf_adds(stack, f->program ? f->program : "?");
	for (size_t i = f->frames.n; i-- > 0;)
		buf_addf(stack, ";%s", f->frames.v[i]);
	drop_frames(f);
}

void stack_folded_add(struct stack_folded *f, const char *stack, const char *leaf, uint64_t weight)
{
	struct buf b = {0};
	buf_addf(&b, "%s;%s", stack, leaf);
	line_of(f, buf_take(&b))->weight += weight;
}

static int by_text(const void *a, const void *b)
{
	return strcmp((*(struct folded_line *const *)a)->text, (*(struct folded_line *const *)b)->text);
}

void stack_folded_text(struct buf *out, struct stack_folded *f)
{
	if (f->lines.n)
		qsort(f->lines.v, f->lines.n, sizeof(*f->lines.v), by_text);
	for (size_t i = 0; i < f->lines.n; i++)
		buf_addf(out, "%s %llu\n", f->lines.v[i]->text, (unsigned long long)f->lines.v[i]->weight);
}

void stack_folded_free(struct stack_folded *f)
{
	drop_frames(f);
	vec_free(&f->frames);
	for (size_t i = 0; i < f->lines.n; i++) {
		free(f->lines.v[i]->text);
		free(f->lines.v[i]);
	}
	vec_free(&f->lines);
	map_free(&f->index);
}
