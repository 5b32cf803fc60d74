/* The tables of attrs.def. */
#include "decode/attr.h"
#include "decode/layout.h"

#include <linux/if_link.h>
#include <sys/socket.h>

/* The last members of a struct attr: size, kind, show, and `about`. */
#define BYTES           0, 0, NULL, NULL
#define STRING          0, 0, attr_string, NULL
#define MAC             0, 0, attr_mac, NULL
#define ADDRESS         0, 0, attr_address, NULL
#define VALUE(size, k)  size, K_##k, NULL, NULL
#define INDEX           VALUE(4, IFINDEX)
#define TICKS32         VALUE(4, TICKS)
#define TICKS64         VALUE(8, TICKS)
#define U8              VALUE(1, UINT)
#define U16             VALUE(2, UINT)
#define U32             VALUE(4, UINT)
#define U64             VALUE(8, ULONG)
#define S32             VALUE(4, INT)
#define S64             VALUE(8, LONG)
#define X16             VALUE(2, HEX)
#define X32             VALUE(4, HEX)
#define X64             VALUE(8, HEX)
#define BE16            VALUE(2, BE16)
#define BE32            VALUE(4, BE32)
#define BE64            VALUE(8, BE64)
#define ETHERTYPE       VALUE(2, ETHERTYPE)
#define FD              VALUE(4, FD)
#define PID             VALUE(4, PID)
#define UID             VALUE(4, UID)
#define CHOICE(size, t) size, 0, attr_choice, &flags_##t
#define BITS(size, t)   size, 0, attr_bits, &flags_##t
#define STRUCT(l)       0, 0, attr_struct, &layout_##l
#define GROWS(l)        0, 0, attr_struct_grows, &layout_##l
#define NUMBERS(size)                                                                                                  \
	0, 0, attr_numbers, &(const struct pointee)                                                                    \
	{                                                                                                              \
		size == 4 ? K_UINT : K_HEX, size                                                                       \
	}
#define NAMED(t, k, size, first)                                                                                       \
	0, 0, attr_named, &(const struct attr_names)                                                                   \
	{                                                                                                              \
		&flags_##t, K_##k, size, first                                                                         \
	}
#define NEST(t)     0, 0, attr_nest, &attrs_##t
#define LIST(t)     0, 0, attr_list, &attrs_##t
#define SHOW(f)     0, 0, attr_##f, NULL
#define HOLDS(f, t) 0, 0, attr_##f, &attrs_##t
#define BY_FAMILY(family, t, others)                                                                                   \
	0, 0, attr_by_family, &(const struct attr_families)                                                            \
	{                                                                                                              \
		family, &attrs_##t, &attrs_##others                                                                    \
	}
#define BY_KIND(type, kinds)                                                                                           \
	0, 0, attr_by_kind, &(const struct attr_kinds)                                                                 \
	{                                                                                                              \
		type, sizeof(kinds) / sizeof(*(kinds)), kinds                                                          \
	}

/* The tables for IFLA_INFO_DATA of each kind of link, and those for IFLA_INFO_SLAVE_DATA of the ports of such links. */
static const struct attr_kind link_kinds[] = {
	{"bond", &attrs_bond}, {"bridge", &attrs_bridge}, {"macvlan", &attrs_macvlan}, {"macvtap", &attrs_macvlan},
	{"tun", &attrs_tun},   {"veth", &attrs_veth},     {"vlan", &attrs_vlan},       {"vxlan", &attrs_vxlan},
};
static const struct attr_kind port_kinds[] = {{"bridge", &attrs_brport}};

#define ATTRS(name, unknown) static const struct attr rows_##name[] = {
#define A(name, type, ...)   {#name, type, __VA_ARGS__},
#define END                                                                                                            \
	}                                                                                                              \
	;
#include "decode/attrs.def"
#undef ATTRS
#undef A
#undef END

#define ATTRS(name, unknown_)                                                                                          \
	const struct attr_table attrs_##name = {                                                                       \
		.unknown = (unknown_), .n = sizeof(rows_##name) / sizeof(struct attr), .rows = rows_##name};
#define A(...)
#define END
#include "decode/attrs.def"
