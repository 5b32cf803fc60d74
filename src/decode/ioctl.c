/* SPDX-License-Identifier: MIT */
#include "decode/show.h"

#include "base/buf.h"
#include "decode/layout.h"

#include <asm/ioctl.h>

STRUCTURE_SAME(termios, M32(c_iflag, TC_IFLAG), M32(c_oflag, TC_OFLAG), M32(c_cflag, TC_CFLAG), M32(c_lflag, TC_LFLAG),
	       M8(c_line, UINT, VERBOSE), ARRAY(uint8_t, c_cc, 19, TC_CC, VERBOSE));
STRUCTURE_SAME(termios2, M32(c_iflag, TC_IFLAG), M32(c_oflag, TC_OFLAG), M32(c_cflag, TC_CFLAG), M32(c_lflag, TC_LFLAG),
	       M8(c_line, UINT, VERBOSE), ARRAY(uint8_t, c_cc, 19, TC_CC, VERBOSE), M32(c_ispeed, UINT),
	       M32(c_ospeed, UINT));
STRUCTURE_SAME(winsize, M16(ws_row, UINT), M16(ws_col, UINT), M16(ws_xpixel, UINT), M16(ws_ypixel, UINT));
STRUCTURE_SAME(rtc_time, M32(tm_sec, INT), M32(tm_min, INT), M32(tm_hour, INT), M32(tm_mday, INT), M32(tm_mon, INT),
	       M32(tm_year, INT), SKIP32(tm_wday), SKIP32(tm_yday), SKIP32(tm_isdst));

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
	{0x540a, K_TC_FLOW, WHEN_ENTERING},              /* TCXONC */
	{0x540b, K_TC_QUEUE, WHEN_ENTERING},             /* TCFLSH */
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
	{0x5405, K_TERMIO, WHEN_LEFT},                   /* TCGETA */
	{0x5406, K_TERMIO, WHEN_ENTERING},               /* TCSETA */
	{0x5407, K_TERMIO, WHEN_ENTERING},               /* TCSETAW */
	{0x5408, K_TERMIO, WHEN_ENTERING},               /* TCSETAF */
	{0x545c, K_MODEM_BITS, WHEN_ENTERING},           /* TIOCMIWAIT */
	{0xc0189436, K_DEDUPE, WHEN_BOTH},               /* FIDEDUPERANGE */
	{0xc020660b, K_FIEMAP, WHEN_BOTH},               /* FS_IOC_FIEMAP */
	{0x81009431, K_STR, WHEN_LEFT},                  /* FS_IOC_GETFSLABEL */
	{0x41009432, K_STR, WHEN_ENTERING},              /* FS_IOC_SETFSLABEL */
	{0x4c04, K_LOOP_INFO, WHEN_ENTERING},            /* LOOP_SET_STATUS64 */
	{0x4c05, K_LOOP_INFO, WHEN_LEFT},                /* LOOP_GET_STATUS64 */
	{0x4c0a, K_LOOP_CONFIG, WHEN_ENTERING},          /* LOOP_CONFIGURE */
	{0x1269, K_BLKPG, WHEN_ENTERING},                /* BLKPG */
	{0x7001, K_END, WHEN_NEVER},                     /* RTC_AIE_ON */
	{0x7002, K_END, WHEN_NEVER},                     /* RTC_AIE_OFF */
	{0x7003, K_END, WHEN_NEVER},                     /* RTC_UIE_ON */
	{0x7004, K_END, WHEN_NEVER},                     /* RTC_UIE_OFF */
	{0x7005, K_END, WHEN_NEVER},                     /* RTC_PIE_ON */
	{0x7006, K_END, WHEN_NEVER},                     /* RTC_PIE_OFF */
	{0x700f, K_END, WHEN_NEVER},                     /* RTC_WIE_ON */
	{0x7010, K_END, WHEN_NEVER},                     /* RTC_WIE_OFF */
	{0x80247008, K_RTC_TIME, WHEN_LEFT},             /* RTC_ALM_READ */
	{0x40247007, K_RTC_TIME, WHEN_ENTERING},         /* RTC_ALM_SET */
	{0x80287010, K_RTC_WKALRM, WHEN_LEFT},           /* RTC_WKALM_RD */
	{0x4028700f, K_RTC_WKALRM, WHEN_ENTERING},       /* RTC_WKALM_SET */
	{0x8008700b, K_ULONG_AT, WHEN_LEFT},             /* RTC_IRQP_READ */
	{0x4008700c, K_ULONG, WHEN_ENTERING},            /* RTC_IRQP_SET */
	{0x8008700d, K_ULONG_AT, WHEN_LEFT},             /* RTC_EPOCH_READ */
	{0x4008700e, K_ULONG, WHEN_ENTERING},            /* RTC_EPOCH_SET */
	{0x40045201, K_INT_AT, WHEN_ENTERING},           /* RNDADDTOENTCNT */
	{0x5204, K_END, WHEN_NEVER},                     /* RNDZAPENTCNT */
	{0x5206, K_END, WHEN_NEVER},                     /* RNDCLEARPOOL */
	{0x5207, K_END, WHEN_NEVER},                     /* RNDRESEEDCRNG */
	{0x89a0, K_STR, WHEN_ENTERING},                  /* SIOCBRADDBR */
	{0x89a1, K_STR, WHEN_ENTERING},                  /* SIOCBRDELBR */
	{0x400454c8, K_INT, WHEN_ENTERING},              /* TUNSETNOCSUM */
	{0x400454cb, K_INT, WHEN_ENTERING},              /* TUNSETPERSIST */
	{0x400454cc, K_UID, WHEN_ENTERING},              /* TUNSETOWNER */
	{0x400454ce, K_UID, WHEN_ENTERING},              /* TUNSETGROUP */
	{0x400454d0, K_HEX, WHEN_ENTERING},              /* TUNSETOFFLOAD */
	{0x800454cf, K_TUN_FLAGS_AT, WHEN_LEFT},         /* TUNGETFEATURES */
	{0x800454d3, K_INT_AT, WHEN_LEFT},               /* TUNGETSNDBUF */
	{0x400454d4, K_INT_AT, WHEN_ENTERING},           /* TUNSETSNDBUF */
	{0x800454d7, K_INT_AT, WHEN_LEFT},               /* TUNGETVNETHDRSZ */
	{0x400454d8, K_INT_AT, WHEN_ENTERING},           /* TUNSETVNETHDRSZ */
	{0xc018aa3f, K_UFFD_API, WHEN_BOTH},             /* UFFDIO_API */
	{0xc020aa00, K_UFFD_REGISTER, WHEN_BOTH},        /* UFFDIO_REGISTER */
	{0x8010aa01, K_UFFD_RANGE, WHEN_ENTERING},       /* UFFDIO_UNREGISTER */
	{0x8010aa02, K_UFFD_RANGE, WHEN_ENTERING},       /* UFFDIO_WAKE */
	{0xc028aa03, K_UFFD_COPY, WHEN_BOTH},            /* UFFDIO_COPY */
	{0xc020aa04, K_UFFD_ZEROPAGE, WHEN_BOTH},        /* UFFDIO_ZEROPAGE */
	{0xc028aa05, K_UFFD_MOVE, WHEN_BOTH},            /* UFFDIO_MOVE */
	{0xc018aa06, K_UFFD_PROTECT, WHEN_ENTERING},     /* UFFDIO_WRITEPROTECT */
	{0xc020aa07, K_UFFD_CONTINUE, WHEN_BOTH},        /* UFFDIO_CONTINUE */
	{0xc020aa08, K_UFFD_POISON, WHEN_BOTH},          /* UFFDIO_POISON */
	{0x4b3a, K_KD_MODE, WHEN_ENTERING},              /* KDSETMODE */
	{0x4b3b, K_KD_MODE_AT, WHEN_LEFT},               /* KDGETMODE */
	{0x4b44, K_KB_MODE_AT, WHEN_LEFT},               /* KDGKBMODE */
	{0x4b45, K_KB_MODE, WHEN_ENTERING},              /* KDSKBMODE */
	{0x5600, K_INT_AT, WHEN_LEFT},                   /* VT_OPENQRY */
	{0x5601, K_VT_MODE, WHEN_LEFT},                  /* VT_GETMODE */
	{0x5602, K_VT_MODE, WHEN_ENTERING},              /* VT_SETMODE */
	{0x5603, K_VT_STAT, WHEN_LEFT},                  /* VT_GETSTATE */
	{0x5605, K_INT, WHEN_ENTERING},                  /* VT_RELDISP */
	{0x5606, K_INT, WHEN_ENTERING},                  /* VT_ACTIVATE */
	{0x5607, K_INT, WHEN_ENTERING},                  /* VT_WAITACTIVE */
	{0x5608, K_INT, WHEN_ENTERING},                  /* VT_DISALLOCATE */
	{0x80044501, K_HEX4_AT, WHEN_LEFT},              /* EVIOCGVERSION */
	{0x80084502, K_INPUT_ID, WHEN_LEFT},             /* EVIOCGID */
	{0x40044590, K_INT, WHEN_ENTERING},              /* EVIOCGRAB */
	{0xae03, K_INT, WHEN_ENTERING},                  /* KVM_CHECK_EXTENSION */
	{0xae04, K_END, WHEN_NEVER},                     /* KVM_GET_VCPU_MMAP_SIZE */
	{0xae80, K_END, WHEN_NEVER},                     /* KVM_RUN */
	{0x4020ae46, K_KVM_REGION, WHEN_ENTERING},       /* KVM_SET_USER_MEMORY_REGION */
	{0x80045705, K_END, WHEN_NEVER},                 /* WDIOC_KEEPALIVE */
	{0xc0045706, K_INT_AT, WHEN_ENTERING},           /* WDIOC_SETTIMEOUT */
	{0x80045707, K_INT_AT, WHEN_LEFT},               /* WDIOC_GETTIMEOUT */
	{0xaf01, K_END, WHEN_NEVER},                     /* VHOST_SET_OWNER */
	{0xaf02, K_END, WHEN_NEVER},                     /* VHOST_RESET_OWNER */
	{0xab00, K_FD, WHEN_ENTERING},                   /* NBD_SET_SOCK */
	{0xab01, K_ULONG, WHEN_ENTERING},                /* NBD_SET_BLKSIZE */
	{0xab02, K_ULONG, WHEN_ENTERING},                /* NBD_SET_SIZE */
	{0xab03, K_END, WHEN_NEVER},                     /* NBD_DO_IT */
	{0xab04, K_END, WHEN_NEVER},                     /* NBD_CLEAR_SOCK */
	{0xab05, K_END, WHEN_NEVER},                     /* NBD_CLEAR_QUE */
	{0xab06, K_END, WHEN_NEVER},                     /* NBD_PRINT_DEBUG */
	{0xab07, K_ULONG, WHEN_ENTERING},                /* NBD_SET_SIZE_BLOCKS */
	{0xab08, K_END, WHEN_NEVER},                     /* NBD_DISCONNECT */
	{0xab09, K_ULONG, WHEN_ENTERING},                /* NBD_SET_TIMEOUT */
	{0xab0a, K_HEX, WHEN_ENTERING},                  /* NBD_SET_FLAGS */
	{0xc0502100, K_SECCOMP_NOTIF, WHEN_LEFT},        /* SECCOMP_IOCTL_NOTIF_RECV */
	{0xc0182101, K_SECCOMP_RESPONSE, WHEN_ENTERING}, /* SECCOMP_IOCTL_NOTIF_SEND */
	{0x40082102, K_HEX8_AT, WHEN_ENTERING},          /* SECCOMP_IOCTL_NOTIF_ID_VALID */
	{0x40182103, K_SECCOMP_ADDFD, WHEN_ENTERING},    /* SECCOMP_IOCTL_NOTIF_ADDFD */
	{0x40044591, K_INT, WHEN_ENTERING},              /* EVIOCREVOKE */
	{0x400445a0, K_CLOCK_AT, WHEN_ENTERING},         /* EVIOCSCLOCKID */
};
#define NARGS (sizeof(args) / sizeof(*args))

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
	const struct command_arg *row = command_find(args, NARGS, cmd);
	const struct sized *s = sized_command(cmd);
	if (row)
		*a = *row;
	else if (s && s->text)
		*a = (struct command_arg){cmd, K_IOCTL_TEXT, WHEN_LEFT};
	else if (is_axis(cmd))
		*a = (struct command_arg){cmd, K_INPUT_ABSINFO, _IOC_DIR(cmd) == _IOC_READ ? WHEN_LEFT : WHEN_ENTERING};
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
	enum when net;
	if (find_command((uint32_t)d->call->args[i - 1], &a))
		return a.when;
	return ioctl_is_net(d, &net) ? net : WHEN_ENTERING;
}

