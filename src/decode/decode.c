/* SPDX-License-Identifier: MIT */
#include "decode/decode.h"

#include "base/buf.h"
#include "decode/emit.h"
#include "decode/kinds.h"
#include "decode/layout.h"
#include "decode/show.h"
#include "syscall/call_table.h"
#include "syscall/restart.h"

#include <linux/sockios.h>

#define NARGS 6

/* Says when each argument of a call is known. */
struct plan {
	int total; /* the number of arguments, up to the last one that the call uses */
	enum when when[NARGS];
};

static void plan(const struct decode *d, const struct syscall_desc *desc, struct plan *p)
{
	p->total = 0;
	for (int i = 0; i < desc->nargs; i++) {
		const struct kind *k = &decode_kinds[desc->args[i].kind];
		p->when[i] = k->choose ? k->choose(d, i) : k->when;
		p->total = p->when[i] == WHEN_NEVER ? p->total : i + 1;
	}
}

static bool filled_in(const struct decode *d, enum when when)
{
	if (when == WHEN_LEFT_EVEN)
		return d->leaving;
	return when == WHEN_ENTERING || when == WHEN_BOTH || (when == WHEN_LEFT && d->leaving && !d->call->error);
}

static void begin_arg(const struct decode *d, const struct syscall_desc *desc, int i, enum when when)
{
	uint64_t v = d->call->args[i];
	emit_arg(d->out, desc->args[i].name, v);
	if (d->opts->raw)
		emit_hex(d->out, v);
	else if (filled_in(d, when))
		show_kind(d, desc->args[i].kind, v, i);
	else
		emit_ptr(d->out, v);
}

/* Completes an argument that was shown at entry: shows what the kernel has written. */
static void end_arg(const struct decode *d, const struct syscall_desc *desc, int i, enum when when)
{
	const struct kind *k = &decode_kinds[desc->args[i].kind];
	if (when == WHEN_BOTH && d->leaving && !d->call->error && !d->opts->raw)
		k->show_after(d, &(struct value){.v = d->call->args[i], .about = k->about, .arg = i});
}

static void show_args(const struct decode *d, const struct syscall_desc *desc, const struct plan *p, int from, int to)
{
	for (int i = from; i < to; i++) {
		if (p->when[i] == WHEN_NEVER)
			continue;
		begin_arg(d, desc, i, p->when[i]);
		end_arg(d, desc, i, p->when[i]);
		emit_arg_end(d->out, i + 1 == p->total);
	}
}

static int show_unknown(const struct decode *d, int from)
{
	static const char *const names[NARGS] = {"arg1", "arg2", "arg3", "arg4", "arg5", "arg6"};
	for (int i = from; i < NARGS; i++) {
		emit_arg(d->out, names[i], d->call->args[i]);
		emit_hex(d->out, d->call->args[i]);
		emit_arg_end(d->out, i + 1 == NARGS);
	}
	return NARGS;
}

static bool known_at_entry(enum when when)
{
	return when == WHEN_ENTERING || when == WHEN_NEVER;
}

/*
 * Must be called at the entry of a call. If argument `i` leads to a length in memory, saves the length in d->memo. In a
 * struct msghdr and a struct iovec, the length follows a pointer. In a struct ifconf and a struct file_handle, it is
 * the first member.
 */
static void keep_length(const struct decode *d, enum syscall_kind kind, int i)
{
	enum { GETREGSET = 0x4204 };
	uint64_t at = d->call->args[i];
	if ((kind == K_IOCTL_ARG && (uint32_t)d->call->args[1] != SIOCGIFCONF) ||
	    (kind == K_PTRACE_DATA && (uint32_t)d->call->args[0] != GETREGSET))
		return;
	if (kind == K_OUT_MSGHDR || kind == K_PTRACE_DATA)
		at += decode_word(d);
	d->memo->known = decode_get(d, at, &d->memo->length, sizeof(d->memo->length));
}

/* Like keep_length(). Saves the lengths in the messages of recvmmsg(2). */
static void keep_lengths(const struct decode *d, enum syscall_kind kind, int i)
{
	(void)kind;
	d->memo->messages = decode_mmsg_lengths(d, d->call->args[i], (uint32_t)d->call->args[i + 1], d->memo->lengths,
						DECODE_LENGTHS);
}

