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
