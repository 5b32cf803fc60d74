/* Putting the agent into running processes, and taking it out again without a trace. */
#include "engine/patch/patch.h"

#include "base/clock.h"
#include "tracee/proc.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- where threads were --- */

void resume_point_forget(struct patch *p, const struct task *task)
{
	for (size_t i = 0; i < p->resume_points.n; i++)
		if (p->resume_points.v[i].tid == task->tid)
			p->resume_points.v[i--] = p->resume_points.v[--p->resume_points.n];
}

bool resume_point_may_be_in(const struct patch *p, uint64_t lo, uint64_t hi)
{
	for (size_t i = 0; i < p->resume_points.n; i++)
		if (!p->resume_points.v[i].ip || (p->resume_points.v[i].ip >= lo && p->resume_points.v[i].ip < hi))
			return true;
	return false;
}

/* --- going in --- */

/* A vfork parent, or a thread that waits for a disk, does not stop until that is over. */
#define ATTACH_PATIENCE_NS NSEC_PER_SEC

/* Waits for the stop that PTRACE_INTERRUPT asked for; a signal that comes first is kept in hand. False: none came. */
static bool wait_for_stop(struct patch *p, struct task *task)
{
	int status;
	pid_t tid;
	uint64_t until = clock_ns() + ATTACH_PATIENCE_NS;
	for (;;) {
		while (((tid = tracer_wait(&p->t, task->tid, &status, WNOHANG, NULL)) == 0 || tid == -EINTR) &&
		       clock_ns() < until && !p->t.failed)
			clock_sleep_ns(50000);
		if (tid == 0 || tid == -EINTR || p->t.failed)
			return false; /* its stop comes when its wait ends, and is then served like any other */
		if (tid < 0 || !WIFSTOPPED(status) || status >> 16 == PTRACE_EVENT_EXIT) {
			tracer_keep_status(&p->t, task->tid, tid < 0 ? 0 : status);
			return false;
		}
		if (status >> 16 == 0 || status >> 16 == PTRACE_EVENT_STOP)
			break;
		/* A birth, inside its call: told, and then on to the stop that was asked for. */
		tracer_stop(&p->t, task, status);
		p->t.npending = 0;
		p->t.current = NULL;
		ptrace(PTRACE_CONT, task->tid, NULL, NULL);
		task->stopped = false;
	}
	task->stopped = true;
	task->fresh = false;
	task->listening = status >> 16 == PTRACE_EVENT_STOP && tracer_is_stopping(WSTOPSIG(status));
	task->group_stopped = task->listening;
	if (status >> 16 == 0)
		task->deliver = WSTOPSIG(status);
	return true;
}

static bool note_resume_point(struct patch *p, const struct task *task)
{
	struct user_regs_struct r = {0}; /* 0: it may be anywhere */
	if (task->stopped)
		ptrace(PTRACE_GETREGS, task->tid, NULL, &r);
	return vec_push(&p->resume_points, (struct resume_point){task->tid, r.rip});
}

/* Why the agent cannot go into this process, or nothing. */
static void find_obstacle(struct patch *p, struct task *task, struct buf *why)
{
	struct user_regs_struct r;
	if (task->listening)
		buf_adds(why, "the process is stopped");
	else if (task->deliver || task->exiting)
		buf_adds(why, "a signal was on its way");
	else if (ptrace(PTRACE_GETREGS, task->tid, NULL, &r) < 0 || r.cs != 0x33)
		buf_adds(why, "a 32-bit program");
	else {
		struct proc_status s;
		proc_status(task->tid, &s);
		p->filters = s.filters > p->filters ? s.filters : p->filters; /* its programs live with those */
		patch_minds_signals(p, &s, why);
	}
}

/* The agent goes in by way of one stopped task, whose registers stay as they are: a call that it is in will restart. */
static void enter_process(struct patch *p, struct task *task)
{
	struct buf why = {0};
	struct user_regs_struct saved;
	uint64_t at = tracer_entry_point(task->tid);
	find_obstacle(p, task, &why);
	if (!why.len && (!at || ptrace(PTRACE_GETREGS, task->tid, NULL, &saved) < 0))
		buf_adds(&why, "its entry point is not known");
	p->images++;
	if (!why.len) {
		int err = image_setup(p, task, at);
		if (err == 0)
			sigkill_guard_install(p, task);
		if (err == -ESRCH || !task->stopped)
			task->stopped = false;
		else
			ptrace(PTRACE_SETREGS, task->tid, NULL, &saved);
		if (err < 0)
			buf_addf(&why, "the agent cannot be mapped: %s", strerror(-err));
	}
	if (why.len)
		image_fall_back(p, task, buf_str(&why));
	buf_free(&why);
}

