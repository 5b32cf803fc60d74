/* Makes names of C++ and Rust functions readable. */
#ifndef SCTRACE_STACK_DEMANGLE_H
#define SCTRACE_STACK_DEMANGLE_H

#include <stdbool.h>

struct buf;

/*
 * Appends what a mangled name stands for: "std::vector<int>::push_back(int&&)" or "core::fmt::write". Returns false if the
 * name is not mangled, if it is too long, or if sctrace was built without libiberty. The name is not trusted: at most
 * DEMANGLED_MOST bytes are appended.
 */
bool demangle(const char *name, struct buf *out);
#define DEMANGLED_MOST 4096

#endif
