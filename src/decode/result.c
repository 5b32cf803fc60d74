/* Shows the result of a call. */
#include "decode/decode.h"

#include "base/buf.h"
#include "decode/kinds.h"
#include "decode/show.h"
#include "syscall/call_table.h"
#include "syscall/restart.h"

static void error_result(const struct decode *d)
{
	int err = d->call->err;
	const char *name = decode_errno_name(err);
	struct buf other = {0};
	if (!name)
		buf_addf(&other, "E%d", err);
	emit_result(d->out, err >= ERESTARTSYS && err <= ERESTART_RESTARTBLOCK ? -err : -1,
		    name ? name : buf_str(&other), decode_errno_text(err));
	buf_free(&other);
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
	struct buf is = {0};
	bool known = decode_pid_name(d, (int)v, &is);
	emit_result(d->out, v, NULL, NULL);
	if (known)
		emit_result_is(d->out, &(struct emit_is){.name = buf_str(&is)});
	buf_free(&is);
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
