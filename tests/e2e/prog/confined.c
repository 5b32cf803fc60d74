/* SPDX-License-Identifier: MIT */
/* Runs a program under a seccomp filter: confined FILTER PROGRAM [ARG...]. FILTER is an array of struct sock_filter. */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static struct sock_filter code[4096];
	int fd = argc > 2 ? open(argv[1], O_RDONLY) : -1;
	ssize_t n = fd < 0 ? -1 : read(fd, code, sizeof code);
	struct sock_fprog program = {(unsigned short)(n > 0 ? (size_t)n / sizeof *code : 0), code};
	if (n <= 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
		perror("confined");
		return 120;
	}
	execv(argv[2], argv + 2);
	return 121;
}
