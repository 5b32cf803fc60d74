#include "base/ptrace.h"

#include <errno.h>
#include <stdbool.h>

#undef ptrace

static bool is_refusal(int error)
{
	return error == EPERM || error == ENOMEM || error == EAGAIN || error == EINTR;
}

long ptrace_again(int request, pid_t tid, uintptr_t addr, uintptr_t data)
{
	int tries = request == PTRACE_SEIZE ? 1 : 3;
	for (;;) {
		long r = ptrace(request, tid, addr, data);
		if (r != -1 || --tries == 0 || !is_refusal(errno))
			return r;
	}
}
