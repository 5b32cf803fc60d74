/* SPDX-License-Identifier: MIT */
/*
 * A tracer that only follows children, for comparison: it resumes each thread at once, and counts nothing. sctrace has
 * at least the same stops. So the time of this tracer shows which part of the cost of sctrace is that of the stops. The
 * exit status is that of the program, or 1 if a signal ended the program.
 *
 * usage: smallest PROGRAM [ARGUMENT]...
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPTIONS (PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC)

/* Resumes a thread: its signal is delivered, but a thread in a group-stop stays stopped (ptrace(2)). */
static void resume(pid_t thread, int status)
{
	int event = status >> 16, sig = WSTOPSIG(status);
	if (event == PTRACE_EVENT_STOP && sig != SIGTRAP)
		ptrace(PTRACE_LISTEN, thread, 0, 0);
	else
		ptrace(PTRACE_CONT, thread, 0, event ? 0 : sig);
}

int main(int argc, char **argv)
{
	int status, result = EXIT_FAILURE;
	if (argc < 2)
		return EXIT_FAILURE;
	pid_t first = fork(), thread;
	if (first == 0) {
		raise(SIGSTOP);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (first < 0 || waitpid(first, &status, WUNTRACED) < 0 || ptrace(PTRACE_SEIZE, first, 0, OPTIONS))
		return EXIT_FAILURE;
	kill(first, SIGCONT);
	while ((thread = waitpid(-1, &status, __WALL)) > 0) {
		if (WIFSTOPPED(status))
			resume(thread, status);
		else if (thread == first)
			result = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
	}
	return result;
}
