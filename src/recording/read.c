/* SPDX-License-Identifier: MIT */
#include "recording/read.h"

#include "base/diag.h"
#include "base/map.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define INPUT     (1u << 17)
#define WINDOW    26 /* zstd refuses frames that need more than 2^26 bytes of history (RECORDING_BLOCK_MOST) */
#define ROOM_STEP (1u << 20)

/* A thread that occurs in the current block. */
struct block_thread {
	pid_t tid, pid;
	struct item_calls calls;
	struct buf captures; /* the memory of the thread's current call */
	size_t entry;        /* how many bytes of `captures` were captured when the call began */
};

struct recording {
	struct engine engine; /* must be the first member */
	struct engine_ops ops;
	struct stack stack;
	struct recording_answers names;
	struct recording_head head;
	struct engine_result result;
	struct buf footer;
	bool complete; /* the item ITEM_END was read */
	bool damaged;
	bool continues; /* the file contains more data after ITEM_END */

	int fd;
	uint64_t size, done; /* size of the file (0: not a regular one), and bytes read so far */
	ZSTD_DCtx *zstd;
	unsigned char *input;
	ZSTD_inBuffer in;
	bool ended; /* the end of the file was reached, or the file cannot be read any further */
	int err;    /* -errno of the read(2) that failed; 0: none did */

	unsigned char *content; /* the decompressed items of the current block */
	size_t room;
	bool cut;              /* the file ends within the current block */
	struct item_reader at; /* position of the next item */
	uint64_t time_ns;
	VEC(struct block_thread *) threads; /* the first `nthreads` ones occur in the block; the others are spare */
	size_t nthreads;
	struct map known; /* recording_name_key() -> the address of the answer in the current block */

	struct captured_list captures; /* the memory of the last call */
	struct captured_memory before, after;
	struct mem mem, entry_mem;
	VEC(const unsigned char *) frames; /* addresses, in the current block, of the stack frames of the last event */
	bool told;                         /* an event was returned; its frames are dropped before the next one */
};

/* The names and stacks that were recorded. */

/* Is this the type and number of a device ("char 1:3")? It is printed without escapes; the file may be damaged. */
static bool is_device(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!text[i] || !strchr("abcdefghijklmnopqrstuvwxyz 0123456789:", text[i]))
			return false;
	return n > 0;
}

/* Finds the answer that was recorded. */
static bool recorded(void *recording, enum recording_name kind, pid_t tid, uint32_t key, struct buf *out,
		     int64_t *number)
{
	const struct recording *r = recording;
	const unsigned char *at = map_get(&r->known, recording_name_key(kind, tid, key));
	struct item_reader item = {.at = at, .end = r->at.end};
	size_t n;
	if (!at)
		return false;
	if (!item_get(&item)) {
		*number = item_get_signed(&item);
		return false;
	}
	const char *text = item_get_text(&item, &n);
	if (kind == NAME_DEVICE && !is_device(text, n))
		return false;
	if (out)
		buf_add(out, text, n);
	return true;
}

/* Reads frame `i`. Its strings are stored in `texts`. */
static struct stack_frame frame_at(const struct recording *r, size_t i, struct buf *texts)
{
	struct item_reader item = {.at = r->frames.v[i], .end = r->at.end};
	struct stack_frame f = {.index = (unsigned)i};
	const char **const to[] = {&f.module, &f.function, &f.file};
	size_t at[3], n;
	bool has[3];
	f.ip = item_get(&item);
	f.module_addr = item_get(&item);
	f.offset = item_get(&item);
	f.line = (int)item_get(&item);
	buf_clear(texts);
	for (int k = 0; k < 3; k++) {
		at[k] = texts->len;
		has[k] = item_get(&item) != 0;
		const char *text = has[k] ? item_get_text(&item, &n) : NULL;
		if (text) {
			buf_add(texts, text, n);
			buf_addc(texts, '\0');
		}
	}
	for (int k = 0; k < 3; k++)
		*to[k] = has[k] ? texts->s + at[k] : NULL;
	return f;
}

