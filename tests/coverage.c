/* In builds for coverage alone: _exit(2) writes the counts that exit(3) would have written (meson.build wraps it). */
#include <gcov.h>
#include <unistd.h>

void __real__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) __attribute__((noreturn));

void __wrap__exit(int status)
{
	__gcov_dump();
	__gcov_reset(); /* a child of vfork(2) shares them with its parent, who goes on counting */
	__real__exit(status);
}
