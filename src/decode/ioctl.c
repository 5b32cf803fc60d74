/* SPDX-License-Identifier: MIT */
#include "decode/show.h"

#include "base/buf.h"
#include "decode/layout.h"

#include <asm/ioctl.h>
#include <stdio.h>
#include <string.h>

STRUCTURE_SAME(termios, M32(c_iflag, TC_IFLAG), M32(c_oflag, TC_OFLAG), M32(c_cflag, TC_CFLAG), M32(c_lflag, TC_LFLAG),
	       M8(c_line, UINT, VERBOSE), ARRAY(uint8_t, c_cc, 19, TC_CC, VERBOSE));
STRUCTURE_SAME(termios2, M32(c_iflag, TC_IFLAG), M32(c_oflag, TC_OFLAG), M32(c_cflag, TC_CFLAG), M32(c_lflag, TC_LFLAG),
	       M8(c_line, UINT, VERBOSE), ARRAY(uint8_t, c_cc, 19, TC_CC, VERBOSE), M32(c_ispeed, UINT),
	       M32(c_ospeed, UINT));
STRUCTURE_SAME(winsize, M16(ws_row, UINT), M16(ws_col, UINT), M16(ws_xpixel, UINT), M16(ws_ypixel, UINT));
STRUCTURE_SAME(rtc_time, M32(tm_sec, INT), M32(tm_min, INT), M32(tm_hour, INT), M32(tm_mday, INT), M32(tm_mon, INT),
	       M32(tm_year, INT), SKIP32(tm_wday), SKIP32(tm_yday), SKIP32(tm_isdst));

/* TIOCSTI: a single byte. */
void show_one_byte(const struct decode *d, const struct value *x)
{
	decode_bytes(d, x->v, 1);
}

/*
 * Commands that fill in a buffer whose size is a part of the command. The result is the number of bytes. `n` commands
 * begin at `nr`; if there are several, the name has two parameters: EVIOCGBIT(EV_KEY, 96).
 */
static const struct sized {
	uint8_t type, nr, n;
	bool text; /* the buffer is filled with a string */
	const char *name;
	const struct flag_table *parameters;
} sizeds[] = {
	{'E', 0x06, 1, true, "EVIOCGNAME", NULL},        {'E', 0x07, 1, true, "EVIOCGPHYS", NULL},
	{'E', 0x08, 1, true, "EVIOCGUNIQ", NULL},        {'E', 0x09, 1, false, "EVIOCGPROP", NULL},
	{'E', 0x0a, 1, false, "EVIOCGMTSLOTS", NULL},    {'E', 0x18, 1, false, "EVIOCGKEY", NULL},
	{'E', 0x19, 1, false, "EVIOCGLED", NULL},        {'E', 0x1a, 1, false, "EVIOCGSND", NULL},
	{'E', 0x1b, 1, false, "EVIOCGSW", NULL},         {'E', 0x20, 0x20, false, "EVIOCGBIT", &flags_ev_type},
	{'H', 0x04, 1, true, "HIDIOCGRAWNAME", NULL},    {'H', 0x05, 1, true, "HIDIOCGRAWPHYS", NULL},
	{'H', 0x08, 1, true, "HIDIOCGRAWUNIQ", NULL},    {'U', 0x2c, 1, true, "UI_GET_SYSNAME", NULL},
	{'j', 0x13, 1, true, "JSIOCGNAME", NULL},        {0xb7, 0x0a, 1, false, "NS_MNT_GET_INFO", NULL},
	{0xb7, 0x0b, 1, false, "NS_MNT_GET_NEXT", NULL}, {0xb7, 0x0c, 1, false, "NS_MNT_GET_PREV", NULL},
};

/* Later kernels fill in more bytes of the same structure. */
#define PIDFD_GET_INFO_0 _IOC(_IOC_READ | _IOC_WRITE, 0xff, 0x0b, 0)

static const struct sized *sized_command(uint32_t cmd)
{
	for (size_t i = 0; i < sizeof(sizeds) / sizeof(*sizeds); i++) {
		const struct sized *s = &sizeds[i];
		if (_IOC_DIR(cmd) == _IOC_READ && s->type == _IOC_TYPE(cmd) && _IOC_NR(cmd) - s->nr < s->n)
			return s;
	}
	return NULL;
}

/* EVIOCGABS(axis) and EVIOCSABS(axis), whose argument is a struct input_absinfo. */
enum { ABS_SIZE = 24, GET_ABS = 0x40, SET_ABS = 0xc0, AXES = 0x40 };

