/*
 * Netlink attributes (netlink(7), linux/netlink.h): chains of length, type and value, in which a value may be a chain.
 */
#ifndef SCTRACE_DECODE_ATTR_H
#define SCTRACE_DECODE_ATTR_H

#include "decode/kinds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A chain of attributes and its position. */
struct attr_chain {
	const struct attr_chain *outer; /* the chain that contains it, or NULL */
	uint64_t head;                  /* the address of the structure before the outermost chain */
	uint64_t at, n;                 /* its bytes */
	unsigned depth;                 /* number of chains around it */
	size_t begin;                   /* length of the text when the outermost chain began */
};

/*
 * Shows the `n` bytes at `at`, the value of an attribute of `chain`; `about` comes from the table row. If the bytes do
 * not match the row, returns false without emitting anything, and the value is shown as bytes.
 */
typedef bool attr_show(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at,
		       uint64_t n);

/* One type of attribute: a row of a table in attrs.def. */
struct attr {
	const char *name;
	uint16_t type;
	uint16_t size;   /* the only valid size of the value, or 0: any */
	uint16_t kind;   /* the kind of a value of that size (K_*), if `show` is NULL */
	attr_show *show; /* NULL without a size: the value is shown as bytes */
	const void *about;
};

struct attr_table {
	const char *unknown; /* printed for a type without a row: "IFLA_???" */
	size_t n;
	const struct attr *rows;
	const struct attr_table *each; /* types without a row contain attributes of this table; or NULL */
};

#define ATTRS(name, unknown) extern const struct attr_table attrs_##name;
#define A(...)
#define END
#include "decode/attrs.def"
#undef ATTRS
#undef A
#undef END
/* A table without names, for unknown types. */
extern const struct attr_table attrs_unknown;

/*
 * Emits the chain of `n` bytes at `at`, which follows a message's structure at `head`: [{nla_len=8, nla_type=IFLA_MTU},
 * 1500], or an array of these if there are several. Stops at a length that does not fit.
 */
void attr_emit(const struct decode *d, const struct attr_table *t, uint64_t head, uint64_t at, uint64_t n);
/*
 * The same for a chain inside the value of an attribute of `chain`. Returns false if there is no attribute, or if it is
 * nested too deeply.
 */
bool attr_emit_inner(const struct decode *d, const struct attr_chain *chain, const struct attr_table *t, uint64_t at,
		     uint64_t n);
/* True if the text of this message has reached its limit, so that the rest is left out. */
bool attr_is_full(const struct decode *d, const struct attr_chain *chain);
/*
 * Finds the first attribute of `type` in `chain`, and returns the address and size of its value. Returns false if there
 * is none.
 */
bool attr_find(const struct decode *d, const struct attr_chain *chain, uint16_t type, uint64_t *at, uint64_t *n);

/* Values of several kinds; attrs.def says what `about` means for each. */
attr_show attr_string, attr_mac, attr_address, attr_choice, attr_bits, attr_struct, attr_struct_grows, attr_numbers,
	attr_named, attr_nest, attr_list;
/* An array whose elements have names. */
struct attr_names {
	const struct flag_table *names;
	enum syscall_kind kind; /* of an element */
	unsigned size;          /* of each in bytes: 4 or 8 */
	uint64_t first;         /* the value of the first element's name */
};
/* Reads a number of 1, 2, 4 or 8 bytes: one of a table's values, or bits of them. */
bool attr_get_number(const struct decode *d, uint64_t at, uint64_t n, uint64_t *v);

/* Values whose meaning depends on more than their bytes (rtnetlink_values.c, sock_diag_values.c). */
attr_show attr_by_family, attr_by_kind, attr_link, attr_veth_peer, attr_bridge_id, attr_multipath, attr_via,
	attr_tcp_info, attr_inet_sockopt, attr_unix_name;
/* For attr_by_family(): the tables for messages of one address family and of the others. */
struct attr_families {
	uint8_t family;
	const struct attr_table *attrs, *others;
};
/* For attr_by_kind(): the tables by the name in the attribute of `type`. */
struct attr_kinds {
	uint16_t type;
	size_t n;
	const struct attr_kind {
		const char *kind;
		const struct attr_table *attrs;
	} * kinds;
};

#endif