/* All tasks that wait for their stop now; births may add more meanwhile, whose first stops are served like any other's. */
static int stop_all(struct patch *p)
{
	VEC(struct task *) all = {0};
	size_t i = 0;
	struct task *task;
	bool known = true;
	while (known && (task = map_next(&p->t.tasks.by_tid, &i, NULL)))
		known = !task->proc || vec_push(&all, task);
	for (i = 0; i < all.n; i++) {
		task = all.v[i];
		if (!patch_give_data(task) || (!task->proc->image && !(task->proc->image = image_new())))
			break;
		if (!task->stopped)
			wait_for_stop(p, task);
		if (!note_resume_point(p, task))
			break;
	}
	int err = !known || i < all.n ? -ENOMEM : 0;
	vec_free(&all);
	return err;
}

int patch_attach_all(struct patch *p)
{
	size_t i = 0;
	struct task *task;
	int err = stop_all(p);
	if (err < 0)
		return err;
	while ((task = map_next(&p->t.tasks.by_tid, &i, NULL)))
		if (task->stopped && task->proc && image_of(task) && image_of(task)->state == IMAGE_NEW)
			enter_process(p, task);
	if (p->t.failed)
		return 0; /* all are let go of, from where they stand: with nobody to wait for them none is to stop at a call */
	i = 0;
	while ((task = map_next(&p->t.tasks.by_tid, &i, NULL))) {
		if (!task->stopped || !task->proc || !image_of(task))
			continue;
		arm_task(p, task, image_of(task)->state == IMAGE_READY);
		tracer_resume(&p->t, task);
	}
	return 0;
}

/* --- coming out --- */

/* Is a SIGSYS that a call raised on its way to this thread? */
static bool dispatch_is_pending(pid_t tid)
{
	siginfo_t si[32];
	struct __ptrace_peeksiginfo_args args = {.off = 0, .flags = 0, .nr = 32};
	uint64_t mask = 0;
	/* What a call raised is never blocked (force_sig_info_to_task); what a program sent itself, and says the same, may be. */
	if (ptrace(PTRACE_GETSIGMASK, tid, sizeof(mask), &mask) < 0 || mask & SIGBIT(SIGSYS))
		return false;
	long n = ptrace(PTRACE_PEEKSIGINFO, tid, &args, si);
	for (long i = 0; i < n; i++)
		if (si[i].si_signo == SIGSYS && si[i].si_code == SUD_SIGSYS)
			return true;
	return false;
}

void patch_settle_pending(struct patch *p, struct task *task)
{
	int status;
	siginfo_t si;
	struct user_regs_struct r;
	const struct patch_task *pt = patch_task_of(task);
	/* Signals that faults and calls raise come first of all (signal(7)): it stops at once, before any of its own code. */
	if (!pt || !pt->armed || task->deliver || task->listening || !dispatch_is_pending(task->tid) ||
	    ptrace(PTRACE_CONT, task->tid, NULL, NULL) < 0 || remote_next_stop(&p->t, task, &status) < 0)
		return;
	if (status >> 16 == 0 && ptrace(PTRACE_GETSIGINFO, task->tid, NULL, &si) == 0) {
		if (dispatch_is_forced(task, &si, &r))
			dispatch_forced(p, task, &si, &r);
		else
			task->deliver = WSTOPSIG(status);
	}
}

/* Do all threads of the process stand still, so that nothing runs in what is unmapped? */
static bool stands_still(const struct patch *p, const struct process *proc)
{
	size_t i = 0;
	const struct task *task;
	while ((task = map_next(&p->t.tasks.by_tid, &i, NULL)))
		if (task->proc == proc && !task->stopped)
			return false;
	return true;
}

/* Has the copy of agent_call at `at` unmap something. */
static void unmap(struct patch *p, struct task *task, uint64_t at, uint64_t addr, uint64_t size)
{
	struct user_regs_struct r;
	if (!task->stopped || ptrace(PTRACE_GETREGS, task->tid, NULL, &r) < 0)
		return;
	r.rax = SYS_munmap;
	r.rdi = addr;
	r.rsi = size;
	remote_excursion_call(&p->t, task, at, &r);
}

/* Memory of ours in the program. */
struct area {
	uint64_t addr, size;
};

#define CALL_MAX 512 /* bytes of agent_call */

/* Not by the agent's code, which is unmapped, too. Was all done? */
static bool unmap_areas(struct patch *p, struct task *task, const struct area *v, size_t n)
{
	unsigned char old[CALL_MAX];
	size_t len = (size_t)(agent_call_end - agent_call);
	uint64_t room = maps_room(task->tid, len);
	uint64_t at = room ? room : tracer_entry_point(task->tid);
	if (!at || len > sizeof(old) || !task->stopped || remote_read(task->tid, at, old, len) < 0 ||
	    remote_write(task->tid, at, agent_call, len) < 0)
		return false;
	for (size_t i = 0; i < n; i++)
		unmap(p, task, at, v[i].addr, v[i].size);
	if (!task->stopped)
		return false;
	remote_write(task->tid, at, old, len);
	return true;
}

