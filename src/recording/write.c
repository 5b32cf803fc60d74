/* SPDX-License-Identifier: MIT */
#include "recording/write.h"

#include "base/clock.h"
#include "base/diag.h"
#include "base/escape.h"
#include "base/memory.h"
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define ROW(member, kind, table)                                                                                       \
	{                                                                                                              \
		.key = #member, .type = (kind), .offset = offsetof(struct recording_about, member), .of = (table)      \
	}

static const struct field rows[] = {ROW(version, FIELD_STRING, NULL),     ROW(engine, FIELD_STRING, NULL),
				    ROW(program, FIELD_STRINGS, NULL),    ROW(selection, FIELD_STRINGS, NULL),
				    ROW(last_calls, FIELD_INTEGER, NULL), ROW(machine, FIELD_OBJECT, &env_fields)};
static const struct fields about_fields = FIELDS(rows, struct recording_about);

enum { FOLLOWS = 1 << 0, STACKS = 1 << 1, LAST = 1 << 2, SEVERAL = 1 << 3 };

void recording_head_init(struct recording_head *h)
{
	*h = (struct recording_head){0};
	fields_init(&about_fields, &h->about);
}

void recording_head_free(struct recording_head *h)
{
	fields_free(&about_fields, &h->about);
}

static void put_head(const struct recording_head *h, struct buf *out)
{
	json_t *o = fields_write(&about_fields, &h->about, 0);
	char *text = json_dumps(o, JSON_COMPACT);
	item_put(out, h->start_ns);
	item_put_signed(out, h->real_offset_ns);
	item_put(out, h->string_max);
	item_put(out, (h->follow ? FOLLOWS : 0) | (h->stacks ? STACKS : 0) | (h->last ? LAST : 0) |
			      (h->several ? SEVERAL : 0));
	item_put_text(out, text ? text : "{}", text ? strlen(text) : 2);
	free(text);
	json_decref(o);
}

void recording_head_get(struct recording_head *h, struct item_reader *r)
{
	auto_buf why = {0};
	size_t n;
	h->start_ns = item_get(r);
	h->real_offset_ns = item_get_signed(r);
	h->string_max = (uint32_t)item_get(r);
	uint64_t flags = item_get(r);
	h->follow = flags & FOLLOWS;
	h->stacks = flags & STACKS;
	h->last = flags & LAST;
	h->several = flags & SEVERAL;
	const char *text = item_get_text(r, &n);
	json_t *o = json_loadb(text, n, 0, NULL);
	if (!o || fields_read(&about_fields, &h->about, o, 0, &why) < 0)
		r->bad = true;
	json_decref(o);
}

static void put_time(const struct timeval *t, struct buf *out)
{
	item_put_signed(out, (int64_t)t->tv_sec * 1000000 + t->tv_usec);
}

static void get_time(struct timeval *t, struct item_reader *r)
{
	int64_t us = item_get_signed(r);
	t->tv_sec = us / 1000000;
	t->tv_usec = us % 1000000;
}

static void put_end_facts(const struct recording_end *e, struct buf *out)
{
	const struct engine_result *r = e->result;
	item_put(out, (uint32_t)r->status);
	item_put(out, r->wall_ns);
	put_time(&r->usage.ru_utime, out);
	put_time(&r->usage.ru_stime, out);
	item_put(out, r->peak_rss_bytes);
	item_put(out, r->rss_is_largest);
	item_put(out, r->lost);
	item_put(out, r->processes);
	item_put_text(out, e->footer, strlen(e->footer));
}

void recording_end_get(struct engine_result *result, struct buf *footer, struct item_reader *r)
{
	size_t n;
	*result = (struct engine_result){0};
	result->status = (int)item_get(r);
	result->wall_ns = item_get(r);
	get_time(&result->usage.ru_utime, r);
	get_time(&result->usage.ru_stime, r);
	result->peak_rss_bytes = item_get(r);
	result->rss_is_largest = item_get(r) != 0;
	result->lost = item_get(r);
	result->processes = item_get(r);
	const char *text = item_get_text(r, &n);
	/* The file may be damaged, or come from another user, and the text goes to a terminal. */
	while (n) {
		const char *newline = memchr(text, '\n', n);
		size_t len = newline ? (size_t)(newline - text) : n, used = newline ? len + 1 : n;
		escape_line(footer, text, len);
		buf_adds(footer, newline ? "\n" : "");
		text += used;
		n -= used;
	}
}

