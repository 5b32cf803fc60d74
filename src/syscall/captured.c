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
	const struct captured_memory *m = memory;
	size_t done = 0, most;
	const unsigned char *from;
	while (done < n && (from = find(m, addr + done, &most))) {
		most = most < n - done ? most : n - done;
		memcpy((unsigned char *)buf + done, from, most);
		done += most;
	}
	return done ? (ssize_t)done : -EFAULT;
}
