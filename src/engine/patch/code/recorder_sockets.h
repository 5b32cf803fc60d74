/* SPDX-License-Identifier: MIT */
/*
 * The part of recorder.c that finds out what kind of file or socket a descriptor refers to, what a socket is connected to, and
 * which descriptors it has received. It is included only in recorder_names.h.
 */
#ifndef SCTRACE_ENGINE_PATCH_CODE_RECORDER_SOCKETS_H
#define SCTRACE_ENGINE_PATCH_CODE_RECORDER_SOCKETS_H

/* Descriptors that a call has created, and whose names are in its record. */
#define CREATED_MOST 8
struct created {
	uint32_t n, fd[CREATED_MOST], paired[CREATED_MOST]; /* NAMED_PAIRED or 0 */
	uint32_t serial; /* the value of NAMED_SERIAL before their names were captured */
};

/* Lists the descriptors that a message has brought (cmsg(3)). Returns false if there may be others, or too many. */
HELPER bool list_received(const struct capture_message *m, struct created *made)
{
	enum { SOCKET = 1 /* SOL_SOCKET */, RIGHTS = 1, CREDENTIALS = 2 };
	struct header {
		uint64_t len;
		int32_t level, type;
		uint32_t fd[];
	};
	for (uint64_t k = 0; k + sizeof(struct header) <= m->controllen;) {
		const struct header *h = (const struct header *)(m->control + k);
		const uint64_t len = h->len;
		if (len < sizeof(*h) || len > m->controllen - k || (h->level == SOCKET && h->type > CREDENTIALS))
			return false;
		const uint64_t n = h->level == SOCKET && h->type == RIGHTS ? (len - sizeof(*h)) / sizeof(uint32_t) : 0;
		if (n > CREATED_MOST - made->n)
			return false;
		for (uint64_t i = 0; i < n; i++)
			made->fd[made->n++] = h->fd[i];
		k += (len + 7) & ~7ul;
	}
	return true;
}

/* For syscall/capture.h. agent_ring.permits allows these calls (capture_in()). */
PART int32_t capture_protocol(uint64_t fd)
{
	enum { SOL_SOCKET = 1, SO_PROTOCOL = 38, SO_DOMAIN = 39, AF_NETLINK = 16 };
	int32_t domain = 0, protocol = 0;
	uint32_t size = sizeof(domain);
	if (own_call(__NR_getsockopt, fd, SOL_SOCKET, SO_DOMAIN, (uint64_t)&domain, (uint64_t)&size, 0) < 0)
		return CAPTURE_UNKNOWN;
	if (domain != AF_NETLINK)
		return CAPTURED_NO_NETLINK;
	return own_call(__NR_getsockopt, fd, SOL_SOCKET, SO_PROTOCOL, (uint64_t)&protocol, (uint64_t)&size, 0) < 0
		       ? CAPTURE_UNKNOWN
		       : protocol;
}

/* What is known of the file of a descriptor before its name is. */
struct file_is {
	struct statx at;
	uint32_t protocol;      /* of a socket, or NOT_SOCKET */
	uint32_t known;         /* 1: the members above are */
	uint64_t piped;         /* 1: it is a pipe that the call has made */
	struct kept_name *kept; /* the row for the way by which the call has got to the file, or NULL */
	uint64_t way;           /* see way_of() */
	uint64_t alone;         /* 1: such a call makes files without a path, and the way alone says which */
	uint64_t mask;          /* of a signalfd that the call has made or changed: its signals, or 0 */
	uint32_t turn;          /* the value of NAMED_TURN before the look at the file */
};
#define NOT_SOCKET UINT32_MAX

/*
 * Looks at the file of a descriptor. Returns 0 or a negative error number. This does not ask the server of a remote file
 * system or of FUSE, which may not answer, and which would see a request that the program does not make.
 */
