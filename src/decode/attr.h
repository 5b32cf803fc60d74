/* SPDX-License-Identifier: MIT */
/*
 * Netlink attributes (netlink(7), linux/netlink.h). A chain of attributes is a sequence of attributes. Each has a
 * length, a type and a value, and the value may be a chain itself.
 */
#ifndef SCTRACE_DECODE_ATTR_H
#define SCTRACE_DECODE_ATTR_H

#include "decode/kinds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct layout;

/* A chain of attributes and its position in memory. */
struct attr_chain {
	uint64_t head;  /* address of the structure before the outermost chain */
	uint64_t at, n; /* address and length of the chain */
	unsigned depth; /* number of chains that contain this chain */
	size_t begin;   /* length of the output text when the outermost chain began */
};

/*
 * Shows the value of an attribute of `chain`: the `n` bytes at `at`. `about` is the member of the table row. If the
 * bytes do not match the row, emits nothing and returns false; the caller then shows the value as bytes.
 */
typedef bool attr_show(const struct decode *d, const struct attr_chain *chain, const void *about, uint64_t at,
		       uint64_t n);

/* One type of attribute: a row of a table in attrs.def. */
struct attr {
	const char *name;
	uint16_t type;
	uint16_t size;   /* the only valid size of the value, or 0: any */
	uint16_t kind;   /* K_*: how a value of `size` bytes is shown, if `show` is NULL */
	attr_show *show; /* shows the value; if `show` is NULL and `size` is 0, the value is shown as bytes */
	const void *about;
};

struct attr_table {
	const char *unknown; /* printed for a type that has no row: "IFLA_???" */
	size_t n;
	const struct attr *rows;
	const struct attr_table *each; /* the value of a type without a row is a chain that this table describes; or
					* NULL */
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
 * Emits the chain of `n` bytes at `at`, which follows the structure of a message at `head`. One attribute is shown as
 * [{nla_len=8, nla_type=IFLA_MTU}, 1500], and several as an array of these. Stops at an attribute whose length does not
 * fit into the chain.
 */
void attr_emit(const struct decode *d, const struct attr_table *t, uint64_t head, uint64_t at, uint64_t n);
/*
 * Emits a message of `n` bytes at `at`: the structure `head` and, if there are more bytes, its attributes. They become
 * one or two elements of the array that the caller has opened. The caller has begun the first of them. If the message
 * is shorter than `head`, shows only its first byte, because a request for a list may contain only the address family
 * (struct rtgenmsg of linux/rtnetlink.h).
 */
void attr_emit_message(const struct decode *d, const struct layout *head, const struct attr_table *t, uint64_t at,
		       uint64_t n);
/*
 * Like attr_emit(), for a chain inside the value of an attribute of `chain`. Returns false if the inner chain has no
 * attribute or is nested too deeply.
 */
bool attr_emit_inner(const struct decode *d, const struct attr_chain *chain, const struct attr_table *t, uint64_t at,
		     uint64_t n);
/* Returns true if the text of this message has reached its limit. The remaining attributes are then left out. */
bool attr_is_full(const struct decode *d, const struct attr_chain *chain);
/*
 * Finds the first attribute of `type` in `chain`. Sets *at and *n to the address and size of its value. Returns false
 * if there is none.
 */
bool attr_find(const struct decode *d, const struct attr_chain *chain, uint16_t type, uint64_t *at, uint64_t *n);

/* These show values of several kinds. attrs.def says what `about` means for each of them. */
attr_show attr_string, attr_mac, attr_address, attr_choice, attr_bits, attr_struct, attr_struct_grows, attr_numbers,
	attr_named, attr_nest, attr_list;
/* An array whose elements have names. `about` of attr_named() and similar functions. */
struct attr_names {
	const struct flag_table *names;
	enum syscall_kind kind; /* how an element is shown */
	unsigned size;          /* size of an element in bytes: 4 or 8 */
	uint64_t first;         /* value of the constant in `names` that names the first element */
};
/* Reads a number of 1, 2, 4 or 8 bytes (`n`) at `at`. Returns false for other sizes, or if the bytes cannot be read. */
bool attr_get_number(const struct decode *d, uint64_t at, uint64_t n, uint64_t *v);

#endif
