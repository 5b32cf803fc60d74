/* SPDX-License-Identifier: MIT */
/*
 * The part of recorder.c that captures the names of descriptors. It uses PART, HELPER, own_call() and capture.h of that file, and
 * is included only there.
 */
#ifndef SCTRACE_ENGINE_PATCH_CODE_RECORDER_NAMES_H
#define SCTRACE_ENGINE_PATCH_CODE_RECORDER_NAMES_H

#include "engine/patch/code/recorder_sockets.h"

enum { CWD = (uint32_t)-100 /* AT_FDCWD stands for the current directory */ };

/* Writes a number in decimal. Returns the address behind it. */
HELPER char *write_number(char *at, uint64_t n)
{
	uint64_t power = 1;
	while (n / power >= 10)
		power *= 10;
	for (; power; power /= 10)
		*at++ = (char)('0' + n / power % 10);
	return at;
}

/* Writes the path of the link in /proc that stands for a descriptor. The text is not a constant in another section. */
HELPER void write_link(uint64_t path[4], uint32_t fd)
{
	path[0] = 0x65732f636f72702f; /* "/proc/se" */
	path[1] = fd == CWD ? 0x00006477632f666c /* "lf/cwd" */ : 0x00002f64662f666c /* "lf/fd/" */;
	if (fd != CWD)
		*write_number((char *)path + 14, fd) = 0;
}

/* Does the name end in " (deleted)"? The kernel appends this to the path of a file that has been removed. */
HELPER bool seems_deleted(const char *text, uint64_t n)
{
	return text[0] == '/' && end_of(text, n) == 0x29646574656c6564 /* "deleted)" */ && n > 10 &&
	       text[n - 9] == '(' && text[n - 10] == ' ';
}

/* Stores what the name says besides its text. */
HELPER void put_kind(struct captured_name *name, const struct statx *at)
{
	name->mode = at->stx_mode;
	name->deleted = at->stx_mask & STATX_NLINK && !at->stx_nlink;
	name->rdev = (at->stx_rdev_minor & 0xff) | (uint64_t)at->stx_rdev_major << 8 |
		     (uint64_t)(at->stx_rdev_minor & ~0xffu) << 12; /* makedev(3) */
}

/* Is it the file that the row is about? If `store` is set, makes the row one about this file instead. */
HELPER bool is_kept(struct kept_name *row, const struct statx *at, bool store)
{
	const uint64_t file[] = {(uint64_t)at->stx_dev_major << 32 | at->stx_dev_minor, at->stx_mnt_id, at->stx_ino,
				 (uint64_t)at->stx_ctime.tv_sec, at->stx_ctime.tv_nsec};
	bool same = true;
	_Static_assert(sizeof(file) == sizeof(row->file), "struct kept_name");
	for (unsigned i = 0; i < sizeof(file) / sizeof(*file); i++) {
		same &= row->file[i] == file[i];
		if (store)
			row->file[i] = file[i];
	}
	return same;
}

/* Has the file one name only? A directory has, although the kernel counts several links. */
HELPER bool has_one_name(const struct statx *at)
{
	const uint32_t all = STATX_TYPE | STATX_NLINK | STATX_INO | STATX_CTIME | STATX_MNT_ID;
	return (at->stx_mask & all) == all &&
	       (at->stx_nlink == 1 || (at->stx_nlink && (at->stx_mode & 0170000) == 0040000 /* S_IFDIR */));
}

/* Is the row about the way by which the call has got to the file? */
HELPER bool is_noted(const struct file_is *f)
{
	return f->kept && f->kept->way == f->way && f->kept->turn == f->turn;
}

