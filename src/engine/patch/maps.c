/* What is mapped where in the traced program (proc_pid_maps(5)). */
#include "engine/patch/patch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The whole file, NUL-terminated; the caller frees it. NULL where it cannot be read. */
static char *slurp(pid_t pid)
{
	char path[40];
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t cap = 16384;
	size_t len = 0;
	char *text = fd >= 0 ? malloc(cap + 1) : NULL;
	ssize_t n = 1;
	while (text && (n = read(fd, text + len, cap - len)) > 0) {
		len += (size_t)n;
		char *bigger = len == cap ? realloc(text, (cap *= 2) + 1) : text;
		if (!bigger)
			break;
		text = bigger;
	}
	if (fd >= 0)
		close(fd);
	if (text)
		text[len] = '\0';
	return text;
}

/* One line, "lo-hi rwxp offset major:minor inode  name"; false where it is none. Names are the program's own word. */
static bool parse_line(const char *p, struct mapping *m, bool *exec)
{
	char *e;
	m->lo = strtoull(p, &e, 16);
	if (*e != '-')
		return false;
	m->hi = strtoull(e + 1, &e, 16);
	if (*e != ' ' || strnlen(e, 6) < 6)
		return false;
	const char *perm = e + 1;
	m->file_offset = strtoull(e + 6, &e, 16);
	m->dev = strtoull(e, &e, 16) << 32;
	m->dev |= *e == ':' ? strtoull(e + 1, &e, 16) : 0;
	m->ino = strtoull(e, &e, 10);
	*exec = perm[2] == 'x';
	m->patchable = *exec && perm[0] == 'r' && perm[1] == '-' && perm[3] == 'p' && m->ino != 0;
	return m->lo < m->hi;
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');
	return end && end[1] ? end + 1 : NULL;
}

int maps_read(pid_t pid, struct image *img)
{
	char *text = slurp(pid);
	struct mapping start = {0}; /* the last file's beginning */
	img->mappings.n = 0;
	for (const char *line = text; line && *line; line = next_line(line)) {
		struct mapping m;
		bool exec;
		if (!parse_line(line, &m, &exec))
			continue;
		if (m.ino && m.file_offset == 0)
			start = m;
		m.base = start.ino == m.ino && start.dev == m.dev ? start.lo : 0;
		if (exec && !vec_push(&img->mappings, m))
			break;
	}
	free(text);
	return text ? 0 : -ESRCH;
}

const struct mapping *maps_find(const struct image *img, uint64_t addr)
{
	for (size_t i = 0; i < img->mappings.n; i++)
		if (addr >= img->mappings.v[i].lo && addr < img->mappings.v[i].hi)
			return &img->mappings.v[i];
	return NULL;
}

/* rel32 reaches 2 GiB; a margin for the length of what is jumped over. */
#define REACH 0x7ff00000ull

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

uint64_t maps_gap(pid_t pid, uint64_t near, size_t size)
{
	char *text = slurp(pid);
	uint64_t end = 0x100000; /* nothing below: low addresses are for the kernel to refuse */
	uint64_t best = 0;
	for (const char *line = text; line && *line; line = next_line(line)) {
		struct mapping m;
		bool exec;
		if (!parse_line(line, &m, &exec))
			continue;
		/* A page stays free on either side; below a stack more, for its growth. */
		const char *stack = strstr(line, "[stack]");
		const char *next = next_line(line);
		uint64_t spare = stack && (!next || stack < next) ? 64 << 20 : 2 * AGENT_PAGE;
		uint64_t at = m.lo - spare - size;
		if (m.lo > end && m.lo - end >= size + spare + AGENT_PAGE && m.lo < 1ull << 47 &&
		    distance(at, near) < REACH && (!best || distance(at, near) < distance(best, near)))
			best = at;
		end = m.hi;
	}
	free(text);
	return best;
}
