#include "bench/loads.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/near.h"
#include "bench/stop.h"
#include "run/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_WORK_NS (30 * NSEC_PER_SEC) /* a load that has done no work after this time has failed */

static const struct load_kind *find(const char *name)
{
	for (size_t i = 0; load_kind_at(i); i++)
		if (strcmp(load_kind_at(i)->name, name) == 0)
			return load_kind_at(i);
	return NULL;
}

/* Appends why `word`, a part of the load `l`, is wrong. */
static void say_wrong(const struct load *l, const char *word, struct buf *why)
{
	struct near near;
	near_init(&near, word);
	if (strcmp(word, "none") == 0) {
		buf_addf(why, "'%s' joins 'none' with another load; 'none' can only stand alone", l->name);
		return;
	}
	buf_addf(why, "there is no load '%s'; choose from none", word);
	near_offer(&near, "none");
	for (size_t i = 0; load_kind_at(i); i++) {
		buf_addf(why, ", %s", load_kind_at(i)->name);
		near_offer(&near, load_kind_at(i)->name);
	}
	buf_adds(why, "; join several with +");
	near_say(&near, "", why);
}

/* Adds the part `word` to the load. Returns 0, or -EINVAL with the reason in `why`. */
static int add_part(struct load *l, const char *word, struct buf *why)
{
	const struct load_kind *k = find(word);
	bool twice = false;
	for (size_t i = 0; i < l->parts; i++)
		twice |= l->kind[i] == k;
	if (k && !twice && l->parts < LOAD_PARTS) {
		l->kind[l->parts++] = k;
		return 0;
	}
	if (!k)
		say_wrong(l, word, why);
	else if (twice)
		buf_addf(why, "'%s' joins the load '%s' with itself", l->name, word);
	else
		buf_addf(why, "'%s' joins more than %d loads", l->name, LOAD_PARTS);
	return -EINVAL;
}

int load_parse(struct load *l, const char *name, struct buf *why)
{
	int rc = 0;
	*l = (struct load){.name = name};
	if (strcmp(name, "none") == 0)
		return 0;
	for (const char *p = name; p && rc == 0; p = strchr(p, '+') ? strchr(p, '+') + 1 : NULL) {
		char *word = memory_copy_part(p, strcspn(p, "+"));
		rc = add_part(l, word, why);
		free(word);
	}
	return rc;
}

int load_list_parse(struct load_list *l, const char *text, struct buf *why)
{
	l->n = 0;
	for (const char *p = text; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		if (l->n == LOADS_MAX) {
			buf_addf(why, "there are more than %d loads", LOADS_MAX);
			return -EINVAL;
		}
		snprintf(l->names[l->n], sizeof(l->names[0]), "%.*s", (int)strcspn(p, ","), p);
		if (load_parse(&l->v[l->n], l->names[l->n], why) < 0)
			return -EINVAL;
		for (size_t i = 0; i < l->n; i++)
			if (strcmp(l->names[i], l->names[l->n]) == 0) {
				buf_addf(why, "the load '%s' is named twice; use --runs for several runs", l->names[i]);
				return -EINVAL;
			}
		l->n++;
	}
	return 0;
}

void load_describe(struct buf *out)
{
	buf_addf(out, "%-8s %s\n", "none", "no additional load");
	for (size_t i = 0; load_kind_at(i); i++)
		buf_addf(out, "%-8s %s\n", load_kind_at(i)->name, load_kind_at(i)->about);
}

static int start_part(struct load *l, size_t part, const char *dir, struct kid_guard *guard)
{
	const struct load_kind *k = l->kind[part];
	struct load_board *b = kid_share(sizeof(*b));
	l->board[part] = b;
	long n = k->per_cpu ? sysconf(_SC_NPROCESSORS_ONLN) : 1;
	for (long i = 0; i < n && l->nkids < LOAD_KIDS; i++) {
		pid_t kid = kid_fork();
		if (kid < 0)
			return kid;
		if (kid == 0) {
			close(guard->fd); /* with a copy of this descriptor open, the guard would not notice the exit
					   * of sctrace */
			k->run(b, dir);
			_exit(1);
		}
		l->kids[l->nkids++] = kid;
		kid_guard_tell(guard, kid);
	}
	return 0;
}