/* Writes the target of the link in /proc for a file, if it is known without a look at the link. Returns its length, or 0. */
HELPER uint64_t write_known(char *text, uint64_t room, const struct file_is *f)
{
	const bool socket = f->known && f->protocol != NOT_SOCKET;
	const struct kept_name *row = f->kept;
	if (room < sizeof(row->text))
		return 0;
	if (f->mask) {
		uint64_t *words = (uint64_t *)(void *)text;
		words[0] = 0x6f6e695f6e6f6e61; /* "anon_ino" */
		words[1] = 0x6e6769735b3a6564; /* "de:[sign" */
		words[2] = 0x5d64666c61;       /* "alfd]" */
		return 21;
	}
	if (socket || (f->piped && f->known && (f->at.stx_mode & 0170000) == 0010000 /* S_IFIFO */)) {
		const uint64_t start = socket ? 0x5b3a74656b636f73 /* "socket:[" */ : 0x5b3a65706970 /* "pipe:[" */;
		__builtin_memcpy(text, &start, sizeof(start));
		char *end = write_number(text + (socket ? 8 : 6), f->at.stx_ino);
		*end++ = ']';
		return (uint64_t)(end - text);
	}
	if (!is_noted(f) || !row->len || row->len > sizeof(row->text) ||
	    (!f->alone && (!f->known || !has_one_name(&f->at) || !is_kept(f->kept, &f->at, false))))
		return 0;
	for (uint32_t i = 0; i < row->len; i += 8)
		__builtin_memcpy(text + i, row->text + i, 8);
	return row->len;
}

/* Keeps the target of the link for the way by which the call has got to the file. */
HELPER void keep_name(const struct file_is *f, const char *text, uint64_t n)
{
	struct kept_name *row = f->kept;
	const uint32_t first = n > 4 ? *(const uint32_t *)(const void *)text : 0;
	row->way = f->way;
	row->turn = f->turn;
	row->len = 0;
	if (n > sizeof(row->text) ||
	    (f->alone ? first != 0x6e6f6e61 /* "anon" */ && first != 0x6d656d2f /* "/mem", of "/memfd:" */
		      : !f->known || (text[0] != '/' && text[0] != 'p' /* a pipe */) || !has_one_name(&f->at)))
		return;
	if (!f->alone)
		is_kept(row, &f->at, true);
	for (uint64_t i = 0; i < n; i++) {
		row->text[i] = text[i];
		__asm__ volatile("" ::: "memory");
	}
	row->len = (uint16_t)n;
}

/*
 * Captures the name of a descriptor. In `f`, only what the call says is filled in. Returns
 *    1  if the name is captured,
 *    2  if it is captured, but any call may change it (PASSES),
 *    3  if it is captured, but changes when the other end of the socket is closed (PAIRED),
 *    0  if sctrace must look it up,
 *   -1  if sctrace must look it up, and it is a path, which calls such as rename(2) can change.
 * If there is no room, sets capture.full.
 */
PART int put_name_of(struct capture *c, uint32_t fd, uint32_t permits, struct file_is *f)
{
	struct captured *to = (struct captured *)(void *)(c->bytes + c->at);
	struct captured_name *name = (struct captured_name *)(void *)(to + 1);
	uint64_t link[4], head = offsetof(struct captured_name, text);
	uint64_t from = c->at + sizeof(*to) + head, room = from < c->room ? smaller(c->room - from, CAPTURE_PAGE) : 0;
	const bool in_full = permits & RING_NAMES_IN_FULL;
	c->full |= !room;
	if (!(permits & RING_PERMITS_NAMING) || !room)
		return 0;
	name->ticks = cpu_ticks();
	f->turn = *(const volatile uint32_t *)NAMED_TURN;
	if ((f->known || in_full || (is_noted(f) && !f->alone)) && look_at(f, fd) == -EBADF)
		return 0;
	int64_t n = (int64_t)write_known(name->text, room, f);
	if (!n) {
		write_link(link, fd);
		n = read_link(link, name->text, room);
		c->full |= n > 0 && (uint64_t)n == room;
		if (n <= 0 || (uint64_t)n == room)
			return 0;
		if (f->kept)
			keep_name(f, name->text, (uint64_t)n);
	}
	name->rdev = 0;
	name->mode = 0;
	name->deleted = 0;
	const bool seems = seems_deleted(name->text, (uint64_t)n); /* the file may have this name */
	if ((in_full || seems) && !f->known && look_at(f, fd))
		return name->text[0] == '/' ? -1 : 0;
	if (in_full || seems)
		put_kind(name, &f->at);
	if (seems != name->deleted)
		return -1;
	to->addr = fd;
	to->len = (uint32_t)(head + (uint64_t)n);
	to->before = CAPTURED_NAME;
	c->at += sizeof(*to) + ((to->len + 7) & ~7u);
	c->full |= c->at > c->room;
	if (c->at > c->room)
		return 0;
	return name->text[0] == '/' || !in_full ? LASTS : (int)put_rest(c, fd, f, permits, name->text, (uint64_t)n);
}