/* Like keep_length(). Saves a structure that is shown after the call. */
static void keep_structure(const struct decode *d, enum syscall_kind kind, int i)
{
	const struct layout *l = layout_for(d, decode_kinds[kind].about);
	if (l && l->size <= sizeof(d->memo->structure) && decode_get(d, d->call->args[i], d->memo->structure, l->size))
		d->memo->bytes = l->size;
}

/*
 * Functions that save an argument's memory at the entry, for the kinds that need it. The kernel changes this memory during
 * the call, but the trace also shows what it was before.
 */
static void (*const keepers[K_COUNT])(const struct decode *d, enum syscall_kind kind, int i) = {
	[K_SOCKLEN] = keep_length,
	[K_OUT_FILE_HANDLE] = keep_length,
	[K_OUT_MSGHDR] = keep_length,
	[K_IOCTL_ARG] = keep_length,
	[K_PTRACE_DATA] = keep_length,
	[K_OUT_MMSG] = keep_lengths,
	[K_CHANGED_TIMESPEC] = keep_structure,
	[K_CHANGED_TIMESPEC64] = keep_structure,
};

/* Returns true if argument `i` is shown at entry and completed after the call. */
static bool is_half(const struct decode *d, const struct plan *p, int i)
{
	return i < p->total && !d->opts->raw && p->when[i] == WHEN_BOTH;
}

static int enter(const struct decode *d, const struct syscall_desc *desc, const struct plan *p)
{
	int n = 0;
	if (d->memo)
		*d->memo = (struct decode_memo){0};
	for (int i = 0; d->memo && i < p->total; i++)
		if (keepers[desc->args[i].kind])
			keepers[desc->args[i].kind](d, desc->args[i].kind, i);
	while (n < p->total && (d->opts->raw || known_at_entry(p->when[n])))
		n++;
	show_args(d, desc, p, 0, n);
	if (is_half(d, p, n))
		begin_arg(d, desc, n, p->when[n]);
	return n;
}

static void leave(const struct decode *d, const struct syscall_desc *desc, const struct plan *p, int from)
{
	if (is_half(d, p, from)) {
		end_arg(d, desc, from, p->when[from]);
		emit_arg_end(d->out, from + 1 == p->total);
		from++;
	}
	show_args(d, desc, p, from, p->total);
}

int decode_enter(const struct decode *d)
{
	struct plan p;
	if (!d->call->desc)
		return show_unknown(d, 0);
	plan(d, d->call->desc, &p);
	return enter(d, d->call->desc, &p);
}

int decode_count(const struct decode *d)
{
	struct plan p = {.total = NARGS};
	if (d->call->desc)
		plan(d, d->call->desc, &p);
	return p.total;
}

void decode_exit(const struct decode *d, int from)
{
	struct plan p;
	if (!d->call->desc) {
		show_unknown(d, from);
		return;
	}
	plan(d, d->call->desc, &p);
	leave(d, d->call->desc, &p, from);
}

void decode_vanish(const struct decode *d, int from)
{
	struct plan p = {0};
	if (d->call->desc)
		plan(d, d->call->desc, &p);
	if (is_half(d, &p, from))
		emit_arg_end(d->out, true);
}

/*
 * decode_ask_enter() and decode_ask_exit() ask for the names that are needed to show a call. Most calls by far have no
 * names but those of the descriptors and processes among their arguments and results. For these, memory need not be
 * decoded.
 */
enum ask {
	ASKS_NOTHING,
	ASKS_ITSELF, /* for the name of a number */
	ASKS_INSIDE, /* perhaps for names that are found in memory, or under a condition */
};

static enum ask classify(enum syscall_kind kind);

static bool layout_asks(const struct layout *l)
{
	for (size_t i = 0; l && i < l->n; i++)
		if (classify((enum syscall_kind)l->members[i].kind) != ASKS_NOTHING)
			return true;
	return false;
}

