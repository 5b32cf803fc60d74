#include "stack/demangle.h"

/* Built in if libiberty was not found. */
bool demangle(const char *name, struct buf *out)
{
	(void)name;
	(void)out;
	return false;
}
