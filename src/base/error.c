#include "base/error.h"

#include <errno.h>
#include <string.h>

const char *error_text(int err)
{
	return err == EMFILE ? "Too many open files; raise the limit with ulimit -n (64 is enough to trace one program)"
			     : strerror(err);
}
