/* SPDX-License-Identifier: MIT */
#include "tracee/names_kept.h"

#include "base/buf.h"
#include "base/memory.h"
#include "tracee/proc.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define NAMES_MOST 4096 /* a limit is necessary: a program may use any number of descriptors one after the other */

struct kept_name {
	struct buf text;
	uint64_t drops;  /* value of names_kept.drops when the name was looked up */
	uint32_t closed; /* value of names_kept.closed[] */
	bool ended;      /* a thread's name: the thread has ended */
};

struct recorded_name {
	struct buf text; /* empty: the descriptor was closed at `time_ns` */
	struct buf full; /* empty: `text`, or unknown */
	uint32_t mode;
	bool deleted;
	uint64_t rdev, time_ns;
};

struct recorded_names {
	struct map fds; /* descriptor -> struct recorded_name */
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

static void free_recorded(struct recorded_name *n)
{
	if (n) {
		buf_free(&n->text);
		buf_free(&n->full);
	}
	free(n);
}

/* Forgets a recorded name, if it is not later than `began_ns`, and does not accept it again if it is not later than `ended_ns`. */
static void forget_recorded(struct recorded_name *n, uint64_t began_ns, uint64_t ended_ns)
{
	if (!n || n->time_ns > began_ns)
		return;
	buf_clear(&n->text);
	n->time_ns = ended_ns > n->time_ns ? ended_ns : n->time_ns;
}

/* Does so with those of the descriptors from `first` to `last`. */
static void forget_range(struct recorded_names *of, uint32_t first, uint32_t last, uint64_t began_ns, uint64_t ended_ns)
{
	struct recorded_name *n;
	uint64_t fd;
	if (of && first == last)
		forget_recorded(map_get(&of->fds, first), began_ns, ended_ns);
	for (size_t i = 0; of && first != last && (n = map_next(&of->fds, &i, &fd));)
		if (fd >= first && fd <= last)
			forget_recorded(n, began_ns, ended_ns);
}

static void free_process(struct recorded_names *of)
{
	struct recorded_name *n;
	for (size_t i = 0; of && (n = map_next(&of->fds, &i, NULL));)
		free_recorded(n);
	if (of)
		map_free(&of->fds);
	free(of);
}

void names_kept_free(struct names_kept *k)
{
	struct recorded_names *of;
	for (size_t i = 0; (of = map_next(&k->recorded, &i, NULL));)
		free_process(of);
	map_free(&k->recorded);
	free_names(&k->fds);
	free_names(&k->comms);
	map_free_all(&k->apart);
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
	n->ended = false;
	return n;
}

static bool is_absent(const struct names_kept *k, pid_t tid, int fd)
{
	return tid == k->tid && fd >= 0 && fd == k->absent;
}

static const struct recorded_name *recorded_name(const struct names_kept *k, pid_t tid, int fd)
{
	const struct recorded_names *of = tid == k->tid ? map_get(&k->recorded, (uint64_t)k->pid) : NULL;
	const struct recorded_name *n = of ? map_get(&of->fds, (uint32_t)fd) : NULL;
	return n && n->text.len ? n : NULL;
}

static bool kept_fd(void *ctx, pid_t tid, int fd, struct buf *out)
{
	struct names_kept *k = ctx;
	const struct recorded_name *known = recorded_name(k, tid, fd);
	if (is_absent(k, tid, fd))
		return false;
	if (known) {
		buf_add(out, known->text.s, known->text.len);
		return true;
	}
	uint64_t key = (uint64_t)(uint32_t)tid << 32 | (uint32_t)fd;
	struct kept_name *n = map_get(&k->fds, key);
	if (n && n->drops == k->drops && n->closed == k->closed[(uint32_t)fd % NAMES_CLOSED]) {
		buf_add(out, n->text.s, n->text.len);
		return true;
	}
	size_t start = out->len;
	if (!names_live.fd(names_live.ctx, tid, fd, out)) {
		/* A thread that had descriptors of its own may have ended: an earlier call has shown the name. */
		bool known_before = n && n->closed == k->closed[(uint32_t)fd % NAMES_CLOSED];
		if (known_before && proc_has_ended(tid) > 0)
			buf_add(out, n->text.s, n->text.len);
		return out->len > start;
	}
	n = keep(&k->fds, key, out->s + start, out->len - start);
	n->drops = k->drops;
	n->closed = k->closed[(uint32_t)fd % NAMES_CLOSED];
	return true;
}

static bool kept_comm(void *ctx, pid_t tid, struct buf *out)
{
	struct names_kept *k = ctx;
	const struct kept_name *n = map_get(&k->comms, (uint64_t)tid);
	size_t start = out->len;
	if (tid != k->said && !(n && k->caches && n->drops == k->drops) && names_live.comm(names_live.ctx, tid, out)) {
		keep(&k->comms, (uint64_t)tid, out->s + start, out->len - start)->drops = k->drops;
		return true;
	}
	if (n)
		buf_add(out, n->text.s, n->text.len);
	return n != NULL;
}

void names_kept_say(struct names_kept *k, pid_t tid, const char *comm)
{
	keep(&k->comms, (uint64_t)tid, comm, strlen(comm));
	k->said = tid;
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
	const struct recorded_name *n = recorded_name(k, tid, fd);
	if (is_absent(k, tid, fd))
		return false;
	if (fd == AT_FDCWD && k->caches) /* the name of a directory is the same */
		return kept_fd(ctx, tid, fd, out);
	const struct buf *full = !n            ? NULL
				 : n->full.len ? &n->full
				 : *n->text.s == '/' || strncmp(buf_str(&n->text), "pipe:", 5) == 0 ||
						 (strncmp(buf_str(&n->text), "socket:", 7) != 0 && n->mode)
					 ? &n->text
					 : NULL;
	if (!full)
		return names_live.fd_in_full(&k->sockets, tid, fd, out);
	buf_add(out, full->s, full->len);
	return true;
}

static bool kept_deleted(void *ctx, pid_t tid, int fd)
{
	const struct recorded_name *n = recorded_name(ctx, tid, fd);
	return !is_absent(ctx, tid, fd) && (n ? n->deleted : names_live.deleted(names_live.ctx, tid, fd));
}

static bool kept_device(void *ctx, pid_t tid, int fd, struct buf *out)
{
	const struct recorded_name *n = recorded_name(ctx, tid, fd);
	if (is_absent(ctx, tid, fd))
		return false;
	return n && n->mode ? names_device(n->mode, major(n->rdev), minor(n->rdev), out)
			    : names_live.device(names_live.ctx, tid, fd, out);
}

void names_keep_sockets(struct names_kept *k)
{
	*k = (struct names_kept){.names = names_live, .drops = 1, .absent = -1};
	k->names.fd_in_full = kept_fd_in_full;
	k->names.comm = kept_comm;
	k->names.outer_id = kept_outer_id;
	k->names.ctx = k;
}

void names_keep(struct names_kept *k)
{
	names_keep_sockets(k);
	k->names.fd = kept_fd;
	k->names.deleted = kept_deleted;
	k->names.device = kept_device;
	k->caches = true;
}

void names_kept_drop(struct names_kept *k)
{
	k->drops++;
}

void names_kept_at(struct names_kept *k, pid_t tid, pid_t pid, int absent)
{
	k->absent = absent;
	k->tid = tid;
	k->pid = pid;
}

void names_kept_record(struct names_kept *k, const struct event_name *name)
{
	struct recorded_names *of = map_get(&k->recorded, (uint64_t)k->pid);
	if (!of) {
		of = memory_zeroed(1, sizeof(*of));
		map_put(&k->recorded, (uint64_t)k->pid, of);
	}
	struct recorded_name *n = map_get(&of->fds, (uint32_t)name->fd);
	if (!n) {
		n = memory_zeroed(1, sizeof(*n));
		map_put(&of->fds, (uint32_t)name->fd, n);
	}
	if (name->time_ns < n->time_ns)
		return;
	const struct recorded_name *from = name->is_copy ? map_get(&of->fds, (uint32_t)name->of) : NULL;
	if (name->is_copy && from == n)
		return;
	buf_clear(&n->text);
	buf_clear(&n->full);
	if (from) {
		buf_add(&n->text, from->text.s, from->text.len);
		buf_add(&n->full, from->full.s, from->full.len);
	} else {
		buf_add(&n->text, name->text, name->len);
		buf_adds(&n->full, name->full ? name->full : "");
	}
	n->mode = from ? from->mode : name->mode;
	n->deleted = from ? from->deleted : name->deleted;
	n->rdev = from ? from->rdev : name->rdev;
	n->time_ns = name->time_ns;
}

void names_kept_close(struct names_kept *k, uint32_t first, uint32_t last, uint64_t began_ns, uint64_t ended_ns)
{
	forget_range(map_get(&k->recorded, (uint64_t)k->pid), first, last, began_ns, ended_ns);
	for (uint32_t i = 0; i < NAMES_CLOSED && i <= last - first; i++)
		k->closed[(first + i) % NAMES_CLOSED]++;
}

void names_kept_readdress(struct names_kept *k, uint32_t fd, uint64_t time_ns)
{
	const struct recorded_names *of = map_get(&k->recorded, (uint64_t)k->pid);
	const struct recorded_name *n = of ? map_get(&of->fds, fd) : NULL;
	if (n && n->full.len)
		names_kept_close(k, fd, fd, time_ns, time_ns);
}

void names_kept_change(struct names_kept *k, uint64_t time_ns)
{
	struct recorded_names *of;
	for (size_t i = 0; (of = map_next(&k->recorded, &i, NULL));)
		forget_range(of, 0, UINT32_MAX, time_ns, 0);
	names_kept_drop(k);
}

void names_kept_born(struct names_kept *k, pid_t child)
{
	if (map_get(&k->recorded, (uint64_t)k->pid) && syscall(SYS_kcmp, k->pid, child, KCMP_FILES, 0, 0) == 0)
		names_kept_end(k);
}

void names_kept_end(struct names_kept *k)
{
	free_process(map_remove(&k->recorded, (uint64_t)k->pid));
	names_kept_drop(k);
}

void names_kept_learn(struct names_kept *k, pid_t tid)
{
	auto_buf name = {0};
	struct kept_name *n = map_get(&k->comms, (uint64_t)tid);
	if (n)
		n->drops = 0;
	(void)kept_comm(k, tid, &name);
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
	struct kept_name *n = map_get(&k->comms, (uint64_t)tid);
	const struct kept_name *oldest = map_get(&k->comms, (uint64_t)k->ended[k->ended_at]);
	k->said = tid == k->said ? 0 : k->said;
	if (n) {
		n->ended = true;
		n->drops = 0; /* another program may get the number, and then has a name of its own */
		if (oldest && oldest != n && oldest->ended)
			free_name(map_remove(&k->comms, (uint64_t)k->ended[k->ended_at]));
		k->ended[k->ended_at] = tid;
		k->ended_at = (k->ended_at + 1) % NAMES_GONE_MOST;
	}
	struct names_ids *ids = map_remove(&k->apart, (uint64_t)tid);
	if (!ids)
		return;
	free(k->gone[k->gone_at]);
	k->gone[k->gone_at] = ids;
	k->gone_at = (k->gone_at + 1) % NAMES_GONE_MOST;
}
