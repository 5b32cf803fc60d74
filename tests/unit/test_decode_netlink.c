/* SPDX-License-Identifier: MIT */
/* Decodes netlink messages on fake memory: headers, structures, attributes, and wrong lengths. */
#include "decode_check.h"

#include <arpa/inet.h>
#include <linux/genetlink.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

/* The offset of the next byte of the message. */
static size_t at;

static void add(const void *bytes, size_t n)
{
	assert_true(at + n <= sizeof(memory));
	memcpy(memory + at, bytes, n);
	at = (at + n + 3) & ~(size_t)3;
}

/* Begins a message at the start of the memory. */
static void message(uint16_t type, uint16_t flags, const void *head, size_t n)
{
	struct nlmsghdr h = {.nlmsg_type = type, .nlmsg_flags = flags, .nlmsg_seq = 9, .nlmsg_pid = 1};
	memset(memory, 0, sizeof(memory));
	at = 0;
	add(&h, sizeof(h));
	add(head, n);
}

static size_t begin(uint16_t type)
{
	struct nlattr a = {.nla_type = type};
	size_t here = at;
	add(&a, sizeof(a));
	return here;
}

static void end(size_t here)
{
	uint16_t len = (uint16_t)(at - here);
	memcpy(memory + here, &len, sizeof(len));
}

static void attr(uint16_t type, const void *value, size_t n)
{
	struct nlattr a = {.nla_len = (uint16_t)(sizeof(a) + n), .nla_type = type};
	add(&a, sizeof(a));
	add(value, n);
}

static void attr32(uint16_t type, uint32_t v)
{
	attr(type, &v, sizeof(v));
}

static void attr8(uint16_t type, uint8_t v)
{
	attr(type, &v, sizeof(v));
}

/* The text of the message's payload when the program sends it on `fd`. */
static const char *sent(int fd, int how)
{
	static struct buf out;
	char begins[80], *p;
	uint32_t len = (uint32_t)at;
	memcpy(memory, &len, sizeof(len));
	buf_clear(&out);
	shown(&out, "sendto", len, (const uint64_t[6]){(uint64_t)fd, BASE, len, 0, 0, 0}, how);
	if (how == JSON)
		return buf_str(&out);
	/* "100, [{nlmsg_...}, PAYLOAD], 40, 0, NULL, 0) = 40" */
	p = strstr(out.s, "nlmsg_pid=1}, ");
	assert_non_null(p);
	p += strlen("nlmsg_pid=1}, ");
	snprintf(begins, sizeof(begins), "], %u, 0, NULL, 0) = %u", len, len);
	assert_string_equal(out.s + out.len - strlen(begins), begins);
	out.s[out.len - strlen(begins)] = '\0';
	return p;
}
#define PAYLOAD(fd, expect) assert_string_equal(sent(fd, TEXT), expect)

