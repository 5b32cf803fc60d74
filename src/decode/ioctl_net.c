/* Shows the commands of ioctl(2) about network interfaces (netdevice(7)). */
#include "decode/layout.h"
#include "decode/show.h"

#include <stdio.h>
#include <string.h>

#define NAME_SIZE    16 /* IFNAMSIZ */
#define SIOCGIFNAME_ 0x8910
#define SIOCGIFCONF_ 0x8912

/* What struct ifreq contains after the name of the interface. */
enum form { NUMBER, FLAGS, ADDRESS, HARDWARE, STRING, MAP, INDEX, TUN_FLAGS };

/* The commands. `get` means that the kernel fills in the value; only the name of the interface is known at entry. */
static const struct row {
	uint32_t command;
	bool get;
	const char *member;
	enum form form;
} rows[] = {
	{SIOCGIFNAME_, true, "ifr_name", STRING},
	{0x8913, true, "ifr_flags", FLAGS},          /* SIOCGIFFLAGS */
	{0x8914, false, "ifr_flags", FLAGS},         /* SIOCSIFFLAGS */
	{0x8915, true, "ifr_addr", ADDRESS},         /* SIOCGIFADDR */
	{0x8916, false, "ifr_addr", ADDRESS},        /* SIOCSIFADDR */
	{0x8917, true, "ifr_dstaddr", ADDRESS},      /* SIOCGIFDSTADDR */
	{0x8918, false, "ifr_dstaddr", ADDRESS},     /* SIOCSIFDSTADDR */
	{0x8919, true, "ifr_broadaddr", ADDRESS},    /* SIOCGIFBRDADDR */
	{0x891a, false, "ifr_broadaddr", ADDRESS},   /* SIOCSIFBRDADDR */
	{0x891b, true, "ifr_netmask", ADDRESS},      /* SIOCGIFNETMASK */
	{0x891c, false, "ifr_netmask", ADDRESS},     /* SIOCSIFNETMASK */
	{0x891d, true, "ifr_metric", NUMBER},        /* SIOCGIFMETRIC */
	{0x891e, false, "ifr_metric", NUMBER},       /* SIOCSIFMETRIC */
	{0x8921, true, "ifr_mtu", NUMBER},           /* SIOCGIFMTU */
	{0x8922, false, "ifr_mtu", NUMBER},          /* SIOCSIFMTU */
	{0x8923, false, "ifr_newname", STRING},      /* SIOCSIFNAME */
	{0x8924, false, "ifr_hwaddr", HARDWARE},     /* SIOCSIFHWADDR */
	{0x8927, true, "ifr_hwaddr", HARDWARE},      /* SIOCGIFHWADDR */
	{0x8929, true, "ifr_slave", STRING},         /* SIOCGIFSLAVE */
	{0x8930, false, "ifr_slave", STRING},        /* SIOCSIFSLAVE */
	{0x8931, false, "ifr_hwaddr", HARDWARE},     /* SIOCADDMULTI */
	{0x8932, false, "ifr_hwaddr", HARDWARE},     /* SIOCDELMULTI */
	{0x8933, true, "ifr_ifindex", NUMBER},       /* SIOCGIFINDEX */
	{0x8937, false, "ifr_hwaddr", HARDWARE},     /* SIOCSIFHWBROADCAST */
	{0x8942, true, "ifr_qlen", NUMBER},          /* SIOCGIFTXQLEN */
	{0x8943, false, "ifr_qlen", NUMBER},         /* SIOCSIFTXQLEN */
	{0x8970, true, "ifr_map", MAP},              /* SIOCGIFMAP */
	{0x8971, false, "ifr_map", MAP},             /* SIOCSIFMAP */
	{0x89a2, false, "ifr_ifindex", INDEX},       /* SIOCBRADDIF */
	{0x89a3, false, "ifr_ifindex", INDEX},       /* SIOCBRDELIF */
	{0x400454ca, false, "ifr_flags", TUN_FLAGS}, /* TUNSETIFF */
	{0x800454d2, true, "ifr_flags", TUN_FLAGS},  /* TUNGETIFF */
};

struct interface_map {
	uint64_t mem_start, mem_end;
	uint16_t base_addr;
	uint8_t irq, dma, port;
};
struct narrow_map {
	uint32_t mem_start, mem_end;
	uint16_t base_addr;
	uint8_t irq, dma, port;
};
static LAYOUT(ifmap32, struct narrow_map, (mem_start, HEX), (mem_end, HEX), (base_addr, HEX), (irq, UINT), (dma, UINT),
	      (port, UINT));
LAYOUT_NARROW(ifmap, struct interface_map, &layout_ifmap32, (mem_start, HEX), (mem_end, HEX), (base_addr, HEX),
	      (irq, UINT), (dma, UINT), (port, UINT));

static const struct row *row_of(const struct decode *d)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].command == (uint32_t)d->call->args[1])
			return &rows[i];
	return NULL;
}

static void name(const struct decode *d, const char *member, uint64_t at)
{
	char text[NAME_SIZE];
	emit_field(d->out, member);
	if (decode_need(d, at, text, sizeof(text)))
		emit_str(d->out, text, strnlen(text, sizeof(text)), 0);
}

void show_hardware_address(const struct decode *d, const struct value *x)
{
	uint8_t a[6];
	char text[24];
	if (!decode_need(d, x->v, a, sizeof(a)))
		return;
	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", a[0], a[1], a[2], a[3], a[4], a[5]);
	emit_sym(d->out, text, 0);
}

