/* SPDX-License-Identifier: MIT */
/* Decides which calls the recorder may make on its own, such as those that name descriptors, and reads these names from records. */
#include "engine/patch/record/record.h"

#include "base/buf.h"
#include "base/clock.h"
#include "engine/patch/remote/remote.h"
#include "syscall/call_table.h"
#include "tracee/names.h"
#include "tracee/proc.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/kcmp.h>
#include <linux/netlink.h>
#include <linux/stat.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The kernel shows the target of a link in /proc as the reader sees it from its root directory. Does the thread see the same
 * path as sctrace? The link to the thread's root directory shows this.
 */
static bool has_our_root(pid_t tid)
{
	char path[64], target[8];
	snprintf(path, sizeof(path), "/proc/%d/root", (int)tid);
	return readlink(path, target, sizeof(target)) == 1 && target[0] == '/';
}

/* May the recorder look up the names of descriptors in this thread? */
static bool may_name(const struct record_thread *th)
{
	return th->names && !th->image->unnamed && !th->image->sigsys.sealed;
}

/*
 * Do other processes, or threads with other descriptors, also use the names that this thread would note in its table at
 * NAMED_AT, or can they change these names without a stop?
 */
static bool names_each_time(const struct patch *p, const struct record_thread *th)
{
	return th->shares || th->image->shares || (p->record->renaming && p->record->several);
}

/*
 * May the thread's calls that give files other names, or remove them, be made without a stop? Then all names in records must
 * have been looked up by the recorder, and other processes may not rely on earlier ones.
 */
static bool may_rename(const struct patch *p, const struct record_thread *th)
{
	for (size_t i = 0; i < p->record->threads.n; i++) {
		const struct record_thread *o = p->record->threads.v[i];
		if (o->task && o->reader.ring && (!may_name(o) || (o->pid != th->pid && !o->told)))
			return false;
	}
	return p->record->renaming;
}

/*
 * Some records of the process lack names, or names of descriptors that it shares with another process: the calls that close many
 * descriptors must stop.
 */
static void note_lacking(pid_t tid)
{
	static const uint32_t one = 1;
	remote_write(tid, NAMED_LACKING, &one, sizeof(one));
}

/* A filter of the program could refuse the recorder's own calls. Serving a page could wait for a thread that is stopped. */
void record_permit(const struct patch *p, struct record_thread *th)
{
	uint32_t bits = RING_PERMITS_TESTING | (p->t.serves_pages ? 0 : RING_PERMITS_READING);
	const bool each_time = names_each_time(p, th);
	struct agent_ring *ring = th->reader.ring;
	if (!ring)
		return;
	if (may_name(th)) {
		bits |= RING_PERMITS_NAMING | (p->record->full_names ? RING_NAMES_IN_FULL : 0) |
			(th->knows_pairs ? RING_PERMITS_PAIRS : 0) | (th->knows_pids ? RING_PERMITS_PIDS : 0) |
			(p->record->tied && p->record->several ? RING_OTHERS_LACK : 0) |
			(each_time ? RING_NAMES_EACH_TIME : 0) | (may_rename(p, th) ? RING_PERMITS_RENAMING : 0);
		/* A new ring has no records from before. */
		th->told = each_time && (th->told || !(ring->produced | ring->open));
		th->told_at = ring->permits & RING_NAMES_EACH_TIME ? th->told_at : ring->produced;
	} else if (p->record->names && th->image->threads)
		note_lacking(th->tid);
	ring->permits = th->image->sigsys.sealed ? 0 : bits;
}

/*
 * Notes which threads have certainly seen in `permits` that they must look up each name: those that wait in a call, and those
 * that have finished a call since.
 */
static void note_told(const struct patch *p)
{
	for (size_t i = 0; i < p->record->threads.n; i++) {
		struct record_thread *th = p->record->threads.v[i];
		const struct agent_ring *ring = th->reader.ring;
		if (ring && ring->permits & RING_NAMES_EACH_TIME)
			th->told |= ring->produced != th->told_at || (th->reader.has_open && th->reader.open.t0);
	}
}