/* The same for a descriptor about which the call says nothing. */
PART int put_name(struct capture *c, uint32_t fd, uint32_t permits)
{
	struct file_is f;
	f.known = 0;
	f.piped = 0;
	f.mask = 0;
	f.kept = NULL;
	return put_name_of(c, fd, permits, &f);
}

/* Captures that the name of a descriptor is not known. */
HELPER void put_unknown(struct capture *c, uint32_t fd)
{
	struct captured *to = (struct captured *)(void *)(c->bytes + c->at);
	struct captured_name *name = (struct captured_name *)(void *)(to + 1);
	const uint64_t head = offsetof(struct captured_name, text);
	if (c->room - c->at < sizeof(*to) + head + 7) {
		c->full = 1;
		return;
	}
	name->ticks = cpu_ticks();
	name->rdev = 0;
	name->mode = 0;
	name->deleted = 0;
	to->addr = fd;
	to->len = (uint32_t)head;
	to->before = CAPTURED_NAME;
	c->at += sizeof(*to) + ((head + 7) & ~7u);
}

/* Captures that a new descriptor refers to the same as another one, whose name is in an earlier record. Returns what put_name_of() does. */
HELPER int put_same(struct capture *c, uint32_t fd, uint32_t of)
{
	struct captured *to = (struct captured *)(void *)(c->bytes + c->at);
	struct captured_copy *copy = (struct captured_copy *)(void *)(to + 1);
	if (c->room - c->at < sizeof(*to) + sizeof(*copy))
		return 0;
	copy->ticks = cpu_ticks();
	copy->of = of;
	to->addr = fd;
	to->len = sizeof(*copy);
	to->before = CAPTURED_COPY;
	c->at += sizeof(*to) + sizeof(*copy);
	return 1;
}

/* Is the name of the descriptor in a record, and does it last? */
HELPER bool is_named(uint32_t fd)
{
	return *(const volatile uint32_t *)named_row(fd) == fd + 1;
}

/* The result of name_used(). */
enum known {
	KNOWN,
	KNOWN_PAIRED, /* until the other end of the socket is closed */
	UNKNOWN,      /* it is not open */
	LACKING,      /* sctrace must look it up */
	CHANGING,     /* the same, and calls such as rename(2) can change it */
};

/*
 * Makes sure that a record contains the name of a descriptor: captures it before the call, unless an earlier record contains it
 * and is still valid. If the name cannot be captured, the row becomes `~fd`, so that this is not tried again at each call.
 */
PART enum known name_used(struct capture *c, uint32_t fd, uint32_t permits)
{
	volatile uint32_t *row = (volatile uint32_t *)named_row(fd);
	const bool each_time = permits & RING_NAMES_EACH_TIME;
	const uint64_t at = c->at;
	if (*row == fd + 1 && !each_time)
		return KNOWN;
	if (fd > INT32_MAX && fd != CWD)
		return UNKNOWN;
	if (*row == ((fd + 1) | NAMED_PAIRED) && !each_time) {
		if (!has_hung_up(fd))
			return KNOWN_PAIRED;
		put_unknown(c, fd);
		c->full <<= 1; /* an earlier record contains the name, so this one must say that it has changed */
		*row = ~fd;
	}
	if (!each_time && (*row == ~fd || *(const volatile uint32_t *)NAMED_UNSURE))
		return LACKING;
	const int put = put_name(c, fd, permits);
	if (put > 0)
		return put == PAIRED ? KNOWN_PAIRED : KNOWN;
	c->at = at;
	if (!each_time && own_call(__NR_fcntl, fd, F_GETFD, 0, 0, 0, 0) == -EBADF)
		return put < 0 ? CHANGING : UNKNOWN;
	put_unknown(c, fd); /* an earlier record may contain another name */
	if (!each_time)
		*row = ~fd;
	return put < 0 ? CHANGING : LACKING;
}

