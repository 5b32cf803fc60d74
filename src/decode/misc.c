/* Shows io_uring, perf, landlock and other newer interfaces. */
#include "decode/show.h"

#include "decode/layout.h"

#include <linux/io_uring.h>
#include <stdio.h>

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

struct resource_update {
	uint32_t offset, resv;
	uint64_t fds;
};
struct resources {
	uint32_t nr, flags;
	uint64_t resv2, data, tags;
};
struct restriction {
	uint16_t opcode;
	uint8_t op, resv;
	uint32_t resv2[3];
};
struct probe {
	uint8_t last_op, ops_len;
	uint16_t resv;
	uint32_t resv2[3];
};
struct probe_op {
	uint8_t op, resv;
	uint16_t flags;
	uint32_t resv2;
};
static LAYOUT_SAME(uring_resources, struct resources, (nr, UINT), (flags, HEX), (data, PTR), (tags, PTR));
static LAYOUT_SAME(uring_restriction, struct restriction, (opcode, IO_URING_RESTRICTION), (op, UINT));
static LAYOUT_SAME(uring_probe_op, struct probe_op, (op, UINT), (flags, HEX));

static uint32_t register_op(const struct decode *d, int i)
{
	return (uint32_t)d->call->args[i - 1] & 0x7fffffff;
}

/* IORING_REGISTER_PROBE fills in the structure, and the command for workers exchanges their numbers. */
enum when when_uring_register_arg(const struct decode *d, int i)
{
	uint32_t op = register_op(d, i);
	return op == IORING_REGISTER_PROBE              ? WHEN_LEFT
	       : op == IORING_REGISTER_IOWQ_MAX_WORKERS ? WHEN_BOTH
							: WHEN_ENTERING;
}

static void file_update(const struct decode *d, uint64_t at, uint32_t n)
{
	struct resource_update u;
	if (!decode_need(d, at, &u, sizeof(u)))
		return;
	emit_open(d->out, '{');
	show_field(d, "offset", K_UINT, u.offset);
	emit_field(d->out, "fds");
	decode_numbers(d, u.fds, n, 4, K_FD);
	emit_close(d->out, '}');
}

/* The kernel has filled in at most `n` operations. */
static void uring_probe(const struct decode *d, uint64_t at, uint32_t n)
{
	struct probe p;
	if (!decode_need(d, at, &p, sizeof(p)))
		return;
	emit_open(d->out, '{');
	show_field(d, "last_op", K_UINT, p.last_op);
	show_field(d, "ops_len", K_UINT, p.ops_len);
	emit_field(d->out, "ops");
	layout_emit_array(d, &layout_uring_probe_op, at + sizeof(p), p.ops_len < n ? p.ops_len : n);
	emit_close(d->out, '}');
}

/* io_uring_register(2): the previous argument is the operation, and the next one is the number of elements. */
void show_uring_register_arg(const struct decode *d, const struct value *x)
{
	uint32_t n = (uint32_t)d->call->args[x->arg + 1];
	switch (register_op(d, x->arg)) {
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
	case IORING_REGISTER_FILES_UPDATE:
		file_update(d, x->v, n);
		break;
	case IORING_REGISTER_PROBE:
		uring_probe(d, x->v, n);
		break;
	case IORING_REGISTER_RESTRICTIONS:
		layout_emit_array(d, &layout_uring_restriction, x->v, n);
		break;
	case IORING_REGISTER_FILES2:
	case IORING_REGISTER_BUFFERS2:
		layout_emit(d, &layout_uring_resources, x->v, n);
		break;
	case IORING_REGISTER_IOWQ_MAX_WORKERS:
		decode_numbers(d, x->v, n, 4, K_UINT);
		break;
	default:
		emit_ptr(d->out, x->v);
	}
}

