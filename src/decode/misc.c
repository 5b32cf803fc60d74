/* Shows io_uring, perf, landlock and other newer interfaces. */
#include "decode/show.h"

#include "decode/layout.h"

#include <linux/io_uring.h>

LAYOUT_SAME(sqring_offsets, struct io_sqring_offsets, (head, UINT), (tail, UINT), (ring_mask, UINT),
	    (ring_entries, UINT), (flags, UINT), (dropped, UINT), (array, UINT));
LAYOUT_SAME(cqring_offsets, struct io_cqring_offsets, (head, UINT), (tail, UINT), (ring_mask, UINT),
	    (ring_entries, UINT), (overflow, UINT), (cqes, UINT), (flags, UINT));
LAYOUT_SAME(io_uring_params, struct io_uring_params, (flags, IO_URING_SETUP), (sq_thread_cpu, UINT),
	    (sq_thread_idle, UINT), (sq_entries, UINT, NONZERO), (cq_entries, UINT, NONZERO),
	    (features, IO_URING_FEATURES, NONZERO), (wq_fd, UINT, NONZERO), (sq_off, SQRING_OFFSETS, AT | VERBOSE),
	    (cq_off, CQRING_OFFSETS, AT | VERBOSE));

/* io_uring_enter(2): the argument is a set of signals or, with IORING_ENTER_EXT_ARG, this structure. */
struct events_arg {
	uint64_t sigmask;
	uint32_t sigmask_sz, min_wait_usec;
	uint64_t ts;
};
static LAYOUT_SAME(events_arg, struct events_arg, (sigmask, SIGSET), (sigmask_sz, UINT), (ts, TIMESPEC));

void show_uring_enter_arg(const struct decode *d, const struct value *x)
{
	if (d->call->args[x->arg - 1] & IORING_ENTER_EXT_ARG)
		layout_emit(d, &layout_events_arg, x->v, layout_events_arg.size);
	else
		show_sigset(d, x);
}

/* io_uring_register(2): the previous argument is the operation, and the next one is the number of elements. */
void show_uring_register_arg(const struct decode *d, const struct value *x)
{
	uint32_t n = (uint32_t)d->call->args[x->arg + 1];
	switch ((uint32_t)d->call->args[x->arg - 1] & 0x7fffffff) {
	case IORING_REGISTER_BUFFERS:
		show_kind(d, K_REMOTE_IOVEC, x->v, x->arg);
		break;
	case IORING_REGISTER_FILES:
		decode_numbers(d, x->v, n, 4, K_FD);
		break;
	case IORING_REGISTER_EVENTFD:
	case IORING_REGISTER_EVENTFD_ASYNC:
		decode_number(d, x->v, 4, K_FD);
		break;
	case IORING_REGISTER_IOWQ_MAX_WORKERS:
		decode_numbers(d, x->v, n, 4, K_UINT);
		break;
	default:
		emit_ptr(d->out, x->v);
	}
}

struct ruleset_attr {
	uint64_t handled_access_fs, handled_access_net, scoped;
};
LAYOUT_SAME(landlock_ruleset, struct ruleset_attr, (handled_access_fs, LANDLOCK_FS), (handled_access_net, LANDLOCK_NET),
	    (scoped, HEX, NONZERO));
struct path_beneath {
	uint64_t allowed_access;
	int32_t parent_fd;
} __attribute__((packed));
static LAYOUT_SAME(landlock_path, struct path_beneath, (allowed_access, LANDLOCK_FS), (parent_fd, FD));
struct net_port {
	uint64_t allowed_access, port;
};
static LAYOUT_SAME(landlock_port, struct net_port, (allowed_access, LANDLOCK_NET), (port, ULONG));

/* landlock_add_rule(2): the previous argument is the type of the rule. */
void show_landlock_rule(const struct decode *d, const struct value *x)
{
	uint32_t type = (uint32_t)d->call->args[x->arg - 1];
	if (type == 1)
		layout_emit(d, &layout_landlock_path, x->v, layout_landlock_path.size);
	else if (type == 2)
		layout_emit(d, &layout_landlock_port, x->v, layout_landlock_port.size);
	else
		emit_ptr(d->out, x->v);
}

struct segment {
	uint64_t buf, bufsz, mem, memsz;
};
static LAYOUT(kexec_segment, struct segment, (buf, PTR), (bufsz, ULONG), (mem, PTR), (memsz, ULONG));

/* kexec_load(2): the previous argument is the number of segments. */
void show_kexec_segments(const struct decode *d, const struct value *x)
{
	layout_emit_array(d, &layout_kexec_segment, x->v,
			  d->call->args[x->arg - 1] < 16 ? d->call->args[x->arg - 1] : 16);
}

struct perf_attr_begin {
	uint32_t type, size;
	uint64_t config, sample_period, sample_type, read_format, bits;
	uint32_t wakeup_events, bp_type;
};

/*
 * Shows the first members of a struct perf_event_attr: the name of the counter and the names of the flags that are set.
 */
void show_perf_attr(const struct decode *d, const struct value *x)
{
	static const char *const bits[] = {
		"disabled",     "inherit", "pinned", "exclusive", "exclude_user",  "exclude_kernel", "exclude_hv",
		"exclude_idle", "mmap",    "comm",   "freq",      "inherit_stat",  "enable_on_exec", "task",
		"watermark",    NULL,      NULL,     "mmap_data", "sample_id_all", "exclude_host",   "exclude_guest"};
	struct perf_attr_begin a;
	if (!decode_need(d, x->v, &a, sizeof(a)))
		return;
	const struct flag_table *events = a.type == 0   ? &flags_perf_hardware
					  : a.type == 1 ? &flags_perf_software
							: NULL;
	emit_open(d->out, '{');
	show_field(d, "type", K_PERF_TYPE, a.type);
	show_field(d, "size", K_PERF_ATTR_SIZE, a.size);
	emit_field(d->out, "config");
	if (events && flags_find(events, a.config))
		flags_emit_choice(d->out, events, a.config);
	else
		emit_hex(d->out, a.config);
	emit_field(d->out, a.bits >> 10 & 1 ? "sample_freq" : "sample_period");
	emit_unum(d->out, a.sample_period);
	show_field(d, "sample_type", K_PERF_SAMPLE, a.sample_type);
	show_field(d, "read_format", K_PERF_READ, a.read_format);
	for (unsigned b = 0; b < sizeof(bits) / sizeof(*bits); b++)
		if (bits[b] && a.bits >> b & 1) {
			emit_field(d->out, bits[b]);
			emit_num(d->out, 1);
		}
	emit_more(d->out);
	emit_close(d->out, '}');
}
