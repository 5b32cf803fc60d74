/* SPDX-License-Identifier: MIT */
#include "syscall/captured.h"

#include <errno.h>
#include <string.h>

void captured_add(struct buf *out, uint64_t addr, const void *bytes, size_t n, bool before)
{
	static const char zeros[8];
	struct captured c = {.addr = addr, .len = (uint32_t)n, .before = before};
	buf_add(out, (const char *)&c, sizeof(c));
	buf_add(out, bytes, n);
	buf_add(out, zeros, -n & 7);
}

#define NEAR_MOST 8

/* Looks for `addr` in the next few captures. Other captures of the same time that contain it have the same bytes there. */
static const unsigned char *find_near(const struct captured_memory *m, uint64_t addr, size_t *most, size_t *at)
{
	const unsigned char *bytes;
	struct captured c;
	size_t k = m->at < m->list->from ? m->list->from : m->at;
	for (unsigned i = 0; i < NEAR_MOST; i++) {
		*at = k;
		bytes = captured_next(m->list, &k, &c);
		if (!bytes)
			break;
		if (c.before == m->before && addr - c.addr < c.len) {
			*most = (size_t)(c.len - (addr - c.addr));
			return bytes + (addr - c.addr);
		}
	}
	return NULL;
}

/*
 * Finds the captures that contain `addr`. Returns the address of the captured bytes, or NULL, and sets *most to their
 * number.
 */
static const unsigned char *find(const struct captured_memory *m, uint64_t addr, size_t *most)
{
	const unsigned char *from[2] = {NULL, NULL}, *bytes;
	uint64_t len[2] = {0, 0}, next = UINT64_MAX;
	struct captured c;
	for (size_t k = m->list->from; (bytes = captured_next(m->list, &k, &c));) {
		bool other = (c.before != 0) != m->before;
		/* If several captures overlap, uses the one that ends last. */
		if (c.before >= CAPTURED_NAME)
			;
		else if (addr - c.addr < c.len && c.len - (addr - c.addr) > len[other]) {
			len[other] = c.len - (addr - c.addr);
			from[other] = bytes + (addr - c.addr);
		} else if (!other && c.addr > addr && c.addr - addr < next) {
			next = c.addr - addr;
		}
	}
	*most = (size_t)(from[0] ? len[0] : len[1] < next ? len[1] : next);
	return from[0] ? from[0] : from[1];
}

ssize_t captured_read(void *memory, uint64_t addr, void *buf, size_t n)
{
	struct captured_memory *m = memory;
	size_t done = 0, most, at, first = m->at;
	const unsigned char *from;
	for (; done < n; done += most) {
		if ((from = find_near(m, addr + done, &most, &at))) {
			first = done ? first : at;
			m->at = at;
		} else if (!(from = find(m, addr + done, &most))) {
			break;
		}
		most = most < n - done ? most : n - done;
		memcpy((unsigned char *)buf + done, from, most);
	}
	m->at = first; /* a string that is read in parts may end in its first capture */
	return done ? (ssize_t)done : -EFAULT;
}