/* Does a kind that is shown by these functions ask for names of what it contains? */
static bool contents_ask(const struct kind *k)
{
	static show_fn *const structs[] = {show_struct,      show_struct_sized, show_struct_own_size,
					   show_kept_struct, show_structs,      show_stamp};
	for (size_t i = 0; i < sizeof(structs) / sizeof(*structs); i++)
		if (k->show == structs[i])
			return layout_asks(k->about);
	const struct exchange *e = k->about;
	if (k->show == show_exchange)
		return layout_asks(e->in) || layout_asks(e->out);
	if (k->show == show_pointee)
		return classify(((const struct pointee *)k->about)->kind) != ASKS_NOTHING;
	return k->show == show_numbers && classify(((const struct numbers *)k->about)->kind) != ASKS_NOTHING;
}

static enum ask classify(enum syscall_kind kind)
{
	const struct kind *k = &decode_kinds[kind];
	bool itself = k->show == show_fd || k->show == show_dirfd || k->show == show_pid || k->show == show_ifindex;
	if (k->asks || contents_ask(k) || (itself && k->choose))
		return ASKS_INSIDE;
	return itself ? ASKS_ITSELF : ASKS_NOTHING;
}

static enum ask ask_of(enum syscall_kind kind)
{
	static unsigned char known[K_COUNT]; /* 1 + the value; 0: not yet known */
	if (!known[kind])
		known[kind] = (unsigned char)(1 + classify(kind));
	return (enum ask)(known[kind] - 1);
}

/* Is it enough to ask for the names of the arguments and of the result? */
static bool is_simple(const struct decode *d)
{
	const struct syscall_desc *desc = d->call->desc;
	for (int i = 0; desc && i < desc->nargs; i++)
		if (ask_of(desc->args[i].kind) == ASKS_INSIDE)
			return false;
	return desc && !d->opts->raw;
}

static void ask_arg(const struct decode *d, int i)
{
	enum syscall_kind kind = d->call->desc->args[i].kind;
	if (ask_of(kind) == ASKS_ITSELF)
		show_kind(d, kind, d->call->args[i], i);
}

int decode_ask_enter(const struct decode *d)
{
	int i = 0;
	if (!is_simple(d))
		return decode_enter(d);
	for (; i < d->call->desc->nargs && decode_kinds[d->call->desc->args[i].kind].when == WHEN_ENTERING; i++)
		ask_arg(d, i);
	return i;
}

void decode_ask_exit(const struct decode *d, int from)
{
	static const bool results[R_COUNT] = {
		[R_FD] = true, [R_PID] = true, [R_IOCTL] = true, [R_FCNTL] = true, [R_BPF] = true, [R_SECCOMP] = true};
	if (!is_simple(d)) {
		decode_exit(d, from);
		decode_result(d);
		return;
	}
	for (int i = from; i < d->call->desc->nargs; i++)
		ask_arg(d, i);
	if (!d->call->error && results[d->call->desc->result])
		decode_result(d);
}

/* decode_result() shows the result of a call. An error is shown by its name. */
static void error_result(const struct decode *d)
{
	int err = d->call->err;
	const char *name = decode_errno_name(err);
	auto_buf other = {0};
	if (!name)
		buf_addf(&other, "E%d", err);
	emit_result(d->out, err >= ERESTARTSYS && err <= ERESTART_RESTARTBLOCK ? -err : -1,
		    name ? name : buf_str(&other), decode_errno_text(err));
}

/* Shows the result `v` of some calls: the number in a suitable form, and its meaning. */
typedef void result_fn(const struct decode *d, int64_t v);

static void result_int(const struct decode *d, int64_t v)
{
	emit_result(d->out, v, NULL, NULL);
}

static void result_hex(const struct decode *d, int64_t v)
{
	emit_result_as(d->out, v, FORM_HEX);
}

static void result_oct(const struct decode *d, int64_t v)
{
	emit_result_as(d->out, v, FORM_OCTAL);
}

static void result_none(const struct decode *d, int64_t v)
{
	(void)v;
	emit_result(d->out, 0, "", NULL);
}