/* Captures the names of the descriptors that poll(2) or select(2) waits for. Returns false for other calls, and if that is not possible. */
PART bool name_awaited(const struct agent_scratch *s, struct capture *c, uint32_t permits)
{
	const bool polls = s->nr == __NR_poll || s->nr == __NR_ppoll;
	const uint64_t n = polls ? s->args[1] : (uint32_t)s->args[0];
	uint32_t found = 0;
	if (!polls && s->nr != __NR_select && s->nr != __NR_pselect6)
		return false;
	if (n > (polls ? AWAITED_MOST : 1024))
		return false;
	for (uint64_t set = 0; set < (polls ? 1 : 3); set++) {
		const uint64_t at = s->args[polls ? 0 : 1 + set];
		for (uint64_t i = 0; at && i < n; i++) {
			const int32_t fd = polls ? ((const int32_t *)at)[2 * i] : (int32_t)i;
			if (polls ? fd < 0 : !(((const uint64_t *)at)[i / 64] >> i % 64 & 1))
				continue;
			const enum known is = ++found > AWAITED_MOST ? CHANGING : name_used(c, (uint32_t)fd, permits);
			if (is == CHANGING)
				return false;
			if (is == LACKING)
				*(volatile uint32_t *)NAMED_LACKING = 1;
		}
	}
	return true;
}

/* Is the third argument a descriptor? It is one for some commands. */
HELPER bool has_third(const struct agent_scratch *s)
{
	enum { F_DUPFD_QUERY = 1027 };
	const uint32_t ficlone = 0x40049409, command = (uint32_t)s->args[1];
	/* LOOP_SET_FD, LOOP_CHANGE_FD, PERF_EVENT_IOC_SET_OUTPUT, PERF_EVENT_IOC_SET_BPF, NBD_SET_SOCK */
	return s->nr == __NR_fcntl
		       ? command == F_DUPFD_QUERY
		       : s->nr == __NR_ioctl && (command == ficlone || command == 0x4c00 || command == 0x4c06 ||
						 command == 0x2405 || command == 0x40042408 || command == 0xab00);
}

/* Does the call use descriptors in its memory, or in an argument that is one only for some commands (not has_third())? */
HELPER bool has_others(const struct agent_scratch *s)
{
	enum { P_PIDFD = 3 };
	const uint64_t into_cgroup = 0x200000000; /* CLONE_INTO_CGROUP */
	if (s->nr == __NR_clone3)
		return *(const uint64_t *)s->args[0] & into_cgroup;
	if (s->nr == __NR_waitid)
		return s->args[0] == P_PIDFD;
	if (s->nr == __NR_sendmsg)
		return ((const struct capture_message *)s->args[1])->controllen;
	if (s->nr == __NR_ioctl || s->nr == __NR_fcntl)
		return false;
	return true;
}

/* What is known of the names of the descriptors that a call uses. */
#define KNOWS_FIRST  1  /* agent_recipe.fd */
#define KNOWS_SECOND 2  /* agent_recipe.second */
#define KNOWS_FOLDER 4  /* the current directory, which the call changes */
#define KNOWS_ABSENT 8  /* the second descriptor, which the call would close, is not open */
#define KNOWS_LACK   16 /* the record lacks a name of a descriptor that is open */
#define REFUSED      32 /* sctrace must see the call, because names that it looks up later may have changed until then */

/* May sctrace have to look up the name of a descriptor for an earlier record, of this process or of another one? */
HELPER bool lacks_names(uint32_t permits)
{
	return !(permits & RING_PERMITS_NAMING) || permits & RING_OTHERS_LACK ||
	       *(const volatile uint32_t *)NAMED_UNSURE || *(const volatile uint32_t *)NAMED_LACKING;
}

