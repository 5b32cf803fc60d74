/* SPDX-License-Identifier: MIT */
/*
 * Functions that musl lacks and that Debian's static libraries, built for glibc with _FORTIFY_SOURCE, need. They check
 * no sizes, because they are only for running the tests.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int __vsnprintf_chk(char *to, size_t n, int flag, size_t size, const char *format, va_list ap);
int __snprintf_chk(char *to, size_t n, int flag, size_t size, const char *format, ...);
int __fprintf_chk(FILE *f, int flag, const char *format, ...);
char *__strncpy_chk(char *to, const char *from, size_t n, size_t size);

int __vsnprintf_chk(char *to, size_t n, int flag, size_t size, const char *format, va_list ap)
{
	(void)flag, (void)size;
	return vsnprintf(to, n, format, ap);
}

int __snprintf_chk(char *to, size_t n, int flag, size_t size, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	int r = __vsnprintf_chk(to, n, flag, size, format, ap);
	va_end(ap);
	return r;
}

int __fprintf_chk(FILE *f, int flag, const char *format, ...)
{
	va_list ap;
	(void)flag;
	va_start(ap, format);
	int r = vfprintf(f, format, ap);
	va_end(ap);
	return r;
}

char *__strncpy_chk(char *to, const char *from, size_t n, size_t size)
{
	(void)size;
	return strncpy(to, from, n);
}
