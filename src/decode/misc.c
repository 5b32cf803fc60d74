/* SPDX-License-Identifier: MIT */
#include "decode/layout.h"
#include "decode/show.h"

#include <stdio.h>

/* Shows landlock, kexec, perf and keys. */
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
