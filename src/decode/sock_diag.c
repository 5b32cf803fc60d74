#include "decode/sock_diag.h"

#include "decode/attr.h"
#include "decode/layout.h"

#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

/* Requests and answers as in linux/inet_diag.h, unix_diag.h, netlink_diag.h and packet_diag.h. */
struct inet_request {
	uint8_t sdiag_family, sdiag_protocol, idiag_ext, pad;
	uint32_t idiag_states;
	struct inet_id id;
};
struct inet_answer {
	uint8_t idiag_family, idiag_state, idiag_timer, idiag_retrans;
	struct inet_id id;
	uint32_t idiag_expires, idiag_rqueue, idiag_wqueue, idiag_uid, idiag_inode;
};
static LAYOUT_SAME(inet_diag_req, struct inet_request, (sdiag_family, SOCK_DOMAIN), (sdiag_protocol, IPPROTO),
		   (idiag_ext, INET_DIAG_EXT), (idiag_states, TCP_STATES), (id, INET_DIAG_ID_REQ, AT));
static LAYOUT_SAME(inet_diag_msg, struct inet_answer, (idiag_family, SOCK_DOMAIN), (idiag_state, TCP_STATE),
		   (idiag_timer, UINT), (idiag_retrans, UINT), (id, INET_DIAG_ID, AT), (idiag_expires, UINT),
		   (idiag_rqueue, UINT), (idiag_wqueue, UINT), (idiag_uid, UID), (idiag_inode, UINT));

struct unix_request {
	uint8_t sdiag_family, sdiag_protocol;
	uint16_t pad;
	uint32_t udiag_states, udiag_ino, udiag_show, udiag_cookie[2];
};
struct unix_answer {
	uint8_t udiag_family, udiag_type, udiag_state, pad;
	uint32_t udiag_ino, udiag_cookie[2];
};
static LAYOUT_SAME(unix_diag_req, struct unix_request, (sdiag_family, SOCK_DOMAIN), (sdiag_protocol, UINT),
		   (udiag_states, TCP_STATES), (udiag_ino, UINT), (udiag_show, UDIAG_SHOW),
		   (udiag_cookie, DIAG_COOKIE, AT));
static LAYOUT_SAME(unix_diag_msg, struct unix_answer, (udiag_family, SOCK_DOMAIN), (udiag_type, SOCK_TYPE),
		   (udiag_state, TCP_STATE), (udiag_ino, UINT), (udiag_cookie, DIAG_COOKIE, AT));

struct netlink_request {
	uint8_t sdiag_family, sdiag_protocol;
	uint16_t pad;
	uint32_t ndiag_ino, ndiag_show, ndiag_cookie[2];
};
struct netlink_answer {
	uint8_t ndiag_family, ndiag_type, ndiag_protocol, ndiag_state;
	uint32_t ndiag_portid, ndiag_dst_portid, ndiag_dst_group, ndiag_ino, ndiag_cookie[2];
};
static LAYOUT_SAME(netlink_diag_req, struct netlink_request, (sdiag_family, SOCK_DOMAIN),
		   (sdiag_protocol, NDIAG_PROTOCOL), (ndiag_ino, UINT), (ndiag_show, NDIAG_SHOW),
		   (ndiag_cookie, DIAG_COOKIE, AT));
static LAYOUT_SAME(netlink_diag_msg, struct netlink_answer, (ndiag_family, SOCK_DOMAIN), (ndiag_type, SOCK_TYPE),
		   (ndiag_protocol, NETLINK_PROTOCOL), (ndiag_state, TCP_STATE), (ndiag_portid, UINT),
		   (ndiag_dst_portid, UINT), (ndiag_dst_group, UINT), (ndiag_ino, UINT),
		   (ndiag_cookie, DIAG_COOKIE, AT));

struct packet_request {
	uint8_t sdiag_family, sdiag_protocol;
	uint16_t pad;
	uint32_t pdiag_ino, pdiag_show, pdiag_cookie[2];
};
struct packet_answer {
	uint8_t pdiag_family, pdiag_type;
	uint16_t pdiag_num;
	uint32_t pdiag_ino, pdiag_cookie[2];
};
static LAYOUT_SAME(packet_diag_req, struct packet_request, (sdiag_family, SOCK_DOMAIN), (sdiag_protocol, UINT),
		   (pdiag_ino, UINT), (pdiag_show, PDIAG_SHOW), (pdiag_cookie, DIAG_COOKIE, AT));
static LAYOUT_SAME(packet_diag_msg, struct packet_answer, (pdiag_family, SOCK_DOMAIN), (pdiag_type, SOCK_TYPE),
		   (pdiag_num, ETH_P), (pdiag_ino, UINT), (pdiag_cookie, DIAG_COOKIE, AT));

static const struct family {
	uint8_t family;
	const struct layout *request, *answer;
	const struct attr_table *request_attrs, *answer_attrs;
} families[] = {
	{AF_INET, &layout_inet_diag_req, &layout_inet_diag_msg, &attrs_inet_diag_req, &attrs_inet_diag},
	{AF_INET6, &layout_inet_diag_req, &layout_inet_diag_msg, &attrs_inet_diag_req, &attrs_inet_diag},
	{AF_UNIX, &layout_unix_diag_req, &layout_unix_diag_msg, &attrs_unknown, &attrs_unix_diag},
	{AF_NETLINK, &layout_netlink_diag_req, &layout_netlink_diag_msg, &attrs_unknown, &attrs_netlink_diag},
	{AF_PACKET, &layout_packet_diag_req, &layout_packet_diag_msg, &attrs_unknown, &attrs_packet_diag},
};

bool decode_sock_diag(const struct decode *d, bool request, uint64_t at, uint64_t n)
{
	uint8_t family;
	const struct family *f = NULL;
	if (!n || !decode_get(d, at, &family, sizeof(family)))
		return false;
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++)
		if (families[i].family == family)
			f = &families[i];
	const struct layout *head = !f ? NULL : request ? f->request : f->answer;
	if (!head || n < head->size)
		return false;
	attr_emit_message(d, head, request ? f->request_attrs : f->answer_attrs, at, n);
	return true;
}
