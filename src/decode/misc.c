/* SPDX-License-Identifier: MIT */
#include "decode/layout.h"
#include "decode/show.h"

#include <linux/futex.h>
#include <stdio.h>

/* Shows landlock, kexec, perf and keys; futexes; arguments of prctl(2) and seccomp(2). */
STRUCTURE_SAME(landlock_ruleset, M64(handled_access_fs, LANDLOCK_FS), M64(handled_access_net, LANDLOCK_NET),
	       M64(scoped, HEX, NONZERO));
struct path_beneath {
	uint64_t allowed_access;
	int32_t parent_fd;
} __attribute__((packed));
LAYOUT_SAME(landlock_path, struct path_beneath, (allowed_access, LANDLOCK_FS), (parent_fd, FD));
struct net_port {
	uint64_t allowed_access, port;
};
LAYOUT_SAME(landlock_port, struct net_port, (allowed_access, LANDLOCK_NET), (port, ULONG));

static STRUCTURE(kexec_segment, M64(buf, PTR), M64(bufsz, ULONG), M64(mem, PTR), M64(memsz, ULONG));

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

/* Shows the key management facility of the kernel: keyctl(2), add_key(2), request_key(2). */
void show_key_serial(const struct decode *d, const struct value *x)
{
	emit_name(d->out, flags_find(&flags_key_spec, (uint32_t)x->v), (int32_t)x->v);
}

/* struct keyctl_dh_params, keyctl_pkey_query and keyctl_pkey_params (linux/keyctl.h) */
STRUCTURE_SAME(key_dh, M32(private, KEY_SERIAL), M32(prime, KEY_SERIAL), M32(base, KEY_SERIAL));
STRUCTURE_SAME(key_query, M32(supported_ops, KEY_SUPPORTS), M32(key_size, UINT), M16(max_data_size, UINT),
	       M16(max_sig_size, UINT), M16(max_enc_size, UINT), M16(max_dec_size, UINT), SKIPS(uint32_t, spare, 10));
STRUCTURE_SAME(key_params, M32(key_id, KEY_SERIAL), M32(in_len, UINT), M32(out_len, UINT), SKIPS(uint32_t, spare, 7));

enum { DH_COMPUTE = 23, CAPABILITIES = 31 };

/*
 * The result of keyctl(2) is the full length, even if the buffer, whose size is the next argument, is shorter.
 * Capabilities and Diffie-Hellman secrets are not text.
 */
void show_key_bytes(const struct decode *d, const struct value *x)
{
	uint64_t n = decode_returned(d), room = d->call->args[x->arg + 1];
	uint32_t op = (uint32_t)d->call->args[0];
	n = n < room ? n : room;
	if (op == DH_COMPUTE || op == CAPABILITIES)
		decode_hex_bytes(d, x->v, n);
	else
		decode_bytes(d, x->v, n);
}

/* PR_SET_PTRACER */
void show_ptracer(const struct decode *d, const struct value *x)
{
	if (x->v == UINT64_MAX)
		emit_sym(d->out, "PR_SET_PTRACER_ANY", x->v);
	else
		show_pid(d, x);
}

/* Shows a buffer of fixed size that contains a string, such as the name of a task (16 bytes). */
void show_fixed_string(const struct decode *d, const struct value *x)
{
	decode_string(d, x->v, 15);
}

/* futex(2): flags that say which arguments an operation uses, and whether the fourth argument is a time or a number. */
enum { VAL = 1, TIMEOUT = 2, VAL2 = 4, UADDR2 = 8, VAL3 = 16, BITSET = 32, WAKE_OP = 64, BARE = 128 };
static const uint8_t futex_args[] = {
	[FUTEX_WAIT] = VAL | TIMEOUT,
	[FUTEX_WAKE] = VAL,
	[FUTEX_FD] = VAL,
	[FUTEX_REQUEUE] = VAL | VAL2 | UADDR2,
	[FUTEX_CMP_REQUEUE] = VAL | VAL2 | UADDR2 | VAL3,
	[FUTEX_WAKE_OP] = VAL | VAL2 | UADDR2 | VAL3 | WAKE_OP,
	[FUTEX_LOCK_PI] = VAL | TIMEOUT,
	[FUTEX_UNLOCK_PI] = BARE,
	[FUTEX_TRYLOCK_PI] = BARE,
	[FUTEX_WAIT_BITSET] = VAL | TIMEOUT | VAL3 | BITSET,
	[FUTEX_WAKE_BITSET] = VAL | VAL3 | BITSET,
	[FUTEX_WAIT_REQUEUE_PI] = VAL | TIMEOUT | UADDR2,
	[FUTEX_CMP_REQUEUE_PI] = VAL | VAL2 | UADDR2 | VAL3,
	[13 /* FUTEX_LOCK_PI2 */] = VAL | TIMEOUT,
};

