#include "decode/ioctl.h"

#include "base/buf.h"
#include "decode/layout.h"
#include "decode/net.h"

#include <asm/ioctl.h>
#include <stdio.h>
#include <string.h>

struct kernel_termios {
	uint32_t c_iflag, c_oflag, c_cflag, c_lflag;
	uint8_t c_line, c_cc[19];
};
LAYOUT_SAME(termios, struct kernel_termios, M(struct kernel_termios, c_iflag, TC_IFLAG),
	    M(struct kernel_termios, c_oflag, TC_OFLAG), M(struct kernel_termios, c_cflag, TC_CFLAG),
	    M(struct kernel_termios, c_lflag, TC_LFLAG), M_VERBOSE(struct kernel_termios, c_line, UINT),
	    M_AT_VERBOSE(struct kernel_termios, c_cc, TC_CC));
struct window {
	uint16_t ws_row, ws_col, ws_xpixel, ws_ypixel;
};
LAYOUT_SAME(winsize, struct window, M(struct window, ws_row, UINT), M(struct window, ws_col, UINT),
	    M(struct window, ws_xpixel, UINT), M(struct window, ws_ypixel, UINT));
struct clock_time {
	int32_t tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
};
LAYOUT_SAME(rtc_time, struct clock_time, M(struct clock_time, tm_sec, INT), M(struct clock_time, tm_min, INT),
	    M(struct clock_time, tm_hour, INT), M(struct clock_time, tm_mday, INT), M(struct clock_time, tm_mon, INT),
	    M(struct clock_time, tm_year, INT));

