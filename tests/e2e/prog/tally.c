/*
 * Threads that write each call to a shared file before and after they make it. A trace must agree with that file,
 * whenever the program is killed. tally FILE THREADS
 */
#include "e2e.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

struct row {
	uint64_t tid, begun, done;
};

static struct row *rows;

static void *call_for_ever(void *at)
{
	struct row *r = at;
	__atomic_store_n(&r->tid, (uint64_t)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	for (;;) {
		__atomic_add_fetch(&r->begun, 1, __ATOMIC_SEQ_CST);
		syscall(SYS_getppid);
		__atomic_add_fetch(&r->done, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	CHECK(argc == 3);
	int n = atoi(argv[2]);
	int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0 && ftruncate(fd, 4096) == 0);
	rows = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(rows != MAP_FAILED);
	for (int i = 1; i < n; i++) {
		pthread_t thread;
		CHECK(pthread_create(&thread, NULL, call_for_ever, &rows[i]) == 0);
	}
	call_for_ever(&rows[0]);
	return 0;
}
