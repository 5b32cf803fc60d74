/* SPDX-License-Identifier: MIT */
/*
 * A file system that this program serves itself (fuse(4)), and in which it executes itself. If a tracer accesses a file
 * or a page of that file system while it holds the server, neither of them ever continues.
 */
#include "e2e.h"

#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>

enum { ROOT = FUSE_ROOT_ID, FILE_NODE, PAGE = 4096, PAGES = 16 };

/* Each page begins with the name of a file. Only the call that gets this name touches the page. */
static const char names[PAGES][PAGE] __attribute__((aligned(PAGE))) = {
	"/dev/null", "/dev/null", "/dev/null", "/dev/null", "/dev/null", "/dev/null", "/dev/null", "/dev/null",
	"/dev/null", "/dev/null", "/dev/null", "/dev/null", "/dev/null", "/dev/null", "/dev/null", "/dev/null"};

static struct fuse_attr attributes(int content, uint64_t node)
{
	struct stat st;
	CHECK(fstat(content, &st) == 0);
	return (struct fuse_attr){.ino = node,
				  .size = node == ROOT ? 0 : (uint64_t)st.st_size,
				  .mode = node == ROOT ? S_IFDIR | 0755 : S_IFREG | 0755,
				  .nlink = 1,
				  .blksize = PAGE};
}

/* Fills in the answer to a request, and returns its length or -errno. */
static int answer(int content, const struct fuse_in_header *in, const void *body, void *out)
{
	const struct fuse_read_in *read_in = body;
	switch (in->opcode) {
	case FUSE_INIT:
		*(struct fuse_init_out *)out = (struct fuse_init_out){
			.major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION, .max_write = PAGE};
		return sizeof(struct fuse_init_out);
	case FUSE_LOOKUP:
		if (strcmp(body, "prog") != 0)
			return -ENOENT;
		*(struct fuse_entry_out *)out =
			(struct fuse_entry_out){.nodeid = FILE_NODE, .attr = attributes(content, FILE_NODE)};
		return sizeof(struct fuse_entry_out);
	case FUSE_GETATTR:
		*(struct fuse_attr_out *)out = (struct fuse_attr_out){.attr = attributes(content, in->nodeid)};
		return sizeof(struct fuse_attr_out);
	case FUSE_OPEN:
		*(struct fuse_open_out *)out = (struct fuse_open_out){0};
		return sizeof(struct fuse_open_out);
	case FUSE_READ:
		return (int)pread(content, out, read_in->size, (off_t)read_in->offset);
	case FUSE_STATFS:
		*(struct fuse_statfs_out *)out = (struct fuse_statfs_out){0};
		return sizeof(struct fuse_statfs_out);
	case FUSE_RELEASE:
		return 0;
	default:
		return -ENOSYS;
	}
}

static void serve(int fuse, int content)
{
	static char request[1 << 18] __attribute__((aligned(8))), out[1 << 18] __attribute__((aligned(8)));
	const struct fuse_in_header *in = (const struct fuse_in_header *)request;
	for (;;) {
		ssize_t n = read(fuse, request, sizeof request);
		if (n < 0 && errno == ENODEV)
			_exit(0);
		if (n < 0 || in->opcode == FUSE_FORGET || in->opcode == FUSE_BATCH_FORGET ||
		    in->opcode == FUSE_INTERRUPT)
			continue;
		getppid();
		int r = answer(content, in, in + 1, out);
		struct fuse_out_header head = {.len = (uint32_t)sizeof head + (r > 0 ? (uint32_t)r : 0),
					       .error = r < 0 ? r : 0,
					       .unique = in->unique};
		struct iovec parts[] = {{&head, sizeof head}, {out, r > 0 ? (size_t)r : 0}};
		ssize_t written = writev(fuse, parts, 2);
		CHECK(written == (ssize_t)head.len || errno == ENOENT); /* ENOENT: the request was interrupted */
	}
}

/* Mounts the file system in `dir`, and becomes its server. Then `ready` becomes readable. */
static void mount_and_serve(int content, const char *dir, int ready)
{
	char options[100];
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	CHECK(fuse >= 0);
	snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=%d,group_id=%d", fuse, (int)geteuid(),
		 (int)getegid());
	CHECK(mount("fuse", dir, "fuse", MS_NODEV, options) == 0);
	CHECK(write(ready, "m", 1) == 1);
	serve(fuse, content);
}

/* The program in the file system: uses pages and functions of its file that no other call has used. */
static void test_work(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int i = 0; i < PAGES; i++) {
		int fd = open(names[i], O_RDONLY);
		CHECK(fd >= 0 && close(fd) == 0);
	}
	CHECK(close(open("/proc/self/exe", O_RDONLY)) == 0);
}

/* fuse run DIR: serves DIR, in a new mount namespace, and executes DIR/prog. The server is a child. */
static void test_run(int argc, char **argv)
{
	int ready[2];
	char byte, path[300];
	int content = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	CHECK(argc == 1 && content >= 0 && pipe(ready) == 0);
	snprintf(path, sizeof path, "%s/prog", argv[0]);
	if (access("/dev/fuse", R_OK | W_OK) != 0 ||
	    unshare(geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) != 0) {
		puts("not allowed");
		_exit(0);
	}
	CHECK(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	pid_t server = fork();
	if (server == 0)
		mount_and_serve(content, argv[0], ready[1]);
	CHECK(read(ready[0], &byte, 1) == 1);
	pid_t child = fork();
	if (child == 0) {
		execl(path, "prog", "work", NULL);
		_exit(98);
	}
	reap_ok(child, 0);
	CHECK(kill(server, SIGKILL) == 0);
	reap(server);
}

static const struct test tests[] = {{"run", test_run}, {"work", test_work}};
TEST_MAIN(tests)
