/* SPDX-License-Identifier: MIT */
#include "decode/show.h"

#include "base/buf.h"
#include "decode/layout.h"

#include <errno.h>
#include <signal.h>

void show_signal(const struct decode *d, const struct value *x)
{
	emit_name(d->out, decode_signal_name((int)x->v), (int32_t)x->v);
}

/* Only sets of 8 bytes are shown, because the kernel accepts no other size. */
void show_sigset(const struct decode *d, const struct value *x)
{
	uint64_t set;
	if (decode_need(d, x->v, &set, sizeof(set)))
		emit_signals(d->out, set);
}

/* The argument of pselect6 and io_pgetevents: a pointer to a set, and the size of the set. */
static STRUCTURE(sigset_pair32, M32(sigmask, SIGSET), M32(sigsetsize, ULONG));
STRUCTURE_NARROW(sigset_pair, &layout_sigset_pair32, M64(sigmask, SIGSET), M64(sigsetsize, ULONG));

#define SA_RESTORER_ 0x04000000

struct kernel_sigaction {
	uint64_t handler, flags, restorer, mask;
};

static void handler(struct emit *e, uint64_t v)
{
	static const char *const names[] = {"SIG_DFL", "SIG_IGN"};
	if (v < 2)
		emit_sym(e, names[v], v);
	else if (v == UINT64_MAX)
		emit_sym(e, "SIG_ERR", v);
	else
		emit_hex(e, v);
}

struct narrow_sigaction {
	uint32_t handler, flags, restorer;
	uint64_t mask;
} __attribute__((packed));

static bool read_sigaction(const struct decode *d, uint64_t addr, struct kernel_sigaction *a)
{
	struct narrow_sigaction n;
	if (decode_word(d) == 8)
		return decode_get(d, addr, a, sizeof(*a));
	if (!decode_get(d, addr, &n, sizeof(n)))
		return false;
	*a = (struct kernel_sigaction){n.handler, n.flags, n.restorer, n.mask};
	return true;
}

void show_sigaction(const struct decode *d, const struct value *x)
{
	struct kernel_sigaction a;
	if (!read_sigaction(d, x->v, &a)) {
		emit_ptr(d->out, x->v);
		return;
	}
	emit_open(d->out, '{');
	emit_field(d->out, a.flags & SA_SIGINFO ? "sa_sigaction" : "sa_handler");
	handler(d->out, a.handler);
	emit_field(d->out, "sa_mask");
	emit_signals(d->out, a.mask);
	emit_field(d->out, "sa_flags");
	flags_emit(d->out, &flags_sa, a.flags);
	if (a.flags & SA_RESTORER_) {
		show_field(d, "sa_restorer", K_PTR, a.restorer);
	}
	emit_close(d->out, '}');
}

struct kernel_stack {
	uint64_t ss_sp;
	int32_t ss_flags;
	uint64_t ss_size;
};
LAYOUT_NARROW(stack, struct kernel_stack, &layout_stack32, (ss_sp, PTR), (ss_flags, SS_FLAGS), (ss_size, ULONG));

static const struct {
	int sig;
	const struct flag_table *codes;
} codes_of[] = {
	{SIGILL, &flags_si_ill},   {SIGFPE, &flags_si_fpe},   {SIGSEGV, &flags_si_segv}, {SIGBUS, &flags_si_bus},
	{SIGTRAP, &flags_si_trap}, {SIGCHLD, &flags_si_chld}, {SIGIO, &flags_si_poll},   {SIGSYS, &flags_si_sys},
};

static void si_code(struct emit *out, const siginfo_t *si)
{
	const struct flag_table *t = &flags_si_code;
	for (size_t i = 0; i < sizeof(codes_of) / sizeof(*codes_of); i++)
		if (codes_of[i].sig == si->si_signo && si->si_code > 0 && si->si_code != SI_KERNEL)
			t = codes_of[i].codes;
	emit_field(out, "si_code");
	emit_name(out, flags_find(t, (uint32_t)si->si_code), si->si_code);
}

static void number_field(struct emit *out, const char *name, int64_t v)
{
	emit_field(out, name);
	emit_num(out, v);
}