PART int64_t look_at(struct file_is *f, uint32_t fd)
{
	enum { DONT_SYNC = 0x4000, EMPTY_PATH = 0x1000, SOL_SOCKET = 1, SO_PROTOCOL = 38 };
	uint64_t wanted = STATX_TYPE | STATX_NLINK | STATX_INO | STATX_CTIME | STATX_MNT_ID, empty = 0;
	uint32_t size = sizeof(f->protocol);
	const int64_t err =
		own_call(__NR_statx, fd, (uint64_t)&empty, EMPTY_PATH | DONT_SYNC, wanted, (uint64_t)&f->at, 0);
	f->known = !err;
	f->protocol = NOT_SOCKET;
	if (f->known && (f->at.stx_mode & 0170000) == 0140000 /* S_IFSOCK; with O_PATH, it may be a file */ &&
	    own_call(__NR_getsockopt, fd, SOL_SOCKET, SO_PROTOCOL, (uint64_t)&f->protocol, (uint64_t)&size, 0) < 0)
		f->protocol = NOT_SOCKET;
	return err;
}

/* Returns the row for a Unix socket. */
HELPER volatile struct socket_pair *pair_of(uint64_t inode)
{
	return (volatile struct socket_pair *)PAIRS_AT + inode % PAIRS;
}

/* Notes that the socket `inode` is connected to the socket `peer`. */
HELPER void note_pair(uint64_t inode, uint64_t peer)
{
	volatile struct socket_pair *row = pair_of(inode);
	row->inode = 0;
	row->peer = peer;
	row->inode = inode;
}

/* Notes which ends socketpair(2) has connected. */
PART void note_pairs(const uint32_t fd[2])
{
	struct file_is f;
	uint64_t inode[2];
	for (int i = 0; i < 2; i++) {
		if (look_at(&f, fd[i]))
			return;
		inode[i] = f.at.stx_ino;
	}
	note_pair(inode[0], inode[1]);
	note_pair(inode[1], inode[0]);
}

/*
 * Has the other end of a connected Unix socket been closed? The kernel also says so if both directions were shut down, so
 * sctrace must look then.
 */
PART bool has_hung_up(uint32_t fd)
{
	uint64_t wait = fd /* of struct pollfd; no events */, none[2] = {0, 0};
	return own_call(__NR_ppoll, (uint64_t)&wait, 1, (uint64_t)none, 0, 0, 0) != 0;
}

/* The results of is_unix(), is_internet() and put_socket(): what can change the addresses of a socket. */
enum lasting {
	NOT_FOUND, /* sctrace must look them up */
	LASTS,     /* calls that are known to change names */
	PASSES,    /* any call: a UDP socket gets a port when it sends */
	PAIRED,    /* the same as LASTS, and the end of the socket that it is connected to */
};

/* Stores the name of a socket's protocol in place of the local address. Returns false if the kernel does not tell it. */
HELPER bool has_protocol_name(struct captured_socket *at, uint32_t fd)
{
	uint64_t name[3];             /* as an initialiser, it would be a constant in another section */
	name[0] = 0x732e6d6574737973; /* "system.s" */
	name[1] = 0x6f746f72706b636f; /* "ockproto" */
	name[2] = 0x656d616e;         /* "name" */
	int64_t n = own_call(__NR_fgetxattr, fd, (uint64_t)name, (uint64_t)at->local, sizeof(at->local) - 1, 0, 0);
	at->local[n > 0 ? n : 0] = 0;
	return n > 0;
}

/*
 * Has the Unix socket no address, and is it not connected, or is it one of two that socketpair(2) has made? Then stores the name
 * of its protocol in place of the local address, and the inode of the other end in place of the address of the peer. A socket for
 * datagrams gets an address when it sends if it has SO_PASSCRED.
 */