static unsigned futex_has(const struct decode *d)
{
	uint32_t op = (uint32_t)d->call->args[1] & 0x7f;
	return op < sizeof(futex_args) ? futex_args[op] : VAL | VAL2 | UADDR2 | VAL3;
}

enum when when_futex_arg(const struct decode *d, int i)
{
	static const uint8_t needs[] = {0, 0, VAL, TIMEOUT | VAL2, UADDR2, VAL3};
	return futex_has(d) & needs[i] ? WHEN_ENTERING : WHEN_NEVER;
}

/* Shows the last argument of FUTEX_WAKE_OP: an operation, a comparison and their arguments (futex(2)). */
static void wake_op(const struct decode *d, uint32_t v)
{
	static const char *const ops[] = {"FUTEX_OP_SET", "FUTEX_OP_ADD", "FUTEX_OP_OR", "FUTEX_OP_ANDN",
					  "FUTEX_OP_XOR"};
	static const char *const compares[] = {"FUTEX_OP_CMP_EQ", "FUTEX_OP_CMP_NE", "FUTEX_OP_CMP_LT",
					       "FUTEX_OP_CMP_LE", "FUTEX_OP_CMP_GT", "FUTEX_OP_CMP_GE"};
	char text[160];
	unsigned op = v >> 28 & 7, compare = v >> 24 & 15;
	snprintf(text, sizeof(text), "%s%s<<28|%#x<<12|%s<<24|%#x", v >> 31 ? "FUTEX_OP_OPARG_SHIFT<<28|" : "",
		 op < 5 ? ops[op] : "FUTEX_OP_???", v >> 12 & 0xfff,
		 compare < 6 ? compares[compare] : "FUTEX_OP_CMP_???", v & 0xfff);
	emit_sym(d->out, text, v);
}

static void futex_val3(const struct decode *d, unsigned has, uint32_t v)
{
	if (has & BITSET && v == UINT32_MAX)
		emit_sym(d->out, "FUTEX_BITSET_MATCH_ANY", v);
	else if (has & BITSET)
		emit_hex(d->out, v);
	else if (has & WAKE_OP)
		wake_op(d, v);
	else
		emit_unum(d->out, v);
}

void show_futex_arg(const struct decode *d, const struct value *x)
{
	unsigned has = futex_has(d);
	if (x->arg == 2 || (x->arg == 3 && has & VAL2))
		emit_unum(d->out, (uint32_t)x->v);
	else if (x->arg == 3 && has & TIMEOUT)
		show_kind(d, K_TIMESPEC, x->v, -1);
	else if (x->arg == 5)
		futex_val3(d, has, (uint32_t)x->v);
	else
		emit_ptr(d->out, x->v);
}

/* Shows an operation as programs write it: FUTEX_WAIT_PRIVATE|FUTEX_CLOCK_REALTIME. */
void show_futex_op(const struct decode *d, const struct value *x)
{
	const char *name = flags_find(&flags_futex, x->v & 0x7f);
	char text[80];
	if (!name || x->v & 0xfffffe00) {
		show_flags32(d, x);
		return;
	}
	snprintf(text, sizeof(text), "%s%s%s", name, x->v & FUTEX_PRIVATE_FLAG ? "_PRIVATE" : "",
		 x->v & FUTEX_CLOCK_REALTIME ? "|FUTEX_CLOCK_REALTIME" : "");
	emit_sym(d->out, text, (uint32_t)x->v);
}

STRUCTURE_SAME(futex_waitv, M64(val, HEX), M64(uaddr, PTR), M32(flags, FUTEX2_FLAGS), SKIP32(reserved));

/* futex_requeue(2) has no count, because its array always has two elements. */
void show_waitv(const struct decode *d, const struct value *x)
{
	layout_emit_array(d, &layout_futex_waitv, x->v, 2);
}

STRUCTURE(filter_program, M16(len, UINT), SKIPS(uint16_t, pad, 3), M64(filter, PTR));

STRUCTURE_SAME(notif_sizes, M16(seccomp_notif, UINT), M16(seccomp_notif_resp, UINT), M16(seccomp_data, UINT));

STRUCTURE_SAME(user_desc, M32(entry_number, INT), M32(base_addr, HEX), M32(limit, HEX), M32(bits, HEX));
