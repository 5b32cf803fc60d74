/* SPDX-License-Identifier: MIT */
#include "tracee/spawn.h"

#include "base/buf.h"
#include "base/diag.h"
#include "base/memory.h"
#include "base/outfile.h"
#include "base/size.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Can execve(2) run `path`? Returns 0, ENOENT, EISDIR, EACCES (not executable) or another errno. */
static int runnable(const char *path)
{
	struct stat st;
	if (stat(path, &st) < 0)
		return errno == ENOTDIR ? ENOENT : errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	return access(path, X_OK) < 0 ? errno : 0;
}

static const char *path_of(char *const *envp)
{
	for (size_t i = 0; envp && envp[i]; i++)
		if (strncmp(envp[i], "PATH=", 5) == 0)
			return envp[i] + 5;
	const char *path = envp ? NULL : getenv("PATH");
	return path ? path : "/usr/local/bin:/usr/bin:/bin";
}

char *spawn_find(const char *name, char *const *envp, int *err)
{
	if (strchr(name, '/')) {
		*err = runnable(name);
		return *err ? NULL : memory_copy(name);
	}
	*err = ENOENT;
	for (const char *p = path_of(envp); *name; p++) {
		size_t n = strcspn(p, ":");
		struct buf path = {0};
		/* An empty entry of PATH means the current directory. */
		buf_addf(&path, "%.*s/%s", n ? (int)n : 1, n ? p : ".", name);
		int e = runnable(buf_str(&path));
		if (!e)
			return buf_take(&path);
		buf_free(&path);
		if (e == EACCES)
			*err = EACCES;
		p += n;
		if (!*p)
			break;
	}
	return NULL;
}

/* The user of -u, or zeros. It is looked up before fork(2), because getpwnam(3) must not be called afterwards. */
struct identity {
	uid_t uid;
	gid_t gid;
	const char *name; /* NULL: there are only numbers, so no groups except `gid` */
	bool known;
};

/* Parses "UID:GID". Returns false if `text` has another form. */
static bool is_pair(const char *text, uid_t *uid, gid_t *gid)
{
	int64_t numbers[2];
	auto_free char *first = memory_copy_part(text, strcspn(text, ":"));
	bool ok = text[strlen(first)] && number_parse(first, 0, UINT32_MAX - 1, &numbers[0]) == 0 &&
		  number_parse(text + strlen(first) + 1, 0, UINT32_MAX - 1, &numbers[1]) == 0;
	*uid = ok ? (uid_t)numbers[0] : 0;
	*gid = ok ? (gid_t)numbers[1] : 0;
	return ok;
}

static int find_user(const char *name, struct identity *who, struct buf *why)
{
	if (!name)
		return 0;
	who->known = true;
	if (is_pair(name, &who->uid, &who->gid))
		return 0;
	const struct passwd *pw = getpwnam(name);
	if (!pw) {
		buf_addf(why, "there is no user '%s' on this machine; write a name, or two numbers UID:GID", name);
		return -EINVAL;
	}
	*who = (struct identity){pw->pw_uid, pw->pw_gid, name, true};
	return 0;
}

static int become(const struct identity *who)
{
	if (!who->known)
		return 0;
	int r = who->name ? initgroups(who->name, who->gid) : setgroups(1, &who->gid);
	if (r < 0 || setresgid(who->gid, who->gid, who->gid) < 0 || setresuid(who->uid, who->uid, who->uid) < 0)
		return -errno;
	return 0;
}

int spawn_pin(const struct spawn *s)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	for (size_t i = 0; i < s->ncpus; i++)
		CPU_SET((size_t)s->cpus[i], &set);
	return s->ncpus && sched_setaffinity(0, sizeof(set), &set) < 0 ? -errno : 0;
}

static int place_fds(const struct spawn *s)
{
	const int want[] = {s->stdin_fd, s->stdout_fd, s->stderr_fd};
	for (int i = 0; i < 3; i++)
		if (want[i] >= 0 && dup2(want[i], i) < 0)
			return -errno;
	return 0;
}

static int prepare(const struct spawn *s, const struct identity *who)
{
	int r = place_fds(s);
	if (!r && s->work_dir && chdir(s->work_dir) < 0)
		r = -errno;
	if (!r)
		r = spawn_pin(s);
	if (!r && s->before_user)
		r = s->before_user(s->before_ctx);
	if (!r)
		r = become(who);
	if (!r && s->before_exec)
		r = s->before_exec(s->before_ctx);
	return r;
}

/* Returns an argument list with another argv[0]. It is created before fork(2), because it needs memory. */
static char **argv_with(const struct spawn *s)
{
	size_t n = 0;
	while (s->argv[n])
		n++;
	char **argv = memory_zeroed(n + 1, sizeof(*argv));
	memcpy(argv, s->argv, n * sizeof(*argv));
	if (s->argv0)
		argv[0] = (char *)(uintptr_t)s->argv0;
	return argv;
}

struct child {
	const struct spawn *s;
	const char *path;
	char **argv;
	struct identity who;
	int go[2], err[2];
};