/* What commands point at, or take as a number. K_END: nothing. Others are shown as pointers. */
static const struct command_arg args[] = {
	{0x5401, K_TERMIOS, WHEN_LEFT},                  /* TCGETS */
	{0x5402, K_TERMIOS, WHEN_ENTERING},              /* TCSETS */
	{0x5403, K_TERMIOS, WHEN_ENTERING},              /* TCSETSW */
	{0x5404, K_TERMIOS, WHEN_ENTERING},              /* TCSETSF */
	{0x5409, K_INT, WHEN_ENTERING},                  /* TCSBRK */
	{0x540a, K_INT, WHEN_ENTERING},                  /* TCXONC */
	{0x540b, K_INT, WHEN_ENTERING},                  /* TCFLSH */
	{0x540c, K_END, WHEN_NEVER},                     /* TIOCEXCL */
	{0x540d, K_END, WHEN_NEVER},                     /* TIOCNXCL */
	{0x540e, K_INT, WHEN_ENTERING},                  /* TIOCSCTTY */
	{0x540f, K_INT_AT, WHEN_LEFT},                   /* TIOCGPGRP */
	{0x5410, K_INT_AT, WHEN_ENTERING},               /* TIOCSPGRP */
	{0x5411, K_INT_AT, WHEN_LEFT},                   /* TIOCOUTQ */
	{0x5413, K_WINSIZE, WHEN_LEFT},                  /* TIOCGWINSZ */
	{0x5414, K_WINSIZE, WHEN_ENTERING},              /* TIOCSWINSZ */
	{0x541b, K_INT_AT, WHEN_LEFT},                   /* FIONREAD */
	{0x5420, K_INT_AT, WHEN_ENTERING},               /* TIOCPKT */
	{0x5421, K_INT_AT, WHEN_ENTERING},               /* FIONBIO */
	{0x5422, K_END, WHEN_NEVER},                     /* TIOCNOTTY */
	{0x5423, K_INT_AT, WHEN_ENTERING},               /* TIOCSETD */
	{0x5424, K_INT_AT, WHEN_LEFT},                   /* TIOCGETD */
	{0x5425, K_INT, WHEN_ENTERING},                  /* TCSBRKP */
	{0x5429, K_INT_AT, WHEN_LEFT},                   /* TIOCGSID */
	{0x80045430, K_UINT_AT, WHEN_LEFT},              /* TIOCGPTN */
	{0x40045431, K_INT_AT, WHEN_ENTERING},           /* TIOCSPTLCK */
	{0x5441, K_OPEN_FLAGS, WHEN_ENTERING},           /* TIOCGPTPEER */
	{0x5450, K_END, WHEN_NEVER},                     /* FIONCLEX */
	{0x5451, K_END, WHEN_NEVER},                     /* FIOCLEX */
	{0x5452, K_INT_AT, WHEN_ENTERING},               /* FIOASYNC */
	{0x80081272, K_ULONG_AT, WHEN_LEFT},             /* BLKGETSIZE64 */
	{0x1268, K_INT_AT, WHEN_LEFT},                   /* BLKSSZGET */
	{0x1260, K_ULONG_AT, WHEN_LEFT},                 /* BLKGETSIZE */
	{0x127b, K_UINT_AT, WHEN_LEFT},                  /* BLKPBSZGET */
	{0x125d, K_END, WHEN_NEVER},                     /* BLKROSET */
	{0x125e, K_INT_AT, WHEN_LEFT},                   /* BLKROGET */
	{0x1261, K_END, WHEN_NEVER},                     /* BLKFLSBUF */
	{0x125f, K_END, WHEN_NEVER},                     /* BLKRRPART */
	{0x40049409, K_FD, WHEN_ENTERING},               /* FICLONE */
	{0x4020940d, K_FILE_CLONE_RANGE, WHEN_ENTERING}, /* FICLONERANGE */
	{0x80086601, K_FS_FLAGS_AT, WHEN_LEFT},          /* FS_IOC_GETFLAGS */
	{0x40086602, K_FS_FLAGS_AT, WHEN_ENTERING},      /* FS_IOC_SETFLAGS */
	{0x801c581f, K_FSXATTR, WHEN_LEFT},              /* FS_IOC_FSGETXATTR */
	{0x401c5820, K_FSXATTR, WHEN_ENTERING},          /* FS_IOC_FSSETXATTR */
	{0xc0045877, K_END, WHEN_NEVER},                 /* FIFREEZE */
	{0xc0045878, K_END, WHEN_NEVER},                 /* FITHAW */
	{0xc0185879, K_FSTRIM_RANGE, WHEN_ENTERING},     /* FITRIM */
	{0x4c00, K_FD, WHEN_ENTERING},                   /* LOOP_SET_FD */
	{0x4c01, K_END, WHEN_NEVER},                     /* LOOP_CLR_FD */
	{0x4c80, K_INT, WHEN_ENTERING},                  /* LOOP_CTL_ADD */
	{0x4c81, K_INT, WHEN_ENTERING},                  /* LOOP_CTL_REMOVE */
	{0x4c82, K_END, WHEN_NEVER},                     /* LOOP_CTL_GET_FREE */
	{0x80247009, K_RTC_TIME, WHEN_LEFT},             /* RTC_RD_TIME */
	{0x4024700a, K_RTC_TIME, WHEN_ENTERING},         /* RTC_SET_TIME */
	{0x80045200, K_INT_AT, WHEN_LEFT},               /* RNDGETENTCNT */
	{0x8904, K_INT_AT, WHEN_LEFT},                   /* SIOCGPGRP */
	{0x8902, K_INT_AT, WHEN_ENTERING},               /* SIOCSPGRP */
	{0x8905, K_INT_AT, WHEN_LEFT},                   /* SIOCATMARK */
	{0x8906, K_TIMEVAL, WHEN_LEFT},                  /* SIOCGSTAMP_OLD */
	{0x8910, K_IFREQ, WHEN_LEFT},                    /* SIOCGIFNAME */
	{0x8912, K_IFCONF, WHEN_LEFT},                   /* SIOCGIFCONF */
	{0x8913, K_IFREQ, WHEN_LEFT},                    /* SIOCGIFFLAGS */
	{0x8914, K_IFREQ, WHEN_ENTERING},                /* SIOCSIFFLAGS */
	{0x8915, K_IFREQ, WHEN_LEFT},                    /* SIOCGIFADDR */
	{0x8916, K_IFREQ, WHEN_ENTERING},                /* SIOCSIFADDR */
	{0x8919, K_IFREQ, WHEN_LEFT},                    /* SIOCGIFBRDADDR */
	{0x891b, K_IFREQ, WHEN_LEFT},                    /* SIOCGIFNETMASK */
	{0x8921, K_IFREQ, WHEN_LEFT},                    /* SIOCGIFMTU */
	{0x8922, K_IFREQ, WHEN_ENTERING},                /* SIOCSIFMTU */
	{0x8927, K_IFREQ, WHEN_LEFT},                    /* SIOCGIFHWADDR */
	{0x8933, K_IFREQ, WHEN_LEFT},                    /* SIOCGIFINDEX */
	{0x2400, K_END, WHEN_NEVER},                     /* PERF_EVENT_IOC_ENABLE */
	{0x2401, K_END, WHEN_NEVER},                     /* PERF_EVENT_IOC_DISABLE */
	{0xae00, K_END, WHEN_NEVER},                     /* KVM_GET_API_VERSION */
};
#define NARGS (sizeof(args) / sizeof(*args))