/* The task is going to make a call that gives a file another name, or removes it. Later ones need not stop if possible. */
static void begin_renaming(struct patch *p)
{
	p->record->renaming = true;
	/*
	 * What note_told() finds counts only at the next such call: by then, the records that threads have made before they
	 * saw RING_NAMES_EACH_TIME have been reported.
	 */
	record_permit_all(p);
	note_told(p);
}

void record_permit_all(const struct patch *p)
{
	for (size_t i = 0; p->record && i < p->record->threads.n; i++)
		record_permit(p, p->record->threads.v[i]);
}

void record_tie(const struct patch *p)
{
	if (p->record->tied)
		return;
	p->record->tied = true;
	record_permit_all(p);
}

/* Do both share their descriptors (KCMP_FILES), or their current directory (KCMP_FS)? */
static bool share(pid_t a, pid_t b, int what)
{
	return syscall(SYS_kcmp, a, b, what, 0, 0) == 0;
}

void record_begin_names(const struct patch *p, struct record_thread *th)
{
	/* A child of vfork(2) has the table at NAMED_AT of its parent, which stands for the parent's descriptors. */
	th->shares = th->image->refs != 1;
	th->names = p->record->names && !th->image->unnamed && has_our_root(th->tid) &&
		    (th->tid == th->pid || (share(th->pid, th->tid, KCMP_FILES) && share(th->pid, th->tid, KCMP_FS)));
	th->knows_pairs = th->names && p->record->finds_peers && names_is_in_our_network(th->tid);
	th->knows_pids = th->names && p->record->full_names && names_is_apart(th->tid) == 0;
}

void record_note_parent(const struct patch *p, const struct task *parent, const struct task *child, uint64_t flags)
{
	if (!p->record || !p->record->names || parent->proc == child->proc)
		return;
	const bool shares = share(parent->tid, child->tid, KCMP_FILES) || share(parent->tid, child->tid, KCMP_FS);
	for (int i = 0; i < 2 && shares; i++) {
		const struct task *task = i ? child : parent;
		if (image_of(task))
			image_of(task)->shares = true;
		if (image_of(task) && image_of(task)->threads)
			note_lacking(task->tid);
	}
	if (flags & CLONE_PIDFD && p->record->full_names)
		record_tie(p);
	if (shares || !p->record->several) {
		p->record->several = true;
		record_permit_all(p);
	}
}

void record_forget_names(const struct task *task, bool all)
{
	static const uint32_t none[NAMED_ROWS];
	const uint32_t flags[] = {0, !image_of(task) || image_of(task)->shares || image_of(task)->unnamed};
	/* The recorder adds 1 at a time, so it finds another number than before. */
	const uint32_t serial = (uint32_t)(clock_ns() >> 10) << 8, both[] = {serial, serial};
	if (!image_of(task) || !image_of(task)->threads)
		return;
	remote_write(task->tid, NAMED_SERIAL, both, sizeof(both));
	remote_write(task->tid, NAMED_AT, none, sizeof(none));
	if (all)
		remote_write(task->tid, NAMED_UNSURE, flags, sizeof(flags));
}

/* Removes all notes from the tables of all images. */
static void forget_all(const struct patch *p)
{
	for (size_t i = 0; i < p->record->threads.n; i++) {
		const struct record_thread *th = p->record->threads.v[i];
		if (th->task && th->names && (th->tid == th->pid || th->image->user == th->tid))
			record_forget_names(th->task, false);
	}
}

/* From now on, names are looked up as without records: in all images, or only in that of the task. */
static void stop_naming(const struct patch *p, const struct task *task, bool all)
{
	for (size_t i = 0; i < p->record->threads.n; i++) {
		const struct record_thread *th = p->record->threads.v[i];
		if (th->task && (all || th->image == image_of(task)))
			th->image->unnamed = true;
	}
	record_permit_all(p);
}