#define LEVEL 1 /* zstd level: the fastest of its usual levels, because the traced program may be waiting */
/* A block is written when an event is this much newer than its first one: sctrace may be killed. */
#define BLOCK_AGE_NS NSEC_PER_SEC

struct recording_writer {
	int fd;
	char *path;
	int err; /* -errno of the first failure; nothing is written after it */
	const struct recording_head *head;
	const volatile sig_atomic_t *stop; /* see outfile_write() */
	ZSTD_CCtx *zstd;
	struct buf block, packed;
	size_t limit;               /* size at which a block is written */
	uint64_t number;            /* number of the current block; the first one is 1 */
	uint64_t time_ns, begun_ns; /* times of the last event of the block (0 if it has none) and of the first one */
	uint32_t threads;           /* number of threads that have an index in the block */
	uint64_t calls;             /* number of calls that ended in the block */
	uint64_t pins;              /* pins of the block (see struct kept_block) */
	uint64_t crash[THREAD_BLOCKS]; /* numbers of the blocks that the last crash has pinned; 0: none */
	bool keeps;                    /* --last was given */
	struct recording_kept kept;
};

/* Adds `by` to the pins of block `number`. The number 0 means no block. */
static void pin(struct recording_writer *w, uint64_t number, int by)
{
	if (number && number == w->number)
		w->pins += (uint64_t)by;
	else if (number && w->keeps)
		recording_pin(&w->kept, number, by);
}

void recording_thread_free(struct recording_writer *w, struct recording_thread *th)
{
	for (int i = 0; i < THREAD_BLOCKS; i++)
		pin(w, th->blocks[i].number, -1);
	buf_free(&th->entry);
}

void recording_crash(struct recording_writer *w, const struct recording_thread *th)
{
	for (int i = 0; i < THREAD_BLOCKS; i++) {
		pin(w, th->blocks[i].number, 1);
		pin(w, w->crash[i], -1);
		w->crash[i] = th->blocks[i].number;
	}
}

/* Opens and locks the file, and sets its mode to 0600, because a recording contains the program's data. */
static int open_private(const char *path, int how, struct buf *why)
{
	struct stat st = {0};
	int fd = outfile_open(path, how, 0600);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_mode & 077 && fchmod(fd, 0600) < 0) {
		int err = -errno;
		close(fd);
		fd = err;
	}
	/* Two recorders would write their blocks in turn. File systems without locks permit this. */
	if (fd >= 0 && S_ISREG(st.st_mode) && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
		close(fd);
		buf_addf(why, "cannot write the recording '%s': another sctrace is writing to it; choose another file",
			 path);
		return -EBUSY;
	}
	if (fd < 0)
		buf_addf(why, "cannot write the recording '%s': %s", path, outfile_why(fd));
	return fd;
}

static void writer_free(struct recording_writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	ZSTD_freeCCtx(w->zstd);
	recording_kept_free(&w->kept);
	buf_free(&w->block);
	buf_free(&w->packed);
	free(w->path);
	free(w);
}

void recording_drop(struct recording_writer *w)
{
	struct stat st;
	if (fstat(w->fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0)
		unlink(w->path);
	writer_free(w);
}

int recording_create(struct recording_writer **out, const char *path, const struct recording_last *last,
		     struct buf *why)
{
	struct recording_writer *w = memory_zeroed(1, sizeof(*w));
	w->fd = -1;
	w->path = memory_copy(path);
	w->zstd = ZSTD_createCCtx();
	if (!w->zstd)
		memory_exhausted();
	w->keeps = last != NULL;
	w->limit = last ? RECORDING_BLOCK_LAST : RECORDING_BLOCK;
	w->number = 1;
	if (last)
		w->kept.last = *last;
	w->fd = open_private(path, O_APPEND, why);
	if (w->fd < 0) {
		int err = w->fd;
		writer_free(w);
		return err;
	}
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1);
	*out = w;
	return 0;
}

