/* Shows the key management facility of the kernel: keyctl(2), add_key(2), request_key(2). */
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
	{{K_KEY_SERIAL, K_INT}, 2, 0},                            /* GET_KEYRING_ID */
	{{K_STR}, 1, 0},                                          /* JOIN_SESSION_KEYRING */
	{{K_KEY_SERIAL, K_IN_BYTES, K_SIZE}, 3, 0},               /* UPDATE */
	{{K_KEY_SERIAL}, 1, 0},                                   /* REVOKE */
	{{K_KEY_SERIAL, K_UID, K_UID}, 3, 0},                     /* CHOWN */
	{{K_KEY_SERIAL, K_HEX}, 2, 0},                            /* SETPERM */
	{{K_KEY_SERIAL, K_OUT_BYTES, K_SIZE}, 3, 2},              /* DESCRIBE */
	{{K_KEY_SERIAL}, 1, 0},                                   /* CLEAR */
	{{K_KEY_SERIAL, K_KEY_SERIAL}, 2, 0},                     /* LINK */
	{{K_KEY_SERIAL, K_KEY_SERIAL}, 2, 0},                     /* UNLINK */
	{{K_KEY_SERIAL, K_STR, K_STR, K_KEY_SERIAL}, 4, 0},       /* SEARCH */
	{{K_KEY_SERIAL, K_OUT_BYTES, K_SIZE}, 3, 2},              /* READ */
	{{K_KEY_SERIAL, K_IN_BYTES, K_SIZE, K_KEY_SERIAL}, 4, 0}, /* INSTANTIATE */
	{{K_KEY_SERIAL, K_UINT, K_KEY_SERIAL}, 3, 0},             /* NEGATE */
	{{K_INT}, 1, 0},                                          /* SET_REQKEY_KEYRING */
	{{K_KEY_SERIAL, K_UINT}, 2, 0},                           /* SET_TIMEOUT */
	{{K_KEY_SERIAL}, 1, 0},                                   /* ASSUME_AUTHORITY */
	{{K_KEY_SERIAL, K_OUT_BYTES, K_SIZE}, 3, 2},              /* GET_SECURITY */
	{{K_END}, 0, 0},                                          /* SESSION_TO_PARENT */
	{{K_KEY_SERIAL, K_UINT, K_UINT, K_KEY_SERIAL}, 4, 0},     /* REJECT */
	{{K_KEY_SERIAL, K_IN_IOVEC, K_UINT, K_KEY_SERIAL}, 4, 0}, /* INSTANTIATE_IOV */
	{{K_KEY_SERIAL}, 1, 0},                                   /* INVALIDATE */
	{{K_UID, K_KEY_SERIAL}, 2, 0},                            /* GET_PERSISTENT */
};
#define NOPERATIONS (sizeof(operations) / sizeof(*operations))

enum when when_keyctl_arg(const struct decode *d, int i)
{
	uint32_t op = (uint32_t)d->call->args[0];
	if (op >= NOPERATIONS)
		return WHEN_ENTERING;
	if (i > operations[op].n)
		return WHEN_NEVER;
	return operations[op].filled == i ? WHEN_LEFT : WHEN_ENTERING;
}

/* The result of keyctl(2) is the full length, even if the buffer is shorter. */
static void filled(const struct decode *d, uint64_t v, int i)
{
	uint64_t n = decode_returned(d), room = d->call->args[i + 1];
	decode_bytes(d, v, n < room ? n : room);
}

void show_keyctl_arg(const struct decode *d, const struct value *x)
{
	uint32_t op = (uint32_t)d->call->args[0];
	if (op >= NOPERATIONS)
		emit_hex(d->out, x->v);
	else if (operations[op].filled == x->arg)
		filled(d, x->v, x->arg);
	else
		show_kind(d, operations[op].kinds[x->arg - 1], x->v, x->arg);
}