static void test_netlink(void **state)
{
	static const struct {
		struct nlmsghdr h;
		struct ifaddrmsg a;
		struct nlattr label;
		char name[4];
		struct nlattr local;
		unsigned char ip[4];
		struct nlmsghdr done;
		int32_t status;
	} m = {{40, RTM_NEWADDR, NLM_F_MULTI, 9, 1},
	       {AF_INET, 8, IFA_F_PERMANENT, RT_SCOPE_HOST, 1},
	       {7, IFA_LABEL},
	       "lo",
	       {8, IFA_LOCAL},
	       {127, 0, 0, 1},
	       {20, NLMSG_DONE, NLM_F_MULTI, 9, 1},
	       0};
	static const struct nlmsghdr get = {16, RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP, 1, 0};
	static const struct nlmsghdr lie = {400, RTM_GETLINK, 0, 1, 0};
	static const struct nlmsghdr nothing = {3, RTM_NEWLINK, 0, 1, 0};
	static const struct nlattr long_one = {60000, IFA_LABEL};
	(void)state;
	put(0, &m, sizeof(m));
	CHECK("100, [[{nlmsg_len=40, nlmsg_type=RTM_NEWADDR, nlmsg_flags=NLM_F_MULTI, nlmsg_seq=9, nlmsg_pid=1}, "
	      "{ifa_family=AF_INET, ifa_prefixlen=8, ifa_flags=IFA_F_PERMANENT, ifa_scope=RT_SCOPE_HOST, "
	      "ifa_index=if_nametoindex(\"lo\")}, "
	      "[[{nla_len=7, nla_type=IFA_LABEL}, \"lo\"], [{nla_len=8, nla_type=IFA_LOCAL}, "
	      "inet_addr(\"127.0.0.1\")]]], "
	      "[{nlmsg_len=20, nlmsg_type=NLMSG_DONE, nlmsg_flags=NLM_F_MULTI, nlmsg_seq=9, nlmsg_pid=1}, 0]], 1024, "
	      "0, "
	      "NULL, NULL) = 60",
	      "recvfrom", 60, ROUTE, BASE, 1024, 0, 0, 0);
	memcpy(memory + 24, &long_one, sizeof(long_one));
	CHECK("100, [{nlmsg_len=40, nlmsg_type=RTM_NEWADDR, nlmsg_flags=NLM_F_MULTI, nlmsg_seq=9, nlmsg_pid=1}, "
	      "{ifa_family=AF_INET, ifa_prefixlen=8, ifa_flags=IFA_F_PERMANENT, ifa_scope=RT_SCOPE_HOST, "
	      "ifa_index=if_nametoindex(\"lo\")}, "
	      "{nla_len=60000, nla_type=IFA_LABEL}], 1024, 0, NULL, NULL) = 40",
	      "recvfrom", 40, ROUTE, BASE, 1024, 0, 0, 0);
	put(0, &get, sizeof(get));
	CHECK("100, {nlmsg_len=16, nlmsg_type=RTM_GETLINK, nlmsg_flags=NLM_F_REQUEST|NLM_F_DUMP, nlmsg_seq=1, "
	      "nlmsg_pid=0}, "
	      "16, 0, NULL, 0) = 16",
	      "sendto", 16, ROUTE, BASE, 16, 0, 0, 0);
	CHECK("8, \"\\20\\0\\0\\0\\22\\0\\1\\3\\1\\0\\0\\0\\0\\0\\0\\0\", 16, 0, NULL, 0) = 16", "sendto", 16, 8, BASE,
	      16, 0, 0, 0);
	put(0, &lie, sizeof(lie));
	/*
	 * A message that is longer than the buffer is shown up to the end of the buffer. A message that is shorter than
	 * its header ends the text.
	 */
	CHECK("100, {nlmsg_len=400, nlmsg_type=RTM_GETLINK, nlmsg_flags=0, nlmsg_seq=1, nlmsg_pid=0}, 16, 0, NULL, 0) "
	      "= 16",
	      "sendto", 16, ROUTE, BASE, 16, 0, 0, 0);
	put(0, &nothing, sizeof(nothing));
	CHECK("199, {nlmsg_len=3, nlmsg_type=0x10 /* NLMSG_??? */, nlmsg_flags=0, nlmsg_seq=1, nlmsg_pid=0}, 100, 0, "
	      "NULL, "
	      "0) = 100",
	      "sendto", 100, 100 + 99, BASE, 100, 0, 0, 0);
}

