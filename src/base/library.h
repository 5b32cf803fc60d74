/* SPDX-License-Identifier: MIT */
/* Loads a shared library when it is needed. One that the program is linked with would delay every start. */
#ifndef SCTRACE_BASE_LIBRARY_H
#define SCTRACE_BASE_LIBRARY_H

#include <stddef.h>

struct buf;

/*
 * A list of a library's functions is a macro, for example `#define LIBDW(X) X(dwfl_begin) X(dwfl_end)`. With it,
 * LIBRARY_STRUCT declares the type of a table, and LIBRARY_LOAD fills in a table. Functions are then called as
 * table.dwfl_begin(...). A name can also be a macro that expands to the function's name, as in <libunwind.h>.
 */
#define LIBRARY_STRUCT(LIST)                                                                                           \
	struct {                                                                                                       \
		LIST(LIBRARY_MEMBER)                                                                                   \
	}
#define LIBRARY_MEMBER(function) __typeof__(function) *function;
#define LIBRARY_NAME(function)   LIBRARY_STRING_OF(function),
#define LIBRARY_STRING_OF(name)  LIBRARY_STRING(name) /* the text of what the macro `name` expands to */
#define LIBRARY_STRING(name)     #name
#define LIBRARY_LOAD(soname, LIST, table, why)                                                                         \
	library_load(soname, (const char *const[]){LIST(LIBRARY_NAME)}, sizeof(*(table)) / sizeof(void *), table, why)

/*
 * Loads the library `soname` (dlopen(3)) and stores the addresses of its `n` functions `names` in `table`, which has a
 * pointer for each. If the table has been filled in, does nothing. Returns 0, or -ENOSYS with the reason, which names
 * the library, in `why`.
 *
 * The library is never unloaded. It is loaded with RTLD_GLOBAL, so that libraries that are loaded later can use its
 * symbols: libunwind-ptrace.so.0 of Debian uses symbols of libunwind, but has no DT_NEEDED entry for it.
 */
int library_load(const char *soname, const char *const *names, size_t n, void *table, struct buf *why);

#endif