void show_ioctl_arg(const struct decode *d, const struct value *x)
{
	struct command_arg a;
	enum when net;
	if (find_command((uint32_t)d->call->args[x->arg - 1], &a))
		show_kind(d, a.kind, x->v, -1);
	else if (ioctl_is_net(d, &net))
		show_ioctl_net(d, x->v);
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
	command_memory(args, NARGS, TABLE_IOCTL, 2, add, ctx);
	for (size_t i = 0; i < sizeof(sizeds) / sizeof(*sizeds); i++)
		if (sizeds[i].text)
			add(ctx, &(struct command_memory){.table = TABLE_IOCTL_SIZED,
							  .arg = 2,
							  .command = _IOC(_IOC_READ, sizeds[i].type, sizeds[i].nr, 0),
							  .kind = K_IOCTL_TEXT});
	const struct command_arg axes[] = {
		{_IOC(_IOC_READ, 'E', GET_ABS, ABS_SIZE), K_INPUT_ABSINFO, WHEN_LEFT},
		{_IOC(_IOC_WRITE, 'E', SET_ABS, ABS_SIZE), K_INPUT_ABSINFO, WHEN_ENTERING},
	};
	command_memory(axes, 2, TABLE_IOCTL_AXIS, 2, add, ctx);
	struct command_memory c = {.table = TABLE_IOCTL, .arg = 2, .need.rule = MEMORY_DESCRIPTOR};
	for (size_t i = 0; i < sizeof(openers) / sizeof(*openers); i++) {
		c.command = openers[i];
		add(ctx, &c);
	}
	for (c.command = PIDFD_FIRST; c.command <= PIDFD_LAST; c.command++)
		add(ctx, &c);
}
