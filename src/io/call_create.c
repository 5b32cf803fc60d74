/* What calls do that create pipes, sockets, and descriptors that are not files. */
#include "base/buf.h"
#include "io/call.h"
#include "tracee/mem.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#define SOCK_TYPE 0xf /* the type in the second argument of socket(2), without flags (linux/net.h) */

enum { ALWAYS = -1 };

/* Which argument and which bit of it say that execve(2) closes the new descriptor. */
static const struct {
	const char *call;
	int arg; /* ALWAYS: the call has no such bit, and the descriptor is always closed */
	uint64_t bit;
} close_on_exec[] = {
	{"pipe2", 1, O_CLOEXEC},
	{"socket", 1, SOCK_CLOEXEC},
	{"socketpair", 1, SOCK_CLOEXEC},
	{"accept4", 3, SOCK_CLOEXEC},
	{"epoll_create1", 0, O_CLOEXEC},
	{"eventfd2", 1, O_CLOEXEC},
	{"signalfd4", 3, O_CLOEXEC},
	{"timerfd_create", 1, O_CLOEXEC},
	{"inotify_init1", 0, O_CLOEXEC},
	{"userfaultfd", 0, O_CLOEXEC},
	{"mq_open", 1, O_CLOEXEC},
	{"open_by_handle_at", 2, O_CLOEXEC},
	{"open_tree", 2, O_CLOEXEC},
	{"memfd_secret", 0, O_CLOEXEC},
	{"memfd_create", 1, 1},    /* MFD_CLOEXEC */
	{"fanotify_init", 0, 1},   /* FAN_CLOEXEC */
	{"fsopen", 1, 1},          /* FSOPEN_CLOEXEC */
	{"fsmount", 1, 1},         /* FSMOUNT_CLOEXEC */
	{"fspick", 2, 1},          /* FSPICK_CLOEXEC */
	{"perf_event_open", 4, 8}, /* PERF_FLAG_FD_CLOEXEC */
	{"pidfd_open", ALWAYS, 0},
	{"pidfd_getfd", ALWAYS, 0},
	{"io_uring_setup", ALWAYS, 0},
	{"landlock_create_ruleset", ALWAYS, 0},
};

static bool closes_on_exec(const struct io_context *x)
{
	for (size_t i = 0; i < sizeof(close_on_exec) / sizeof(*close_on_exec); i++)
		if (io_is_call(x, close_on_exec[i].call))
			return close_on_exec[i].arg == ALWAYS ||
			       x->c->args[close_on_exec[i].arg] & close_on_exec[i].bit;
	return false;
}

void io_leave_pair(const struct io_context *x)
{
	int fds[2];
	int arg = io_find_kind(x->c, K_OUT_FD_PAIR);
	bool pipes = !io_is_call(x, "socketpair");
	struct buf name = {0};
	if (x->c->error || !x->ev->mem || mem_get(x->ev->mem, x->c->args[arg], fds, sizeof(fds)) < 0)
		return;
	buf_addf(&name, "%s %u", pipes ? "pipe" : "socket pair", pipes ? ++x->p->pipes : ++x->p->sockets);
	struct io_file *f = io_profile_pathless(x->p, buf_str(&name), pipes ? IO_PIPE : IO_SOCKET);
	buf_free(&name);
	f->row.opens += 2;
	f->created = pipes;
	f->messages = !pipes && (x->c->args[1] & SOCK_TYPE) != SOCK_STREAM;
	io_count_call(x, f);
	for (int i = 0; i < 2; i++)
		io_set_fd(x, f, fds[i], closes_on_exec(x));
}

/* The call has returned a descriptor of a file without a path, which is named "KIND NUMBER", or "KIND" if `number` is 0. */
static struct io_file *created(const struct io_context *x, const char *kind, unsigned number, enum io_kind type)
{
	struct buf name = {0};
	buf_adds(&name, kind);
	if (number)
		buf_addf(&name, " %u", number);
	struct io_file *f = io_profile_pathless(x->p, buf_str(&name), type);
	buf_free(&name);
	f->row.opens++;
	io_count_call(x, f);
	io_set_fd(x, f, (int)x->c->result, closes_on_exec(x));
	return f;
}

void io_leave_socket(const struct io_context *x)
{
	if (x->c->error)
		return;
	struct io_file *f = created(x, "socket", ++x->p->sockets, IO_SOCKET);
	f->messages = io_is_call(x, "socket") && (x->c->args[1] & SOCK_TYPE) != SOCK_STREAM;
}

void io_leave_other_fd(const struct io_context *x)
{
	if (!x->c->error)
		created(x, x->c->desc->name, 0, IO_OTHER);
}

void io_leave_memfd(const struct io_context *x)
{
	if (!x->c->error)
		created(x, "memfd", ++x->p->memfds, IO_FILE);
}
