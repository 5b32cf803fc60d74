/* SPDX-License-Identifier: MIT */
#include "trace/files.h"

#include "base/escape.h"
#include "base/memory.h"
#include "base/words.h"
#include "engine/engine.h"
#include "io/profile.h"
#include "syscall/call_table.h"
#include "syscall/restart.h"
#include "trace/select.h"
#include "tracee/mem.h"
#include "tracee/names.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct files_row {
	char *path;
	char *target; /* the file that was opened, if the path contains symbolic links; or NULL */
	unsigned uses;
	bool exists, absent; /* what the last call has shown */
	bool own;            /* a traced program created it */
	bool needed;         /* it existed before a traced program used it */
	struct files_row *next;
};

/* What calls do with their first and their second path if they succeed. Other calls with a path only look it up. */
struct files_rule {
	const char *names; /* separated by spaces */
	unsigned first, second;
};

#define OPENS     (1u << 29) /* the flags of open(2) decide; the file may have existed */
#define TRUNCATES (1u << 30)
#define NO_USE    (1u << 31) /* the argument is not looked up */

static const struct files_rule rules[] = {
	{"open openat openat2 creat", OPENS, 0},
	{"execve execveat uselib", FILES_EXECUTED, 0},
	{"mkdir mkdirat mknod mknodat", FILES_CREATED, 0},
	{"symlink symlinkat", NO_USE, FILES_CREATED},
	{"link linkat", FILES_READ, FILES_CREATED},
	{"unlink unlinkat rmdir", FILES_DELETED, 0},
	{"rename renameat renameat2", FILES_RENAMED, FILES_CREATED},
	{"truncate truncate64 chmod fchmodat fchmodat2 chown chown32 lchown lchown32 fchownat utime utimes futimesat "
	 "utimensat utimensat_time64 setxattr lsetxattr setxattrat removexattr lremovexattr removexattrat file_setattr",
	 FILES_WRITTEN, 0},
	{"getdents getdents64", FILES_LISTED, 0},
};

static const struct files_rule looks_up = {"", FILES_CHECKED, FILES_CHECKED};

/* The sink's data for a thread: the paths of its call in progress, and what it does with them. */
struct files_call {
	struct buf path[2];
	unsigned use[2], n;
};

