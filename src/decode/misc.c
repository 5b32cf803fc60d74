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

/* The kinds of the arguments of keyctl(2) for each operation (linux/keyctl.h). The remaining arguments are K_END. */
static const struct {
	uint16_t kinds[4];
	uint8_t n;
	uint8_t filled; /* the argument that the kernel fills in, counting from 1; 0: none */
} operations[] = {
	{{K_KEY_SERIAL, K_INT}, 2, 0},                                  /* GET_KEYRING_ID */
	{{K_STR}, 1, 0},                                                /* JOIN_SESSION_KEYRING */
	{{K_KEY_SERIAL, K_IN_BYTES, K_SIZE}, 3, 0},                     /* UPDATE */
	{{K_KEY_SERIAL}, 1, 0},                                         /* REVOKE */
	{{K_KEY_SERIAL, K_UID, K_UID}, 3, 0},                           /* CHOWN */
	{{K_KEY_SERIAL, K_KEY_PERM}, 2, 0},                             /* SETPERM */
	{{K_KEY_SERIAL, K_OUT_BYTES, K_SIZE}, 3, 2},                    /* DESCRIBE */
	{{K_KEY_SERIAL}, 1, 0},                                         /* CLEAR */
	{{K_KEY_SERIAL, K_KEY_SERIAL}, 2, 0},                           /* LINK */
	{{K_KEY_SERIAL, K_KEY_SERIAL}, 2, 0},                           /* UNLINK */
	{{K_KEY_SERIAL, K_STR, K_STR, K_KEY_SERIAL}, 4, 0},             /* SEARCH */
	{{K_KEY_SERIAL, K_OUT_BYTES, K_SIZE}, 3, 2},                    /* READ */
	{{K_KEY_SERIAL, K_IN_BYTES, K_SIZE, K_KEY_SERIAL}, 4, 0},       /* INSTANTIATE */
	{{K_KEY_SERIAL, K_UINT, K_KEY_SERIAL}, 3, 0},                   /* NEGATE */
	{{K_KEY_DEFAULT}, 1, 0},                                        /* SET_REQKEY_KEYRING */
	{{K_KEY_SERIAL, K_UINT}, 2, 0},                                 /* SET_TIMEOUT */
	{{K_KEY_SERIAL}, 1, 0},                                         /* ASSUME_AUTHORITY */
	{{K_KEY_SERIAL, K_OUT_BYTES, K_SIZE}, 3, 2},                    /* GET_SECURITY */
	{{K_END}, 0, 0},                                                /* SESSION_TO_PARENT */
	{{K_KEY_SERIAL, K_UINT, K_ERRNO, K_KEY_SERIAL}, 4, 0},          /* REJECT */
	{{K_KEY_SERIAL, K_IN_IOVEC, K_UINT, K_KEY_SERIAL}, 4, 0},       /* INSTANTIATE_IOV */
	{{K_KEY_SERIAL}, 1, 0},                                         /* INVALIDATE */
	{{K_UID, K_KEY_SERIAL}, 2, 0},                                  /* GET_PERSISTENT */
	{{K_KEY_DH, K_OUT_BYTES, K_SIZE, K_PTR}, 4, 2},                 /* DH_COMPUTE */
	{{K_KEY_SERIAL, K_ULONG, K_STR, K_KEY_QUERY}, 4, 4},            /* PKEY_QUERY */
	{{K_KEY_PARAMS, K_STR, K_PTR, K_PTR}, 4, 0},                    /* PKEY_ENCRYPT */
	{{K_KEY_PARAMS, K_STR, K_PTR, K_PTR}, 4, 0},                    /* PKEY_DECRYPT */
	{{K_KEY_PARAMS, K_STR, K_PTR, K_PTR}, 4, 0},                    /* PKEY_SIGN */
	{{K_KEY_PARAMS, K_STR, K_PTR, K_PTR}, 4, 0},                    /* PKEY_VERIFY */
	{{K_KEY_SERIAL, K_STR, K_STR}, 3, 0},                           /* RESTRICT_KEYRING */
	{{K_KEY_SERIAL, K_KEY_SERIAL, K_KEY_SERIAL, K_KEY_MOVE}, 4, 0}, /* MOVE */
	{{K_OUT_BYTES, K_SIZE}, 2, 1},                                  /* CAPABILITIES */
	{{K_KEY_SERIAL, K_FD, K_INT}, 3, 0},                            /* WATCH_KEY */
};
#define NOPERATIONS (sizeof(operations) / sizeof(*operations))

/* The result is the full length of what the kernel fills in, even if the buffer, which the next argument is, is shorter. */
void keyctl_memory(command_memory_fn *add, void *ctx)
{
	for (unsigned op = 0; op < NOPERATIONS; op++)
		for (unsigned arg = 1; arg <= operations[op].n; arg++) {
			bool filled = operations[op].filled == arg;
			struct command_memory m = {.table = TABLE_KEYCTL,
						   .arg = arg,
						   .command = op,
						   .kind = operations[op].kinds[arg - 1],
						   .when = filled ? WHEN_LEFT : WHEN_ENTERING};
			if (filled && m.kind == K_OUT_BYTES)
				m.need = (struct memory_need){.rule = MEMORY_OUT,
							      .count = COUNT_ROOM,
							      .from = (arg + 1) & 7,
							      .size = 1,
							      .limit = LIMIT_STRING};
			add(ctx, &m);
		}
}

enum when when_keyctl_arg(const struct decode *d, int i)
{
	uint32_t op = (uint32_t)d->call->args[0];
	if (op >= NOPERATIONS)
		return WHEN_ENTERING;
	if (i > operations[op].n)
		return WHEN_NEVER;
	return operations[op].filled == i ? WHEN_LEFT : WHEN_ENTERING;
}

/* struct keyctl_dh_params, keyctl_pkey_query and keyctl_pkey_params (linux/keyctl.h) */
STRUCTURE_SAME(key_dh, M32(private, KEY_SERIAL), M32(prime, KEY_SERIAL), M32(base, KEY_SERIAL));
STRUCTURE_SAME(key_query, M32(supported_ops, KEY_SUPPORTS), M32(key_size, UINT), M16(max_data_size, UINT),
	       M16(max_sig_size, UINT), M16(max_enc_size, UINT), M16(max_dec_size, UINT), SKIPS(uint32_t, spare, 10));
STRUCTURE_SAME(key_params, M32(key_id, KEY_SERIAL), M32(in_len, UINT), M32(out_len, UINT), SKIPS(uint32_t, spare, 7));

enum { DH_COMPUTE = 23, CAPABILITIES = 31 };

/*
 * The result of keyctl(2) is the full length, even if the buffer is shorter. Capabilities and Diffie-Hellman secrets
 * are not text.
 */
static void filled(const struct decode *d, uint64_t v, int i)
{
	uint64_t n = decode_returned(d), room = d->call->args[i + 1];
	uint32_t op = (uint32_t)d->call->args[0];
	n = n < room ? n : room;
	if (op == DH_COMPUTE || op == CAPABILITIES)
		decode_hex_bytes(d, v, n);
	else
		decode_bytes(d, v, n);
}

void show_keyctl_arg(const struct decode *d, const struct value *x)
{
	uint32_t op = (uint32_t)d->call->args[0];
	if (op >= NOPERATIONS)
		emit_hex(d->out, x->v);
	else if (operations[op].filled == x->arg && operations[op].kinds[x->arg - 1] == K_OUT_BYTES)
		filled(d, x->v, x->arg);
	else
		show_kind(d, operations[op].kinds[x->arg - 1], x->v, x->arg);
}