/* Shows the number of a process, with its name (-Y) or the number that sctrace knows it by (--decode-pids=pidns). */
static void pid_field(const struct decode *d, const siginfo_t *si)
{
	emit_field(d->out, "si_pid");
	show_pid(d, &(struct value){.v = (uint64_t)si->si_pid});
}

static void pointer_field(struct emit *out, const char *name, const void *v)
{
	emit_field(out, name);
	emit_ptr(out, (uint64_t)(uintptr_t)v);
}

/* Shows the members that waitid(2) writes as well. */
static void child_state(const struct decode *d, const siginfo_t *si)
{
	struct emit *out = d->out;
	pid_field(d, si);
	number_field(out, "si_uid", si->si_uid);
	emit_field(out, "si_status");
	emit_name(out, si->si_code == CLD_EXITED ? NULL : decode_signal_name(si->si_status), si->si_status);
}

static void child(const struct decode *d, const siginfo_t *si)
{
	struct emit *out = d->out;
	child_state(d, si);
	emit_field(out, "si_utime");
	decode_ticks(out, si->si_utime);
	emit_field(out, "si_stime");
	decode_ticks(out, si->si_stime);
}

static void value(struct emit *out, const siginfo_t *si)
{
	number_field(out, "si_int", si->si_int);
	pointer_field(out, "si_ptr", si->si_ptr);
}

static void seccomp(struct emit *out, const siginfo_t *si)
{
	pointer_field(out, "si_call_addr", si->si_call_addr);
	number_field(out, "si_syscall", si->si_syscall);
	emit_field(out, "si_arch");
	flags_emit_choice(out, &flags_audit_arch, si->si_arch);
}

/* Shows the members of siginfo's union. The signal and the code decide which of them are valid (sigaction(2)). */
static void details(const struct decode *d, const siginfo_t *si)
{
	struct emit *out = d->out;
	int sig = si->si_signo, code = si->si_code;
	if (code == SI_TIMER) {
		number_field(out, "si_timerid", si->si_timerid);
		number_field(out, "si_overrun", si->si_overrun);
		value(out, si);
	} else if (code == SI_USER || code == SI_TKILL || code == SI_QUEUE || code == SI_MESGQ) {
		pid_field(d, si);
		number_field(out, "si_uid", si->si_uid);
		if (code == SI_QUEUE || code == SI_MESGQ)
			value(out, si);
	} else if (sig == SIGCHLD && code > 0 && code != SI_KERNEL) {
		child(d, si);
	} else if (sig == SIGIO && code > 0) {
		number_field(out, "si_band", si->si_band);
		number_field(out, "si_fd", si->si_fd);
	} else if (sig == SIGSYS && code == 1) {
		seccomp(out, si);
	} else if (sig == SIGSEGV || sig == SIGBUS || sig == SIGILL || sig == SIGFPE || sig == SIGTRAP) {
		pointer_field(out, "si_addr", si->si_addr);
	} else if (code < 0) {
		pid_field(d, si);
		number_field(out, "si_uid", si->si_uid);
	}
}

void decode_siginfo(const struct decode *d, const siginfo_t *si)
{
	struct emit *out = d->out;
	emit_open(out, '{');
	emit_field(out, "si_signo");
	emit_name(out, decode_signal_name(si->si_signo), si->si_signo);
	si_code(out, si);
	if (si->si_errno) {
		emit_field(out, "si_errno");
		emit_name(out, decode_errno_name(si->si_errno), si->si_errno);
	}
	if (si->si_signo)
		details(d, si);
	emit_close(out, '}');
}

/*
 * Converts a compat_siginfo (include/linux/compat.h): signal, errno, code, and members that depend on the signal and
 * the code.
 */