static void put(struct recording_writer *w, const void *bytes, size_t n)
{
	if (!w->err)
		w->err = outfile_write(w->fd, bytes, n, w->stop);
}

static void pack(struct recording_writer *w, const struct buf *items)
{
	size_t room = ZSTD_compressBound(items->len);
	buf_clear(&w->packed);
	buf_fill(&w->packed, 0, room);
	size_t n = ZSTD_compress2(w->zstd, w->packed.s, room, items->s, items->len);
	if (ZSTD_isError(n)) /* nothing else can fail if there is room for the result */
		memory_exhausted();
	buf_truncate(&w->packed, n);
}

/* Compresses the block, writes or keeps it, and begins the next one. */
static void flush(struct recording_writer *w)
{
	if (!w->block.len)
		return;
	if (!w->err) {
		pack(w, &w->block);
		if (w->keeps) {
			struct kept_block block = {.bytes = memory_get(w->packed.len),
						   .n = w->packed.len,
						   .number = w->number,
						   .calls = w->calls,
						   .end_ns = w->time_ns,
						   .pins = w->pins};
			memcpy(block.bytes, w->packed.s, w->packed.len);
			recording_keep(&w->kept, block);
		} else {
			put(w, w->packed.s, w->packed.len);
		}
	}
	buf_clear(&w->block);
	w->number++;
	w->threads = 0;
	w->time_ns = 0;
	w->calls = 0;
	w->pins = 0;
}

/* Writes a frame with a single item. */
static void put_alone(struct recording_writer *w, const struct buf *item)
{
	pack(w, item);
	put(w, w->packed.s, w->packed.len);
}

static void put_header(struct recording_writer *w)
{
	unsigned char header[RECORDING_HEADER] = RECORDING_MAGIC;
	header[strlen(RECORDING_MAGIC)] = RECORDING_VERSION;
	auto_buf item = {0};
	buf_addc(&item, ITEM_HEAD);
	put_head(w->head, &item);
	put(w, header, sizeof(header));
	put_alone(w, &item);
}

static void put_end(struct recording_writer *w, const struct recording_end *end)
{
	auto_buf item = {0};
	buf_addc(&item, ITEM_END);
	put_end_facts(end, &item);
	put_alone(w, &item);
}

/* Removes what the file contains. ftruncate(2) fails with EINVAL if it is not a regular file. */
static void empty(struct recording_writer *w)
{
	if (!w->err && ftruncate(w->fd, 0) < 0 && errno != EINVAL)
		w->err = -errno;
}

void recording_begin(struct recording_writer *w, const struct recording_head *head, const volatile sig_atomic_t *stop)
{
	w->head = head;
	w->stop = stop;
	if (w->keeps)
		return;
	empty(w);
	put_header(w);
}

/* Adds the current block to the blocks of the thread, and unpins those that are no longer needed. */
static void add_block(struct recording_writer *w, struct recording_thread *th)
{
	uint64_t calls = 0;
	int kept = 0;
	while (kept < THREAD_BLOCKS - 1 && calls < THREAD_CALLS && th->blocks[kept].number)
		calls += th->blocks[kept++].calls;
	for (int i = kept; i < THREAD_BLOCKS; i++) {
		pin(w, th->blocks[i].number, -1);
		th->blocks[i] = (struct thread_block){0};
	}
	memmove(th->blocks + 1, th->blocks, (size_t)kept * sizeof(*th->blocks));
	th->blocks[0] = (struct thread_block){.number = w->number};
	pin(w, w->number, 1);
}

