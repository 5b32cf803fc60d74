/* SPDX-License-Identifier: MIT */
#include "decode/layout.h"
#include "decode/show.h"

#include <stdio.h>
#include <string.h>

/* Shows the larger structures of ioctl(2): shared ranges, extents, loop devices, partitions, userfaultfd, terminals. */
/* A structure of which the kernel reads one part and fills in another: {api=0xaa} => {ioctls=...}. */
void show_exchange(const struct decode *d, const struct value *x)
{
	const struct exchange *e = x->about;
	layout_emit(d, e->in, x->v, e->in->size);
}

void show_exchange_after(const struct decode *d, const struct value *x)
{
	const struct exchange *e = x->about;
	emit_after(d->out);
	layout_emit(d, e->out, x->v, e->out->size);
}

/* struct file_dedupe_range (linux/fs.h), which an array of struct file_dedupe_range_info follows */
struct shared_range {
	uint64_t src_offset, src_length;
	uint16_t dest_count, reserved1;
	uint32_t reserved2;
};
struct shared_with {
	int64_t dest_fd;
	uint64_t dest_offset, bytes_deduped;
	int32_t status;
	uint32_t reserved;
};
static LAYOUT_SAME(shared_with, struct shared_with, (dest_fd, FD), (dest_offset, ULONG));
static LAYOUT_SAME(shared_result, struct shared_with, (bytes_deduped, ULONG), (status, INT));

/* Shows the range, or only the elements that follow it if `range` is false. */
static void shared_range(const struct decode *d, uint64_t at, const struct layout *element, bool range)
{
	struct shared_range r;
	if (!decode_need(d, at, &r, sizeof(r)))
		return;
	emit_open(d->out, '{');
	if (range) {
		show_field(d, "src_offset", K_ULONG, r.src_offset);
		show_field(d, "src_length", K_ULONG, r.src_length);
		show_field(d, "dest_count", K_UINT, r.dest_count);
	}
	emit_field(d->out, "info");
	layout_emit_array(d, element, at + sizeof(r), r.dest_count);
	emit_close(d->out, '}');
}

void show_dedupe(const struct decode *d, const struct value *x)
{
	shared_range(d, x->v, &layout_shared_with, true);
}

void show_dedupe_after(const struct decode *d, const struct value *x)
{
	emit_after(d->out);
	shared_range(d, x->v, &layout_shared_result, false);
}

/* struct fiemap (linux/fiemap.h), which an array of struct fiemap_extent follows */
struct extent_map {
	uint64_t fm_start, fm_length;
	uint32_t fm_flags, fm_mapped_extents, fm_extent_count, reserved;
};
LAYOUT_SAME(fiemap, struct extent_map, (fm_start, ULONG), (fm_length, ULONG), (fm_flags, FIEMAP_FLAGS),
	    (fm_extent_count, UINT));
struct extent {
	uint64_t fe_logical, fe_physical, fe_length, reserved1[2];
	uint32_t fe_flags, reserved2[3];
};
static LAYOUT_SAME(extent, struct extent, (fe_logical, ULONG), (fe_physical, ULONG), (fe_length, ULONG),
		   (fe_flags, FIEMAP_EXTENT));

/* If there is no room for extents, the kernel only counts them. */
void show_fiemap_after(const struct decode *d, const struct value *x)
{
	struct extent_map m;
	emit_after(d->out);
	if (!decode_need(d, x->v, &m, sizeof(m)))
		return;
	emit_open(d->out, '{');
	show_field(d, "fm_flags", K_FIEMAP_FLAGS, m.fm_flags);
	show_field(d, "fm_mapped_extents", K_UINT, m.fm_mapped_extents);
	if (m.fm_extent_count && d->opts->verbose) {
		emit_field(d->out, "fm_extents");
		uint32_t n = m.fm_mapped_extents < m.fm_extent_count ? m.fm_mapped_extents : m.fm_extent_count;
		layout_emit_array(d, &layout_extent, x->v + sizeof(m), n);
	} else if (m.fm_extent_count) {
		emit_more(d->out);
	}
	emit_close(d->out, '}');
}