HELPER enum lasting is_unix(struct captured_socket *at, uint32_t fd, uint64_t inode, uint32_t permits)
{
	enum { SOL_SOCKET = 1, SO_TYPE = 3, SO_PASSCRED = 16, DGRAM = 2, ENOTCONN = 107 };
	uint32_t type = DGRAM, passes = 1, size = sizeof(type);
	own_call(__NR_getsockopt, fd, SOL_SOCKET, SO_TYPE, (uint64_t)&type, (uint64_t)&size, 0);
	own_call(__NR_getsockopt, fd, SOL_SOCKET, SO_PASSCRED, (uint64_t)&passes, (uint64_t)&size, 0);
	if (at->nlocal != sizeof(uint16_t) || (passes && type != DGRAM))
		return NOT_FOUND;
	const bool alone =
		own_call(__NR_getpeername, fd, (uint64_t)at->peer, (uint64_t)&at->npeer, 0, 0, 0) == -ENOTCONN;
	const volatile struct socket_pair *row = pair_of(inode);
	const uint64_t peer = row->peer;
	/* A socket for datagrams does not show that its peer has been closed. */
	if (!alone && (!(permits & RING_PERMITS_PAIRS) || row->inode != inode || type == DGRAM || has_hung_up(fd)))
		return NOT_FOUND;
	__builtin_memcpy(at->peer, &peer, sizeof(peer));
	at->npeer = alone ? 0 : sizeof(peer);
	return !has_protocol_name(at, fd) ? NOT_FOUND : !alone ? PAIRED : type == DGRAM ? PASSES : LASTS;
}

/*
 * Stores the addresses of an internet socket. A socket without a port has no peer and makes no connection. Only TCP_INFO shows whether one with a port and without a peer makes a connection.
 */
HELPER enum lasting is_internet(struct captured_socket *at, uint32_t fd)
{
	enum { TCP = 6, UDP = 17, TCP_INFO = 11, SYN_SENT = 2, CLOSED = 7, ENOTCONN = 107 };
	const uint16_t *local = (const uint16_t *)(const void *)at->local; /* the family, then the port */
	uint32_t state = 0, one = 1;
	const int64_t peer = local[1]
				     ? own_call(__NR_getpeername, fd, (uint64_t)at->peer, (uint64_t)&at->npeer, 0, 0, 0)
				     : -ENOTCONN;
	at->npeer = peer < 0 ? 0 : at->npeer;
	if (at->npeer > sizeof(at->peer) || (peer < 0 && peer != -ENOTCONN))
		return NOT_FOUND;
	if (at->protocol == UDP)
		return local[1] ? LASTS : PASSES;
	if (!local[1] || !peer)
		return LASTS;
	const bool found = own_call(__NR_getsockopt, fd, TCP, TCP_INFO, (uint64_t)&state, (uint64_t)&one, 0) >= 0;
	return found && state != SYN_SENT && state != CLOSED ? LASTS : NOT_FOUND;
}

/*
 * Is an internet socket with this local address one of type SOCK_RAW? The number of its protocol stands for its port, which it does
 * not have any more after connect(2) has removed the address of its peer.
 */
HELPER bool is_raw(uint32_t fd, const struct captured_socket *at)
{
	enum { SOL_SOCKET = 1, SO_TYPE = 3, RAW = 3 };
	const uint16_t port = ((const uint16_t *)(const void *)at->local)[1];
	uint32_t type = 0, size = sizeof(type);
	return (!port || port == (uint16_t)(at->protocol << 8)) &&
	       own_call(__NR_getsockopt, fd, SOL_SOCKET, SO_TYPE, (uint64_t)&type, (uint64_t)&size, 0) == 0 &&
	       type == RAW;
}

/* Stores the addresses of a socket, or the name of its protocol. */
PART enum lasting find_addresses(struct captured_socket *at, uint32_t fd, uint64_t inode, uint32_t permits)
{
	enum { AF_UNIX = 1, AF_INET = 2, AF_INET6 = 10, AF_NETLINK = 16, TCP = 6, UDP = 17 };
	const int64_t err = own_call(__NR_getsockname, fd, (uint64_t)at->local, (uint64_t)&at->nlocal, 0, 0, 0);
	const uint16_t family = err < 0 ? 0 : *(const uint16_t *)(const void *)at->local;
	const uint32_t *const words = (const uint32_t *)(const void *)at->local;
	const uint32_t port = family == AF_NETLINK ? words[1] : words[0] >> 16;
	const bool internet = family == AF_INET || family == AF_INET6, raw = internet && is_raw(fd, at);
	if (internet && !raw && (at->protocol == TCP || at->protocol == UDP))
		return is_internet(at, fd);
	const uint32_t bound = raw && port ? FULL_RAW : family == AF_NETLINK && port ? FULL_NETLINK : 0;
	at->protocol = bound == FULL_NETLINK ? FULL_NETLINK | at->protocol : bound;
	if (family == AF_UNIX)
		return is_unix(at, fd, inode, permits);
	at->npeer = 0;
	if (bound)
		return LASTS;
	return !has_protocol_name(at, fd) ? NOT_FOUND : family == AF_NETLINK ? PASSES : LASTS;
}

