/* SPDX-License-Identifier: MIT */
/*
 * Reads any bytes as a recording. The reader must terminate and must not read out of bounds. Decoding and counting the
 * events must be safe.
 */
#include "fuzz.h"

#include "recording/read.h"
#include "stats/summary.h"
#include "trace/count.h"
#include "trace/json.h"
#include "trace/pipeline.h"
#include "trace/text.h"

#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

enum { EVENTS_MOST = 2000 };

/*
 * Adds the file's header and a frame to the input, which is the items of a block, because a fuzzer cannot guess
 * checksums. If the input begins with the header's first byte, it is the whole file.
 */
static bool make_file(char *path, size_t room, const uint8_t *data, size_t size)
{
	static const char header[RECORDING_HEADER] = RECORDING_MAGIC "\2";
	int fd = memfd_create("recording", 0);
	size_t bound = ZSTD_compressBound(size);
	char *packed = malloc(bound);
	bool whole = size && data[0] == (uint8_t)header[0];
	size_t n = whole ? 0 : ZSTD_compress(packed, bound, data, size, 1);
	bool made = whole ? write(fd, data, size) == (ssize_t)size
			  : write(fd, header, sizeof(header)) == (ssize_t)sizeof(header) &&
				    write(fd, packed, n) == (ssize_t)n;
	free(packed);
	snprintf(path, room, "/proc/self/fd/%d", fd);
	return made;
}

static void show(struct recording *r)
{
	struct trace_select select = {0};
	struct trace_look look = {0};
	struct trace_outputs out = {.common = {.failed = true}};
	struct summary summary = {0};
	struct trace_decoding decoding = {.string_max = 64, .fd_names = FD_IN_FULL, .pid_names = true, .look = &look};
	struct trace_text text;
	struct trace_json json;
	struct trace_csv csv;
	struct trace_count count;
	struct trace_pipeline p = {.select = &select, .session = {.names = recording_names(r)}};
	const struct trace_text_config as_text = {
		.out = &out, .stack = recording_stack(r), .decoding = decoding, .times = {.durations = PRECISION_US}};
	const struct trace_json_config as_json = {.out = &out,
						  .stack = recording_stack(r),
						  .decoding = decoding,
						  .host = recording_head_of(r)->about.machine.host};
	struct engine *e = recording_engine(r);
	struct event ev;
	trace_text_init(&text, &as_text);
	trace_json_init(&json, &as_json);
	trace_csv_init(&csv, &as_json);
	trace_count_init(&count, BY_PATH, &summary, false);
	trace_pipeline_add(&p, &text.sink);
	trace_pipeline_add(&p, &json.sink);
	trace_pipeline_add(&p, &csv.json.sink);
	trace_pipeline_add(&p, &count.sink);
	for (int i = 0; i < EVENTS_MOST && e->ops->next(e, &ev) == 1; i++)
		trace_pipeline_event(&p, &ev);
	trace_pipeline_end(&p);
	trace_count_free(&count);
	summary_free(&summary);
	buf_free(&out.common.buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	struct recording *r = NULL;
	struct buf why = {0};
	if (make_file(path, sizeof(path), data, size) && recording_open(&r, path, &why) == 0) {
		show(r);
		recording_is_complete(r, &why);
		recording_close_read(r);
	}
	buf_free(&why);
	close(atoi(path + strlen("/proc/self/fd/")));
	return 0;
}