static bool is_axis(uint32_t cmd)
{
	unsigned first = _IOC_DIR(cmd) == _IOC_READ ? GET_ABS : SET_ABS;
	return _IOC_TYPE(cmd) == 'E' && _IOC_SIZE(cmd) == ABS_SIZE && _IOC_NR(cmd) - first < AXES;
}

static void append_parameter(struct buf *text, const struct flag_table *names, unsigned v)
{
	const char *name = flags_find(names, v);
	if (name)
		buf_adds(text, name);
	else
		buf_addf(text, "%#x", v);
}

/* Names a command with parameters: EVIOCGNAME(256), EVIOCGABS(ABS_X). Returns false if it has none. */
static bool parametric(struct buf *text, uint32_t cmd)
{
	const struct sized *s = sized_command(cmd);
	if (s) {
		buf_addf(text, "%s(", s->name);
		if (s->parameters) {
			append_parameter(text, s->parameters, _IOC_NR(cmd) - s->nr);
			buf_adds(text, ", ");
		}
		buf_addf(text, "%u)", _IOC_SIZE(cmd));
	} else if (cmd - _IOC(0, 0, 0, _IOC_SIZE(cmd)) == PIDFD_GET_INFO_0) {
		buf_addf(text, "PIDFD_GET_INFO(%u)", _IOC_SIZE(cmd));
	} else if (is_axis(cmd)) {
		buf_adds(text, _IOC_DIR(cmd) == _IOC_READ ? "EVIOCGABS(" : "EVIOCSABS(");
		append_parameter(text, &flags_ev_abs, _IOC_NR(cmd) % AXES);
		buf_addc(text, ')');
	}
	return text->len;
}

/* A command without a name is shown by its parts, as _IOC() combines them. */
void show_ioctl_command(const struct decode *d, const struct value *x)
{
	static const char *const directions[] = {"_IOC_NONE", "_IOC_WRITE", "_IOC_READ", "_IOC_READ|_IOC_WRITE"};
	uint32_t cmd = (uint32_t)x->v;
	const char *name = flags_find(&flags_ioctl, cmd);
	auto_buf text = {0};
	if (!name && !parametric(&text, cmd))
		buf_addf(&text, "_IOC(%s, %#x, %#x, %#x)", directions[_IOC_DIR(cmd)], _IOC_TYPE(cmd), _IOC_NR(cmd),
			 _IOC_SIZE(cmd));
	emit_sym(d->out, name ? name : buf_str(&text), cmd);
}

/*
 * Finds the row of a command, or makes one for commands with parameters. Returns false if the argument is not
 * described.
 */
static bool find_command(uint32_t cmd, struct command_arg *a)
{
	const struct command_arg *row = command_find(TABLE_IOCTL, cmd, 2);
	const struct sized *s = sized_command(cmd);
	if (row)
		*a = *row;
	else if (s && s->text)
		*a = (struct command_arg){K_IOCTL_TEXT, WHEN_LEFT};
	else if (is_axis(cmd))
		*a = (struct command_arg){K_INPUT_ABSINFO, _IOC_DIR(cmd) == _IOC_READ ? WHEN_LEFT : WHEN_ENTERING};
	return row || (s && s->text) || is_axis(cmd);
}

/* The result is the length of the string. */
void show_ioctl_text(const struct decode *d, const struct value *x)
{
	decode_string(d, x->v, decode_returned(d));
}

enum when when_ioctl_arg(const struct decode *d, int i)
{
	struct command_arg a;
	return find_command((uint32_t)d->call->args[i - 1], &a) ? a.when : WHEN_ENTERING;
}

void show_ioctl_arg(const struct decode *d, const struct value *x)
{
	struct command_arg a;
	if (find_command((uint32_t)d->call->args[x->arg - 1], &a))
		show_kind(d, a.kind, x->v, -1);
	else
		emit_ptr(d->out, x->v);
}

void show_ioctl_arg_after(const struct decode *d, const struct value *x)
{
	struct command_arg a;
	if (!find_command((uint32_t)d->call->args[x->arg - 1], &a))
		return;
	show_kind_after(d, a.kind, x->v, -1);
}