/* Shows a hardware address with its family, which is a type of device. Most addresses have six bytes. */
static void hardware(const struct decode *d, uint64_t at)
{
	struct {
		uint16_t family;
		uint8_t data[14];
	} a;
	if (!decode_need(d, at, &a, sizeof(a)))
		return;
	emit_open(d->out, '{');
	show_field(d, "sa_family", K_ARPHRD, a.family);
	emit_field(d->out, "sa_data");
	show_kind(d, K_HARDWARE_ADDRESS, at + sizeof(a.family), -1);
	emit_close(d->out, '}');
}

static void value(const struct decode *d, const struct row *r, uint64_t at)
{
	static const enum syscall_kind kinds[] = {
		[NUMBER] = K_INT, [FLAGS] = K_IFF, [INDEX] = K_IFINDEX, [TUN_FLAGS] = K_TUN_FLAGS};
	int32_t number;
	bool narrow = r->form == FLAGS || r->form == TUN_FLAGS;
	if (r->form == STRING) {
		name(d, r->member, at);
		return;
	}
	emit_field(d->out, r->member);
	if (r->form == ADDRESS)
		decode_sockaddr(d, at, 16);
	else if (r->form == HARDWARE)
		hardware(d, at);
	else if (r->form == MAP)
		show_kind(d, K_IFMAP, at, -1);
	else if (decode_need(d, at, &number, sizeof(number)))
		show_kind(d, kinds[r->form], narrow ? (uint16_t)number : (uint32_t)number, -1);
}

bool ioctl_is_net(const struct decode *d, enum when *when)
{
	const struct row *r = row_of(d);
	bool conf = (uint32_t)d->call->args[1] == SIOCGIFCONF_;
	*when = conf || (r && r->get) ? WHEN_LEFT_EVEN : WHEN_ENTERING;
	return conf || r;
}

/* A failed call is shown with the name of its interface, so the structure is also captured before the call. */
void ioctl_net_memory(command_memory_fn *add, void *ctx)
{
	enum { REQUEST = 40, CONFIGURATION = 16 }; /* struct ifreq, struct ifconf */
	struct command_memory c = {.table = TABLE_IOCTL, .arg = 2};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		c.command = rows[i].command;
		c.need = (struct memory_need){.rule = rows[i].get ? MEMORY_CHANGED : MEMORY_IN, .size = REQUEST};
		add(ctx, &c);
	}
	c.command = SIOCGIFCONF_;
	c.need = (struct memory_need){.rule = MEMORY_CHANGED, .size = CONFIGURATION, .parts = PARTS_INTERFACES};
	add(ctx, &c);
}

/*
 * Shows a struct ifreq. If the call failed, only the name of the interface is shown, because the kernel has not filled
 * in the value.
 */
static void request(const struct decode *d, const struct row *r, uint64_t v)
{
	char probe[NAME_SIZE];
	bool told = !r->get || (d->leaving && !d->call->error);
	if (!decode_need(d, v, probe, sizeof(probe)))
		return;
	emit_open(d->out, '{');
	if (r->command == SIOCGIFNAME_) {
		emit_field(d->out, "ifr_ifindex");
		decode_kind_at(d, v + NAME_SIZE, sizeof(int32_t), K_INT);
		if (told)
			name(d, r->member, v);
	} else {
		name(d, "ifr_name", v);
		if (told)
			value(d, r, v + NAME_SIZE);
	}
	emit_close(d->out, '}');
}

static size_t request_size(const struct decode *d)
{
	return decode_word(d) == 8 ? 40 : 32;
}

static void one_address(const struct decode *d, uint64_t addr, void *ctx)
{
	(void)ctx;
	emit_open(d->out, '{');
	name(d, "ifr_name", addr);
	emit_field(d->out, "ifr_addr");
	decode_sockaddr(d, addr + NAME_SIZE, 16);
	emit_close(d->out, '}');
}

/*
 * Shows a struct ifconf: {ifc_len=4096 => 40 /[*] 1 * sizeof(struct ifreq) [*]/, ifc_buf=[{ifr_name="lo",
 * ifr_addr={...}}]}
 */
static void configuration(const struct decode *d, uint64_t v)
{
	int32_t len;
	uint64_t buf;
	char text[48];
	unsigned size = (unsigned)request_size(d);
	if (!decode_get(d, v, &len, sizeof(len)) || !decode_get_word(d, v + decode_word(d), &buf)) {
		emit_ptr(d->out, v);
		return;
	}
	bool told = d->leaving && !d->call->error && len >= 0;
	emit_open(d->out, '{');
	emit_field(d->out, "ifc_len");
	if (buf)
		decode_length(d, (uint32_t)len);
	else
		emit_num(d->out, len);
	if (told && len % (int32_t)size == 0) {
		snprintf(text, sizeof(text), "%u * sizeof(struct ifreq)", (unsigned)len / size);
		emit_comment(d->out, text);
	}
	emit_field(d->out, "ifc_buf");
	if (told && buf)
		decode_array(d, buf, (uint32_t)len / size, size, one_address, NULL);
	else
		emit_ptr(d->out, buf);
	emit_close(d->out, '}');
}

void show_ioctl_net(const struct decode *d, uint64_t v)
{
	const struct row *r = row_of(d);
	if (r)
		request(d, r, v);
	else
		configuration(d, v);
}
