#include "decode/show.h"

#include "decode/layout.h"

#include <asm/ioctl.h>
#include <stdio.h>

struct kernel_termios {
	uint32_t c_iflag, c_oflag, c_cflag, c_lflag;
	uint8_t c_line, c_cc[19];
};
LAYOUT_SAME(termios, struct kernel_termios, (c_iflag, TC_IFLAG), (c_oflag, TC_OFLAG), (c_cflag, TC_CFLAG),
	    (c_lflag, TC_LFLAG), (c_line, UINT, VERBOSE), (c_cc, TC_CC, AT | VERBOSE));
struct kernel_termios2 {
	uint32_t c_iflag, c_oflag, c_cflag, c_lflag;
	uint8_t c_line, c_cc[19];
	uint32_t c_ispeed, c_ospeed;
};
LAYOUT_SAME(termios2, struct kernel_termios2, (c_iflag, TC_IFLAG), (c_oflag, TC_OFLAG), (c_cflag, TC_CFLAG),
	    (c_lflag, TC_LFLAG), (c_line, UINT, VERBOSE), (c_cc, TC_CC, AT | VERBOSE), (c_ispeed, UINT),
	    (c_ospeed, UINT));
struct window {
	uint16_t ws_row, ws_col, ws_xpixel, ws_ypixel;
};
LAYOUT_SAME(winsize, struct window, (ws_row, UINT), (ws_col, UINT), (ws_xpixel, UINT), (ws_ypixel, UINT));
struct clock_time {
	int32_t tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
};
LAYOUT_SAME(rtc_time, struct clock_time, (tm_sec, INT), (tm_min, INT), (tm_hour, INT), (tm_mday, INT), (tm_mon, INT),
	    (tm_year, INT));