/* The attributes of `ip -s link`: integers, names, addresses, counters, and nested ones. */
static void test_link(void **state)
{
	static const struct ifinfomsg link = {
		.ifi_family = AF_UNSPEC, .ifi_type = 1, .ifi_index = 1, .ifi_flags = IFF_UP};
	static const uint8_t mac[] = {2, 0xfc, 0, 0, 0, 1};
	static const uint64_t counters[24] = {1, 2, 3, 4};
	static const int32_t conf6[] = {0, 64, -1};
	(void)state;
	message(RTM_NEWLINK, 0, &link, sizeof(link));
	attr32(IFLA_MTU, 1500);
	PAYLOAD(ROUTE,
		"{ifi_family=AF_UNSPEC, ifi_type=ARPHRD_ETHER, ifi_index=if_nametoindex(\"lo\"), ifi_flags=IFF_UP, "
		"ifi_change=0}, [{nla_len=8, nla_type=IFLA_MTU}, 1500]");
	attr(IFLA_ADDRESS, mac, sizeof(mac));
	attr8(IFLA_OPERSTATE, 6);
	attr(IFLA_STATS64, counters, sizeof(counters));
	begin(IFLA_VFINFO_LIST);
	PAYLOAD(ROUTE,
		"{ifi_family=AF_UNSPEC, ifi_type=ARPHRD_ETHER, ifi_index=if_nametoindex(\"lo\"), ifi_flags=IFF_UP, "
		"ifi_change=0}, [[{nla_len=8, nla_type=IFLA_MTU}, 1500], [{nla_len=10, nla_type=IFLA_ADDRESS}, "
		"02:fc:00:00:00:01], [{nla_len=5, nla_type=IFLA_OPERSTATE}, IF_OPER_UP], [{nla_len=196, "
		"nla_type=IFLA_STATS64}, {rx_packets=1, tx_packets=2, rx_bytes=3, tx_bytes=4, rx_errors=0, "
		"tx_errors=0, rx_dropped=0, tx_dropped=0, multicast=0, collisions=0, rx_length_errors=0, "
		"rx_over_errors=0, rx_crc_errors=0, rx_frame_errors=0, rx_fifo_errors=0, rx_missed_errors=0, "
		"tx_aborted_errors=0, tx_carrier_errors=0, tx_fifo_errors=0, tx_heartbeat_errors=0, "
		"tx_window_errors=0, rx_compressed=0, tx_compressed=0, rx_nohandler=0}], {nla_len=0, "
		"nla_type=IFLA_VFINFO_LIST}]");
	message(RTM_NEWLINK, 0, &link, sizeof(link));
	size_t spec = begin(IFLA_AF_SPEC), six = begin(AF_INET6);
	attr(IFLA_INET6_CONF, conf6, sizeof(conf6));
	end(six);
	end(spec);
	assert_non_null(
		strstr(sent(ROUTE, TEXT),
		       ", [{nla_len=24, nla_type=IFLA_AF_SPEC}, [{nla_len=20, nla_type=AF_INET6}, [{nla_len=16, "
		       "nla_type=IFLA_INET6_CONF}, [[DEVCONF_FORWARDING]=0, [DEVCONF_HOPLIMIT]=64, "
		       "[DEVCONF_MTU6]=-1]]]]"));
}

/*
 * The attributes of a link depend on its kind, even if the kind follows them. The flag for nested attributes is shown.
 */
static void test_link_kinds(void **state)
{
	static const struct ifinfomsg link = {.ifi_index = 7};
	static const uint16_t id = 5;
	(void)state;
	message(RTM_NEWLINK, 0, &link, sizeof(link));
	attr32(IFLA_LINK, 1);
	size_t info = begin(NLA_F_NESTED | IFLA_LINKINFO), data = begin(NLA_F_NESTED | IFLA_INFO_DATA);
	attr(IFLA_VLAN_ID, &id, sizeof(id));
	end(data);
	attr(IFLA_INFO_KIND, "vlan", 5);
	end(info);
	assert_non_null(
		strstr(sent(ROUTE, TEXT),
		       "ifi_index=7, ifi_flags=0, ifi_change=0}, [[{nla_len=8, nla_type=IFLA_LINK}, "
		       "if_nametoindex(\"lo\")], [{nla_len=28, nla_type=NLA_F_NESTED|IFLA_LINKINFO}, [[{nla_len=12, "
		       "nla_type=NLA_F_NESTED|IFLA_INFO_DATA}, [{nla_len=6, nla_type=IFLA_VLAN_ID}, 5]], "
		       "[{nla_len=9, nla_type=IFLA_INFO_KIND}, \"vlan\"]]]]"));
	/* The index of a link in another namespace has no name here. */
	attr32(IFLA_LINK_NETNSID, 0);
	assert_non_null(strstr(sent(ROUTE, TEXT), "[{nla_len=8, nla_type=IFLA_LINK}, 1]"));
	/* The attributes of an unknown kind are shown as numbers. */
	message(RTM_NEWLINK, 0, &link, sizeof(link));
	info = begin(IFLA_LINKINFO);
	attr(IFLA_INFO_KIND, "new", 4);
	data = begin(IFLA_INFO_DATA);
	attr8(3, 'x');
	end(data);
	end(info);
	assert_non_null(strstr(sent(ROUTE, TEXT), "[{nla_len=12, nla_type=IFLA_INFO_DATA}, [{nla_len=5, nla_type=0x3}, "
						  "\"x\"]]]]"));
}