/* Shows the number, followed by its meaning as a value of `kind`. */
static void result_kind(const struct decode *d, int64_t v, enum syscall_kind kind)
{
	emit_result(d->out, v, NULL, NULL);
	emit_returned(d->out, RETURNED_BEGIN);
	show_kind(d, kind, (uint64_t)v, -1);
	emit_returned(d->out, RETURNED_END);
}

static void result_fd(const struct decode *d, int64_t v)
{
	struct decode_fd f;
	const struct emit_is *is = decode_fd_is(d, (int)v, &f);
	emit_result(d->out, v, NULL, NULL);
	if (is)
		emit_result_is(d->out, is);
	decode_fd_free(&f);
}

static void result_pid(const struct decode *d, int64_t v)
{
	auto_buf is = {0};
	bool known = decode_pid_name(d, (int)v, &is);
	emit_result(d->out, v, NULL, NULL);
	if (known)
		emit_result_is(d->out, &(struct emit_is){.name = buf_str(&is)});
	decode_outer_id(d, (int)v);
}

/* Shows the seconds since 1970, followed by the date and time. */
static void result_time(const struct decode *d, int64_t v)
{
	char text[40];
	emit_result(d->out, v, NULL, NULL);
	if (!decode_time_text(text, sizeof(text), v))
		return;
	emit_returned(d->out, RETURNED_BEGIN);
	emit_sym(d->out, text, (uint64_t)v);
	emit_returned(d->out, RETURNED_END);
}

/* Shows a hexadecimal number, followed by the names of the bits that are set. */
static void result_bits(const struct decode *d, int64_t v, enum syscall_kind kind, enum emit_returned part)
{
	emit_result_as(d->out, v, FORM_HEX);
	emit_returned(d->out, part);
	show_kind(d, kind, (uint64_t)v, -1);
	emit_returned(d->out, RETURNED_END);
}

/* Two commands of membarrier(2) return a set of commands: those that the kernel supports, and those registered. */
static void result_membarrier(const struct decode *d, int64_t v)
{
	enum { QUERY = 0, GET_REGISTRATIONS = 0x200 };
	uint32_t command = (uint32_t)d->call->args[0];
	if ((command == QUERY || command == GET_REGISTRATIONS) && v > 0)
		result_bits(d, v, K_MEMBARRIER_CMD, RETURNED_BEGIN);
	else
		result_int(d, v);
}

static void result_personality(const struct decode *d, int64_t v)
{
	result_bits(d, v, K_PERSONALITY, RETURNED_BEGIN);
}

/* Some commands of fcntl(2) return a descriptor, flags, or another value with a meaning. */
static void result_fcntl(const struct decode *d, int64_t v)
{
	enum { DUPFD, GETFD, GETFL = 3, GETSIG = 11, GETLEASE = 1025, DUPFD_CLOEXEC = 1030, GET_SEALS = 1034 };
	static const struct {
		uint32_t command;
		enum syscall_kind kind;
	} meanings[] = {{GETFD, K_FD_FLAGS},
			{GETFL, K_OPEN_FLAGS},
			{GETSIG, K_SIGNAL},
			{GETLEASE, K_FLOCK_TYPE},
			{GET_SEALS, K_SEALS}};
	uint32_t command = (uint32_t)d->call->args[1];
	if (command == DUPFD || command == DUPFD_CLOEXEC) {
		result_fd(d, v);
		return;
	}
	for (size_t i = 0; i < sizeof(meanings) / sizeof(*meanings); i++)
		if (meanings[i].command == command && (v || command == GETFL || command == GETLEASE)) {
			bool flags = command == GETFD || command == GETFL;
			result_bits(d, v, meanings[i].kind, flags ? RETURNED_FLAGS : RETURNED_BEGIN);
			return;
		}
	result_int(d, v);
}

static void result_prctl(const struct decode *d, int64_t v)
{
	enum { GET_DUMPABLE = 3, GET_SECCOMP = 21, GET_SECUREBITS = 27, GET_SPECULATION_CTRL = 52 };
	uint32_t option = (uint32_t)d->call->args[0];
	if (option == GET_SECUREBITS && v)
		result_bits(d, v, K_SECUREBITS, RETURNED_BEGIN);
	else if (option == GET_SPECULATION_CTRL)
		result_bits(d, v, K_PR_SPEC, RETURNED_BEGIN);
	else if (option == GET_DUMPABLE)
		result_kind(d, v, K_DUMPABLE);
	else if (option == GET_SECCOMP)
		result_kind(d, v, K_SECCOMP_MODE);
	else
		result_int(d, v);
}

