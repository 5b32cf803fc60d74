/* Netlink attributes (netlink(7), linux/netlink.h): chains of length, type and value, which may hold chains again. */
#ifndef SCTRACE_DECODE_ATTR_H
#define SCTRACE_DECODE_ATTR_H

#include "decode/kinds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A chain of attributes, and where it stands. */
struct attr_chain {
	const struct attr_chain *outer; /* the chain that holds it, or NULL */
	uint64_t head;                  /* the address of the structure before the outermost chain */
	uint64_t at, n;                 /* its bytes */
	unsigned depth;                 /* how many chains hold it */
	size_t begin;                   /* how long the text was when the outermost chain began */
};

/*
 * Shows the `n` bytes at `at`, which are the value of an attribute of `chain`; `about` is the row's own. False, and nothing was
 * emitted, where they are not what the row says: they are shown as bytes then.
 */
typedef bool attr_show(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at,
		       uint64_t n);

/* One type of attribute, in a table of attrs.def. */
struct attr {
	const char *name;
	uint16_t type;
	uint16_t size;   /* the only size that the value may have, or 0: any */
	uint16_t kind;   /* what a value of that size is (K_*), where `show` is NULL */
	attr_show *show; /* NULL, without a size: the value is shown as bytes */
	const void *about;
};

struct attr_table {
	const char *unknown; /* what a type without a row is told to be: "IFLA_???" */
	size_t n;
	const struct attr *rows;
	const struct attr_table *each; /* types without a row hold attributes of this table; or NULL */
};

#define ATTRS(name, unknown) extern const struct attr_table attrs_##name;
#define A(...)
#define END
#include "decode/attrs.def"
#undef ATTRS
#undef A
#undef END
/* A table without names, for types that are not known. */
extern const struct attr_table attrs_unknown;

/*
 * Emits the chain of `n` bytes at `at`, which follows a message's structure at `head`: [{nla_len=8, nla_type=IFLA_MTU}, 1500],
 * and where there are several, an array of these. Lengths that do not fit end it.
 */
void attr_emit(const struct decode *d, const struct attr_table *t, uint64_t head, uint64_t at, uint64_t n);
/* The same for a chain within the value of an attribute of `chain`. False where there is no attribute, or too deep in others. */
bool attr_emit_inner(const struct decode *d, const struct attr_chain *chain, const struct attr_table *t, uint64_t at,
		     uint64_t n);
/* Has the text of this message grown so long that the rest is left out? */
bool attr_is_full(const struct decode *d, const struct attr_chain *chain);
/* The value of the first attribute of `type` in `chain`: its address and size, or false. */
bool attr_find(const struct decode *d, const struct attr_chain *chain, uint16_t type, uint64_t *at, uint64_t *n);

/* Values of several kinds; attrs.def says what `about` is. */
attr_show attr_string, attr_mac, attr_address, attr_choice, attr_bits, attr_struct, attr_struct_grows, attr_numbers,
	attr_named, attr_nest, attr_list;
/* An array whose elements have names. */
struct attr_names {
	const struct flag_table *names;
	enum syscall_kind kind; /* of an element */
	unsigned size;          /* of one, in bytes: 4 or 8 */
	uint64_t first;         /* the value of the first element's name */
};
/* A number that is one of a table's values, or bits of it, is read by its size (1, 2, 4 or 8). */
bool attr_get_number(const struct decode *d, uint64_t at, uint64_t n, uint64_t *v);

/* Values that depend on more than their bytes (rtnetlink_values.c, sock_diag_values.c). */
attr_show attr_by_family, attr_by_kind, attr_link, attr_veth_peer, attr_bridge_id, attr_multipath, attr_via,
	attr_tcp_info, attr_inet_sockopt, attr_unix_name;
/* Of attr_by_family(): the table of messages of one address family, and of the others. */
struct attr_families {
	uint8_t family;
	const struct attr_table *attrs, *others;
};
/* Of attr_by_kind(): the tables by the name in the attribute of `type`. */
struct attr_kinds {
	uint16_t type;
	size_t n;
	const struct attr_kind {
		const char *kind;
		const struct attr_table *attrs;
	} * kinds;
};

#endif
