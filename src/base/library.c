/* SPDX-License-Identifier: MIT */
#include "base/library.h"

#include "base/buf.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

int library_load(const char *soname, const char *const *names, size_t n, void *table, struct buf *why)
{
	char *to = table;
	void *address;
	memcpy(&address, to, sizeof(address));
	if (address)
		return 0;
	void *library = dlopen(soname, RTLD_NOW | RTLD_GLOBAL);
	if (!library) {
		buf_adds(why, dlerror());
		return -ENOSYS;
	}
	for (size_t i = n; i-- > 0;) { /* the first address is stored last, because it marks the table as filled in */
		address = dlsym(library, names[i]);
		if (!address) {
			buf_addf(why, "the library %s is too old: it has no function %s()", soname, names[i]);
			return -ENOSYS;
		}
		memcpy(to + i * sizeof(address), &address, sizeof(address));
	}
	return 0;
}