static int stack_recorded(struct stack *s, const struct event *ev, stack_frame_fn fn, void *ctx)
{
	const struct recording *r = (const void *)((char *)s - offsetof(struct recording, stack));
	auto_buf texts = {0};
	bool more = true;
	(void)ev;
	for (size_t i = 0; i < r->frames.n && more; i++) {
		struct stack_frame f = frame_at(r, i, &texts);
		more = fn(ctx, &f);
	}
	return (int)r->frames.n;
}

/* forget() and close() are never called: recording_close_read() frees the stack. */
static const struct stack_ops recorded_stacks = {.name = "recorded", .walk = stack_recorded};

const struct names *recording_names(struct recording *r)
{
	return &r->names.names;
}

struct stack *recording_stack(struct recording *r)
{
	return &r->stack;
}

/* Returns true if there is data that next_block() has not used yet. Reads more if necessary. */
static bool fill(struct recording *r)
{
	ssize_t n = 0;
	if (r->in.pos < r->in.size)
		return true;
	do
		n = r->ended ? 0 : read(r->fd, r->input, INPUT);
	while (n < 0 && errno == EINTR);
	r->in = (ZSTD_inBuffer){r->input, n > 0 ? (size_t)n : 0, 0};
	r->done += n > 0 ? (uint64_t)n : 0;
	r->err = n < 0 ? -errno : r->err;
	r->ended = n <= 0;
	return n > 0;
}

static int make_room(struct recording *r, size_t used)
{
	if (used < r->room)
		return 0;
	size_t room = r->room ? 2 * r->room : ROOM_STEP;
	if (room > RECORDING_BLOCK_MOST)
		return -EBADMSG;
	r->content = memory_resize(r->content, room);
	r->room = room;
	return 0;
}

static void forget_block(struct recording *r)
{
	r->nthreads = 0;
	r->time_ns = 0;
	r->frames.n = 0;
	map_free(&r->known);
}

/*
 * Reads and decompresses the next block. If the file ends within the block, its first part is used. Returns 1; 0 at the
 * end of the file, or if it cannot be read (r->err); or -EBADMSG if the block is damaged or too large.
 */
static int next_block(struct recording *r)
{
	ZSTD_outBuffer out = {0};
	size_t left = 1;
	forget_block(r);
	if (!fill(r))
		return 0;
	ZSTD_DCtx_reset(r->zstd, ZSTD_reset_session_only);
	while (left && fill(r)) {
		int err = make_room(r, out.pos);
		if (err) {
			r->damaged = true;
			return err;
		}
		out = (ZSTD_outBuffer){r->content, r->room, out.pos};
		left = ZSTD_decompressStream(r->zstd, &out, &r->in);
		if (ZSTD_isError(left)) {
			r->damaged = true;
			return -EBADMSG;
		}
	}
	r->cut = left != 0;
	r->at = (struct item_reader){.at = r->content, .end = r->content + out.pos};
	return 1;
}

static int begin(struct recording *r, struct buf *why)
{
	unsigned char header[RECORDING_HEADER];
	size_t n = 0;
	while (n < sizeof(header) && fill(r))
		header[n++] = r->input[r->in.pos++];
	if (r->err)
		return r->err;
	if (!n) {
		buf_adds(why, "it is empty; with --last, sctrace writes it when the program fails, and on SIGUSR1");
		return -EBADMSG;
	}
	if (n < sizeof(header) || memcmp(header, RECORDING_MAGIC, strlen(RECORDING_MAGIC)) != 0) {
		buf_adds(why, "it is not a recording; sctrace --record FILE PROGRAM makes one");
		return -EBADMSG;
	}
	unsigned version = header[strlen(RECORDING_MAGIC)];
	if (version < 1 || version > RECORDING_VERSION) {
		buf_addf(why, "it has version %u of the format, but this sctrace reads versions 1 to %d", version,
			 RECORDING_VERSION);
		return -EBADMSG;
	}
	int got = next_block(r);
	bool is_head = got == 1 && r->at.at < r->at.end && *r->at.at++ == ITEM_HEAD;
	if (is_head)
		recording_head_get(&r->head, &r->at);
	if (is_head && !r->at.bad)
		return 0;
	buf_adds(why, got == 0 || r->ended ? "it ends before its first event" : "its start is damaged");
	return got < 0 ? got : -EBADMSG;
}