static void widen(const int32_t n[static 8], siginfo_t *si)
{
	uint32_t second = (uint32_t)n[4], third = (uint32_t)n[5];
	*si = (siginfo_t){.si_signo = n[0], .si_errno = n[1], .si_code = n[2]};
	if (si->si_code == SI_TIMER) {
		si->si_timerid = n[3];
		si->si_overrun = n[4];
		si->si_ptr = (void *)(uintptr_t)third;
	} else if (si->si_code <= 0 || si->si_signo == SIGCHLD) {
		si->si_pid = n[3];
		si->si_uid = second;
		if (si->si_signo == SIGCHLD && si->si_code > 0) {
			si->si_status = n[5];
			si->si_utime = n[6];
			si->si_stime = n[7];
		} else
			si->si_ptr = (void *)(uintptr_t)third;
	} else if (si->si_signo == SIGIO) {
		si->si_band = n[3];
		si->si_fd = n[4];
	} else if (si->si_signo == SIGSYS) {
		si->si_call_addr = (void *)(uintptr_t)(uint32_t)n[3];
		si->si_syscall = n[4];
		si->si_arch = third;
	} else
		si->si_addr = (void *)(uintptr_t)(uint32_t)n[3];
}

static bool get_siginfo(const struct decode *d, uint64_t addr, siginfo_t *si)
{
	int32_t narrow[8];
	if (decode_word(d) == 8)
		return decode_get(d, addr, si, sizeof(*si));
	if (!decode_get(d, addr, narrow, sizeof(narrow)))
		return false;
	widen(narrow, si);
	return true;
}

void show_siginfo(const struct decode *d, const struct value *x)
{
	siginfo_t si;
	if (get_siginfo(d, x->v, &si))
		decode_siginfo(d, &si);
	else
		emit_ptr(d->out, x->v);
}

/*
 * waitid(2) does not write the times of the child, so the memory for them has no meaning. If no child has changed its
 * state (WNOHANG), all members are 0.
 */
void show_child_info(const struct decode *d, const struct value *x)
{
	siginfo_t si;
	if (!get_siginfo(d, x->v, &si)) {
		emit_ptr(d->out, x->v);
		return;
	}
	emit_open(d->out, '{');
	emit_field(d->out, "si_signo");
	emit_name(d->out, decode_signal_name(si.si_signo), si.si_signo);
	si_code(d->out, &si);
	if (si.si_signo)
		child_state(d, &si);
	emit_close(d->out, '}');
}

struct kernel_sigevent {
	uint64_t value;
	int32_t signo, notify, tid;
	int32_t pad[11];
};

static bool get_sigevent(const struct decode *d, uint64_t addr, struct kernel_sigevent *e)
{
	int32_t n[4];
	if (decode_word(d) == 8)
		return decode_get(d, addr, e, sizeof(*e));
	if (!decode_get(d, addr, n, sizeof(n)))
		return false;
	*e = (struct kernel_sigevent){.value = (uint32_t)n[0], .signo = n[1], .notify = n[2], .tid = n[3]};
	return true;
}

void show_sigevent(const struct decode *d, const struct value *x)
{
	struct kernel_sigevent e;
	if (!get_sigevent(d, x->v, &e)) {
		emit_ptr(d->out, x->v);
		return;
	}
	emit_open(d->out, '{');
	emit_field(d->out, "sigev_value");
	emit_open(d->out, '{');
	number_field(d->out, "sival_int", (int32_t)e.value);
	show_field(d, "sival_ptr", K_PTR, e.value);
	emit_close(d->out, '}');
	emit_field(d->out, "sigev_signo");
	show_kind(d, K_SIGNAL, (uint32_t)e.signo, -1);
	emit_field(d->out, "sigev_notify");
	flags_emit_choice(d->out, &flags_sigev, (uint32_t)e.notify);
	if (e.notify == SIGEV_THREAD_ID)
		number_field(d->out, "sigev_notify_thread_id", e.tid);
	emit_close(d->out, '}');
}

/* rt_sigreturn(2) has no arguments. Its frame is at the stack pointer. */
void show_sigreturn(const struct decode *d, const struct value *x)
{
	(void)x;
	uint64_t set;
	emit_open(d->out, '{');
	emit_field(d->out, "mask");
	if (decode_word(d) == 8 && decode_get(d, decode_frame_mask(d->call), &set, sizeof(set)))
		emit_signals(d->out, set);
	else
		emit_ptr(d->out, d->call->sp);
	emit_close(d->out, '}');
}
