#include "engine/ptrace/filter.h"

#include "syscall/table.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Only calls that have a name pass unseen: an unknown number stops, and who follows the trace decides about it; and userfaultfd(2),
 * which tells what memory may be read.
 */
static int add_rules(scmp_filter_ctx ctx, const struct call_set *only)
{
	for (int nr = 0; nr < CALL_SET_MAX; nr++) {
		if (only->bits[nr / 64] >> (nr % 64) & 1 || nr == SYS_userfaultfd ||
		    !syscall_name_known(syscall_native_arch(), nr))
			continue;
		int r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, nr, 0);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The generated program, read back from a memory file. */
static int export_code(scmp_filter_ctx ctx, struct call_filter *f)
{
	int fd = memfd_create("filter", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	struct stat st;
	int r = seccomp_export_bpf(ctx, fd);
	if (r == 0 && fstat(fd, &st) == 0) {
		f->code = malloc((size_t)st.st_size);
		f->len = (unsigned short)((size_t)st.st_size / sizeof(*f->code));
		r = f->code && pread(fd, f->code, (size_t)st.st_size, 0) == st.st_size ? 0 : -ENOMEM;
	}
	close(fd);
	return r;
}

int call_filter_build(struct call_filter *f, const struct call_set *only)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_TRACE(0));
	if (!ctx)
		return -ENOMEM;
	/* Calls of another architecture stop too: their numbers mean other calls. */
	int r = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_TRACE(0));
	if (r == 0)
		r = add_rules(ctx, only);
	if (r == 0)
		r = export_code(ctx, f);
	seccomp_release(ctx);
	if (r < 0)
		call_filter_free(f);
	return r;
}

void call_filter_free(struct call_filter *f)
{
	free(f->code);
	*f = (struct call_filter){0};
}

int call_filter_install(void *ctx)
{
	const struct call_filter *f = ctx;
	struct sock_fprog prog = {f->len, f->code};
	/* With CAP_SYS_ADMIN set-uid programs keep working; without it the kernel demands no_new_privs (seccomp(2)). */
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0) == 0)
		return 0;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0) < 0 ? -errno : 0;
}