static void end_all(struct load *l, struct kid_guard *guard)
{
	for (size_t i = 0; i < l->nkids; i++) {
		kid_kill(l->kids[i]);
		kid_guard_tell(guard, -l->kids[i]);
	}
	l->nkids = 0;
	for (size_t i = 0; i < l->parts; i++) {
		if (l->board[i])
			munmap(l->board[i], sizeof(*l->board[i]));
		l->board[i] = NULL;
	}
}

/* Waits until part number `part` of the load has done some work. Returns 0, or -errno with the reason in `why`. */
static int wait_for_work(const struct load *l, size_t part, struct buf *why)
{
	const struct load_board *b = l->board[part];
	uint64_t start = clock_ns();
	while (!b->work) {
		if (stop_signal())
			return -EINTR;
		if (b->why[0]) {
			buf_addf(why, "the load '%s' cannot run on this machine: %s", l->kind[part]->name, b->why);
			return -EIO;
		}
		if (clock_ns() - start > FIRST_WORK_NS) {
			buf_addf(why, "the load '%s' did no work for half a minute", l->kind[part]->name);
			return -ETIMEDOUT;
		}
		clock_sleep_ns(1000000);
	}
	return 0;
}

int load_start(struct load *l, const char *dir, struct kid_guard *guard, struct buf *why)
{
	int err = 0;
	l->nkids = 0;
	for (size_t i = 0; i < l->parts && !err; i++) {
		err = start_part(l, i, dir, guard);
		if (err)
			buf_addf(why, "cannot start the load '%s': %s", l->kind[i]->name, error_text(-err));
	}
	for (size_t i = 0; i < l->parts && !err; i++)
		err = wait_for_work(l, i, why);
	if (err)
		end_all(l, guard);
	l->mark_ns = clock_ns();
	for (size_t i = 0; i < l->parts && !err; i++)
		l->start_work[i] = l->board[i]->work;
	return err;
}

int load_stop(struct load *l, struct kid_guard *guard, struct buf *why)
{
	int err = 0;
	l->span_ns += clock_ns() - l->mark_ns;
	for (size_t i = 0; i < l->parts; i++) {
		uint64_t done = l->board[i]->work - l->start_work[i];
		l->work[i] += done;
		if (l->board[i]->why[0])
			buf_addf(why, "%sthe load '%s' stopped early: %s", err ? "; " : "", l->kind[i]->name,
				 l->board[i]->why);
		else if (!done)
			buf_addf(why, "%sthe load '%s' did no work", err ? "; " : "", l->kind[i]->name);
		else
			continue;
		err = -EIO;
	}
	end_all(l, guard);
	return err;
}

int load_begin(struct load *l, const char *dir, struct kid_guard *guard, struct run *run)
{
	struct buf why = {0};
	int err = load_start(l, dir, guard, &why);
	if (why.len)
		run_note(run, "%s was not measured: %s", l->name, buf_str(&why));
	buf_free(&why);
	return err;
}

void load_end(struct load *l, struct kid_guard *guard, struct run *run)
{
	struct buf why = {0};
	if (load_stop(l, guard, &why) < 0 && run)
		run_note(run, "in at least one run, %s", buf_str(&why));
	buf_free(&why);
}

void load_work(const struct load *l, struct buf *out)
{
	for (size_t i = 0; i < l->parts; i++)
		buf_addf(out, "%s%s %llu %s", i ? ", " : "", l->kind[i]->name, (unsigned long long)l->work[i],
			 l->kind[i]->unit);
}