/* Commands that return a descriptor. */
enum { PIDFD_FIRST = 0xff01, PIDFD_LAST = 0xff0a }; /* PIDFD_GET_*_NAMESPACE */
static const uint32_t openers[] = {
	0x5441, /* TIOCGPTPEER */
	0xb701, /* NS_GET_USERNS */
	0xb702, /* NS_GET_PARENT */
	0xae01, /* KVM_CREATE_VM */
	0xae41, /* KVM_CREATE_VCPU */
	0xaa00, /* USERFAULTFD_IOC_NEW */
};

bool ioctl_gives_descriptor(uint32_t command)
{
	for (size_t i = 0; i < sizeof(openers) / sizeof(*openers); i++)
		if (openers[i] == command)
			return true;
	return command >= PIDFD_FIRST && command <= PIDFD_LAST;
}

void ioctl_memory(command_memory_fn *add, void *ctx)
{
	for (size_t i = 0; i < sizeof(sizeds) / sizeof(*sizeds); i++)
		if (sizeds[i].text)
			add(ctx, &(struct command_memory){.table = TABLE_IOCTL_SIZED,
							  .arg = 2,
							  .command = _IOC(_IOC_READ, sizeds[i].type, sizeds[i].nr, 0),
							  .kind = K_IOCTL_TEXT});
	for (int get = 0; get < 2; get++)
		add(ctx, &(struct command_memory){
				 .table = TABLE_IOCTL_AXIS,
				 .arg = 2,
				 .command = _IOC(get ? _IOC_READ : _IOC_WRITE, 'E', get ? GET_ABS : SET_ABS, ABS_SIZE),
				 .kind = K_INPUT_ABSINFO,
				 .when = get ? WHEN_LEFT : WHEN_ENTERING});
	struct command_memory c = {.table = TABLE_IOCTL, .arg = 2, .need.rule = MEMORY_DESCRIPTOR};
	for (size_t i = 0; i < sizeof(openers) / sizeof(*openers); i++) {
		c.command = openers[i];
		add(ctx, &c);
	}
	for (c.command = PIDFD_FIRST; c.command <= PIDFD_LAST; c.command++)
		add(ctx, &c);
}

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
static STRUCTURE_SAME(shared_with, M64(dest_fd, FD), M64(dest_offset, ULONG), SKIP64(bytes_deduped), SKIP32(status),
		      SKIP32(reserved));
static LAYOUT_SAME(shared_result, struct kernel_shared_with, (bytes_deduped, ULONG), (status, INT));

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
STRUCTURE_SAME(fiemap, M64(fm_start, ULONG), M64(fm_length, ULONG), M32(fm_flags, FIEMAP_FLAGS),
	       SKIP32(fm_mapped_extents), M32(fm_extent_count, UINT), SKIP32(reserved));
static STRUCTURE_SAME(extent, M64(fe_logical, ULONG), M64(fe_physical, ULONG), M64(fe_length, ULONG),
		      SKIPS(uint64_t, reserved1, 2), M32(fe_flags, FIEMAP_EXTENT), SKIPS(uint32_t, reserved2, 3));

