/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/diag.h"
#include "base/memory.h"
#include "base/words.h"
#include "cmd/display.h"
#include "cmd/trace/cmd_trace.h"
#include "syscall/call_table.h"
#include "tracee/proc.h"
#include "tracee/spawn.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* The main loop of the tracer: starts the engine, passes its events to the pipeline, and ends the trace. */
#define STOP_US 50000

/* If a signal from the terminal stops the program, sctrace stops too, after a moment in which the job can stop. */
static void on_stop(struct trace *t, bool stopped)
{
	t->root_stopped = stopped;
	if (stopped)
		trace_signals_tick(t, STOP_US);
}

static void on_exec(struct trace *t, const struct event *ev)
{
	/* For the file that sctrace itself has started, the engine has already printed such a note. */
	const char *lost = !t->program || t->root ? proc_lost_privilege(ev->pid) : NULL;
	if (lost)
		trace_out_idle(&t->out.common);
	if (lost)
		diag_note("process %d runs a set-%s-ID program without its privileges, because it is traced",
			  (int)ev->pid, lost);
	if (!t->root)
		t->root = ev->pid;
}

/*
 * The line about the end of a thread shows its name (-Y). It may be the only line of the thread, as with -e none. The calls
 * of a thread or process that was killed may be counted only after its end (--by).
 */
static void learn_name(struct trace *t, const struct event *ev)
{
	bool in_file = t->out.separate && strstr(t->out.separate, "%e");
	bool by_task = t->by_events && (t->totals.c.by == BY_PROCESS || t->totals.c.by == BY_THREAD);
	if ((t->o.look.pid_names || t->o.look.outer_ids || by_task || in_file) &&
	    (ev->kind == EV_EXEC || ev->kind == EV_NEW_TASK))
		names_kept_learn(&t->names, ev->kind == EV_EXEC ? ev->tid : ev->child);
}

/* Does the same for the processes to which sctrace attaches. */
static void learn_names(struct trace *t)
{
	for (size_t i = 0; (t->o.look.pid_names || t->o.look.outer_ids) && i < t->o.pids.n; i++)
		names_kept_learn(&t->names, t->o.pids.v[i]);
}

static void on_event(struct trace *t, struct event *ev)
{
	if (ev->kind == EV_NOTE) {
		trace_out_idle(&t->out.common); /* the note may go to the same terminal as the trace */
		diag_note("%s", ev->text);
		return;
	}
	if (ev->kind == EV_MAIN) {
		trace_totals_main(&t->totals);
		return;
	}
	if (ev->kind == EV_EXEC)
		on_exec(t, ev);
	if ((ev->kind == EV_STOP || ev->kind == EV_CONT) && ev->tid == t->root)
		on_stop(t, ev->kind == EV_STOP);
	learn_name(t, ev);
	if (ev->comm)
		names_kept_say(&t->names, ev->tid, ev->comm);
	trace_pipeline_event(&t->pipeline, ev);
	if (ev->kind == EV_DEATH) {
		names_kept_forget(&t->names, ev->tid);
		trace_injects_forget(&t->o.injects, ev->tid);
	}
	if (ev->kind == EV_DEATH && ev->is_process && t->o.last_set)
		trace_record_end_of(t, ev);
	if (ev->kind == EV_DEATH && ev->is_process && t->stack)
		stack_forget(t->stack, ev->pid);
}

/*
 * Returns true if the reader of the trace has closed its pipe and the program can continue without sctrace. The program
 * cannot continue if the engine has installed a seccomp filter: without a tracer the program's calls would fail
 * (SECCOMP_RET_TRACE in seccomp(2)).
 */
static bool is_unread(const struct trace *t)
{
	const struct trace_opts *o = &t->o;
	bool filtered =
		(t->program && o->follow && o->select.by_call) || (t->ops->is_needed && t->ops->is_needed(t->engine));
	bool started = !t->program || t->root;
	return t->out.common.failed && t->out.common.err == EPIPE && t->shows && started && !filtered && !o->save &&
	       !o->injects.rules.n && !o->kill_on_exit;
}

