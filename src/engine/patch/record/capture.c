/* Captures the memory of a call from outside the program, for a record that the recorder has not completed. */
#include "engine/patch/record/record.h"

#include "engine/ptrace/tracer.h"

#include <limits.h>
#include <string.h>

static inline uint64_t capture_load(void *to, const void *memory, uint64_t addr, uint64_t n)
{
	ssize_t got = n ? mem_read(memory, addr, to, (size_t)n) : 0;
	return got > 0 ? (uint64_t)got : 0;
}

static inline uint64_t capture_text(void *to, const void *memory, uint64_t addr, uint64_t n)
{
	int ended = 0;
	char *text = to;
	size_t most = n < PATH_MAX ? (size_t)n : PATH_MAX; /* with the NUL */
	ssize_t got = mem_string(memory, addr, text, most - 1, &ended);
	if (got >= 0 && ended)
		text[got++] = 0;
	return got > 0 ? (uint64_t)got : 0;
}

#define CAPTURE_PART   static
#define CAPTURE_HELPER static inline
#define CAPTURE_SURE   1
#include "syscall/capture.h"

void capture_open(struct record_reader *r, const struct memory_tables *tables, const struct agent_recipe *recipe,
		  const struct capture_source *from)
{
	struct capture c = {.tables = tables,
			    .args = r->open.args,
			    .result = from->result,
			    .nr = r->open.nr,
			    .string_max = from->string_max,
			    .bytes = r->open_bytes,
			    .head = r->open.head,
			    .at = r->open.size,
			    .room = RECORD_MOST,
			    .unfinished = !from->made,
			    .memory = from->live};
	for (unsigned i = 0; i < recipe->n; i++)
		capture_after(&c, &tables->needs[recipe->op[i].need], recipe->op[i].arg);
	r->open.size = (uint16_t)c.at;
}

void record_capture(const struct patch *p, struct record_thread *th, int64_t result, bool made)
{
	const unsigned char *tables = p->recorder + (MEMORY_AT - RECORDER_CODE);
	const struct agent_recipe *recipes =
		(const struct agent_recipe *)(const void *)(p->recorder + (RECIPES_AT - RECORDER_CODE));
	pid_t tid = th->tid;
	const struct mem live = tracer_mem_of(&p->t, &tid);
	capture_open(&th->reader, (const struct memory_tables *)(const void *)tables, &recipes[th->reader.open.nr],
		     &(struct capture_source){&live, p->record->string_max, result, made});
}
