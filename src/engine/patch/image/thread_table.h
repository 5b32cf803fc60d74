/*
 * sctrace's copy of the table of threads that an image has (code/ring.h). A row that is free here may still have its old
 * contents in the program. Before a thread with that fs base runs, sctrace assigns a row to it again. This row is never later
 * in the bucket than the old one, so the search finds it first.
 */
#ifndef SCTRACE_ENGINE_PATCH_IMAGE_THREAD_TABLE_H
#define SCTRACE_ENGINE_PATCH_IMAGE_THREAD_TABLE_H

#include "engine/patch/code/ring.h"

/* A bucket without used rows may be NULL. */
struct thread_table {
	struct agent_thread *buckets[THREAD_BUCKETS];
};

/* Returns an empty table. The caller frees it with thread_table_free(). */
struct thread_table *thread_table_new(void);
/* Returns a copy, or NULL if `from` is NULL. */
struct thread_table *thread_table_copy(const struct thread_table *from);
/* `t` may be NULL. */
void thread_table_free(struct thread_table *t);
/*
 * Returns the row of this fs base, or a free row for it, whose member `scratch` is 0. Returns NULL if the bucket is full.
 */
struct agent_thread *thread_table_row(struct thread_table *t, uint64_t fs_base);
/* Returns the address that row `row` of bucket number `bucket` has in the program. */
uint64_t thread_table_address(const struct thread_table *t, unsigned bucket, const struct agent_thread *row);

#endif
