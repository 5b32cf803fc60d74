#include "engine/patch/image/thread_table.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct thread_table *thread_table_new(void)
{
	return memory_zeroed(1, sizeof(struct thread_table));
}

static struct agent_thread *bucket_new(void)
{
	return memory_zeroed(THREAD_ROWS, sizeof(struct agent_thread));
}

struct thread_table *thread_table_copy(const struct thread_table *from)
{
	struct thread_table *t = from ? thread_table_new() : NULL;
	for (unsigned i = 0; t && i < THREAD_BUCKETS; i++)
		if (from->buckets[i]) {
			t->buckets[i] = bucket_new();
			memcpy(t->buckets[i], from->buckets[i], THREAD_ROWS * sizeof(struct agent_thread));
		}
	return t;
}

void thread_table_free(struct thread_table *t)
{
	for (unsigned i = 0; t && i < THREAD_BUCKETS; i++)
		free(t->buckets[i]);
	free(t);
}

struct agent_thread *thread_table_row(struct thread_table *t, uint64_t fs_base)
{
	struct agent_thread **bucket = &t->buckets[thread_bucket(fs_base)], *free_row = NULL;
	if (!*bucket)
		*bucket = bucket_new();
	for (struct agent_thread *row = *bucket; row < *bucket + THREAD_ROWS; row++) {
		if (row->fs_base == fs_base && row->scratch)
			return row;
		if (!row->scratch && !free_row)
			free_row = row;
	}
	return free_row;
}

uint64_t thread_table_address(const struct thread_table *t, unsigned bucket, const struct agent_thread *row)
{
	return THREADS_AT + ((uint64_t)bucket * THREAD_ROWS + (uint64_t)(row - t->buckets[bucket])) * sizeof(*row);
}