/* struct loop_info64 and struct loop_config (linux/loop.h) */
struct loop_state {
	uint64_t lo_device, lo_inode, lo_rdevice, lo_offset, lo_sizelimit;
	uint32_t lo_number, lo_encrypt_type, lo_encrypt_key_size, lo_flags;
	char lo_file_name[64], lo_crypt_name[64], lo_encrypt_key[32];
	uint64_t lo_init[2];
};
LAYOUT_SAME(loop_info, struct loop_state, (lo_device, KERNEL_DEV, VERBOSE), (lo_inode, ULONG, VERBOSE),
	    (lo_rdevice, KERNEL_DEV, VERBOSE), (lo_offset, HEX), (lo_sizelimit, ULONG, VERBOSE), (lo_number, UINT),
	    (lo_flags, LOOP_FLAGS), (lo_file_name, TEXT64, AT));
struct loop_setup {
	uint32_t fd, block_size;
	struct loop_state info;
	uint64_t reserved[8];
};
LAYOUT_SAME(loop_config, struct loop_setup, (fd, FD), (block_size, UINT), (info, LOOP_INFO, AT));

void show_text64(const struct decode *d, const struct value *x)
{
	decode_string(d, x->v, 64);
}

/* struct blkpg_ioctl_arg and struct blkpg_partition (linux/blkpg.h) */
struct partition_request {
	int32_t op, flags, datalen, pad;
	uint64_t data;
};
LAYOUT(blkpg, struct partition_request, (op, BLKPG_OP), (flags, INT), (datalen, INT), (data, BLKPG_PARTITION));
struct partition {
	int64_t start, length;
	int32_t pno;
	char devname[64], volname[64];
};
LAYOUT_SAME(blkpg_partition, struct partition, (start, LONG), (length, LONG), (pno, INT), (devname, TEXT64, AT),
	    (volname, TEXT64, AT));

/* The structures of userfaultfd(2) (linux/userfaultfd.h) */
struct fault_api {
	uint64_t api, features, ioctls;
};
LAYOUT_SAME(uffd_api, struct fault_api, (api, HEX), (features, UFFD_FEATURES));
LAYOUT_SAME(uffd_api_out, struct fault_api, (features, UFFD_FEATURES), (ioctls, UFFD_IOCTLS));
struct fault_range {
	uint64_t start, len;
};
LAYOUT_SAME(uffd_range, struct fault_range, (start, PTR), (len, HEX));
struct fault_register {
	struct fault_range range;
	uint64_t mode, ioctls;
};
LAYOUT_SAME(uffd_register, struct fault_register, (range, UFFD_RANGE, AT), (mode, UFFD_REGISTER_MODE));
LAYOUT_SAME(uffd_register_out, struct fault_register, (ioctls, UFFD_IOCTLS));
struct fault_zero {
	struct fault_range range;
	uint64_t mode;
	int64_t zeropage, mapped, updated;
};
LAYOUT_SAME(uffd_zeropage, struct fault_zero, (range, UFFD_RANGE, AT), (mode, UFFD_ZEROPAGE_MODE));
LAYOUT_SAME(uffd_zeropage_out, struct fault_zero, (zeropage, HEX));
struct fault_continue {
	struct fault_range range;
	uint64_t mode;
	int64_t mapped;
};
LAYOUT_SAME(uffd_continue, struct fault_continue, (range, UFFD_RANGE, AT), (mode, UFFD_CONTINUE_MODE));
LAYOUT_SAME(uffd_continue_out, struct fault_continue, (mapped, HEX));
struct fault_poison {
	struct fault_range range;
	uint64_t mode;
	int64_t updated;
};
LAYOUT_SAME(uffd_poison, struct fault_poison, (range, UFFD_RANGE, AT), (mode, UFFD_POISON_MODE));
LAYOUT_SAME(uffd_poison_out, struct fault_poison, (updated, HEX));
struct fault_copy {
	uint64_t dst, src, len, mode;
	int64_t copy;
};
LAYOUT_SAME(uffd_copy, struct fault_copy, (dst, PTR), (src, PTR), (len, HEX), (mode, UFFD_COPY_MODE));
LAYOUT_SAME(uffd_copy_out, struct fault_copy, (copy, HEX));
struct fault_move {
	uint64_t dst, src, len, mode;
	int64_t move;
};
LAYOUT_SAME(uffd_move, struct fault_move, (dst, PTR), (src, PTR), (len, HEX), (mode, UFFD_MOVE_MODE));
LAYOUT_SAME(uffd_move_out, struct fault_move, (move, HEX));
struct fault_protect {
	struct fault_range range;
	uint64_t mode;
};
LAYOUT_SAME(uffd_protect, struct fault_protect, (range, UFFD_RANGE, AT), (mode, UFFD_PROTECT_MODE));

