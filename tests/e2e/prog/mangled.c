/* SPDX-License-Identifier: MIT */
/* Crashes in a function whose name is mangled as C++ and Rust do. usage: mangled [SIGNAL] */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

void cpp(int sig) __asm__("_ZN4shop4CartISsE3addEi");
void legacy(int sig) __asm__("_ZN4shop4cart3put17h0123456789abcdefE");
void v0(int sig) __asm__("_RNCNvC4shop4main0");

__attribute__((noinline)) void cpp(int sig)
{
	if (sig)
		kill(getpid(), sig);
	else
		*(volatile int *)16 = 1;
	__asm__ volatile("");
}

__attribute__((noinline)) void legacy(int sig)
{
	cpp(sig);
	__asm__ volatile("");
}

__attribute__((noinline)) void v0(int sig)
{
	legacy(sig);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	v0(argc > 1 ? atoi(argv[1]) : 0);
	return 0;
}