int recording_open(struct recording **out, const char *path, struct buf *why)
{
	struct recording *r = memory_zeroed(1, sizeof(*r));
	struct stat st;
	recording_head_init(&r->head);
	r->stack.ops = &recorded_stacks;
	recording_answers_init(&r->names, recorded, r);
	r->zstd = ZSTD_createDCtx();
	if (!r->zstd)
		memory_exhausted();
	r->input = memory_get(INPUT);
	bool input = strcmp(path, "-") == 0;
	r->fd = input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC);
	int err = r->fd < 0 ? -errno : 0;
	if (!err && fstat(r->fd, &st) == 0 && S_ISREG(st.st_mode))
		r->size = (uint64_t)st.st_size;
	if (!err)
		ZSTD_DCtx_setParameter(r->zstd, ZSTD_d_windowLogMax, WINDOW);
	auto_buf reason = {0};
	err = err ? err : begin(r, &reason);
	if (err) {
		buf_addf(why,
			 input ? "cannot read the recording on standard input: " : "cannot read the recording '%s': ",
			 path);
		buf_adds(why, reason.len ? buf_str(&reason) : diag_error_text(-err));
		recording_close_read(r);
		r = NULL;
	}
	*out = r;
	return err;
}

void recording_close_read(struct recording *r)
{
	if (r->fd >= 0)
		close(r->fd);
	ZSTD_freeDCtx(r->zstd);
	for (size_t i = 0; i < r->threads.n; i++) {
		buf_free(&r->threads.v[i]->captures);
		free(r->threads.v[i]);
	}
	vec_free(&r->threads);
	vec_free(&r->frames);
	map_free(&r->known);
	recording_head_free(&r->head);
	buf_free(&r->footer);
	free(r->input);
	free(r->content);
	free(r);
}

const struct recording_head *recording_head_of(const struct recording *r)
{
	return &r->head;
}

static uint64_t position(const struct recording *r)
{
	return r->done - (r->in.size - r->in.pos);
}

int recording_percent(const struct recording *r)
{
	return r->size ? (int)(100 * position(r) / r->size) : -1;
}

bool recording_is_complete(const struct recording *r, struct buf *why)
{
	if (r->err)
		buf_addf(why, "the recording cannot be read any further: %s", diag_error_text(-r->err));
	else if (r->damaged)
		buf_adds(why, "the recording is damaged, so the rest of it is not shown");
	else if (!r->complete)
		buf_adds(why, "the recording is incomplete: its end was not written, or the file was truncated");
	else if (r->continues)
		buf_addf(why,
			 "the recording ends at byte %llu, but the file continues; the rest of the file is not shown. "
			 "If several recordings were joined into one file, show each of them from its own file",
			 (unsigned long long)position(r));
	return r->complete && !r->damaged && !r->err && !r->continues;
}

/* The items of a block, and the engine that delivers the events that they describe. */

static void get_thread(struct recording *r)
{
	pid_t tid = (pid_t)item_get(&r->at), pid = (pid_t)item_get(&r->at);
	struct block_thread *th = r->nthreads < r->threads.n ? r->threads.v[r->nthreads] : NULL;
	if (r->at.bad || tid <= 0 || pid <= 0 || r->nthreads == RECORDING_THREADS_MOST) {
		r->at.bad = true;
		return;
	}
	if (!th) {
		th = memory_zeroed(1, sizeof(*th));
		vec_push(&r->threads, th);
	}
	r->nthreads++;
	th->tid = tid;
	th->pid = pid;
	th->calls = (struct item_calls){0};
	buf_clear(&th->captures);
	th->entry = 0;
}