#define END_PATIENCE_NS (2 * NSEC_PER_SEC)

/* Waits a moment for a short program to end, so that its output does not appear after the shell's prompt. */
static void leave_program(const struct trace *t)
{
	siginfo_t info = {0};
	uint64_t until = clock_ns() + END_PATIENCE_NS;
	while (t->program && waitid(P_PID, (id_t)t->root, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && !info.si_pid &&
	       clock_ns() < until)
		clock_sleep_ns(NSEC_PER_SEC / 100);
	if (!info.si_pid && !(t->o.look.quiet & QUIET_ATTACH))
		diag_note("detached, because %s; the program continues untraced",
			  is_unread(t) ? "the reader of the trace has closed its pipe"
				       : "the limit of --syscall-limit has been reached");
}

static void loop(struct trace *t)
{
	uint64_t kill_at = 0;
	uint64_t period_at = t->o.interval_ns ? clock_ns() + t->o.interval_ns : UINT64_MAX;
	int r;
	for (;;) {
		struct event ev;
		if (trace_signals_serve(t, &kill_at) || is_unread(t) || trace_pipeline_is_full(&t->pipeline)) {
			setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
			if (t->o.count)
				trace_waiting_calls(t->o.pids.v, t->o.pids.n, &t->waiting_calls);
			r = t->ops->detach(t->engine);
			while (r == 0 && t->ops->next(t->engine, &ev) == 1)
				on_event(t, &ev);
			break;
		}
		if (period_at != UINT64_MAX && clock_ns() >= period_at) {
			trace_totals_period(&t->totals);
			period_at += t->o.interval_ns;
		}
		r = t->ops->next(t->engine, &ev);
		if (r == 1)
			on_event(t, &ev);
		else if (r == -EINTR)
			trace_signals_answer(t, false);
		else
			break;
	}
	trace_signals_answer(t, true);
	if (r == -EPERM && t->o.user && !t->root)
		trace_fail(&t->failure, r,
			   "cannot run '%s' as user '%s': only root may become another user (CAP_SETUID, CAP_SETGID)",
			   t->program[0], t->o.user);
	else if (r < 0 && t->program && !t->root)
		trace_fail(&t->failure, r, "cannot run '%s': %s", t->program[0], spawn_error(t->program[0], -r));
	else if (r < 0)
		trace_fail(&t->failure, r, "engine %s failed: %s", t->ops->name, diag_error_text(-r));
}

/* Ends sctrace as the program ended: with the same status, or by the same signal. Suppresses a second core file. */
static int die_like(int status)
{
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	int sig = WTERMSIG(status);
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	prctl(PR_SET_DUMPABLE, 0);
	signal(sig, SIG_DFL);
	sigset_t one;
	sigemptyset(&one);
	sigaddset(&one, sig);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	raise(sig);
	return 128 + sig;
}

/*
 * Returns true if sctrace shows a recording, and the reader of standard output has read enough (`sctrace show FILE |
 * head -1`). Like the end of a live trace without a reader, this is not an error that the user must read.
 */
static bool has_been_read(const struct trace *t)
{
	return t->recording && t->shows && !t->o.output && t->failure.err == -EPIPE;
}

/* After Ctrl-C, the terminal shows ^C. A table must not begin behind it. */
static void begin_line(struct trace *t)
{
	if (trace_signals_typed() && !t->shows && isatty(t->out.common.fd))
		buf_addc(&t->out.common.buf, '\n');
}

int trace_end(struct trace *t, struct engine_result *result)
{
	/* The recording must be saved before trace_pipeline_end() frees the last calls of each thread. */
	if (t->writer && t->o.last_set && t->told_to_end)
		trace_save_last(t);
	trace_pipeline_end(&t->pipeline);
	names_kept_free(&t->names);
	t->ops->result(t->engine, result);
	trace_totals_complete(&t->totals, result);
	begin_line(t);
	if (t->o.profile)
		trace_show_seccomp(t);
	else if (trace_opts_page(&t->o) || t->o.html)
		trace_page_show(t, result);
	else if (t->o.count || t->o.count_too)
		trace_totals_final(&t->totals, result);
	if (t->o.folded)
		trace_folded_text(&t->folded, &t->out.common.buf);
	if (t->writer)
		trace_record_close(t, result);
	t->ops->stop(t->engine);
	auto_buf why = {0};
	int r = trace_out_close(&t->out.common, &why);
	trace_outputs_free(&t->out);
	trace_fail(&t->failure, r, "%s", buf_str(&why));
	if (t->failure.err && !has_been_read(t))
		diag_error("%s", buf_str(&t->failure.why));
	if (t->failure.err)
		return EXIT_OWN;
	trace_hint(t);
	trace_say_unjudged(t);
	trace_say_unseen(t);
	/* A budget that children could evade. Below a table on standard error, this has already been said. */
	if (t->o.expect.list.n && result->unfollowed && (t->o.output || t->o.view.format != SUMMARY_TEXT))
		diag_note("child processes were not traced, so --expect did not count their calls; -f traces them");
	display_errors("", &t->totals.unmet);
	display_errors("", &t->totals.unknown);
	return t->totals.unmet.len ? EXIT_GATE : t->totals.unknown.len ? EXIT_OWN : 0;
}

/* Without -c, there is no footer that says whether the trace has slowed the program down. */
static void say_slowness(const struct trace *t)
{
	auto_buf text = {0};
	if (!t->o.count && t->ops->slowness)
		t->ops->slowness(t->engine, &text);
	if (text.len)
		diag_note("%s", buf_str(&text));
}

static int finish(struct trace *t)
{
	struct engine_result result;
	say_slowness(t);
	int status = trace_end(t, &result);
	if (t->failure.err && t->program && !t->root)
		return spawn_status(-t->failure.err);
	if (status)
		return status;
	return t->program ? die_like(result.status) : 0;
}

static bool takes_events(const struct trace *t)
{
	return t->shows || t->by_events || t->o.record;
}

static bool shows_all_of_exec(const struct trace_opts *o)
{
	const int64_t nr = syscall_number(syscall_native_arch(), "execve");
	const struct call exec = {
		.arch = syscall_native_arch(), .nr = nr, .desc = syscall_lookup(syscall_native_arch(), nr)};
	return o->record || o->tree || o->verbose_count > 0 || trace_look_full(&o->look, &exec);
}

/*
 * Returns the file to which calls are printed, if the program can write to it as well, or else NULL. Only sctrace has the
 * files that it opens itself (-o), unless they are terminals or pipes that already existed.
 */
static const struct statx *shared_output(struct trace *t)
{
	const struct trace_out *out = &t->out.common;
	char path[32];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", out->fd);
	if (!t->shows || t->out.separate || out->command || proc_stat(path, &t->output) < 0)
		return NULL;
	bool own = out->path && S_ISREG(t->output.stx_mode), nowhere = S_ISCHR(t->output.stx_mode) && !isatty(out->fd);
	return own || nowhere ? NULL : &t->output;
}

static void write_pending(void *ctx)
{
	trace_out_idle(ctx);
}

static void make_config(struct trace *t, struct engine_config *c)
{
	struct trace_opts *o = &t->o;
	c->spawn = (struct spawn)SPAWN_INIT;
	c->spawn.argv = t->program;
	c->spawn.argv0 = o->argv0;
	c->spawn.user = o->user;
	c->spawn.daemonize = o->daemonize > 0;
	c->attach = o->pids.v;
	c->nattach = o->pids.n;
	c->cgroup = o->cgroup;
	c->comms = (const char *const *)o->comms.v;
	c->ncomms = o->comms.n;
	c->uids = o->uids.v;
	c->nuids = o->uids.n;
	c->follow = o->follow > 0;
	c->kill_on_exit = o->kill_on_exit;
	c->may_detach = o->limit > 0;
	bool timed =
		t->by_events || o->record || t->o.times.durations || t->o.select.slower_ns || t->o.format != TRACE_TEXT;
	c->times = o->io ? TIMES_EXACT : timed ? TIMES_USUAL : TIMES_NONE;
	c->waits = o->count || o->count_too || o->io || o->select.waited || o->times.waits || o->format != TRACE_TEXT;
	/* Counts need no data. */
	bool counts_only = o->count && !o->io && !o->files && !o->tree && !o->folded;
	c->string_max = counts_only ? 0 : trace_string_max(o);
	c->reports_attached = o->stacks && t->shows && o->format == TRACE_TEXT && !o->truss;
	c->usage = o->tree || o->record;
	c->verbose = shows_all_of_exec(o);
	c->names = o->record || o->files || o->format == TRACE_CSV || o->look.fd_names || o->look.pid_names ||
		   o->look.outer_ids || o->look.namespaces || o->select.paths.n ||
		   (o->by && (strcmp(o->by, "fd") == 0 || strcmp(o->by, "path") == 0));
	c->full_names = o->record || o->look.fd_names > 1;
	c->find_main = t->program && (o->count || o->count_too || o->io);
	if (o->injects.rules.n) {
		c->inject = trace_inject_ask;
		c->inject_ctx = &o->injects;
	}
	if (takes_events(t) && (t->o.select.by_call || t->few))
		c->only = &t->only;
	c->stops = &t->stops;
	c->output = shared_output(t);
	c->idle = write_pending;
	c->idle_ctx = &t->out.common;
}

static bool break_at_exec(void *ctx, const struct event *ev)
{
	(void)ctx;
	return ev->kind == EV_EXEC;
}

/* If the program does not exist, its name may be a mistyped command, such as "compar". Suggests the command. */
static void suggest_command(const char *program, struct buf *why)
{
	static const char *const commands[] = {"compare", "bench", "report", "show", "help"};
	struct near near = {.word = program};
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		near_offer(&near, commands[i]);
	near_say(&near, "sctrace ", why);
}

static int start(struct trace *t, struct engine_config *c)
{
	auto_buf why = {0};
	auto_free char **env = t->o.env.n ? spawn_environment(t->o.env.v, t->o.env.n) : NULL;
	c->spawn.envp = env;
	if (t->o.break_execve)
		c->break_on = break_at_exec;
	int cpu = sched_getcpu();
	if (t->o.pin && cpu >= 0) {
		c->spawn.cpus = &cpu;
		c->spawn.ncpus = 1;
		c->spawn.pin_tracer = true;
	}
	int r = t->ops->start(&t->engine, c, &why);
	/*
	 * With -DD and -DDD, the tracer, which is now another process, leaves the process group or the session of the
	 * shell, so that signals to that group or session do not end the tracer.
	 */
	if (r == 0 && t->o.daemonize == 2)
		setpgid(0, 0);
	if (r == 0 && t->o.daemonize > 2)
		setsid();
	int status = 0;
	if (r < 0) {
		status = t->program ? spawn_status(-r) : EXIT_UNREADABLE;
		if (r == -ENOENT && t->program && why.len && !t->o.truss)
			suggest_command(t->program[0], &why);
		diag_error("%s", why.len ? buf_str(&why) : diag_error_text(-r));
	}
	return status;
}

/* What an engine need not be able to do if it reports the calls, and they are counted here. */
#define COUNTED ((unsigned)(CAP_COUNTS | CAP_ERRNOS | CAP_BY_THREAD | CAP_BY_PROCESS))

/* With -f, the number of a thread stands for its process. */
static void find_processes(struct trace_opts *o)
{
	size_t n = 0;
	for (size_t i = 0; o->follow && i < o->pids.n; i++) {
		size_t k = 0;
		pid_t pid = proc_process(o->pids.v[i]);
		while (k < n && o->pids.v[k] != pid)
			k++;
		o->pids.v[k] = pid;
		n += k == n;
	}
	o->pids.n = o->follow ? n : o->pids.n;
}

static bool attaches_to_thread(const struct trace_opts *o)
{
	for (size_t i = 0; i < o->pids.n; i++)
		if (proc_process(o->pids.v[i]) != o->pids.v[i])
			return true;
	return false;
}

/* Returns the capabilities that the engine must have. */
static unsigned wants(const struct trace *t)
{
	const struct trace_opts *o = &t->o;
	unsigned want = !takes_events(t) ? CAP_COUNTS : trace_opts_watch(o) ? CAP_WATCH : CAP_EVENTS;
	const struct {
		bool asked;
		unsigned cap;
	} more[] = {
		{o->follow, CAP_FOLLOW},
		{o->pids.n, CAP_ATTACH},
		{attaches_to_thread(o), CAP_THREAD},
		{o->limit, CAP_LEAVE},
		{o->injects.rules.n, CAP_INJECT},
		{o->break_execve, CAP_BREAK},
		{o->stacks || o->folded, CAP_STOPS},
		{o->cgroup, CAP_CGROUP},
		{o->all, CAP_SYSTEM},
		{o->errors && !t->by_events, CAP_ERRNOS},
		{conditions_use_main(&o->expect), CAP_MAIN},
		{o->select.waited || o->times.waits, CAP_WAITS},
		{o->by && !t->by_events, o->by && strcmp(o->by, "thread") == 0 ? CAP_BY_THREAD : CAP_BY_PROCESS},
	};
	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++)
		want |= more[i].asked ? more[i].cap : 0;
	return want;
}

