/* SPDX-License-Identifier: MIT */
/* Makes calls, measures their time, and prints the average of each kind in ns. usage: truth NAME */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int null_fd, file_fd;
static char block[65536];

static void getppid_call(void)
{
	syscall(SYS_getppid);
}
static void write_call(void)
{
	if (write(null_fd, block, 1) != 1)
		_exit(1);
}
static void stat_call(void)
{
	struct stat st;
	syscall(SYS_stat, "/usr/bin/env", &st);
}
static void pread_call(void)
{
	if (pread(file_fd, block, sizeof(block), 0) != (ssize_t)sizeof(block))
		_exit(1);
}
static void nanosleep_call(void)
{
	struct timespec t = {0, 100000};
	syscall(SYS_nanosleep, &t, NULL);
}

static const struct kind {
	const char *name;
	void (*call)(void);
	int n;
} kinds[] = {
	{"getppid", getppid_call, 100000}, {"write", write_call, 100000},       {"stat", stat_call, 50000},
	{"pread64", pread_call, 20000},    {"nanosleep", nanosleep_call, 2000},
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	null_fd = open("/dev/null", O_WRONLY);
	file_fd = memfd_create("truth", 0);
	if (argc < 2 || null_fd < 0 || file_fd < 0 || ftruncate(file_fd, sizeof(block)) < 0)
		return 2;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		if (strcmp(argv[1], kinds[k].name) != 0)
			continue;
		for (int i = 0; i < kinds[k].n / 10; i++)
			kinds[k].call();
		double t0 = now();
		for (int i = 0; i < kinds[k].n; i++)
			kinds[k].call();
		printf("%.1f\n", (now() - t0) / kinds[k].n);
	}
	return 0;
}