/* The commands of bpf(2) that create or open an object return a descriptor. */
static void result_bpf(const struct decode *d, int64_t v)
{
	static const uint8_t opens[] = {0 /* MAP_CREATE */,
					5 /* PROG_LOAD */,
					7 /* OBJ_GET */,
					13 /* PROG_GET_FD_BY_ID */,
					14 /* MAP_GET_FD_BY_ID */,
					17 /* RAW_TRACEPOINT_OPEN */,
					18 /* BTF_LOAD */,
					19 /* BTF_GET_FD_BY_ID */,
					28 /* LINK_CREATE */,
					30 /* LINK_GET_FD_BY_ID */,
					32 /* ENABLE_STATS */,
					33 /* ITER_CREATE */,
					36 /* TOKEN_CREATE */};
	for (size_t i = 0; i < sizeof(opens); i++)
		if (opens[i] == (uint32_t)d->call->args[0]) {
			result_fd(d, v);
			return;
		}
	result_int(d, v);
}

/* SECCOMP_SET_MODE_FILTER with SECCOMP_FILTER_FLAG_NEW_LISTENER returns a descriptor. */
static void result_seccomp(const struct decode *d, int64_t v)
{
	if (d->call->args[0] == 1 && d->call->args[1] & 8)
		result_fd(d, v);
	else
		result_int(d, v);
}

static void result_ioctl(const struct decode *d, int64_t v)
{
	enum { GET_NSTYPE = 0xb703 };
	if (ioctl_gives_descriptor((uint32_t)d->call->args[1]))
		result_fd(d, v);
	else if ((uint32_t)d->call->args[1] == GET_NSTYPE)
		result_kind(d, v, K_SETNS_FLAGS);
	else
		result_int(d, v);
}

static void result_uring(const struct decode *d, int64_t v)
{
	emit_result(d->out, v, NULL, NULL);
	decode_uring_completions(d);
}

static result_fn *const results[R_COUNT] = {
	[R_INT] = result_int,
	[R_BYTES] = result_int,
	[R_FD] = result_fd,
	[R_PID] = result_pid,
	[R_HEX] = result_hex,
	[R_OCT] = result_oct,
	[R_TIME] = result_time,
	[R_NONE] = result_none,
	[R_POLL] = decode_poll_result,
	[R_SELECT] = decode_select_result,
	[R_RECVMMSG] = decode_recvmmsg_result,
	[R_IOCTL] = result_ioctl,
	[R_FCNTL] = result_fcntl,
	[R_PRCTL] = result_prctl,
	[R_BPF] = result_bpf,
	[R_SECCOMP] = result_seccomp,
	[R_MEMBARRIER] = result_membarrier,
	[R_PERSONALITY] = result_personality,
	[R_URING] = result_uring,
};

/* For results that result_kind() shows: the kind of their meaning. For all others, 0. */
static const uint16_t kinds[R_COUNT] = {
	[R_SIGNAL] = K_SIGNAL, [R_SCHED] = K_SCHED_POLICY, [R_CLOCKSTATE] = K_CLOCK_STATE, [R_IOPRIO] = K_IOPRIO};

void decode_result(const struct decode *d)
{
	const struct syscall_desc *desc = d->call->desc;
	if (!d->leaving)
		emit_result(d->out, 0, "", NULL);
	else if (d->call->error) {
		error_result(d);
		if (desc && desc->result == R_URING)
			decode_uring_completions(d);
	} else if (d->opts->raw || !desc)
		emit_result_as(d->out, d->call->result, FORM_HEX);
	else if (kinds[desc->result])
		result_kind(d, d->call->result, kinds[desc->result]);
	else {
		results[desc->result](d, d->call->result);
		decode_namespaces(d);
	}
}