/* struct termio (asm/termios.h), the older form of struct termios, which terminfo programs use */
struct kernel_termio {
	uint16_t c_iflag, c_oflag, c_cflag, c_lflag;
	uint8_t c_line, c_cc[8];
};
LAYOUT_SAME(termio, struct kernel_termio, (c_iflag, TC_IFLAG), (c_oflag, TC_OFLAG), (c_cflag, TC_CFLAG),
	    (c_lflag, TC_LFLAG), (c_line, UINT, VERBOSE), (c_cc, TERMIO_CC, AT | VERBOSE));

/* struct vt_stat and struct vt_mode (linux/vt.h) */
struct console_state {
	uint16_t v_active, v_signal, v_state;
};
LAYOUT_SAME(vt_stat, struct console_state, (v_active, UINT), (v_signal, UINT), (v_state, HEX));
struct console_mode {
	uint8_t mode, waitv;
	int16_t relsig, acqsig, frsig;
};
LAYOUT_SAME(vt_mode, struct console_mode, (mode, VT_MODE_KIND), (waitv, UINT), (relsig, SIGNAL), (acqsig, SIGNAL),
	    (frsig, UINT));

/* struct input_id, struct input_absinfo (linux/input.h) and struct rtc_wkalrm (linux/rtc.h) */
struct input_identity {
	uint16_t bustype, vendor, product, version;
};
LAYOUT_SAME(input_id, struct input_identity, (bustype, HEX), (vendor, HEX), (product, HEX), (version, HEX));
struct axis {
	int32_t value, minimum, maximum, fuzz, flat, resolution;
};
LAYOUT_SAME(input_absinfo, struct axis, (value, INT), (minimum, INT), (maximum, INT), (fuzz, INT), (flat, INT),
	    (resolution, INT));
struct wake_alarm {
	uint8_t enabled, pending, pad[2];
	int32_t time[9];
};
LAYOUT_SAME(rtc_wkalrm, struct wake_alarm, (enabled, UINT), (pending, UINT), (time, RTC_TIME, AT));

/* struct kvm_userspace_memory_region (linux/kvm.h) */
struct guest_memory {
	uint32_t slot, flags;
	uint64_t guest_phys_addr, memory_size, userspace_addr;
};
LAYOUT_SAME(kvm_region, struct guest_memory, (slot, UINT), (flags, HEX), (guest_phys_addr, HEX), (memory_size, ULONG),
	    (userspace_addr, PTR));

/* struct seccomp_notif, seccomp_data, seccomp_notif_resp and seccomp_notif_addfd (linux/seccomp.h) */
struct filtered_call {
	int32_t nr;
	uint32_t arch;
	uint64_t instruction_pointer, args[6];
};
LAYOUT_SAME(seccomp_data, struct filtered_call, (nr, INT), (arch, AUDIT_ARCH), (instruction_pointer, PTR),
	    (args, SECCOMP_ARGS, AT));
struct filter_notice {
	uint64_t id;
	uint32_t pid, flags;
	struct filtered_call data;
};
LAYOUT_SAME(seccomp_notif, struct filter_notice, (id, HEX), (pid, PID), (flags, HEX), (data, SECCOMP_DATA, AT));
struct filter_response {
	uint64_t id;
	int64_t val;
	int32_t error;
	uint32_t flags;
};
LAYOUT_SAME(seccomp_response, struct filter_response, (id, HEX), (val, LONG), (error, NEGATIVE_ERRNO),
	    (flags, SECCOMP_RESPONSE_FLAGS));
struct filter_descriptor {
	uint64_t id;
	uint32_t flags, srcfd, newfd, newfd_flags;
};
LAYOUT_SAME(seccomp_addfd, struct filter_descriptor, (id, HEX), (flags, SECCOMP_ADDFD_FLAGS), (srcfd, FD), (newfd, INT),
	    (newfd_flags, CLOEXEC_FLAGS));

/* Shows the commands of ioctl(2) about network interfaces (netdevice(7)). */
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