/* If there is no room for extents, the kernel only counts them. */
void show_fiemap_after(const struct decode *d, const struct value *x)
{
	struct kernel_fiemap m;
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
STRUCTURE_SAME(loop_info, M64(lo_device, KERNEL_DEV, VERBOSE), M64(lo_inode, ULONG, VERBOSE),
	       M64(lo_rdevice, KERNEL_DEV, VERBOSE), M64(lo_offset, HEX), M64(lo_sizelimit, ULONG, VERBOSE),
	       M32(lo_number, UINT), SKIP32(lo_encrypt_type), SKIP32(lo_encrypt_key_size), M32(lo_flags, LOOP_FLAGS),
	       ARRAY(char, lo_file_name, 64, TEXT64), SKIPS(char, lo_crypt_name, 64), SKIPS(char, lo_encrypt_key, 32),
	       SKIPS(uint64_t, lo_init, 2));
STRUCTURE_SAME(loop_config, M32(fd, FD), M32(block_size, UINT), INNER(struct kernel_loop_info, info, LOOP_INFO),
	       SKIPS(uint64_t, reserved, 8));

void show_text64(const struct decode *d, const struct value *x)
{
	decode_string(d, x->v, 64);
}

/* struct blkpg_ioctl_arg and struct blkpg_partition (linux/blkpg.h) */
STRUCTURE(blkpg, M32(op, BLKPG_OP), M32(flags, INT), M32(datalen, INT), SKIP32(pad), M64(data, BLKPG_PARTITION));
STRUCTURE_SAME(blkpg_partition, M64(start, LONG), M64(length, LONG), M32(pno, INT), ARRAY(char, devname, 64, TEXT64),
	       ARRAY(char, volname, 64, TEXT64));

/* The structures of userfaultfd(2) (linux/userfaultfd.h) */
STRUCTURE_SAME(uffd_api, M64(api, HEX), M64(features, UFFD_FEATURES), SKIP64(ioctls));
LAYOUT_SAME(uffd_api_out, struct kernel_uffd_api, (features, UFFD_FEATURES), (ioctls, UFFD_IOCTLS));
STRUCTURE_SAME(uffd_range, M64(start, PTR), M64(len, HEX));
STRUCTURE_SAME(uffd_register, INNER(struct kernel_uffd_range, range, UFFD_RANGE), M64(mode, UFFD_REGISTER_MODE),
	       SKIP64(ioctls));
LAYOUT_SAME(uffd_register_out, struct kernel_uffd_register, (ioctls, UFFD_IOCTLS));
STRUCTURE_SAME(uffd_zeropage, INNER(struct kernel_uffd_range, range, UFFD_RANGE), M64(mode, UFFD_ZEROPAGE_MODE),
	       SKIP64(zeropage), SKIP64(mapped), SKIP64(updated));
LAYOUT_SAME(uffd_zeropage_out, struct kernel_uffd_zeropage, (zeropage, HEX));
STRUCTURE_SAME(uffd_continue, INNER(struct kernel_uffd_range, range, UFFD_RANGE), M64(mode, UFFD_CONTINUE_MODE),
	       SKIP64(mapped));
LAYOUT_SAME(uffd_continue_out, struct kernel_uffd_continue, (mapped, HEX));
STRUCTURE_SAME(uffd_poison, INNER(struct kernel_uffd_range, range, UFFD_RANGE), M64(mode, UFFD_POISON_MODE),
	       SKIP64(updated));
LAYOUT_SAME(uffd_poison_out, struct kernel_uffd_poison, (updated, HEX));
STRUCTURE_SAME(uffd_copy, M64(dst, PTR), M64(src, PTR), M64(len, HEX), M64(mode, UFFD_COPY_MODE), SKIP64(copy));
LAYOUT_SAME(uffd_copy_out, struct kernel_uffd_copy, (copy, HEX));
STRUCTURE_SAME(uffd_move, M64(dst, PTR), M64(src, PTR), M64(len, HEX), M64(mode, UFFD_MOVE_MODE), SKIP64(move));
LAYOUT_SAME(uffd_move_out, struct kernel_uffd_move, (move, HEX));
STRUCTURE_SAME(uffd_protect, INNER(struct kernel_uffd_range, range, UFFD_RANGE), M64(mode, UFFD_PROTECT_MODE));

/* struct termio (asm/termios.h), the older form of struct termios, which terminfo programs use */
STRUCTURE_SAME(termio, M16(c_iflag, TC_IFLAG), M16(c_oflag, TC_OFLAG), M16(c_cflag, TC_CFLAG), M16(c_lflag, TC_LFLAG),
	       M8(c_line, UINT, VERBOSE), ARRAY(uint8_t, c_cc, 8, TERMIO_CC, VERBOSE));

/* struct vt_stat and struct vt_mode (linux/vt.h) */
STRUCTURE_SAME(vt_stat, M16(v_active, UINT), M16(v_signal, UINT), M16(v_state, HEX));
STRUCTURE_SAME(vt_mode, M8(mode, VT_MODE_KIND), M8(waitv, UINT), M16(relsig, SIGNAL), M16(acqsig, SIGNAL),
	       M16(frsig, UINT));

/* struct input_id, struct input_absinfo (linux/input.h) and struct rtc_wkalrm (linux/rtc.h) */
STRUCTURE_SAME(input_id, M16(bustype, HEX), M16(vendor, HEX), M16(product, HEX), M16(version, HEX));
STRUCTURE_SAME(input_absinfo, M32(value, INT), M32(minimum, INT), M32(maximum, INT), M32(fuzz, INT), M32(flat, INT),
	       M32(resolution, INT));
STRUCTURE_SAME(rtc_wkalrm, M8(enabled, UINT), M8(pending, UINT), SKIPS(uint8_t, pad, 2),
	       ARRAY(int32_t, time, 9, RTC_TIME));

/* struct kvm_userspace_memory_region (linux/kvm.h) */
STRUCTURE_SAME(kvm_region, M32(slot, UINT), M32(flags, HEX), M64(guest_phys_addr, HEX), M64(memory_size, ULONG),
	       M64(userspace_addr, PTR));

/* struct seccomp_notif, seccomp_data, seccomp_notif_resp and seccomp_notif_addfd (linux/seccomp.h) */
STRUCTURE_SAME(seccomp_data, M32(nr, INT), M32(arch, AUDIT_ARCH), M64(instruction_pointer, PTR),
	       ARRAY(uint64_t, args, 6, SECCOMP_ARGS));
STRUCTURE_SAME(seccomp_notif, M64(id, HEX), M32(pid, PID), M32(flags, HEX),
	       INNER(struct kernel_seccomp_data, data, SECCOMP_DATA));
STRUCTURE_SAME(seccomp_response, M64(id, HEX), M64(val, LONG), M32(error, NEGATIVE_ERRNO),
	       M32(flags, SECCOMP_RESPONSE_FLAGS));
STRUCTURE_SAME(seccomp_addfd, M64(id, HEX), M32(flags, SECCOMP_ADDFD_FLAGS), M32(srcfd, FD), M32(newfd, INT),
	       M32(newfd_flags, CLOEXEC_FLAGS));

/* Shows the arguments of ioctl(2) about network interfaces (netdevice(7)). */
#define NAME_SIZE 16 /* IFNAMSIZ */

static STRUCTURE(ifmap32, M32(mem_start, HEX), M32(mem_end, HEX), M16(base_addr, HEX), M8(irq, UINT), M8(dma, UINT),
		 M8(port, UINT));
STRUCTURE_NARROW(ifmap, &layout_ifmap32, M64(mem_start, HEX), M64(mem_end, HEX), M16(base_addr, HEX), M8(irq, UINT),
		 M8(dma, UINT), M8(port, UINT));

void show_if_name(const struct decode *d, const struct value *x)
{
	char text[NAME_SIZE];
	if (decode_need(d, x->v, text, sizeof(text)))
		emit_str(d->out, text, strnlen(text, sizeof(text)), 0);
}

void show_if_address(const struct decode *d, const struct value *x)
{
	decode_sockaddr(d, x->v, 16);
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

/* A hardware address with its family, which is a type of device. Most addresses have six bytes. */
STRUCTURE_SAME(hardware, M16(sa_family, ARPHRD), ARRAY(uint8_t, sa_data, 14, HARDWARE_ADDRESS));

/*
 * Has the kernel filled in the value, if this command gets one? If not, only what identifies the interface is shown. It is
 * captured before the call.
 */
static bool has_value(const struct decode *d)
{
	const struct command_arg *a = command_find(TABLE_IOCTL, (uint32_t)d->call->args[1], 2);
	return a->when == WHEN_ENTERING || !d->call->error;
}

/* Shows a struct ifreq. `about` is the member after the name. */
void show_ifreq(const struct decode *d, const struct value *x)
{
	const struct member *m = x->about;
	char probe[NAME_SIZE];
	if (!decode_need(d, x->v, probe, sizeof(probe)))
		return;
	emit_open(d->out, '{');
	show_field(d, "ifr_name", K_IF_NAME, x->v);
	if (has_value(d)) {
		emit_field(d->out, m->name);
		if (m->size)
			decode_kind_at(d, x->v + NAME_SIZE, m->size, m->kind);
		else
			show_kind(d, m->kind, x->v + NAME_SIZE, -1);
	}
	emit_close(d->out, '}');
}

/* SIOCGIFNAME, which finds the name of an index */
void show_ifreq_name(const struct decode *d, const struct value *x)
{
	char probe[NAME_SIZE];
	if (!decode_need(d, x->v, probe, sizeof(probe)))
		return;
	emit_open(d->out, '{');
	emit_field(d->out, "ifr_ifindex");
	decode_kind_at(d, x->v + NAME_SIZE, sizeof(int32_t), K_INT);
	if (has_value(d))
		show_field(d, "ifr_name", K_IF_NAME, x->v);
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
	show_field(d, "ifr_name", K_IF_NAME, addr);
	show_field(d, "ifr_addr", K_IF_ADDRESS, addr + NAME_SIZE);
	emit_close(d->out, '}');
}

/*
 * Shows a struct ifconf: {ifc_len=4096 => 40 /[*] 1 * sizeof(struct ifreq) [*]/, ifc_buf=[{ifr_name="lo",
 * ifr_addr={...}}]}
 */
void show_ifconf(const struct decode *d, const struct value *x)
{
	uint64_t v = x->v;
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