/* Reads the rest of an ITEM_NAME, whose first byte was already read, and remembers the position of its answer. */
static void get_name(struct recording *r)
{
	struct item_reader *item = &r->at;
	uint64_t kind = item_get(item), tid = item_get(item), key = item_get(item);
	const unsigned char *at = item->at;
	size_t n;
	if (item_get(item))
		(void)item_get_text(item, &n);
	else
		(void)item_get_signed(item);
	if (kind >= NAME_KINDS)
		item->bad = true;
	if (!item->bad)
		map_put(&r->known, recording_name_key((enum recording_name)kind, (pid_t)tid, (uint32_t)key),
			(void *)(uintptr_t)at);
}

/* Only the position of the frame is stored. The frame is read when it is needed. */
static void skip_frame(struct recording *r)
{
	size_t n;
	vec_push(&r->frames, r->at.at);
	for (int i = 0; i < 4; i++)
		(void)item_get(&r->at);
	for (int i = 0; i < 3; i++)
		if (item_get(&r->at))
			(void)item_get_text(&r->at, &n);
}

/* No call lasts so long, 73 years. With smaller figures, no sum or multiple of them overflows. */
#define NS_MOST (UINT64_MAX / 8)

static void get_entry_captures(struct recording *r, struct block_thread *th, const struct call *c)
{
	buf_clear(&th->captures);
	item_get_captures(&r->at, c, &th->captures, true);
	th->entry = th->captures.len;
}

static void get_call(struct recording *r, struct block_thread *th, struct event *ev)
{
	struct item_reader *at = &r->at;
	item_get_call(at, &th->calls, ev);
	struct call *c = &ev->call;
	uint64_t since = (uint64_t)item_get_signed(at);
	c->enter_ns = ev->time_ns - since;
	if (ev->kind != EV_ENTER) {
		c->duration_ns = since + (uint64_t)item_get_signed(at);
		c->result = item_get_signed(at);
		c->err = c->error && !c->err ? (int)-(uint64_t)c->result : c->err;
	}
	at->bad |= c->duration_ns > NS_MOST || c->cost_ns > NS_MOST || c->spread_ns > NS_MOST;
	if (ev->kind == EV_ENTER || ev->kind == EV_CALL)
		get_entry_captures(r, th, c);
	else
		buf_truncate(&th->captures, th->entry);
	if (ev->kind != EV_ENTER)
		item_get_captures(at, c, &th->captures, false);
	r->captures = (struct captured_list){(const unsigned char *)th->captures.s, 0, th->captures.len};
	r->before.at = r->after.at = 0;
	r->mem.ctx = ev->kind == EV_ENTER ? &r->before : &r->after;
	ev->mem = &r->mem;
	ev->entry_mem = ev->kind == EV_CALL ? &r->entry_mem : NULL;
}

/* Reads the captures of the start of a call whose end follows, and whose start is in another block. */
static void get_memory(struct recording *r)
{
	static const struct call none;
	uint64_t index = item_get(&r->at);
	if (index < r->nthreads)
		get_entry_captures(r, r->threads.v[index], &none);
	else
		r->at.bad = true;
}

static void get_signal(struct recording *r, struct event *ev)
{
	size_t n;
	ev->ip = item_get(&r->at);
	const char *bytes = item_get_text(&r->at, &n);
	memcpy(&ev->sig, bytes, n < sizeof(ev->sig) ? n : sizeof(ev->sig));
}