uint64_t recording_event_begin(struct recording_writer *w, struct recording_thread *th, const struct event *ev)
{
	bool late = w->time_ns && ev->time_ns > w->begun_ns + BLOCK_AGE_NS;
	bool is_new = th->blocks[0].number != w->number || th->pid != ev->pid;
	if (w->block.len >= w->limit || late || (is_new && w->threads == RECORDING_THREADS_MOST))
		flush(w);
	if (!w->time_ns)
		w->begun_ns = ev->time_ns;
	if (th->blocks[0].number == w->number && th->pid == ev->pid)
		return w->number;
	if (th->blocks[0].number != w->number)
		add_block(w, th);
	th->index = w->threads++;
	th->pid = ev->pid;
	th->calls = (struct item_calls){0};
	buf_addc(&w->block, ITEM_THREAD);
	item_put(&w->block, (uint64_t)ev->tid);
	item_put(&w->block, (uint64_t)ev->pid);
	return w->number;
}

void recording_name(struct recording_writer *w, enum recording_name kind, pid_t tid, uint32_t key,
		    const struct buf *text, int64_t number)
{
	buf_addc(&w->block, ITEM_NAME);
	item_put(&w->block, kind);
	item_put(&w->block, (uint64_t)tid);
	item_put(&w->block, key);
	item_put(&w->block, text != NULL);
	if (text)
		item_put_text(&w->block, buf_str(text), text->len);
	else
		item_put_signed(&w->block, number);
}

bool recording_frame(void *writer, const struct stack_frame *f)
{
	struct buf *out = &((struct recording_writer *)writer)->block;
	const char *const texts[] = {f->module, f->function, f->file};
	buf_addc(out, ITEM_FRAME);
	item_put(out, f->ip);
	item_put(out, f->module_addr);
	item_put(out, f->offset);
	item_put(out, (uint64_t)f->line);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		item_put(out, texts[i] != NULL);
		if (texts[i])
			item_put_text(out, texts[i], strlen(texts[i]));
	}
	return true;
}

/* Appends the signal information without the zeros at its end. */
static void put_siginfo(struct buf *out, const siginfo_t *sig)
{
	size_t n = sizeof(*sig);
	while (n && !((const char *)sig)[n - 1])
		n--;
	item_put_text(out, (const char *)sig, n);
}

static void put_call(struct recording_writer *w, struct recording_thread *th, const struct event *ev)
{
	struct buf *out = &w->block;
	uint64_t since = ev->time_ns - ev->call.enter_ns;
	char *p = item_call_at(buf_room(out, ITEM_CALL_MOST + 3 * ITEM_NUMBER_MOST), &th->calls, ev);
	p = item_signed_at(p, (int64_t)since);
	if (ev->kind != EV_ENTER) {
		p = item_signed_at(p, (int64_t)(ev->call.duration_ns - since));
		p = item_signed_at(p, ev->call.result);
		w->calls++;
		th->blocks[0].calls++;
	}
	buf_end_at(out, p);
}

static struct captured_list entry_of(const struct recording_thread *th)
{
	return (struct captured_list){(const unsigned char *)th->entry.s, 0, th->entry.len};
}

/* Writes the captures of the start of a call, and keeps them until the call has ended. */
static void put_entry_captures(struct recording_writer *w, struct recording_thread *th, const struct event *ev,
			       const struct captured_list *captures)
{
	item_put_captures(&w->block, &ev->call, captures, true, NULL);
	th->entry_block = w->number;
	buf_clear(&th->entry);
	buf_add(&th->entry, captures->bytes + captures->from, captures->to - captures->from);
}

/* If a call ends in another block than it began, its end needs the captures of its start in its own block. */
static void repeat_entry(struct recording_writer *w, struct recording_thread *th)
{
	static const struct call none;
	const struct captured_list entry = entry_of(th);
	if (!th->entry_block || th->entry_block == w->number || !entry.to)
		return;
	buf_addc(&w->block, ITEM_MEMORY);
	item_put(&w->block, th->index);
	item_put_captures(&w->block, &none, &entry, true, NULL);
	th->entry_block = w->number;
}

/* Writes the captures of the end of a call. */
static void put_exit_captures(struct recording_writer *w, struct recording_thread *th, const struct event *ev,
			      const struct captured_list *captures)
{
	const struct captured_list entry = entry_of(th);
	item_put_captures(&w->block, &ev->call, captures, false, th->entry_block == w->number ? &entry : NULL);
	th->entry_block = 0;
}