/* Captures the names of the descriptors that the call uses. Returns KNOWS_*, or REFUSED. */
HELPER uint8_t name_all_used(struct agent_scratch *s, const struct agent_recipe *recipe, struct capture *c,
			     uint32_t permits)
{
	enum known first = UNKNOWN, second = UNKNOWN, third = UNKNOWN, folder = UNKNOWN;
	const bool renaming = permits & (RING_NAMES_EACH_TIME | RING_PERMITS_RENAMING);
	if (!(permits & RING_PERMITS_NAMING))
		return 0;
	s->serial = __atomic_load_n((uint32_t *)NAMED_SERIAL, __ATOMIC_ACQUIRE);
	if (recipe->others && has_others(s) && !name_awaited(s, c, permits)) {
		if (renaming)
			return REFUSED;
		*(volatile uint32_t *)NAMED_UNSURE = 1;
	}
	if (recipe->fd == FD_CWD || recipe->names == NAMES_CWD)
		folder = name_used(c, CWD, permits);
	if (recipe->fd && recipe->fd != FD_CWD)
		first = name_used(c, (uint32_t)s->args[recipe->fd - 1], permits);
	const uint32_t other = recipe->second ? (uint32_t)s->args[recipe->fd - 1 + recipe->second] : 0;
	/* The second descriptor of dup2(2) is usually not open, and then the link is a long way for nothing. */
	const bool absent = recipe->second && recipe->closes && !is_named(other) &&
			    own_call(__NR_fcntl, other, F_GETFD, 0, 0, 0, 0) == -EBADF;
	if (recipe->second && !absent)
		second = name_used(c, other, permits);
	if (recipe->others && has_third(s))
		third = name_used(c, (uint32_t)s->args[2], permits);
	const bool lacks = first >= LACKING || second >= LACKING || third >= LACKING || folder >= LACKING;
	/* Closing a Unix socket changes the name of its other end, and that name may have to be looked up. */
	const enum known paired = recipe->closes && lacks_names(permits) ? UNKNOWN : KNOWN;
	first = first == KNOWN_PAIRED ? paired : first;
	second = second == KNOWN_PAIRED ? paired : second;
	if (renaming && (folder == CHANGING || first == CHANGING || second == CHANGING || third == CHANGING))
		return REFUSED;
	return (first == KNOWN ? KNOWS_FIRST : 0) | (second == KNOWN ? KNOWS_SECOND : 0) |
	       (folder == KNOWN ? KNOWS_FOLDER : 0) | (absent ? KNOWS_ABSENT : 0) | (lacks ? KNOWS_LACK : 0);
}

/*
 * Notes that a record contains the name of a descriptor; `paired` is NAMED_PAIRED or 0. If names have changed since it was
 * captured, when NAMED_SERIAL was `serial`, it may be wrong, and is not noted.
 */
HELPER void note_name(uint32_t fd, uint32_t paired, uint32_t serial)
{
	volatile uint32_t *row = (volatile uint32_t *)named_row(fd);
	*row = (fd + 1) | paired;
	if (__atomic_load_n((uint32_t *)NAMED_SERIAL, __ATOMIC_SEQ_CST) != serial)
		*row = 0;
}

/* After the call: notes the names that were captured before it, except that of a descriptor that it has closed. */
HELPER void note_used(const struct agent_scratch *s, const struct agent_recipe *recipe, const struct agent_record *rec,
		      uint32_t permits)
{
	const unsigned char *at = (const unsigned char *)rec;
	const bool notes = permits & RING_PERMITS_NAMING && !(permits & RING_NAMES_EACH_TIME) &&
			   recipe->closes != CLOSES_MANY && recipe->names != NAMES_SOCKET && recipe->names != NAMES_CWD;
	for (uint32_t k = rec->head; notes && k + sizeof(struct captured) <= rec->before;) {
		const struct captured *c = (const struct captured *)(const void *)(at + k);
		k += (uint32_t)sizeof(*c) + ((c->len + 7) & ~7u);
		if (recipe->closes && (uint32_t)c->addr == (uint32_t)s->args[recipe->closes - 1])
			continue;
		const struct captured_socket *socket = (const struct captured_socket *)(const void *)(c + 1);
		if (c->before == CAPTURED_NAME && c->len > offsetof(struct captured_name, text))
			note_name((uint32_t)c->addr, 0, s->serial);
		else if (c->before == CAPTURED_SOCKET && socket->changing == PAIRED - LASTS)
			note_name((uint32_t)c->addr, NAMED_PAIRED, s->serial);
		else if (c->before == CAPTURED_SOCKET && socket->changing)
			*(volatile uint32_t *)named_row((uint32_t)c->addr) = 0;
	}
}

/*
 * Must sctrace see the call because it closes descriptors whose names may be needed? execve(2) does if it succeeds; a search in
 * PATH makes many such calls that certainly fail.
 */
HELPER bool ends_names(const struct agent_scratch *s, uint32_t permits)
{
	enum { EXECUTE = 1 /* X_OK */ };
	if (s->nr == __NR_exit_group)
		return lacks_names(permits);
	return s->nr == __NR_execve &&
	       !(permits & RING_PERMITS_TESTING && own_call(__NR_faccessat, CWD, s->args[0], EXECUTE, 0, 0, 0) < 0);
}

/* Does the call make a signalfd, or change the signals of one? Some processors lack signalfd(2). */
HELPER bool makes_signalfd(uint64_t nr)
{
#ifdef __NR_signalfd
	return nr == __NR_signalfd4 || nr == __NR_signalfd;
#else
	return nr == __NR_signalfd4;
#endif
}