static void test_routes(void **state)
{
	static const struct rtmsg route = {.rtm_family = AF_INET,
					   .rtm_dst_len = 16,
					   .rtm_table = RT_TABLE_MAIN,
					   .rtm_protocol = RTPROT_STATIC,
					   .rtm_type = RTN_UNICAST};
	static const uint8_t dst[] = {10, 9, 0, 0}, six[16] = {0xfd, [15] = 1};
	static const struct rta_cacheinfo cache = {.rta_expires = -5, .rta_used = 7};
	struct rtnexthop hop = {.rtnh_len = 16, .rtnh_hops = 1, .rtnh_ifindex = 1};
	const char *head =
		"{rtm_family=AF_INET, rtm_dst_len=16, rtm_src_len=0, rtm_tos=0, rtm_table=RT_TABLE_MAIN, "
		"rtm_protocol=RTPROT_STATIC, rtm_scope=RT_SCOPE_UNIVERSE, rtm_type=RTN_UNICAST, rtm_flags=0}, ";
	(void)state;
	message(RTM_NEWROUTE, 0, &route, sizeof(route));
	attr(RTA_DST, dst, sizeof(dst));
	attr32(RTA_OIF, 1);
	attr32(RTA_TABLE, RT_TABLE_MAIN);
	attr(RTA_CACHEINFO, &cache, sizeof(cache));
	attr(RTA_GATEWAY, six, sizeof(six));
	const char *text = sent(ROUTE, TEXT);
	assert_int_equal(strncmp(text, head, strlen(head)), 0);
	assert_string_equal(
		text + strlen(head),
		"[[{nla_len=8, nla_type=RTA_DST}, inet_addr(\"10.9.0.0\")], [{nla_len=8, nla_type=RTA_OIF}, "
		"if_nametoindex(\"lo\")], [{nla_len=8, nla_type=RTA_TABLE}, RT_TABLE_MAIN], [{nla_len=36, "
		"nla_type=RTA_CACHEINFO}, {rta_clntref=0, rta_lastuse=0, rta_expires=-5, rta_error=0, "
		"rta_used=7, rta_id=0, rta_ts=0, rta_tsage=0}], [{nla_len=20, nla_type=RTA_GATEWAY}, "
		"inet_pton(AF_INET6, \"fd00::1\")]]");
	message(RTM_NEWROUTE, 0, &route, sizeof(route));
	size_t hops = begin(RTA_MULTIPATH);
	add(&hop, sizeof(hop));
	attr(RTA_GATEWAY, dst, sizeof(dst));
	hop.rtnh_len = 8;
	hop.rtnh_ifindex = 9;
	add(&hop, sizeof(hop));
	end(hops);
	assert_string_equal(sent(ROUTE, TEXT) + strlen(head),
			    "[{nla_len=28, nla_type=RTA_MULTIPATH}, [[{rtnh_len=16, rtnh_flags=0, rtnh_hops=1, "
			    "rtnh_ifindex=if_nametoindex(\"lo\")}, [{nla_len=8, nla_type=RTA_GATEWAY}, "
			    "inet_addr(\"10.9.0.0\")]], [{rtnh_len=8, rtnh_flags=0, rtnh_hops=1, rtnh_ifindex=9}]]]");
	message(RTM_NEWROUTE, 0, &route, sizeof(route));
	size_t metrics = begin(RTA_METRICS);
	attr32(RTAX_MTU, 1300);
	attr(RTAX_CC_ALGO, "bbr", 4);
	end(metrics);
	assert_string_equal(
		sent(ROUTE, TEXT) + strlen(head),
		"[{nla_len=20, nla_type=RTA_METRICS}, [[{nla_len=8, nla_type=RTAX_MTU}, 1300], [{nla_len=8, "
		"nla_type=RTAX_CC_ALGO}, \"bbr\"]]]");
}