static bool has_word(const char *words, const char *word)
{
	size_t n = strlen(word);
	for (const char *at = words; (at = strstr(at, word)); at += n)
		if ((at == words || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
			return true;
	return false;
}

static const struct files_rule *rule_of(struct trace_files *t, const struct syscall_desc *d)
{
	struct files_rule *known = map_get(&t->rules, (uintptr_t)d);
	if (known)
		return known;
	const struct files_rule *found = d->groups & G_FILE ? &looks_up : NULL;
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (has_word(rules[i].names, d->name))
			found = &rules[i];
	known = memory_zeroed(1, sizeof(*known));
	*known = found ? *found : (struct files_rule){.first = NO_USE};
	map_put(&t->rules, (uintptr_t)d, known);
	return known;
}

/* Returns the uses of an open(2), which creates the file if FILES_CREATED is among them and the file was absent. */
static unsigned use_of_open(const struct event *ev)
{
	uint64_t flags = O_CREAT | O_WRONLY | O_TRUNC; /* these are the flags of creat(2) */
	int arg = syscall_find_kind(&ev->call, K_OPEN_FLAGS), how = syscall_find_kind(&ev->call, K_OPEN_HOW);
	if (arg >= 0)
		flags = ev->call.args[arg];
	else if (how >= 0 && (!ev->mem || mem_get(ev->mem, ev->call.args[how], &flags, sizeof(flags)) < 0))
		flags = 0;
	if ((flags & O_TMPFILE) == O_TMPFILE)
		return FILES_CHECKED; /* the path is a directory, in which a file without a name is created */
	if (flags & O_PATH || flags & O_DIRECTORY)
		return FILES_CHECKED;
	unsigned mode = flags & O_ACCMODE;
	unsigned use = mode == O_RDONLY ? FILES_READ : mode == O_WRONLY ? FILES_WRITTEN : FILES_READ | FILES_WRITTEN;
	return use | (flags & O_CREAT ? FILES_CREATED : 0) | (flags & O_EXCL ? 0 : OPENS) |
	       (flags & O_TRUNC ? TRUNCATES : 0);
}

static void files_enter(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	struct trace_files *t = (struct trace_files *)s;
	struct files_call *own = trace_own(s, k);
	own->n = 0;
	const struct files_rule *rule = ev->call.desc ? rule_of(t, ev->call.desc) : NULL;
	if (!rule || (rule->first == NO_USE && !rule->second))
		return;
	struct trace_ref *refs = trace_subject_refs(&k->subject);
	for (unsigned i = 0, nth = 0; i < k->subject.n && own->n < 2; i++) {
		bool listed = rule->first == FILES_LISTED;
		if (refs[i].kind != (listed ? REF_FD : REF_PATH))
			continue;
		unsigned use = nth++ ? rule->second : rule->first;
		const struct buf *text = trace_ref_text(&k->subject, &refs[i]);
		const struct buf *full = listed ? text : trace_ref_full(&k->subject, &refs[i]);
		if (use == NO_USE || !text->len)
			continue;
		buf_clear(&own->path[own->n]);
		io_path_join(&own->path[own->n], "", buf_str(full->len ? full : text));
		own->use[own->n++] = use == OPENS ? use_of_open(ev) : use;
	}
}

static struct files_row *row_of(struct trace_files *t, const char *path)
{
	uint64_t key = map_key(path);
	struct files_row *first = map_get(&t->by_path, key), *r = first;
	while (r && strcmp(r->path, path) != 0)
		r = r->next;
	if (r)
		return r;
	r = memory_zeroed(1, sizeof(*r));
	r->path = memory_copy(path);
	r->next = first;
	map_put(&t->by_path, key, r);
	vec_push(&t->rows, r);
	return r;
}

/* Returns true if open(2) cannot create the file, because a driver or the kernel does. */
static bool is_special(const char *path)
{
	static const char *const folders[] = {"/proc/", "/sys/", "/dev/"};
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (strncmp(path, folders[i], strlen(folders[i])) == 0)
			return strncmp(path, "/dev/shm/", 9) != 0 && strncmp(path, "/dev/mqueue/", 12) != 0;
	return false;
}

static void count_success(struct files_row *r, unsigned use)
{
	/* If nothing shows whether the file existed, a program that empties it is taken to create it. */
	if (use & OPENS && !r->absent && (r->exists || !(use & TRUNCATES) || is_special(r->path)))
		use &= ~(unsigned)FILES_CREATED;
	use &= ~(OPENS | TRUNCATES);
	r->needed |= !r->own && !(use & FILES_CREATED);
	r->own |= use & FILES_CREATED && !r->exists;
	if (r->own)
		use &= ~(unsigned)(FILES_READ | FILES_EXECUTED | FILES_CHECKED | FILES_LISTED);
	r->uses |= use;
	r->exists = !(use & (FILES_DELETED | FILES_RENAMED));
	r->absent = !r->exists;
}

static void count_failure(struct files_row *r, int err)
{
	if (err == ENOENT || err == ENOTDIR)
		r->uses |= r->own ? 0 : FILES_MISSING;
	r->absent |= err == ENOENT;
	r->exists = r->exists && err != ENOENT;
	if (err == EACCES || err == EPERM || err == EROFS)
		r->uses |= FILES_REFUSED;
}

/* Reads the interpreter that an executable file names (PT_INTERP). Returns its length, or 0. */
static size_t elf_interpreter(int fd, char *out, size_t size)
{
	union {
		Elf64_Ehdr wide;
		Elf32_Ehdr narrow;
	} head;
	if (pread(fd, &head, sizeof(head), 0) != sizeof(head))
		return 0;
	bool wide = head.wide.e_ident[EI_CLASS] == ELFCLASS64;
	uint64_t at = wide ? head.wide.e_phoff : head.narrow.e_phoff;
	unsigned n = wide ? head.wide.e_phnum : head.narrow.e_phnum;
	for (unsigned i = 0; i < n; i++) {
		Elf64_Phdr p = {0};
		Elf32_Phdr q = {0};
		ssize_t each = wide ? sizeof(p) : sizeof(q);
		if (pread(fd, wide ? (void *)&p : (void *)&q, (size_t)each, (off_t)at) != each)
			return 0;
		uint64_t offset = wide ? p.p_offset : q.p_offset, length = wide ? p.p_filesz : q.p_filesz;
		if ((wide ? p.p_type : q.p_type) == PT_INTERP)
			return length < size && pread(fd, out, length, (off_t)offset) == (ssize_t)length ? length : 0;
		at += (uint64_t)each;
	}
	return 0;
}

/* Reads the interpreter of a program: the one that a script names after #!, or that an ELF file names. "": none. */
static void read_interpreter(const char *path, char *out, size_t size)
{
	char head[256];
	struct stat st;
	size_t length = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? pread(fd, head, sizeof(head) - 1, 0) : 0;
	head[n > 0 ? n : 0] = '\0';
	if (n > 2 && memcmp(head, "#!", 2) == 0) {
		const char *from = head + 2 + strspn(head + 2, " \t");
		length = strcspn(from, " \t\n");
		memcpy(out, from, length);
	} else if (n > SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0)
		length = elf_interpreter(fd, out, size);
	out[length] = '\0';
	if (fd >= 0)
		close(fd);
}

static void set_target(struct trace_files *t, struct files_row *r, const char *target, unsigned use)
{
	if (*target != '/' || strcmp(target, r->path) == 0)
		return;
	free(r->target);
	r->target = memory_copy(target);
	count_success(row_of(t, target), use);
}

/*
 * The kernel opens the interpreter of a program without a call of the program. The files of this machine are read, which
 * need not be those of the program if it runs in another mount namespace, or if a recording is shown later.
 */
static void add_interpreters(struct trace_files *t, const char *path)
{
	char at[PATH_MAX], real[PATH_MAX];
	auto_buf program = {0};
	buf_adds(&program, path);
	for (int i = 0; i < 4; i++) {
		if (realpath(buf_str(&program), real))
			set_target(t, row_of(t, buf_str(&program)), real, FILES_EXECUTED);
		read_interpreter(buf_str(&program), at, sizeof(at));
		if (*at != '/')
			break;
		buf_clear(&program);
		io_path_join(&program, "", at);
		count_success(row_of(t, buf_str(&program)), FILES_EXECUTED);
	}
}

/* Adds the file that open(2) has found, if the path leads to it through a symbolic link. */
static void add_opened(struct trace_files *t, struct files_row *r, const struct event *ev, unsigned use)
{
	const struct names *names = t->sink.session->names;
	auto_buf target = {0};
	if (names->fd(names->ctx, ev->tid, (int)ev->call.result, &target) &&
	    !(names->deleted && names->deleted(names->ctx, ev->tid, (int)ev->call.result)))
		set_target(t, r, buf_str(&target), use);
}

static void leave_path(struct trace_files *t, const struct files_call *own, unsigned i, const struct event *ev)
{
	struct files_row *r = row_of(t, buf_str(&own->path[i]));
	bool opens = ev->call.desc->result == R_FD;
	if (ev->call.error) {
		count_failure(r, ev->call.err);
		return;
	}
	count_success(r, own->use[i]);
	if (opens && own->use[i] & (FILES_READ | FILES_WRITTEN))
		add_opened(t, r, ev, own->use[i] & (FILES_READ | FILES_WRITTEN));
	if (own->use[i] == FILES_EXECUTED)
		add_interpreters(t, buf_str(&own->path[i]));
}

static void files_leave(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	struct files_call *own = trace_own(s, k);
	if (ev->kind != EV_EXIT || (ev->call.error && IS_RESTART_ERROR(ev->call.err)))
		return;
	for (unsigned i = 0; i < own->n; i++)
		leave_path((struct trace_files *)s, own, i, ev);
	own->n = 0;
}

static void files_gone(struct trace_sink *s, struct trace_task *k)
{
	struct files_call *own = trace_own(s, k);
	buf_free(&own->path[0]);
	buf_free(&own->path[1]);
}

static const struct trace_sink_ops files_ops = {
	.task_size = sizeof(struct files_call), .enter = files_enter, .leave = files_leave, .gone = files_gone};

void trace_files_init(struct trace_files *t)
{
	*t = (struct trace_files){.sink.ops = &files_ops};
}

void trace_files_calls(struct call_set *only)
{
	const struct syscall_desc *d;
	for (size_t i = 0; (d = syscall_row(i)); i++) {
		int64_t nr = syscall_number(syscall_native_arch(), d->name);
		/* The calls that change names are needed, because the names of descriptors are kept between calls. */
		if (nr >= 0 && nr < CALL_SET_MAX &&
		    (d->groups & (G_FILE | G_NAMES) || has_word("getdents getdents64", d->name)))
			only->bits[nr / 64] |= UINT64_C(1) << (nr % 64);
	}
}

static const char *const words[] = {"read",   "written", "created", "deleted", "renamed", "executed",
				    "listed", "checked", "missing", "refused", "needed"};

static int use_word(void *ctx, const char *word, struct buf *why)
{
	struct near near = {.word = word};
	for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++) {
		near_offer(&near, words[i]);
		if (strcmp(word, words[i]) == 0) {
			*(unsigned *)ctx |= 1u << i;
			return 0;
		}
	}
	buf_addf(why,
		 "'%s' is not a use of a file; write some of read, written, created, deleted, renamed, executed, "
		 "listed, checked, missing, refused and needed, separated by commas",
		 word);
	near_say(&near, "", why);
	return -EINVAL;
}

int trace_files_parse(const char *list, unsigned *uses, struct buf *why)
{
	size_t at;
	return trace_each_word(list, use_word, uses, &at, why);
}

static int by_path(const void *a, const void *b)
{
	return strcmp((*(struct files_row *const *)a)->path, (*(struct files_row *const *)b)->path);
}

static bool is_selected(const struct files_row *row, unsigned uses)
{
	return row->uses & uses || (uses & FILES_NEEDED && row->needed);
}

static void sort(struct trace_files *t)
{
	if (t->rows.n)
		qsort(t->rows.v, t->rows.n, sizeof(*t->rows.v), by_path);
}

void trace_files_finish(struct trace_files *t, unsigned uses, struct run_paths *out)
{
	auto_buf text = {0};
	sort(t);
	out->known = true;
	for (size_t i = 0; i < t->rows.n; i++) {
		const struct files_row *row = t->rows.v[i];
		if (!is_selected(row, uses))
			continue;
		vec_push(&out->paths, (struct run_path){0});
		struct run_path *p = &out->paths.v[out->paths.n - 1];
		p->uses.known = true;
		for (unsigned k = 0; FILES_ALL >> k & 1; k++)
			if (row->uses >> k & 1)
				strings_add(&p->uses, words[k]);
		buf_clear(&text);
		escape_line(&text, row->path, strlen(row->path));
		field_set(&p->path, buf_str(&text));
		buf_clear(&text);
		if (row->target)
			escape_line(&text, row->target, strlen(row->target));
		field_set(&p->target, row->target ? buf_str(&text) : NULL);
	}
}

size_t trace_files_list(struct trace_files *t, unsigned uses, bool escape, struct buf *out)
{
	size_t left = 0;
	sort(t);
	for (size_t i = 0; i < t->rows.n; i++) {
		const struct files_row *row = t->rows.v[i];
		if (!is_selected(row, uses))
			continue;
		if (strchr(row->path, '\n')) {
			left++;
			continue;
		}
		if (escape)
			escape_line(out, row->path, strlen(row->path));
		else
			buf_adds(out, row->path);
		buf_addc(out, '\n');
	}
	return left;
}

void trace_files_free(struct trace_files *t)
{
	size_t i = 0;
	struct files_rule *rule;
	while ((rule = map_next(&t->rules, &i, NULL)))
		free(rule);
	for (size_t k = 0; k < t->rows.n; k++) {
		free(t->rows.v[k]->path);
		free(t->rows.v[k]->target);
		free(t->rows.v[k]);
	}
	vec_free(&t->rows);
	map_free(&t->by_path);
	map_free(&t->rules);
}