/*
 * The kind of the argument of each command. K_END means that there is no argument. The argument of other commands is
 * shown as a pointer.
 */
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
	{0x5412, K_STI, WHEN_ENTERING},                  /* TIOCSTI */
	{0x5413, K_WINSIZE, WHEN_LEFT},                  /* TIOCGWINSZ */
	{0x5414, K_WINSIZE, WHEN_ENTERING},              /* TIOCSWINSZ */
	{0x5415, K_MODEM_AT, WHEN_LEFT},                 /* TIOCMGET */
	{0x5416, K_MODEM_AT, WHEN_ENTERING},             /* TIOCMBIS */
	{0x5417, K_MODEM_AT, WHEN_ENTERING},             /* TIOCMBIC */
	{0x5418, K_MODEM_AT, WHEN_ENTERING},             /* TIOCMSET */
	{0x5419, K_INT_AT, WHEN_LEFT},                   /* TIOCGSOFTCAR */
	{0x541a, K_INT_AT, WHEN_ENTERING},               /* TIOCSSOFTCAR */
	{0x541b, K_INT_AT, WHEN_LEFT},                   /* FIONREAD */
	{0x541d, K_END, WHEN_NEVER},                     /* TIOCCONS */
	{0x5420, K_INT_AT, WHEN_ENTERING},               /* TIOCPKT */
	{0x5421, K_INT_AT, WHEN_ENTERING},               /* FIONBIO */
	{0x5422, K_END, WHEN_NEVER},                     /* TIOCNOTTY */
	{0x5423, K_INT_AT, WHEN_ENTERING},               /* TIOCSETD */
	{0x5424, K_INT_AT, WHEN_LEFT},                   /* TIOCGETD */
	{0x5425, K_INT, WHEN_ENTERING},                  /* TCSBRKP */
	{0x5427, K_END, WHEN_NEVER},                     /* TIOCSBRK */
	{0x5428, K_END, WHEN_NEVER},                     /* TIOCCBRK */
	{0x5429, K_INT_AT, WHEN_LEFT},                   /* TIOCGSID */
	{0x802c542a, K_TERMIOS2, WHEN_LEFT},             /* TCGETS2 */
	{0x402c542b, K_TERMIOS2, WHEN_ENTERING},         /* TCSETS2 */
	{0x402c542c, K_TERMIOS2, WHEN_ENTERING},         /* TCSETSW2 */
	{0x402c542d, K_TERMIOS2, WHEN_ENTERING},         /* TCSETSF2 */
	{0x80045432, K_UINT_AT, WHEN_LEFT},              /* TIOCGDEV */
	{0x5437, K_END, WHEN_NEVER},                     /* TIOCVHANGUP */
	{0x80045438, K_INT_AT, WHEN_LEFT},               /* TIOCGPKT */
	{0x80045439, K_INT_AT, WHEN_LEFT},               /* TIOCGPTLCK */
	{0x80045440, K_INT_AT, WHEN_LEFT},               /* TIOCGEXCL */
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
	{0x125d, K_INT_AT, WHEN_ENTERING},               /* BLKROSET */
	{0x125e, K_INT_AT, WHEN_LEFT},                   /* BLKROGET */
	{0x1261, K_END, WHEN_NEVER},                     /* BLKFLSBUF */
	{0x125f, K_END, WHEN_NEVER},                     /* BLKRRPART */
	{0x1262, K_ULONG, WHEN_ENTERING},                /* BLKRASET */
	{0x1263, K_ULONG_AT, WHEN_LEFT},                 /* BLKRAGET */
	{0x1264, K_ULONG, WHEN_ENTERING},                /* BLKFRASET */
	{0x1265, K_ULONG_AT, WHEN_LEFT},                 /* BLKFRAGET */
	{0x1267, K_USHORT_AT, WHEN_LEFT},                /* BLKSECTGET */
	{0x1277, K_BLOCK_RANGE, WHEN_ENTERING},          /* BLKDISCARD */
	{0x1278, K_UINT_AT, WHEN_LEFT},                  /* BLKIOMIN */
	{0x1279, K_UINT_AT, WHEN_LEFT},                  /* BLKIOOPT */
	{0x127a, K_INT_AT, WHEN_LEFT},                   /* BLKALIGNOFF */
	{0x127c, K_UINT_AT, WHEN_LEFT},                  /* BLKDISCARDZEROES */
	{0x127d, K_BLOCK_RANGE, WHEN_ENTERING},          /* BLKSECDISCARD */
	{0x127e, K_USHORT_AT, WHEN_LEFT},                /* BLKROTATIONAL */
	{0x127f, K_BLOCK_RANGE, WHEN_ENTERING},          /* BLKZEROOUT */
	{0x80081270, K_INT_AT, WHEN_LEFT},               /* BLKBSZGET */
	{0x40081271, K_INT_AT, WHEN_ENTERING},           /* BLKBSZSET */
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
	{0x4c06, K_FD, WHEN_ENTERING},                   /* LOOP_CHANGE_FD */
	{0x4c07, K_END, WHEN_NEVER},                     /* LOOP_SET_CAPACITY */
	{0x4c08, K_ULONG, WHEN_ENTERING},                /* LOOP_SET_DIRECT_IO */
	{0x4c09, K_ULONG, WHEN_ENTERING},                /* LOOP_SET_BLOCK_SIZE */
	{0x4c01, K_END, WHEN_NEVER},                     /* LOOP_CLR_FD */
	{0x4c80, K_INT, WHEN_ENTERING},                  /* LOOP_CTL_ADD */
	{0x4c81, K_INT, WHEN_ENTERING},                  /* LOOP_CTL_REMOVE */
	{0x4c82, K_END, WHEN_NEVER},                     /* LOOP_CTL_GET_FREE */
	{0x80247009, K_RTC_TIME, WHEN_LEFT},             /* RTC_RD_TIME */
	{0x4024700a, K_RTC_TIME, WHEN_ENTERING},         /* RTC_SET_TIME */
	{0x80045200, K_INT_AT, WHEN_LEFT},               /* RNDGETENTCNT */
	{0x8901, K_INT_AT, WHEN_ENTERING},               /* FIOSETOWN */
	{0x8903, K_INT_AT, WHEN_LEFT},                   /* FIOGETOWN */
	{0x8904, K_INT_AT, WHEN_LEFT},                   /* SIOCGPGRP */
	{0x8902, K_INT_AT, WHEN_ENTERING},               /* SIOCSPGRP */
	{0x8905, K_INT_AT, WHEN_LEFT},                   /* SIOCATMARK */
	{0x8906, K_TIMEVAL, WHEN_LEFT},                  /* SIOCGSTAMP_OLD */
	{0x8907, K_TIMESPEC, WHEN_LEFT},                 /* SIOCGSTAMPNS_OLD */
	{0xb701, K_END, WHEN_NEVER},                     /* NS_GET_USERNS */
	{0xb702, K_END, WHEN_NEVER},                     /* NS_GET_PARENT */
	{0xb703, K_END, WHEN_NEVER},                     /* NS_GET_NSTYPE */
	{0xb704, K_UID_AT, WHEN_LEFT},                   /* NS_GET_OWNER_UID */
	{0xae01, K_INT, WHEN_ENTERING},                  /* KVM_CREATE_VM */
	{0xae41, K_INT, WHEN_ENTERING},                  /* KVM_CREATE_VCPU */
	{0x2400, K_PERF_IOC_FLAGS, WHEN_ENTERING},       /* PERF_EVENT_IOC_ENABLE */
	{0x2401, K_PERF_IOC_FLAGS, WHEN_ENTERING},       /* PERF_EVENT_IOC_DISABLE */
	{0x2402, K_INT, WHEN_ENTERING},                  /* PERF_EVENT_IOC_REFRESH */
	{0x2403, K_PERF_IOC_FLAGS, WHEN_ENTERING},       /* PERF_EVENT_IOC_RESET */
	{0x40082404, K_PERF_NUMBER, WHEN_ENTERING},      /* PERF_EVENT_IOC_PERIOD */
	{0x2405, K_FD, WHEN_ENTERING},                   /* PERF_EVENT_IOC_SET_OUTPUT */
	{0x40082406, K_STR, WHEN_ENTERING},              /* PERF_EVENT_IOC_SET_FILTER */
	{0x80082407, K_PERF_NUMBER, WHEN_LEFT},          /* PERF_EVENT_IOC_ID */
	{0x40042408, K_FD, WHEN_ENTERING},               /* PERF_EVENT_IOC_SET_BPF */
	{0x40042409, K_UINT, WHEN_ENTERING},             /* PERF_EVENT_IOC_PAUSE_OUTPUT */
	{0xae00, K_END, WHEN_NEVER},                     /* KVM_GET_API_VERSION */
};
#define NARGS (sizeof(args) / sizeof(*args))