/* Invalid lengths, depths and sizes. */
static void test_attribute_lies(void **state)
{
	static const struct rtmsg route = {.rtm_family = AF_INET};
	static const uint16_t two = 7;
	(void)state;
	message(RTM_GETROUTE, 0, &route, sizeof(route));
	attr(RTA_OIF, &two, sizeof(two));
	attr(RTA_DST, "abc", 3);
	attr(RTA_METRICS, "abc", 3);
	attr(RTA_CACHEINFO, &two, sizeof(two));
	attr(RTA_MULTIPATH, "abc", 3);
	attr(RTA_VIA, "a", 1);
	const char *text = sent(ROUTE, TEXT);
	assert_non_null(strstr(
		text, "[[{nla_len=6, nla_type=RTA_OIF}, \"\\7\\0\"], [{nla_len=7, nla_type=RTA_DST}, \"abc\"], "
		      "[{nla_len=7, nla_type=RTA_METRICS}, \"abc\"], [{nla_len=6, nla_type=RTA_CACHEINFO}, "
		      "\"\\7\\0\"], [{nla_len=7, nla_type=RTA_MULTIPATH}, \"abc\"], [{nla_len=5, nla_type=RTA_VIA}, "
		      "\"a\"]]"));
	/* Attributes that are nested too deeply are shown as bytes. */
	message(RTM_NEWLINK, 0, &(struct ifinfomsg){0}, sizeof(struct ifinfomsg));
	size_t nested[20];
	for (size_t i = 0; i < 20; i++)
		nested[i] = begin(IFLA_PROP_LIST);
	attr8(IFLA_CARRIER, 1);
	for (size_t i = 20; i-- > 0;)
		end(nested[i]);
	text = sent(ROUTE, TEXT);
	size_t depth = 0;
	for (const char *p = text; (p = strstr(p, "IFLA_PROP_LIST")); p++)
		depth++;
	assert_int_equal(depth, 9);
	assert_null(strstr(text, "IFLA_CARRIER"));
	/* Bytes that are not an attribute follow the last attribute. */
	message(RTM_GETROUTE, 0, &route, sizeof(route));
	attr32(RTA_PRIORITY, 7);
	memory[at] = 'x';
	at++;
	assert_non_null(strstr(sent(ROUTE, TEXT), ", [[{nla_len=8, nla_type=RTA_PRIORITY}, 7], \"x\"]"));
}

/* Error messages contain the message that failed, and the kernel's explanation. */
static void test_errors(void **state)
{
	static const struct nlmsgerr refused = {-EPERM, {16, RTM_GETLINK, NLM_F_REQUEST, 2, 1}};
	static const struct {
		struct nlmsgerr e;
		struct rtmsg route;
	} whole = {{-EINVAL, {28, RTM_NEWROUTE, NLM_F_REQUEST, 2, 1}}, {.rtm_family = AF_INET}};
	(void)state;
	message(NLMSG_ERROR, 0, &refused, sizeof(refused));
	PAYLOAD(ROUTE,
		"{error=-EPERM, msg={nlmsg_len=16, nlmsg_type=RTM_GETLINK, nlmsg_flags=NLM_F_REQUEST, nlmsg_seq=2, "
		"nlmsg_pid=1}}");
	message(NLMSG_ERROR, NLM_F_ACK_TLVS, &whole, sizeof(whole));
	attr(NLMSGERR_ATTR_MSG, "Nexthop has invalid gateway", 28);
	PAYLOAD(ROUTE, "{error=-EINVAL, msg=[{nlmsg_len=28, nlmsg_type=RTM_NEWROUTE, nlmsg_flags=NLM_F_REQUEST, "
		       "nlmsg_seq=2, nlmsg_pid=1}, {rtm_family=AF_INET, rtm_dst_len=0, rtm_src_len=0, rtm_tos=0, "
		       "rtm_table=RT_TABLE_UNSPEC, rtm_protocol=RTPROT_UNSPEC, rtm_scope=RT_SCOPE_UNIVERSE, "
		       "rtm_type=RTN_UNSPEC, rtm_flags=0}]}, [{nla_len=32, nla_type=NLMSGERR_ATTR_MSG}, \"Nexthop has "
		       "invalid gateway\"]");
	/* NLM_F_CAPPED: the error contains only the header of the failed message, and attributes follow. */
	message(NLMSG_ERROR, NLM_F_CAPPED | NLM_F_ACK_TLVS, &whole.e, sizeof(whole.e));
	attr32(NLMSGERR_ATTR_OFFS, 20);
	PAYLOAD(ROUTE, "{error=-EINVAL, msg={nlmsg_len=28, nlmsg_type=RTM_NEWROUTE, nlmsg_flags=NLM_F_REQUEST, "
		       "nlmsg_seq=2, nlmsg_pid=1}}, [{nla_len=8, nla_type=NLMSGERR_ATTR_OFFS}, 20]");
	message(NLMSG_DONE, 0, &(int32_t){-ENOENT}, 4);
	PAYLOAD(ROUTE, "-ENOENT");
	message(NLMSG_ERROR, 0, "xy", 2);
	at = 18;
	PAYLOAD(ROUTE, "\"xy\"");
}

