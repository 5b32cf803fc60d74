#include "tracee/names_kept.h"

#include "base/buf.h"
#include "base/memory.h"

#include <stdlib.h>

#define NAMES_MOST 4096 /* a limit is necessary: a program may use any number of descriptors one after the other */

struct kept_name {
	struct buf text;
	uint64_t drops; /* value of names_kept.drops when the name was looked up */
};

static void free_name(struct kept_name *n)
{
	if (n)
		buf_free(&n->text);
	free(n);
}

static void free_names(struct map *names)
{
	struct kept_name *n;
	for (size_t i = 0; (n = map_next(names, &i, NULL));)
		free_name(n);
	map_free(names);
}

void names_kept_free(struct names_kept *k)
{
	free_names(&k->fds);
	free_names(&k->comms);
	struct names_ids *ids;
	for (size_t i = 0; (ids = map_next(&k->apart, &i, NULL));)
		free(ids);
	map_free(&k->apart);
	for (size_t i = 0; i < NAMES_GONE_MOST; i++)
		free(k->gone[i]);
}

/* Keeps a name of `len` bytes. */
static struct kept_name *keep(struct map *names, uint64_t key, const char *text, size_t len)
{
	struct kept_name *n = map_get(names, key);
	if (!n) {
		if (names->n >= NAMES_MOST)
			free_names(names);
		n = memory_zeroed(1, sizeof(*n));
		map_put(names, key, n);
	}
	buf_clear(&n->text);
	buf_add(&n->text, text, len);
	return n;
}

static bool kept_fd(void *ctx, pid_t tid, int fd, struct buf *out)
{
	struct names_kept *k = ctx;
	uint64_t key = (uint64_t)(uint32_t)tid << 32 | (uint32_t)fd;
	struct kept_name *n = map_get(&k->fds, key);
	if (n && n->drops == k->drops) {
		buf_add(out, n->text.s, n->text.len);
		return true;
	}
	size_t start = out->len;
	if (!names_live.fd(names_live.ctx, tid, fd, out))
		return false;
	keep(&k->fds, key, out->s + start, out->len - start)->drops = k->drops;
	return true;
}

static bool kept_comm(void *ctx, pid_t tid, struct buf *out)
{
	struct names_kept *k = ctx;
	const struct kept_name *n;
	size_t start = out->len;
	if (names_live.comm(names_live.ctx, tid, out)) {
		keep(&k->comms, (uint64_t)tid, out->s + start, out->len - start);
		return true;
	}
	if ((n = map_get(&k->comms, (uint64_t)tid)))
		buf_add(out, n->text.s, n->text.len);
	return n != NULL;
}

/* Returns the number of a thread that has ended and that `from` knew by the number `id`, or 0. The latest one counts. */
static pid_t find_gone(const struct names_kept *k, const struct names_ids *from, pid_t id)
{
	pid_t found = 0;
	for (size_t i = 1; !found && i <= NAMES_GONE_MOST; i++) {
		const struct names_ids *g = k->gone[(k->gone_at + NAMES_GONE_MOST - i) % NAMES_GONE_MOST];
		found = g ? names_ids_match(from, id, g) : 0;
	}
	return found;
}

/* The calls of a thread may be shown after its end. If it was in another pid namespace, its numbers are unknown then. */
static pid_t kept_outer_id(void *ctx, pid_t tid, pid_t id)
{
	struct names_kept *k = ctx;
	struct names_ids from;
	bool was_apart = map_get(&k->apart, (uint64_t)tid) && names_is_apart(tid) < 0;
	pid_t found = was_apart ? 0 : names_live.outer_id(names_live.ctx, tid, id);
	return !found && names_ids_read(tid, &from) ? find_gone(k, &from, id) : found;
}

static bool kept_fd_in_full(void *ctx, pid_t tid, int fd, struct buf *out)
{
	struct names_kept *k = ctx;
	return names_live.fd_in_full(&k->sockets, tid, fd, out);
}

void names_keep_sockets(struct names_kept *k)
{
	*k = (struct names_kept){.names = names_live, .drops = 1};
	k->names.fd_in_full = kept_fd_in_full;
	k->names.comm = kept_comm;
	k->names.outer_id = kept_outer_id;
	k->names.ctx = k;
}

void names_keep(struct names_kept *k)
{
	names_keep_sockets(k);
	k->names.fd = kept_fd;
}

void names_kept_drop(struct names_kept *k)
{
	k->drops++;
}

void names_kept_learn(struct names_kept *k, pid_t tid)
{
	struct buf name = {0};
	(void)kept_comm(k, tid, &name);
	buf_free(&name);
	if (names_is_apart(tid) == 0)
		return;
	struct names_ids *ids = memory_zeroed(1, sizeof(*ids));
	if (!names_ids_read(tid, ids))
		ids->n = 0;
	free(map_get(&k->apart, (uint64_t)tid));
	map_put(&k->apart, (uint64_t)tid, ids);
}

void names_kept_forget(struct names_kept *k, pid_t tid)
{
	free_name(map_remove(&k->comms, (uint64_t)tid));
	struct names_ids *ids = map_remove(&k->apart, (uint64_t)tid);
	if (!ids)
		return;
	free(k->gone[k->gone_at]);
	k->gone[k->gone_at] = ids;
	k->gone_at = (k->gone_at + 1) % NAMES_GONE_MOST;
}