/* The kernel has replaced the numbers of workers by the previous ones. */
void show_uring_register_after(const struct decode *d, const struct value *x)
{
	emit_after(d->out);
	decode_numbers(d, x->v, (uint32_t)d->call->args[x->arg + 1], 4, K_UINT);
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

/* The beginning of struct perf_event_attr (linux/perf_event.h). bp_len is missing in its first version. */
struct perf_attr_begin {
	uint32_t type, size;
	uint64_t config, sample_period, sample_type, read_format, bits;
	uint32_t wakeup_events, bp_type;
	uint64_t bp_addr, bp_len;
};
enum { PERF_HARDWARE, PERF_SOFTWARE, PERF_CACHE = 3, PERF_BREAKPOINT = 5, PERF_FREQ = 10, PERF_PRECISE = 15 };

/* Shows the configuration of PERF_TYPE_HW_CACHE, which consists of a cache, an operation and a result. */
static void cache_config(const struct decode *d, uint64_t config)
{
	const char *cache = flags_find(&flags_perf_cache, config & 0xff);
	const char *op = flags_find(&flags_perf_cache_op, config >> 8 & 0xff);
	const char *result = flags_find(&flags_perf_cache_result, config >> 16);
	char text[160];
	if (!cache || !op || !result) {
		emit_hex(d->out, config);
		return;
	}
	snprintf(text, sizeof(text), "%s<<16|%s<<8|%s", result, op, cache);
	emit_sym(d->out, text, config);
}

static void perf_config(const struct decode *d, const struct perf_attr_begin *a)
{
	const struct flag_table *events = a->type == PERF_HARDWARE   ? &flags_perf_hardware
					  : a->type == PERF_SOFTWARE ? &flags_perf_software
								     : NULL;
	emit_field(d->out, "config");
	if (events && flags_find(events, a->config))
		flags_emit_choice(d->out, events, a->config);
	else if (a->type == PERF_CACHE)
		cache_config(d, a->config);
	else
		emit_hex(d->out, a->config);
}

/* The bits of struct perf_event_attr. precise_ip has two bits. */
static const char *const perf_bit_names[] = {"disabled",
					     "inherit",
					     "pinned",
					     "exclusive",
					     "exclude_user",
					     "exclude_kernel",
					     "exclude_hv",
					     "exclude_idle",
					     "mmap",
					     "comm",
					     "freq",
					     "inherit_stat",
					     "enable_on_exec",
					     "task",
					     "watermark",
					     "precise_ip",
					     NULL,
					     "mmap_data",
					     "sample_id_all",
					     "exclude_host",
					     "exclude_guest",
					     "exclude_callchain_kernel",
					     "exclude_callchain_user",
					     "mmap2",
					     "comm_exec",
					     "use_clockid",
					     "context_switch",
					     "write_backward",
					     "namespaces",
					     "ksymbol",
					     "bpf_event",
					     "aux_output",
					     "cgroup",
					     "text_poke",
					     "build_id",
					     "inherit_thread",
					     "remove_on_exec",
					     "sigtrap"};

/* Shows the names of the bits that are set. precise_ip is a number of two bits. */
static void perf_bits(const struct decode *d, uint64_t set)
{
	const unsigned n = sizeof(perf_bit_names) / sizeof(*perf_bit_names);
	for (unsigned b = 0; b < n; b++) {
		uint64_t v = set >> b & (b == PERF_PRECISE ? 3 : 1);
		if (perf_bit_names[b] && v)
			show_field(d, perf_bit_names[b], K_UINT, v);
	}
	if (set >> n)
		show_field(d, "reserved_bits", K_HEX, set >> n << n);
}

/*
 * Shows the first members of a struct perf_event_attr: the name of the counter and the names of the flags that are set.
 */
void show_perf_attr(const struct decode *d, const struct value *x)
{
	struct perf_attr_begin a = {0};
	if (!decode_need(d, x->v, &a, offsetof(struct perf_attr_begin, bp_len)))
		return;
	emit_open(d->out, '{');
	show_field(d, "type", K_PERF_TYPE, a.type);
	show_field(d, "size", K_PERF_ATTR_SIZE, a.size);
	perf_config(d, &a);
	emit_field(d->out, a.bits >> PERF_FREQ & 1 ? "sample_freq" : "sample_period");
	emit_unum(d->out, a.sample_period);
	show_field(d, "sample_type", K_PERF_SAMPLE, a.sample_type);
	show_field(d, "read_format", K_PERF_READ, a.read_format);
	perf_bits(d, a.bits);
	if (a.type == PERF_BREAKPOINT) {
		show_field(d, "bp_type", K_PERF_BREAKPOINT, a.bp_type);
		show_field(d, "bp_addr", K_PTR, a.bp_addr);
		if (a.size >= sizeof(a) &&
		    decode_get(d, x->v + offsetof(struct perf_attr_begin, bp_len), &a.bp_len, sizeof(a.bp_len)))
			show_field(d, "bp_len", K_ULONG, a.bp_len);
	}
	emit_more(d->out);
	emit_close(d->out, '}');
}