/* The structures of ss(8). */
static void test_sockets(void **state)
{
	enum { DIAG = 100 + NETLINK_SOCK_DIAG };
	struct inet_diag_req_v2 request = {.sdiag_family = AF_INET,
					   .sdiag_protocol = IPPROTO_TCP,
					   .idiag_ext = 3,
					   .idiag_states = 1 << 10 | 1 << 1 | 1};
	struct inet_diag_msg answer = {.idiag_family = AF_INET6, .idiag_state = 10, .idiag_inode = 77};
	static const struct unix_diag_msg socket = {.udiag_family = AF_UNIX,
						    .udiag_type = SOCK_STREAM,
						    .udiag_state = 1,
						    .udiag_ino = 5,
						    .udiag_cookie = {6, 0}};
	(void)state;
	request.id.idiag_dport = htons(80);
	request.id.idiag_dst[0] = htonl(INADDR_LOOPBACK);
	request.id.idiag_if = 1;
	message(SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, &request, sizeof(request));
	PAYLOAD(DIAG,
		"{sdiag_family=AF_INET, sdiag_protocol=IPPROTO_TCP, "
		"idiag_ext=1<<(INET_DIAG_MEMINFO-1)|1<<(INET_DIAG_INFO-1), "
		"idiag_states=1<<TCP_ESTABLISHED|1<<TCP_LISTEN|0x1, id={idiag_sport=htons(0), idiag_dport=htons(80), "
		"idiag_src=inet_addr(\"0.0.0.0\"), idiag_dst=inet_addr(\"127.0.0.1\"), "
		"idiag_if=if_nametoindex(\"lo\"), idiag_cookie=[0, 0]}}");
	answer.id.idiag_src[3] = htonl(1);
	message(SOCK_DIAG_BY_FAMILY, NLM_F_MULTI, &answer, sizeof(answer));
	attr(INET_DIAG_CONG, "bbr", 4);
	attr(INET_DIAG_SOCKOPT, "\x12\1", 2);
	attr(INET_DIAG_MEMINFO, (uint32_t[]){1, 2, 3, 4}, 16);
	attr(INET_DIAG_SKMEMINFO, (uint32_t[]){1, 2}, 8);
	attr(INET_DIAG_INFO, "short", 5);
	PAYLOAD(DIAG,
		"{idiag_family=AF_INET6, idiag_state=TCP_LISTEN, idiag_timer=0, idiag_retrans=0, "
		"id={idiag_sport=htons(0), idiag_dport=htons(0), idiag_src=inet_pton(AF_INET6, \"::1\"), "
		"idiag_dst=inet_pton(AF_INET6, \"::\"), idiag_if=0, idiag_cookie=[0, 0]}, idiag_expires=0, "
		"idiag_rqueue=0, idiag_wqueue=0, idiag_uid=0, idiag_inode=77}, [[{nla_len=8, nla_type=INET_DIAG_CONG}, "
		"\"bbr\"], [{nla_len=6, nla_type=INET_DIAG_SOCKOPT}, {recverr=0, is_icsk=1, freebind=0, hdrincl=0, "
		"mc_loop=1, transparent=0, mc_all=0, nodefrag=0, bind_address_no_port=1, recverr_rfc4884=0, "
		"defer_connect=0}], [{nla_len=20, nla_type=INET_DIAG_MEMINFO}, {idiag_rmem=1, idiag_wmem=2, "
		"idiag_fmem=3, idiag_tmem=4}], [{nla_len=12, nla_type=INET_DIAG_SKMEMINFO}, "
		"[[SK_MEMINFO_RMEM_ALLOC]=1, [SK_MEMINFO_RCVBUF]=2]], [{nla_len=9, nla_type=INET_DIAG_INFO}, "
		"\"short\"]]");
	message(SOCK_DIAG_BY_FAMILY, NLM_F_MULTI, &socket, sizeof(socket));
	attr(UNIX_DIAG_NAME, "\0abs", 4);
	attr(UNIX_DIAG_NAME, "/run/x", 7);
	attr32(UNIX_DIAG_PEER, 9);
	attr(UNIX_DIAG_ICONS, (uint32_t[]){8, 9}, 8);
	attr(UNIX_DIAG_VFS, (uint32_t[]){12, 0x800001}, 8);
	PAYLOAD(DIAG, "{udiag_family=AF_UNIX, udiag_type=SOCK_STREAM, udiag_state=TCP_ESTABLISHED, udiag_ino=5, "
		      "udiag_cookie=[6, 0]}, [[{nla_len=8, nla_type=UNIX_DIAG_NAME}, @\"abs\"], [{nla_len=11, "
		      "nla_type=UNIX_DIAG_NAME}, \"/run/x\"], [{nla_len=8, nla_type=UNIX_DIAG_PEER}, 9], [{nla_len=12, "
		      "nla_type=UNIX_DIAG_ICONS}, [8, 9]], [{nla_len=12, nla_type=UNIX_DIAG_VFS}, "
		      "{udiag_vfs_dev=makedev(0x8, 0x1), udiag_vfs_ino=12}]]");
	message(SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, "\xfe", 1);
	PAYLOAD(DIAG, "\"\\376\\0\\0\\0\"");
}