void record_watch_names(struct patch *p, const struct task *task, int64_t nr, const uint64_t args[3])
{
	/* Calls that separate descriptors or paths of the program from those that sctrace sees in /proc. */
	static const int16_t separating[] = {SYS_unshare,    SYS_setns,       SYS_chroot,
					     SYS_pivot_root, SYS_close_range, SYS_io_uring_setup};
	const struct syscall_desc *d = syscall_lookup(syscall_native_arch(), nr);
	bool separates = false;
	for (size_t i = 0; i < sizeof(separating) / sizeof(*separating); i++)
		separates |= separating[i] == nr;
	if (!p->record || !p->record->names || (nr == SYS_close_range && !(args[2] & CLOSE_RANGE_UNSHARE)))
		return;
	if (separates)
		stop_naming(p, task, nr == SYS_pivot_root);
	if (d && syscall_changes_signalfd(d, args))
		forget_all(p);
	if (d && d->groups & G_RENAMES) {
		forget_all(p);
		if (!separates)
			begin_renaming(p);
	}
}

uint32_t record_absent(const struct patch *p, const struct agent_record *r)
{
	const struct agent_recipe *recipes =
		(const struct agent_recipe *)(const void *)(p->recorder + (RECIPES_AT - RECORDER_CODE));
	const struct agent_recipe *of = &recipes[r->nr];
	const unsigned arg = of->closes ? of->closes : of->second ? 0 : of->fd;
	return r->marks & MARK_ABSENT && arg && arg <= 6 ? (uint32_t)r->args[arg - 1] + 1 : 0;
}

_Static_assert(NAMED_TURN == NAMED_SERIAL + sizeof(uint32_t) && NAMED_LACKING == NAMED_UNSURE + sizeof(uint32_t),
	       "they are written together");
_Static_assert(AWAITED_MOST + 2 <= EVENT_NAMES_MOST, "with two descriptors that are arguments");

/* Appends the name in full of the socket `inode`. Returns false if the program has changed the record. */
static bool add_socket_name(struct buf *full, const struct captured_socket *ends, unsigned long inode, uint64_t peer)
{
	struct sockaddr_nl nl;
	if (!ends->protocol) {
		buf_addf(full, "%.*s:", (int)sizeof(ends->local), (const char *)ends->local);
		proc_unix_ends(inode, peer, NULL, 0, false, full);
		return true;
	}
	if (!(ends->protocol & FULL_NETLINK))
		return sock_query_name((int)ends->protocol, ends->local, ends->npeer ? ends->peer : NULL, inode, full);
	memcpy(&nl, ends->local, sizeof(nl));
	buf_adds(full, "NETLINK:");
	names_netlink(ends->protocol & ~(unsigned)FULL_NETLINK, nl.nl_pid, full);
	return true;
}

/* Makes the name in full of a socket, a pidfd or a signalfd from its name. */
static void add_rest(struct event_name *to, struct buf *full, const unsigned char *at, const struct captured *c)
{
	struct captured_socket ends;
	unsigned long inode = 0;
	char link[64] = "";
	uint64_t peer = 0;
	if (c->len != sizeof(ends) || to->len >= sizeof(link))
		return;
	memcpy(link, to->text, to->len);
	memcpy(&ends, at, sizeof(ends));
	memcpy(&peer, ends.peer, ends.npeer == sizeof(peer) ? sizeof(peer) : 0);
	buf_clear(full);
	if (ends.protocol == FULL_PIDFD)
		buf_addf(full, "pid:%llu", (unsigned long long)peer);
	else if (ends.protocol == FULL_SIGNALS)
		buf_addf(full, NAMES_SIGNALFD "%016llx", (unsigned long long)peer);
	else if (sscanf(link, "socket:[%lu]", &inode) != 1 || !add_socket_name(full, &ends, inode, peer))
		return;
	to->full = buf_str(full);
}

