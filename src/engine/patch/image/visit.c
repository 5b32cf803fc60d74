/* SPDX-License-Identifier: MIT */
#include "engine/patch/image/site.h"

#include "base/memory.h"
#include "engine/patch/image/image.h"
#include "engine/patch/image/image_plan.h"
#include "engine/patch/remote/remote.h"
#include "engine/ptrace/tracer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* A limit for one image, because generated code can have many sites. Further calls are traced by ptrace. */
#define SITES_MAX 65536

/* --- stubs --- */

#define STUBS_ADDED CPU_PAGE_MOST

/* Has the program map more stubs near `ip`. Returns NULL if that is not possible. */
static struct stub_page *new_page(struct patch *p, struct task *task, uint64_t ip)
{
	uint64_t at = maps_gap(task->tid, ip, STUBS_ADDED);
	/* MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, PROT_READ | PROT_EXEC */
	const uint64_t args[6] = {at, STUBS_ADDED, 5, 0x100022, (uint64_t)-1, 0};
	int64_t got = at ? remote_call(&p->t, task, SYS_mmap, args) : -ENOMEM;
	if (got == -EFAULT)
		image_fall_back(p, task, "the program has changed the agent's code");
	struct stub_page *page = at && got == (int64_t)at ? site_add_page(task, at, STUBS_ADDED) : NULL;
	if (page)
		ranges_write(task);
	return page;
}

/* Reserves a stub for the site if it has none. Returns false if there is no room near the site. */
static bool place_stub(struct patch *p, struct task *task, struct site *s)
{
	struct image *img = image_of(task);
	struct stub_page *page = NULL;
	for (size_t i = 0; i < img->sites.pages.n && !page && !s->stub; i++)
		if (img->sites.pages.v[i].used < img->sites.pages.v[i].max &&
		    site_is_near(img->sites.pages.v[i].addr, s->ip))
			page = &img->sites.pages.v[i];
	if (!page && !s->stub && !img->sigsys.sealed)
		page = new_page(p, task, s->ip);
	if (page)
		s->stub = page->addr + (uint64_t)page->used++ * STUB_SIZE;
	return s->stub != 0;
}

/* --- sites --- */

static const struct mapping *mapping_at(struct task *task, uint64_t ip)
{
	struct image *img = image_of(task);
	const struct mapping *m = maps_find(img, ip);
	if (!m) {
		maps_read(task);
		ranges_write(task);
		m = maps_find(img, ip);
	}
	return m;
}

static void decide(struct patch *p, struct task *task, struct site *s, int64_t nr)
{
	struct image *img = image_of(task);
	const struct mapping *m = mapping_at(task, s->ip);
	enum site_why why = WHY_NO_STUB;
	s->kind = SITE_HOPELESS;
	if (place_stub(p, task, s)) {
		why = site_patch(p, task, s, m);
		if (why && p->ways & WAY_REDIRECT && site_write_stub(task, s))
			s->kind = SITE_REDIRECT;
	}
	if (!site_is_patched(s))
		s->nchanges = 0; /* the planned changes were not written */
	s->why = (uint8_t)why;
	s->serial = ++img->sites.serial;
	/* A site is hopeless if even its stub could not be written, because the program has just been killed. */
	if (s->kind != SITE_HOPELESS && m && m->patchable && !s->retry && p->arming != ARM_KNOCK) {
		plan_remember(p, task, s, m, nr);
		plan_note_loader(p, task, m);
	}
	site_index(img, s);
	site_say(p, task, s, false);
}

/* A call at a patched site has stopped, because of another thread or a new mapping. Is the site patched now? */
static bool is_patched_again(struct task *task, struct site *s)
{
	bool old = true;
	if (site_bytes_are(task, &s->change[s->nchanges - 1], true))
		return true;
	for (int i = 0; i < s->nchanges; i++)
		old = old && site_bytes_are(task, &s->change[i], false);
	/* The agent's table of ranges must include the mapping, and the program may have made it writable. */
	const struct mapping *m = mapping_at(task, s->ip);
	s->serial = ++image_of(task)->sites.serial;
	return old && m && m->patchable && site_patch_again(task, s);
}

/* Writes the name of the mapped file, without its folder. */
static void file_name(pid_t pid, uint64_t addr, char *name, size_t size)
{
	auto_buf text = {0};
	struct proc_map m;
	*name = '\0';
	if (proc_read(pid, "maps", &text) == 0)
		for (const char *rest = buf_str(&text); !*name && proc_map_next(&rest, &m);)
			if (addr >= m.lo && addr < m.hi) {
				size_t n = 0;
				while (n < m.name_len && m.name[m.name_len - n - 1] != '/')
					n++;
				snprintf(name, size, "%.*s", (int)n, m.name + m.name_len - n);
			}
}

/* Counts the stops at a site that is not patched. From the SITE_OFTEN-th stop on, the footer shows it. */
static void count_stop(struct patch *p, struct task *task, struct site *s)
{
	struct often new = {.why = s->why, .stops = SITE_OFTEN};
	const struct mapping *m = maps_find(image_of(task), s->ip);
	if (++s->stops < SITE_OFTEN || (s->stops > SITE_OFTEN && !s->often))
		return;
	for (size_t i = 0; m && !s->often && i < p->often.n; i++)
		if (p->often.v[i].ino == m->ino &&
		    p->often.v[i].offset == s->ip - CPU_CALL_SIZE - m->lo + m->file_offset)
			s->often = (uint32_t)i + 1;
	if (s->often) {
		p->often.v[s->often - 1].stops += s->stops == SITE_OFTEN ? SITE_OFTEN : 1;
		return;
	}
	if (!m || p->often.n == SITES_OFTEN_MAX)
		return;
	new.ino = m->ino;
	new.offset = s->ip - CPU_CALL_SIZE - m->lo + m->file_offset;
	file_name(task->tid, s->ip, new.file, sizeof(new.file));
	vec_push(&p->often, new);
	s->often = (uint32_t)p->often.n;
}

struct site *visit_site(struct patch *p, struct task *task, uint64_t ip, int64_t nr)
{
	struct image *img = image_of(task);
	struct site *s = map_get(&img->sites.by_ip, ip);
	if (s && (site_is_patched(s) ? is_patched_again(task, s) : !s->retry)) {
		if (s->kind == SITE_REDIRECT) {
			plan_apply_mapped(p, task, ip);
			count_stop(p, task, s);
		}
		return s;
	}
	if (!s) {
		const struct mapping *m = mapping_at(task, ip);
		if (m && p->arming != ARM_KNOCK && plan_apply(p, task, m, ip))
			return map_get(&img->sites.by_ip, ip);
		if (img->sites.by_ip.n >= SITES_MAX)
			return NULL;
		s = memory_zeroed(1, sizeof(*s));
		s->ip = ip;
		site_add(p, img, s);
	} else {
		image_unfollow(task, s);
		site_unindex(img, s);
		s->moved = 0;
		img->mappings.n = 0; /* another mapping is now at the address */
	}
	decide(p, task, s, nr);
	return s;
}