/*
 * Returns the name of the engine to use by default; NULL: the best one. Stacks of all calls require that every call stops
 * its thread; ptrace needs fewer stops for this than patch. The number of a process in another pid namespace can only be
 * found while the process exists.
 */
static const char *usual_engine(const struct trace *t)
{
	bool stacks_of_all = (t->o.stacks || t->o.folded) && !t->o.select.by_call;
	/* Only ptrace reports what each thread waits for when sctrace attaches (EV_ATTACH). */
	bool reports = t->shows && t->o.stacks && t->o.pids.n;
	return stacks_of_all || reports || t->o.look.outer_ids ? "ptrace" : NULL;
}

/* Makes the engine report calls, which are then counted here, in place of counting them. */
static void count_events(struct trace *t, struct engine_config *c)
{
	t->by_events = true;
	c->times = c->times == TIMES_NONE ? TIMES_USUAL : c->times;
	c->want = (c->want & ~COUNTED) | CAP_EVENTS;
	c->only = t->o.select.by_call ? &t->only : NULL;
}

/* The patch engine counts most calls of a thread, and records the others, which are counted here. */
static const struct engine_ops *choose(struct trace *t, struct engine_config *c, struct buf *note)
{
	const char *name = t->o.engine ? t->o.engine : usual_engine(t);
	auto_buf unused = {0};
	if (c->want & CAP_BY_THREAD && !t->by_events &&
	    engine_choose(name, (c->want & ~COUNTED) | CAP_EVENTS, &unused) == engine_find("patch")) {
		count_events(t, c);
		c->count_threads = t->count_threads = true;
		name = "patch";
	}
	return engine_choose(name, c->want, note);
}

