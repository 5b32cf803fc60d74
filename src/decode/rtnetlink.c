#include "decode/rtnetlink.h"

#include "decode/attr.h"
#include "decode/layout.h"

#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

/* The structures at the beginning of messages. */
static LAYOUT_SAME(ifaddrmsg, struct ifaddrmsg, (ifa_family, SOCK_DOMAIN), (ifa_prefixlen, UINT),
		   (ifa_flags, IFA_FLAGS), (ifa_scope, RT_SCOPE), (ifa_index, IFINDEX));
static LAYOUT_SAME(rtmsg, struct rtmsg, (rtm_family, SOCK_DOMAIN), (rtm_dst_len, UINT), (rtm_src_len, UINT),
		   (rtm_tos, HEX), (rtm_table, RT_TABLE), (rtm_protocol, RTPROT), (rtm_scope, RT_SCOPE),
		   (rtm_type, RTN), (rtm_flags, RTM_F));
struct neighbour {
	uint8_t ndm_family, pad1;
	uint16_t pad2;
	int32_t ndm_ifindex;
	uint16_t ndm_state;
	uint8_t ndm_flags, ndm_type;
};
static LAYOUT_SAME(ndmsg, struct neighbour, (ndm_family, SOCK_DOMAIN), (ndm_ifindex, IFINDEX), (ndm_state, NUD),
		   (ndm_flags, NTF), (ndm_type, RTN));
struct rule {
	uint8_t family, dst_len, src_len, tos, table, res1, res2, action;
	uint32_t flags;
};
static LAYOUT_SAME(fib_rule_hdr, struct rule, (family, SOCK_DOMAIN), (dst_len, UINT), (src_len, UINT), (tos, HEX),
		   (table, RT_TABLE), (action, FR_ACT), (flags, FIB_RULE));
static LAYOUT_SAME(tcmsg, struct tcmsg, (tcm_family, SOCK_DOMAIN), (tcm_ifindex, IFINDEX), (tcm_handle, HEX),
		   (tcm_parent, HEX), (tcm_info, HEX));
static LAYOUT_SAME(rtgenmsg, struct rtgenmsg, (rtgen_family, SOCK_DOMAIN));
struct netconf {
	uint8_t ncm_family;
};
static LAYOUT_SAME(netconfmsg, struct netconf, (ncm_family, SOCK_DOMAIN));
struct nexthop {
	uint8_t nh_family, nh_scope, nh_protocol, resvd;
	uint32_t nh_flags;
};
static LAYOUT_SAME(nhmsg, struct nexthop, (nh_family, SOCK_DOMAIN), (nh_scope, RT_SCOPE), (nh_protocol, RTPROT),
		   (nh_flags, RTNH_F));
struct link_stats_request {
	uint8_t family, pad1;
	uint16_t pad2;
	uint32_t ifindex, filter_mask;
};
static LAYOUT_SAME(if_stats_msg, struct link_stats_request, (family, SOCK_DOMAIN), (ifindex, IFINDEX),
		   (filter_mask, HEX));

/* The families of rtnetlink's messages (linux/rtnetlink.h). Each has four types: NEW, DEL, GET, SET. */
static const struct {
	uint16_t first;
	const struct layout *head;
	const struct attr_table *attrs;
} families[] = {
	{RTM_NEWLINK, &layout_ifinfomsg, &attrs_ifla},
	{RTM_NEWADDR, &layout_ifaddrmsg, &attrs_ifa},
	{RTM_NEWROUTE, &layout_rtmsg, &attrs_rta},
	{RTM_NEWNEIGH, &layout_ndmsg, &attrs_nda},
	{RTM_NEWRULE, &layout_fib_rule_hdr, &attrs_fra},
	{RTM_NEWQDISC, &layout_tcmsg, &attrs_tca},
	{RTM_NEWTCLASS, &layout_tcmsg, &attrs_tca},
	{RTM_NEWTFILTER, &layout_tcmsg, &attrs_tca},
	{RTM_NEWNETCONF, &layout_netconfmsg, &attrs_netconfa},
	{RTM_NEWNSID, &layout_rtgenmsg, &attrs_netnsa},
	{RTM_NEWSTATS, &layout_if_stats_msg, &attrs_ifla_stats},
	{100 /* RTM_NEWCHAIN */, &layout_tcmsg, &attrs_tca},
	{104 /* RTM_NEWNEXTHOP */, &layout_nhmsg, &attrs_nha},
	{108 /* RTM_NEWLINKPROP */, &layout_ifinfomsg, &attrs_ifla},
};

bool decode_rtnetlink(const struct decode *d, uint16_t type, uint64_t at, uint64_t n)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++)
		if (type / 4 == families[i].first / 4) {
			attr_emit_message(d, families[i].head, families[i].attrs, at, n);
			return true;
		}
	return false;
}