/*
 * Must sctrace see the beginning of the call? It need not see that the name of a descriptor changes if records contain this
 * name, or if the descriptor is not open (MARK_ABSENT). The only command of prctl(2) that changes a name is PR_SET_NAME.
 * `known` is KNOWS_*. Returns MARK_ABSENT, 1 or 0.
 */
HELPER uint8_t announces(const struct agent_scratch *s, const struct agent_recipe *recipe, uint8_t known,
			 uint32_t permits)
{
	enum { PR_SET_NAME = 15, UNSHARE = 2 /* CLOSE_RANGE_UNSHARE */ };
	if (s->nr == __NR_execve || s->nr == __NR_exit_group) /* see ends_names() */
		return 0;
	const bool closes = recipe->closes && recipe->closes != CLOSES_MANY;
	if (!recipe->announces || (s->nr == __NR_prctl && (uint32_t)s->args[0] != PR_SET_NAME))
		return 0;
	if (s->nr == __NR_close_range)
		return s->args[2] & UNSHARE || lacks_names(permits);
	if (makes_signalfd(s->nr)) /* those of a signalfd that the program already has */
		return (int32_t)s->args[0] != -1;
	if (recipe->names == NAMES_CWD)
		return !(known & KNOWS_FOLDER);
	if (recipe->names == NAMES_RENAME)
		return !(permits & RING_PERMITS_RENAMING) ||
		       (!(permits & RING_NAMES_EACH_TIME) && *(const volatile uint32_t *)NAMED_UNSURE);
	if (!closes && recipe->names != NAMES_SOCKET)
		return 1;
	if (known & (closes && recipe->closes != recipe->fd ? KNOWS_SECOND : KNOWS_FIRST))
		return 0;
	uint32_t fd = (uint32_t)s->args[closes ? recipe->closes - 1 : 0];
	bool absent = known & KNOWS_ABSENT ||
		      (permits & RING_PERMITS_TESTING && own_call(__NR_fcntl, fd, F_GETFD, 0, 0, 0, 0) == -EBADF);
	return absent ? MARK_ABSENT : 1;
}

/*
 * Returns a hash of the way by which the call has got to a file, or 0: the descriptor and the path among its arguments, or the
 * call's number if it has no descriptor.
 */
HELPER uint64_t way_of(const struct agent_scratch *s, const struct agent_recipe *recipe, const struct capture *c)
{
	const uint64_t mix = 0x9e3779b97f4a7c15; /* the golden ratio, as in thread_bucket() */
	uint64_t way = !recipe->fd ? s->nr << 32 : recipe->fd == FD_CWD ? CWD : (uint32_t)s->args[recipe->fd - 1];
	if (recipe->names != NAMES_RESULT && recipe->names != NAMES_COMMAND && recipe->names != NAMES_CWD)
		return 0;
	const struct captured *path = (const struct captured *)(const void *)(c->bytes + c->head);
	const struct captured *end = (const struct captured *)(const void *)(c->bytes + c->at);
	while (path < end && path->before > 1) /* CAPTURED_NAME: a name that was captured before the call */
		path = (const struct captured *)(const void *)((const char *)(path + 1) + ((path->len + 7) & ~7u));
	const uint32_t n = path < end ? path->len : 0;
	uint64_t word = n;
	for (uint32_t i = 0; i <= n; i++) {
		if (i % 8 == 0 || i == n) {
			way = (way ^ word) * mix;
			way ^= way >> 29;
			word = 0;
		}
		if (i < n)
			word = word << 8 | ((const unsigned char *)(path + 1))[i];
	}
	return way | 1;
}

/*
 * Captures the name of a descriptor that the call has created, or has given other addresses. The call says whether it is a
 * socket or a pipe, or by which way it has got to the file.
 */