static void __attribute__((noreturn)) child_main(struct child *c)
{
	char byte;
	ssize_t n;
	if (c->s->daemonize)
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	close(c->go[1]);
	while ((n = read(c->go[0], &byte, 1)) < 0 && errno == EINTR)
		;
	if (n != 1)
		_exit(EXIT_OWN); /* the pipe was closed before spawn_go(): the tracer has exited or has given up */
	int err = -prepare(c->s, &c->who);
	if (!err) {
		execve(c->path, c->argv, c->s->envp ? c->s->envp : environ);
		err = errno;
	}
	if (write(c->err[1], &err, sizeof(err)) < 0)
		err = errno;
	_exit(spawn_status(err));
}

/*
 * For -D: this process becomes the child, and the function returns only in a grandchild, which becomes the tracer. It
 * returns the pid of the child.
 *
 * SIGCHLD for the process in between is removed here. The tracer may have attached already, and then the program would
 * get the signal, although a process that is not traced ignores it.
 */
static pid_t fork_tracer(struct child *c)
{
	sigset_t chld, mask;
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, &mask);
	pid_t self = getpid();
	pid_t middle = fork();
	if (middle > 0) {
		int status = 0;
		while (waitpid(middle, &status, 0) < 0 && errno == EINTR)
			;
		sigtimedwait(&chld, NULL, &(struct timespec){0, 0});
		errno = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	}
	int err = errno;
	sigprocmask(SIG_SETMASK, &mask, NULL);
	errno = err;
	if (middle > 0 && err == 0)
		child_main(c);
	if (middle != 0)
		return -1;
	pid_t tracer = fork();
	if (tracer != 0)
		_exit(tracer < 0 ? errno : 0);
	setsid();
	return self;
}

static int fork_child(struct child *c, struct spawned *out)
{
	int r = outfile_pipe(c->go);
	if (r < 0)
		return r;
	r = outfile_pipe(c->err);
	if (r < 0) {
		close(c->go[0]);
		close(c->go[1]);
		return r;
	}
	out->pid = c->s->daemonize ? fork_tracer(c) : fork();
	if (out->pid == 0)
		child_main(c);
	r = out->pid < 0 ? -errno : 0;
	close(c->go[0]);
	close(c->err[1]);
	out->go_fd = c->go[1];
	out->err_fd = c->err[0];
	if (r < 0) {
		close(out->go_fd);
		close(out->err_fd);
	}
	return r;
}

int spawn_start(const struct spawn *s, struct spawned *out, struct buf *why)
{
	struct child c = {.s = s};
	int r = find_user(s->user, &c.who, why);
	if (r < 0)
		return r;
	int err = 0;
	auto_free char *path = spawn_find(s->argv[0], s->envp, &err);
	if (!path) {
		bool dir = err == EISDIR;
		buf_addf(why, "cannot run '%s': %s", s->argv[0], dir ? "it is a directory" : diag_error_text(err));
		return dir ? -EACCES : -err;
	}
	c.path = path;
	c.argv = argv_with(s);
	r = fork_child(&c, out);
	if (r < 0)
		buf_addf(why, "cannot start '%s': %s", s->argv[0], diag_error_text(-r));
	free(c.argv);
	return r;
}

int spawn_go(struct spawned *p)
{
	ssize_t n;
	while ((n = write(p->go_fd, "g", 1)) < 0 && errno == EINTR)
		;
	return n == 1 ? 0 : -errno;
}

int spawn_finish(struct spawned *p)
{
	int err = 0;
	ssize_t n;
	close(p->go_fd);
	while ((n = read(p->err_fd, &err, sizeof(err))) < 0 && errno == EINTR)
		;
	close(p->err_fd);
	return n == sizeof(err) ? err : 0;
}

const char *spawn_error(const char *name, int err)
{
	int missing;
	auto_free char *path = err == ENOENT ? spawn_find(name, NULL, &missing) : NULL;
	return path ? "its interpreter does not exist (the program named after #!, or the dynamic loader)"
		    : diag_error_text(err);
}

int spawn_status(int err)
{
	bool unfit = err == EACCES || err == ENOEXEC || err == EISDIR;
	return err == ENOENT ? EXIT_NOT_FOUND : unfit ? EXIT_CANNOT_RUN : EXIT_OWN;
}

/* Returns true if a change ("NAME=VALUE" or "NAME") is about this variable. */
static bool changes(const char *change, const char *variable)
{
	size_t len = strcspn(change, "=");
	return strncmp(variable, change, len) == 0 && strchr("=", variable[len]);
}

static bool is_changed(const char *const *by, size_t n, const char *variable)
{
	for (size_t i = 0; i < n; i++)
		if (changes(by[i], variable))
			return true;
	return false;
}

char **spawn_environment(const char *const *changes, size_t n)
{
	size_t had = 0, used = 0;
	while (environ[had])
		had++;
	char **env = memory_zeroed(had + n + 1, sizeof(*env));
	for (size_t i = 0; i < had; i++)
		if (!is_changed(changes, n, environ[i]))
			env[used++] = environ[i];
	for (size_t i = 0; i < n; i++)
		if (strchr(changes[i], '=') && !is_changed(changes + i + 1, n - i - 1, changes[i]))
			env[used++] = (char *)changes[i];
	return env;
}