struct event_names *record_names(struct record *rec, const struct agent_record *r, bool before)
{
	const unsigned char *at = (const unsigned char *)r;
	const size_t head = offsetof(struct captured_name, text);
	struct record_names *of = &rec->event_names[before];
	struct event_names *to = &of->names;
	const uint32_t middle = r->before < r->head ? r->head : r->before;
	to->n = 0;
	for (uint32_t k = before ? r->head : middle; k < (before && middle < r->size ? middle : r->size);) {
		struct captured c;
		struct captured_name name;
		struct captured_copy copy;
		memcpy(&c, at + k, sizeof(c));
		k += sizeof(c);
		if (c.before == CAPTURED_NAME && c.len >= head && to->n < EVENT_NAMES_MOST) {
			memcpy(&name, at + k, head);
			to->v[to->n++] = (struct event_name){.fd = (int)c.addr,
							     .mode = name.mode,
							     .ticks = name.ticks,
							     .deleted = name.deleted,
							     .rdev = name.rdev,
							     .text = (const char *)at + k + head,
							     .len = c.len - head};
		} else if (c.before == CAPTURED_COPY && c.len == sizeof(copy) && to->n < EVENT_NAMES_MOST) {
			memcpy(&copy, at + k, sizeof(copy));
			to->v[to->n++] = (struct event_name){
				.fd = (int)c.addr, .ticks = copy.ticks, .is_copy = true, .of = (int)copy.of};
		} else if (c.before == CAPTURED_SOCKET && to->n && to->v[to->n - 1].fd == (int)c.addr) {
			add_rest(&to->v[to->n - 1], &of->sockets[to->n - 1], at + k, &c);
		}
		k += (c.len + 7) & ~7u;
	}
	return to->n ? to : NULL;
}

/*
 * What can change this name in full? Returns what the row of the descriptor must contain for that (named_row()), or 0 if it is not
 * certain. An eventfd stays the same. A Unix socket with an address or a peer does, too, until its peer is closed.
 */
static uint32_t row_of_name(uint32_t fd, const char *text, const char *full)
{
	const bool is_unix = strncmp(full, "UNIX-STREAM:[", 13) == 0;
	if (strcmp(text, "anon_inode:[eventfd]") == 0)
		return fd + 1;
	return is_unix && strstr(full, "->") ? (fd + 1) | NAMED_PAIRED : is_unix && strchr(full, ',') ? fd + 1 : 0;
}

/* Returns the descriptor that a call has created, or whose addresses it has changed; -1: there is none, or it is not known. */
static int changed_descriptor(const struct patch *p, const struct agent_record *r)
{
	const struct agent_recipe *recipes =
		(const struct agent_recipe *)(const void *)(p->recorder + (RECIPES_AT - RECORDER_CODE));
	const uint8_t names = recipes[r->nr].names;
	if (r->result < 0 || r->result > INT32_MAX || (names != NAMES_RESULT && names != NAMES_SOCKET))
		return -1;
	return (int)(names == NAMES_SOCKET ? r->args[0] : (uint64_t)r->result);
}

struct event_names *record_look_up_name(struct patch *p, const struct record_thread *th, const struct agent_record *r)
{
	const uint32_t permits = th->task && th->reader.ring ? th->reader.ring->permits : 0;
	const int fd =
		permits & RING_NAMES_IN_FULL && !(permits & RING_NAMES_EACH_TIME) ? changed_descriptor(p, r) : -1;
	struct record_names *of = &p->record->event_names[0];
	struct buf *full = &of->sockets[0], *text = &of->sockets[1]; /* there is only one name */
	const uint64_t ticks = cpu_ticks();
	char link[64];
	struct statx is;
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)th->tid, fd);
	buf_clear(full);
	buf_clear(text);
	if (fd < 0 || !names_live.fd(NULL, th->tid, fd, text) || !names_live.fd_in_full(NULL, th->tid, fd, full) ||
	    proc_stat(link, &is) < 0)
		return NULL;
	const bool connects = r->nr == SYS_connect || strstr(buf_str(full), "->");
	if ((connects && strncmp(buf_str(full), "UNIX", 4) == 0) || strcmp(buf_str(text), "anon_inode:[pidfd]") == 0)
		record_tie(p);
	const uint32_t row = row_of_name((uint32_t)fd, buf_str(text), buf_str(full));
	if (remote_write(th->tid, named_row((uint32_t)fd), &row, sizeof(row)) < 0 || !row)
		return NULL;
	of->names = (struct event_names){.n = 1};
	of->names.v[0] = (struct event_name){.fd = fd,
					     .mode = is.stx_mode,
					     .ticks = ticks,
					     .text = buf_str(text),
					     .len = text->len,
					     .full = buf_str(full)};
	return &of->names;
}
