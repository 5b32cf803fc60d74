#include "base/memory.h"

#include <stdatomic.h>

/* Of the process, as errno is. */
static atomic_bool ran_out;

void memory_note_failure(void)
{
	ran_out = true;
}

bool memory_ran_out(void)
{
	return ran_out;
}