static void test_other_protocols(void **state)
{
	static const struct genlmsghdr ctrl = {CTRL_CMD_NEWFAMILY, 2, 0};
	(void)state;
	message(1100, NLM_F_REQUEST, "op=PAM", 6);
	at = 22;
	PAYLOAD(100 + NETLINK_AUDIT, "\"op=PAM\"");
	assert_non_null(strstr(sent(100 + NETLINK_AUDIT, JSON), "\"nlmsg_type\":\"AUDIT_FIRST_USER_MSG\""));
	message(GENL_ID_CTRL, 0, &ctrl, sizeof(ctrl));
	attr(CTRL_ATTR_FAMILY_NAME, "nlctrl", 7);
	size_t ops = begin(NLA_F_NESTED | CTRL_ATTR_OPS), op = begin(NLA_F_NESTED | 1);
	attr32(CTRL_ATTR_OP_ID, 3);
	end(op);
	end(ops);
	PAYLOAD(100 + NETLINK_GENERIC,
		"{cmd=CTRL_CMD_NEWFAMILY, version=2}, [[{nla_len=11, nla_type=CTRL_ATTR_FAMILY_NAME}, \"nlctrl\"], "
		"[{nla_len=16, nla_type=NLA_F_NESTED|CTRL_ATTR_OPS}, [{nla_len=12, nla_type=NLA_F_NESTED|0x1}, "
		"[{nla_len=8, "
		"nla_type=CTRL_ATTR_OP_ID}, 3]]]]");
	message(10 << 8 | 1, NLM_F_REQUEST, "\2\0\0\7", 4);
	assert_non_null(strstr(sent(100 + NETLINK_NETFILTER, JSON), "\"nlmsg_type\":\"NFNL_SUBSYS_NFTABLES<<8|0x1\""));
	PAYLOAD(100 + NETLINK_NETFILTER, "{nfgen_family=AF_INET, version=0, res_id=htons(7)}");
}

/*
 * The same messages in JSON: names of constants, numbers, an interface with index and name, arrays without names of
 * their elements.
 */
static void test_json(void **state)
{
	static const struct ifinfomsg link = {.ifi_index = 1};
	static const uint32_t conf[] = {1, 2};
	(void)state;
	message(RTM_NEWLINK, 0, &link, sizeof(link));
	size_t spec = begin(IFLA_AF_SPEC), four = begin(AF_INET);
	attr(IFLA_INET_CONF, conf, sizeof(conf));
	end(four);
	end(spec);
	assert_non_null(
		strstr(sent(ROUTE, JSON),
		       "\"ifi_index\":{\"index\":1,\"name\":\"lo\"},\"ifi_flags\":\"0\",\"ifi_change\":\"0\"},"
		       "[{\"nla_len\":20,\"nla_type\":\"IFLA_AF_SPEC\"},[{\"nla_len\":16,\"nla_type\":\"AF_INET\"},"
		       "[{\"nla_len\":12,\"nla_type\":\"IFLA_INET_CONF\"},[1,2]]]]]"));
	assert_non_null(strstr(sent(ROUTE, TEXT), "[[IPV4_DEVCONF_FORWARDING-1]=1, [IPV4_DEVCONF_MC_FORWARDING-1]=2]"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_netlink),        cmocka_unit_test(test_link),
		cmocka_unit_test(test_link_kinds),     cmocka_unit_test(test_routes),
		cmocka_unit_test(test_attribute_lies), cmocka_unit_test(test_errors),
		cmocka_unit_test(test_sockets),        cmocka_unit_test(test_other_protocols),
		cmocka_unit_test(test_json),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
