/* Shows the key management facility of the kernel: keyctl(2), add_key(2), request_key(2). */
#include "decode/layout.h"
#include "decode/show.h"

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
struct dh_params {
	int32_t private, prime, base;
};
struct key_query {
	uint32_t supported_ops, key_size;
	uint16_t max_data_size, max_sig_size, max_enc_size, max_dec_size;
	uint32_t spare[10];
};
struct key_params {
	int32_t key_id;
	uint32_t in_len, out_len, spare[7];
};
LAYOUT_SAME(key_dh, struct dh_params, (private, KEY_SERIAL), (prime, KEY_SERIAL), (base, KEY_SERIAL));
LAYOUT_SAME(key_query, struct key_query, (supported_ops, KEY_SUPPORTS), (key_size, UINT), (max_data_size, UINT),
	    (max_sig_size, UINT), (max_enc_size, UINT), (max_dec_size, UINT));
LAYOUT_SAME(key_params, struct key_params, (key_id, KEY_SERIAL), (in_len, UINT), (out_len, UINT));

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