const struct command_arg *ioctl_commands(size_t *n)
{
	*n = NARGS;
	return args;
}

/* TIOCSTI: a single byte. */
void show_one_byte(const struct decode *d, const struct value *x)
{
	decode_bytes(d, x->v, 1);
}

/* A command without a name is shown by its parts, as _IOC() combines them. */
void show_ioctl_command(const struct decode *d, const struct value *x)
{
	static const char *const directions[] = {"_IOC_NONE", "_IOC_WRITE", "_IOC_READ", "_IOC_READ|_IOC_WRITE"};
	uint32_t cmd = (uint32_t)x->v;
	const char *name = flags_find(&flags_ioctl, cmd);
	char text[96];
	snprintf(text, sizeof(text), "_IOC(%s, %#x, %#x, %#x)", directions[_IOC_DIR(cmd)], _IOC_TYPE(cmd), _IOC_NR(cmd),
		 _IOC_SIZE(cmd));
	emit_sym(d->out, name ? name : text, cmd);
}

enum when when_ioctl_arg(const struct decode *d, int i)
{
	const struct command_arg *a = command_find(args, NARGS, (uint32_t)d->call->args[i - 1]);
	enum when net;
	return a ? a->when : ioctl_is_net(d, &net) ? net : WHEN_ENTERING;
}

void show_ioctl_arg(const struct decode *d, const struct value *x)
{
	const struct command_arg *a = command_find(args, NARGS, (uint32_t)d->call->args[x->arg - 1]);
	enum when net;
	if (a)
		show_kind(d, a->kind, x->v, -1);
	else if (ioctl_is_net(d, &net))
		show_ioctl_net(d, x->v);
	else
		emit_ptr(d->out, x->v);
}

/* Commands that return a descriptor. */
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
	return command >> 8 == 0xff && (command & 0xff) >= 1 && (command & 0xff) <= 10; /* PIDFD_GET_*_NAMESPACE */
}