static void get_event(struct recording *r, unsigned item, struct event *ev)
{
	uint64_t index = item_get(&r->at);
	r->time_ns += (uint64_t)item_get_signed(&r->at);
	if (index >= r->nthreads) {
		r->at.bad = true;
		return;
	}
	struct block_thread *th = r->threads.v[index];
	*ev = (struct event){.kind = (enum event_kind)(item - ITEM_ENTER + EV_ENTER),
			     .tid = th->tid,
			     .pid = th->pid,
			     .time_ns = r->time_ns};
	if (item <= ITEM_VANISH || item == ITEM_CALL)
		get_call(r, th, ev);
	else if (item == ITEM_SIGNAL || item == ITEM_STOP)
		get_signal(r, ev);
	else if (item == ITEM_NEW_TASK || item == ITEM_EXEC) {
		ev->child = (pid_t)item_get(&r->at);
		ev->is_thread = item_get(&r->at) != 0;
	} else if (item == ITEM_DEATH) {
		ev->status = (int)item_get(&r->at);
		uint64_t flags = item_get(&r->at);
		ev->is_process = flags & DEATH_PROCESS;
		ev->cpu_ns = flags & DEATH_USAGE ? item_get(&r->at) : 0;
		ev->peak_rss_bytes = flags & DEATH_USAGE ? item_get(&r->at) : 0;
	}
}

/* Reads the next item. Returns true if it is an event. */
static bool next_item(struct recording *r, struct event *ev)
{
	unsigned item = *r->at.at++;
	if (item >= ITEM_ENTER && item <= ITEM_CALL)
		get_event(r, item, ev);
	else if (item == ITEM_THREAD)
		get_thread(r);
	else if (item == ITEM_NAME)
		get_name(r);
	else if (item == ITEM_FRAME)
		skip_frame(r);
	else if (item == ITEM_MEMORY)
		get_memory(r);
	else if (item == ITEM_END) {
		recording_end_get(&r->result, &r->footer, &r->at);
		r->complete = !r->at.bad && !r->cut;
		r->continues = r->complete && (r->at.at < r->at.end || fill(r));
	} else
		r->at.bad = true;
	return item >= ITEM_ENTER && item <= ITEM_CALL && !r->at.bad;
}

static int engine_next(struct engine *e, struct event *ev)
{
	struct recording *r = (struct recording *)e;
	if (r->told)
		r->frames.n = 0;
	r->told = false;
	while (!r->damaged && !r->complete) {
		if (r->at.at == r->at.end && next_block(r) <= 0)
			return 0;
		if (r->at.at < r->at.end && next_item(r, ev)) {
			r->told = true;
			return 1;
		}
		/* If the file ends within an item, the recording is incomplete but not damaged. */
		r->damaged = r->at.bad && !r->cut;
		if (r->at.bad)
			return 0;
	}
	return 0;
}

static void engine_result(const struct engine *e, struct engine_result *result)
{
	*result = ((const struct recording *)e)->result;
}

/* Is this the name of an engine? Names from a file that is damaged are not printed. */
static bool is_name(const char *s)
{
	size_t len = s ? strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") : 0;
	return len > 0 && len < 32 && !s[len];
}

static void engine_footer(const struct engine *e, struct buf *text)
{
	const struct recording *r = (const struct recording *)e;
	if (r->footer.len)
		buf_adds(text, buf_str(&r->footer));
	else
		buf_addf(text, "engine: %s", is_name(r->head.about.engine) ? r->head.about.engine : "unknown");
}

static void engine_stop(struct engine *e)
{
	(void)e; /* recording_close_read() frees the engine */
}

/* A recording has no counts and no processes, so collect(), detach() and kill() are never called. */
static const struct engine_ops recording_ops = {.name = "recording",
						.purpose = "the events of a recording",
						.caps = CAP_EVENTS,
						.next = engine_next,
						.result = engine_result,
						.footer = engine_footer,
						.stop = engine_stop};

struct engine *recording_engine(struct recording *r)
{
	r->ops = recording_ops;
	/* Tables and saved runs name the engine that made the recording, which may be unknown to this build. */
	if (is_name(r->head.about.engine))
		r->ops.name = r->head.about.engine;
	r->before = (struct captured_memory){&r->captures, true, 0};
	r->after = (struct captured_memory){&r->captures, false, 0};
	r->mem = r->entry_mem = (struct mem){.read = captured_read, .ctx = &r->before};
	r->engine.ops = &r->ops;
	return &r->engine;
}
