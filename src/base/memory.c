/* SPDX-License-Identifier: MIT */
#include "base/memory.h"

#include "base/diag.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Global, because any allocation of the process may be the one that fails. */
static struct {
	void (*fn)(void *ctx);
	void *ctx;
	pid_t pid;
} cleanup;

void memory_on_exhaustion(void (*fn)(void *ctx), void *ctx)
{
	cleanup.fn = fn;
	cleanup.ctx = ctx;
	cleanup.pid = getpid();
}

void memory_exhausted(void)
{
	static const char text[] = "sctrace: out of memory: sctrace ends, and its output is incomplete\n";
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		(void)0; /* an error cannot be reported anywhere */
	if (cleanup.fn && cleanup.pid == getpid())
		cleanup.fn(cleanup.ctx);
	_exit(EXIT_OWN);
}

static void *checked(void *p)
{
	if (!p)
		memory_exhausted();
	return p;
}

void *memory_get(size_t size)
{
	return checked(malloc(size ? size : 1));
}

void *memory_zeroed(size_t n, size_t size)
{
	return checked(calloc(n ? n : 1, size ? size : 1));
}

void *memory_resize(void *p, size_t size)
{
	return checked(realloc(p, size));
}

char *memory_copy(const char *s)
{
	return checked(strdup(s));
}

char *memory_copy_part(const char *s, size_t len)
{
	return checked(strndup(s, len));
}

FILE *memory_fopen(const char *path)
{
	FILE *f = fopen(path, "re");
	if (!f && errno == ENOMEM)
		memory_exhausted();
	return f;
}

void vec_reserve(void **v, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return;
	*cap = *cap ? *cap * 2 : 8;
	*v = memory_resize(*v, *cap * size);
}
