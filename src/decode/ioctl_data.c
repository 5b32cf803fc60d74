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
