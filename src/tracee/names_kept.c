#include "tracee/names_kept.h"

#include "base/buf.h"
#include "base/memory.h"

#include <stdlib.h>

#define NAMES_MOST 4096 /* a limit is necessary: a program may use any number of descriptors one after the other */

struct kept_name {
	struct buf text;
	uint64_t drops; /* value of names_kept.drops when the name was looked up */
};

void names_kept_free(struct names_kept *k)
{
	struct kept_name *n;
	for (size_t i = 0; (n = map_next(&k->fds, &i, NULL));) {
		buf_free(&n->text);
		free(n);
	}
	map_free(&k->fds);
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
	if (!n) {
		if (k->fds.n >= NAMES_MOST)
			names_kept_free(k);
		n = memory_zeroed(1, sizeof(*n));
		map_put(&k->fds, key, n);
	}
	buf_clear(&n->text);
	buf_add(&n->text, out->s + start, out->len - start);
	n->drops = k->drops;
	return true;
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
