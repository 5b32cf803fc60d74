/* SPDX-License-Identifier: MIT */
#include "recording/read.h"

#include "base/diag.h"
#include "base/memory.h"
#include "recording/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INPUT     (1u << 17)
#define WINDOW    26 /* zstd refuses frames that need more than 2^26 bytes of history (RECORDING_BLOCK_MOST) */
#define ROOM_STEP (1u << 20)

bool recording_fill(struct recording *r)
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

int recording_next_block(struct recording *r)
{
	ZSTD_outBuffer out = {0};
	size_t left = 1;
	forget_block(r);
	if (!recording_fill(r))
		return 0;
	ZSTD_DCtx_reset(r->zstd, ZSTD_reset_session_only);
	while (left && recording_fill(r)) {
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
	while (n < sizeof(header) && recording_fill(r))
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
	int got = recording_next_block(r);
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
	recording_answer(r);
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
	struct buf reason = {0};
	err = err ? err : begin(r, &reason);
	if (err) {
		buf_addf(why,
			 input ? "cannot read the recording on standard input: " : "cannot read the recording '%s': ",
			 path);
		buf_adds(why, reason.len ? buf_str(&reason) : diag_error_text(-err));
		recording_close_read(r);
		r = NULL;
	}
	buf_free(&reason);
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