/*
 * The patch engine records the calls that change names without a stop, and the names with them. If it did not report these
 * calls, the program would have to stop at each of them, so that the names from before are looked up in time.
 */
static void follow_names(struct trace *t, struct engine_config *c)
{
	t->follows_names = t->ops == engine_find("patch") && !t->o.select.by_call;
	if (t->ops != engine_find("patch") || !t->o.select.by_call || !c->names || c->only != &t->only ||
	    c->want & CAP_COUNTS)
		return;
	trace_select_naming(&t->only);
	t->follows_names = true;
}

/* Sets t->ops to the engine, and c->want to what it must do. Returns 0, or an exit status after a message. */
static int choose_engine(struct trace *t, struct engine_config *c)
{
	auto_buf note = {0};
	c->want = wants(t);
	t->ops = choose(t, c, &note);
	if (!t->ops)
		diag_error("%s", buf_str(&note));
	else if (note.len)
		diag_note("%s", buf_str(&note));
	/* The footer of -c shows this reason. */
	engine_say_choice(t->ops, t->o.engine, c->want, &t->choice);
	if (!t->ops)
		return EXIT_OWN;
	/*
	 * To count calls, the ptrace engine stops the program at each call. If the user has selected calls, sctrace
	 * requests the events of these calls instead and counts the events, so that the program need not stop at other
	 * calls. For threads, the events also tell where their time went.
	 */
	const bool counts = t->o.count && !t->by_events && t->ops == engine_find("ptrace");
	if (counts && (c->want & CAP_BY_THREAD || (t->o.select.by_call && !t->o.by)))
		count_events(t, c);
	if (t->o.count && !t->by_events)
		trace_wire_requests(t, c);
	follow_names(t, c);
	return 0;
}