static void unmap_all(struct patch *p, struct task *task)
{
	struct image *img = image_of(task);
	VEC(struct area) areas = {0};
	/* A thread in a group-stop would leave it by running: then the pages stay, unused. */
	if (task->mid_call || task->listening || task->deliver)
		return;
	sigkill_guard_remove(p, task, false);
	bool known = vec_push(&areas, (struct area){AGENT_CODE, 2ull * AGENT_PAGE}) &&
		     vec_push(&areas, (struct area){AGENT_STATS, AGENT_STATS_SIZE});
	for (size_t i = 0; known && i < img->pages.n; i++)
		known = vec_push(&areas, (struct area){img->pages.v[i].addr,
						       ((uint64_t)img->pages.v[i].max * STUB_SIZE + AGENT_PAGE - 1) &
							       ~(uint64_t)(AGENT_PAGE - 1)});
	img->cleaned = unmap_areas(p, task, areas.v, areas.n);
	vec_free(&areas);
}

void patch_unmap_setup(struct patch *p, struct task *task, const struct user_regs_struct *r, uint64_t stubs)
{
	const struct {
		uint64_t there;
		struct area area;
	} made[] = {{r->r13, {AGENT_CODE, AGENT_PAGE}},
		    {r->r14, {AGENT_DATA, AGENT_PAGE}},
		    {r->r15, {AGENT_STATS, AGENT_STATS_SIZE}},
		    {r->rbx, {stubs, STUB_AREA}}};
	struct area areas[sizeof(made) / sizeof(*made)];
	size_t n = 0;
	for (size_t i = 0; r->r13 == AGENT_CODE && i < sizeof(made) / sizeof(*made); i++)
		if (made[i].there && made[i].there == made[i].area.addr)
			areas[n++] = made[i].area;
	if (n)
		unmap_areas(p, task, areas, n);
}

void patch_clean(struct patch *p, struct task *task)
{
	struct image *img = image_of(task);
	if (!img || img->state != IMAGE_READY || img->cleaned || !task->proc->attached)
		return;
	site_restore_all(task);
	if (stands_still(p, task->proc))
		unmap_all(p, task);
}

/* --- outliving us --- */

static void __attribute__((noreturn)) watchdog(int sock)
{
	static unsigned char *selectors[4096];
	size_t n = 0;
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	/* It runs once, and every moment counts then. Where that is not permitted it comes when it comes. */
	sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
	if (sock > 0)
		close_range(0, (unsigned)sock - 1, 0);
	close_range((unsigned)sock + 1, ~0u, 0);
	for (;;) {
		char byte;
		union {
			struct cmsghdr head;
			char room[CMSG_SPACE(sizeof(int))];
		} control;
		struct iovec iov = {&byte, 1};
		struct msghdr msg = {
			.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
		if (recvmsg(sock, &msg, 0) <= 0)
			break;
		const struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
		int fd = -1;
		if (c && c->cmsg_type == SCM_RIGHTS)
			memcpy(&fd, CMSG_DATA(c), sizeof(fd));
		void *at = fd < 0 ? MAP_FAILED
				  : mmap(NULL, AGENT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
					 (off_t)AGENT_SLOTS_SIZE);
		if (fd >= 0)
			close(fd);
		if (at != MAP_FAILED && n < sizeof(selectors) / sizeof(*selectors))
			selectors[n++] = at;
	}
	while (n > 0)
		*(volatile unsigned char *)selectors[--n] = 0;
	_exit(0);
}

int patch_start_watchdog(struct patch *p)
{
	int sock[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock) < 0)
		return -errno;
	/* Twice forked, so that it is nobody's child and no wait of ours finds it. */
	pid_t pid = fork();
	if (pid == 0) {
		if (fork() == 0)
			watchdog(sock[1]);
		_exit(0);
	}
	int err = pid < 0 ? -errno : 0;
	if (pid > 0)
		waitpid(pid, NULL, 0);
	close(sock[1]);
	if (err < 0)
		close(sock[0]);
	else
		p->watchdog_fd = sock[0];
	return err;
}

void patch_watch(struct patch *p, int fd)
{
	char byte = 0;
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.head = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
	struct iovec iov = {&byte, 1};
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	if (p->watchdog_fd >= 0 && sendmsg(p->watchdog_fd, &msg, MSG_NOSIGNAL) < 0)
		p->t.counts.failed |=
			false; /* without it our sudden death would be the program's: rare, and said in the manual */
}