/* Commands without a name are written by their parts, as _IOC() makes them. */
void show_ioctl_command(const struct decode *d, const struct kind *k, uint64_t v, int i)
{
	static const char *const directions[] = {"_IOC_NONE", "_IOC_WRITE", "_IOC_READ", "_IOC_READ|_IOC_WRITE"};
	uint32_t cmd = (uint32_t)v;
	const char *name = flags_find(&flags_ioctl, cmd);
	char text[96];
	(void)k, (void)i;
	snprintf(text, sizeof(text), "_IOC(%s, %#x, %#x, %#x)", directions[_IOC_DIR(cmd)], _IOC_TYPE(cmd), _IOC_NR(cmd),
		 _IOC_SIZE(cmd));
	emit_sym(d->out, name ? name : text, cmd);
}

enum when when_ioctl_arg(const struct decode *d, int i)
{
	const struct command_arg *a = command_find(args, NARGS, (uint32_t)d->call->args[i - 1]);
	return a ? a->when : WHEN_ENTERING;
}

void show_ioctl_arg(const struct decode *d, const struct kind *k, uint64_t v, int i)
{
	const struct command_arg *a = command_find(args, NARGS, (uint32_t)d->call->args[i - 1]);
	(void)k;
	if (a)
		show_kind(d, a->kind, v, -1);
	else
		emit_ptr(d->out, v);
}

/* struct ifreq (netdevice(7)): a name, then what the command is about. */
struct interface_request {
	char name[16];
	union {
		uint16_t family;
		int16_t flags;
		int32_t number;
		char bytes[24];
	} u;
};

static bool in_list(const uint16_t *list, size_t n, uint32_t v)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == v)
			return true;
	return false;
}

void show_ifreq(const struct decode *d, const struct kind *k, uint64_t v, int i)
{
	static const uint16_t numbers[] = {0x8910, 0x8921, 0x8922, 0x8933}, flags[] = {0x8913, 0x8914};
	static const uint16_t addresses[] = {0x8915, 0x8916, 0x8919, 0x891b, 0x8927};
	struct interface_request r;
	uint32_t cmd = (uint32_t)d->call->args[1];
	(void)k, (void)i;
	if (!decode_get(d, v, &r, sizeof(r))) {
		emit_ptr(d->out, v);
		return;
	}
	emit_open(d->out, '{');
	emit_field(d->out, "ifr_name");
	emit_str(d->out, r.name, strnlen(r.name, sizeof(r.name)), 0);
	if (in_list(numbers, sizeof(numbers) / sizeof(*numbers), cmd)) {
		emit_field(d->out, cmd == 0x8921 || cmd == 0x8922 ? "ifr_mtu" : "ifr_ifindex");
		emit_num(d->out, r.u.number);
	} else if (in_list(flags, sizeof(flags) / sizeof(*flags), cmd)) {
		emit_field(d->out, "ifr_flags");
		emit_hex(d->out, (uint16_t)r.u.flags);
	} else if (in_list(addresses, sizeof(addresses) / sizeof(*addresses), cmd)) {
		emit_field(d->out, "ifr_addr");
		decode_sockaddr(d, v + sizeof(r.name), 16);
	}
	emit_close(d->out, '}');
}

void show_ifconf(const struct decode *d, const struct kind *k, uint64_t v, int i)
{
	int32_t len;
	uint64_t buf;
	(void)k, (void)i;
	if (decode_word(d) != 8 || !decode_get(d, v, &len, sizeof(len)) || !decode_get(d, v + 8, &buf, sizeof(buf))) {
		emit_ptr(d->out, v);
		return;
	}
	emit_open(d->out, '{');
	emit_field(d->out, "ifc_len");
	emit_num(d->out, len);
	emit_field(d->out, "ifc_buf");
	emit_ptr(d->out, buf);
	emit_close(d->out, '}');
}