static void say_how_to_end(const struct trace *t)
{
	if (t->o.look.quiet & QUIET_ATTACH)
		return;
	for (size_t i = 0; i < t->o.pids.n; i++) {
		const pid_t pid = t->o.pids.v[i];
		if (!proc_is_over(pid)) /* the engine reports those that are */
			diag_note("attached to %s %d; Ctrl-C detaches", proc_process(pid) == pid ? "process" : "thread",
				  (int)pid);
	}
	if ((t->o.cgroup || t->o.all) && !t->program)
		diag_note(trace_opts_watch(&t->o) ? "printing calls; Ctrl-C stops this"
						  : "counting calls; Ctrl-C stops this and prints the summary");
}

/* Returns 0, or EXIT_OWN after a message. */
static int catch_signals(struct trace *t, struct engine_config *c)
{
	int r = trace_signals_catch(t, c);
	if (r < 0)
		diag_error("cannot handle signals: %s", diag_error_text(-r));
	return r < 0 ? EXIT_OWN : 0;
}

/*
 * Begins to handle signals, and chooses an engine, which takes some milliseconds. If sctrace attaches to processes,
 * SIGINT may be ignored until it is handled (stays_ignored() in signals.c). It is then handled first, because otherwise
 * a SIGINT that arrives now would be lost. If a program is started, signals must end sctrace until the program exists.
 */