HELPER int put_made(const struct agent_scratch *s, const struct agent_recipe *recipe, struct capture *c,
		    uint32_t permits, uint32_t fd)
{
	struct file_is f;
	const uint32_t of = (uint32_t)s->args[0];
	const bool copies =
		recipe->names == NAMES_COMMAND || s->nr == __NR_dup || s->nr == __NR_dup2 || s->nr == __NR_dup3;
	/* No descriptor may have been closed since the name of `of` was certain. */
	if (copies && permits & RING_PERMITS_NAMING && !(permits & RING_NAMES_EACH_TIME) && is_named(of) &&
	    __atomic_load_n((uint32_t *)NAMED_SERIAL, __ATOMIC_SEQ_CST) == s->serial)
		return put_same(c, fd, of);
	f.mask = makes_signalfd(s->nr) ? *(const uint64_t *)s->args[1] : 0;
	f.piped = recipe->names == NAMES_PAIR && s->nr != __NR_socketpair;
	f.known = f.piped || recipe->names == NAMES_SOCKET || s->nr == __NR_socket || s->nr == __NR_socketpair ||
		  s->nr == __NR_accept || s->nr == __NR_accept4;
	f.alone = recipe->names == NAMES_RESULT && !recipe->fd;
	f.way = f.known || permits & RING_NAMES_EACH_TIME ? 0 : way_of(s, recipe, c);
	f.kept = f.way ? (struct kept_name *)KEPT_NAMES_AT + f.way / (UINT64_MAX / KEPT_NAMES + 1) : NULL;
	if (f.kept && __atomic_exchange_n(&f.kept->busy, 1, __ATOMIC_ACQUIRE))
		f.kept = NULL;
	const int put = put_name_of(c, fd, permits, &f);
	if (f.kept)
		__atomic_store_n(&f.kept->busy, 0, __ATOMIC_RELEASE);
	return put;
}

/* Captures the names of the descriptors that the call has created. Returns false if sctrace must look names up. */
HELPER bool put_names(const struct agent_scratch *s, const struct agent_recipe *recipe, struct capture *c,
		      uint32_t permits, struct created *made)
{
	enum { F_DUPFD = 0, F_DUPFD_CLOEXEC = 1030 };
	uint32_t command = (uint32_t)s->args[1];
	made->n = 0;
	made->serial = __atomic_load_n((uint32_t *)NAMED_SERIAL, __ATOMIC_ACQUIRE);
	if ((recipe->names == NAMES_SOCKET || recipe->names == NAMES_CWD) && permits & RING_PERMITS_NAMING &&
	    (s->result >= 0 || (s->result == -115 /* EINPROGRESS */ && recipe->names == NAMES_SOCKET))) {
		made->fd[0] = recipe->names == NAMES_CWD ? CWD : (uint32_t)s->args[0];
		const int put = put_made(s, recipe, c, permits, made->fd[0]);
		made->n = put == LASTS || put == PAIRED;
		made->paired[0] = put == PAIRED ? NAMED_PAIRED : 0;
		volatile uint32_t *row = (volatile uint32_t *)named_row(made->fd[0]);
		bool named = (*row & ~(uint32_t)NAMED_PAIRED) == ((made->fd[0] + 1) & ~(uint32_t)NAMED_PAIRED);
		if (!made->n) /* the next call that changes its name stops before it is made */
			*row = 0;
		return put > 0 || !named;
	}
	if (!recipe->asks || s->result < 0 ||
	    (recipe->names == NAMES_COMMAND && command != F_DUPFD && command != F_DUPFD_CLOEXEC))
		return true;
	if (recipe->names == NAMES_MESSAGE) {
		const struct capture_message *m = (const struct capture_message *)s->args[1];
		uint64_t n = s->nr == __NR_recvmsg ? 1 : smaller((uint64_t)s->result, IOVECS_MOST), control = 0;
		for (uint64_t i = 0; i < n; i++)
			control |= m[i].controllen;
		if (control && (s->nr != __NR_recvmsg || !list_received(m, made)))
			return false;
		if (!made->n)
			return true;
	} else if (recipe->names == NAMES_PAIR) {
		const uint32_t *pair = (const uint32_t *)s->args[s->nr == __NR_socketpair ? 3 : 0];
		made->fd[made->n++] = pair[0];
		made->fd[made->n++] = pair[1];
		if (s->nr == __NR_socketpair && permits & RING_NAMES_IN_FULL && permits & RING_PERMITS_PAIRS)
			note_pairs(pair);
	} else if (recipe->names)
		made->fd[made->n++] = (uint32_t)s->result;
	const uint32_t n = made->n;
	made->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		const int put = put_made(s, recipe, c, permits, made->fd[i]);
		if (put <= 0)
			return false;
		made->fd[made->n] = made->fd[i];
		made->paired[made->n] = put == PAIRED ? NAMED_PAIRED : 0;
		made->n += put == LASTS || put == PAIRED; /* only such a name is noted */
	}
	return n;
}

#endif