/*
 * Stores the number of the process of a pidfd, as it is in the thread's pid namespace. When the process has ended and its parent
 * knows that, the number is no longer part of the name. Before Linux 6.13, the kernel does not tell the number.
 */
HELPER enum lasting find_process(struct captured_socket *at, uint32_t fd, uint32_t permits)
{
	enum { GET_INFO = 0xc040ff0b /* PIDFD_GET_INFO */, PID = 1, ESRCH = 3 };
	uint64_t info[8];
	for (unsigned i = 0; i < 8; i++) {
		info[i] = 0;
		__asm__ volatile("" ::: "memory");
	}
	info[0] = PID;
	if (!(permits & RING_PERMITS_PIDS))
		return NOT_FOUND;
	const int64_t err = own_call(__NR_ioctl, fd, GET_INFO, (uint64_t)info, 0, 0, 0);
	if (err == -ESRCH && own_call(__NR_pidfd_send_signal, fd, 0, 0, 0, 0, 0) == -ESRCH)
		return LASTS;
	const uint64_t pid = (uint32_t)info[2];
	__builtin_memcpy(at->peer, &pid, sizeof(pid));
	at->npeer = sizeof(pid);
	at->protocol = FULL_PIDFD;
	return err || !pid ? NOT_FOUND : PASSES;
}

/* Stores the signals of a signalfd, if the call tells them. The kernel leaves out SIGKILL and SIGSTOP. */
HELPER enum lasting find_signals(struct captured_socket *at, uint64_t mask)
{
	mask &= ~(uint64_t)(1 << 8 | 1 << 18);
	__builtin_memcpy(at->peer, &mask, sizeof(mask));
	at->npeer = sizeof(mask);
	at->protocol = FULL_SIGNALS;
	return mask ? LASTS : NOT_FOUND;
}

/* Returns the last 8 of `n` bytes, or 0 if there are fewer. */
HELPER uint64_t end_of(const char *text, uint64_t n)
{
	uint64_t end = 0;
	if (n >= sizeof(end))
		__builtin_memcpy(&end, text + n - sizeof(end), sizeof(end));
	return end;
}

/*
 * Captures what the name in full has besides the name, which is `text`: the addresses of a socket, the process of a pidfd, or the
 * signals of a signalfd. Sockets that wait for their connection, and eventfds, are NOT_FOUND.
 */
PART enum lasting put_rest(struct capture *c, uint32_t fd, const struct file_is *f, uint32_t permits, const char *text,
			   uint64_t n)
{
	struct captured *to = (struct captured *)(void *)(c->bytes + c->at);
	struct captured_socket *at = (struct captured_socket *)(void *)(to + 1);
	const uint64_t end = end_of(text, n);
	enum lasting put = LASTS;
	if (c->room - c->at < sizeof(*to) + sizeof(*at))
		return NOT_FOUND;
	at->protocol = f->protocol;
	at->nlocal = at->npeer = sizeof(at->local);
	if (*text == 's')
		put = find_addresses(at, fd, f->at.stx_ino, permits);
	else if (*text == 'a' && end == 0x5d6466746e657665 /* "eventfd]" */)
		put = NOT_FOUND;
	else if (*text == 'a' && end == 0x5d64666c616e6769 /* "ignalfd]" */)
		put = find_signals(at, f->mask);
	else if (*text == 'a' && end == 0x5d64666469705b3a /* ":[pidfd]" */)
		put = find_process(at, fd, permits);
	if (put == NOT_FOUND || (*text != 's' && put == LASTS && at->protocol != FULL_SIGNALS))
		return put;
	at->changing = put - LASTS;
	to->addr = fd;
	to->len = sizeof(*at);
	to->before = CAPTURED_SOCKET;
	c->at += sizeof(*to) + sizeof(*at);
	return put;
}

#endif