static int prepare(struct trace *t, struct engine_config *c)
{
	int status = t->program ? 0 : catch_signals(t, c);
	if (!status)
		status = choose_engine(t, c);
	return !status && t->program ? catch_signals(t, c) : status;
}

int trace_run(struct trace *t)
{
	struct engine_config c = {0};
	find_processes(&t->o);
	make_config(t, &c);
	int status = prepare(t, &c);
	for (size_t i = 0; !status && c.reports_attached && i < t->o.pids.n; i++)
		trace_waiting_look(&t->waiting, t->o.pids.v[i]);
	if (!status)
		status = start(t, &c);
	if (status) {
		auto_buf why = {0};
		trace_out_close(&t->out.common, &why);
		return status;
	}
	say_how_to_end(t);
	if (t->program && t->ops != engine_find("bpf"))
		trace_hold_stops();
	/* The timer interrupts writes that wait for a reader. trace_wire() already writes the head of a recording. */
	trace_signals_tick(t, 0);
	trace_wire(t);
	trace_signals_tick(t, 0); /* the period depends on t->shows, which trace_wire() sets */
	trace_pipeline_begin(&t->pipeline);
	learn_names(t);
	loop(t);
	/* If sctrace has been told to end, the timer must go on to interrupt writes that wait for a reader. */
	if (t->told_to_end)
		trace_signals_tick(t, 0);
	else
		setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
	if (is_unread(t) || trace_pipeline_is_full(&t->pipeline))
		leave_program(t);
	return finish(t);
}