static struct call *slot_of(struct recording_thread *th, const struct call *c)
{
	return &th->calls.slots[(uint64_t)c->nr % RECORDING_SLOTS];
}

/* Writes the start of a call, and remembers what recording_withdraw() needs. */
static void put_start(struct recording_writer *w, struct recording_thread *th, const struct event *ev,
		      const struct captured_list *captures)
{
	th->undo.slot = *slot_of(th, &ev->call);
	put_call(w, th, ev);
	put_entry_captures(w, th, ev, captures);
	th->undo.end = w->block.len;
}

bool recording_withdraw(struct recording_writer *w, struct recording_thread *th)
{
	const struct recording_undo *u = &th->undo;
	if (u->block != w->number || u->end != w->block.len)
		return false;
	buf_truncate(&w->block, u->begin);
	w->time_ns = u->time_ns;
	*slot_of(th, &u->call) = u->slot;
	th->entry_block = 0;
	return true;
}

void recording_event(struct recording_writer *w, struct recording_thread *th, const struct event *ev,
		     const struct captured_list *captures)
{
	struct buf *out = &w->block;
	if (ev->kind == EV_EXIT || ev->kind == EV_VANISH)
		repeat_entry(w, th);
	if (ev->kind == EV_ENTER)
		th->undo = (struct recording_undo){w->number, out->len, 0, w->time_ns, ev->call, {0}};
	char *p = buf_room(out, 1 + 2 * ITEM_NUMBER_MOST);
	*p++ = (char)(ITEM_ENTER + (ev->kind - EV_ENTER));
	p = item_number_at(p, th->index);
	buf_end_at(out, item_signed_at(p, (int64_t)(ev->time_ns - w->time_ns)));
	w->time_ns = ev->time_ns;
	switch (ev->kind) {
	case EV_ENTER:
		put_start(w, th, ev, captures);
		break;
	case EV_EXIT:
	case EV_VANISH:
		put_call(w, th, ev);
		put_exit_captures(w, th, ev, captures);
		break;
	case EV_CALL:
		put_call(w, th, ev);
		item_put_captures(out, &ev->call, captures, true, NULL);
		item_put_captures(out, &ev->call, captures, false, captures);
		break;
	case EV_SIGNAL:
	case EV_STOP:
		item_put(out, ev->ip);
		put_siginfo(out, &ev->sig);
		break;
	case EV_NEW_TASK:
	case EV_EXEC:
		item_put(out, (uint64_t)ev->child);
		item_put(out, ev->is_thread);
		break;
	case EV_DEATH:
		item_put(out, (uint32_t)ev->status);
		item_put(out, ev->is_process ? DEATH_PROCESS | DEATH_USAGE : 0);
		if (ev->is_process) {
			item_put(out, ev->cpu_ns);
			item_put(out, ev->peak_rss_bytes);
		}
		break;
	case EV_CONT:
	case EV_NOTE:
	case EV_ATTACH:
	case EV_MAIN:
		break;
	}
}

void recording_save(struct recording_writer *w, const struct recording_end *end)
{
	flush(w);
	empty(w);
	put_header(w);
	for (size_t i = 0; i < w->kept.pinned.n; i++)
		put(w, w->kept.pinned.v[i].bytes, w->kept.pinned.v[i].n);
	for (size_t i = w->kept.first; i < w->kept.blocks.n; i++)
		put(w, w->kept.blocks.v[i].bytes, w->kept.blocks.v[i].n);
	put_end(w, end);
}

int recording_close(struct recording_writer *w, const struct recording_end *end, struct buf *why)
{
	if (!w->keeps) {
		flush(w);
		put_end(w, end);
	}
	int err = w->err;
	if (err)
		buf_addf(why, "cannot write the recording '%s': %s", w->path,
			 err == -EINTR ? "its reader does not read" : diag_error_text(-err));
	recording_drop(w);
	return err;
}
