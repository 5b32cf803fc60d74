#include "recording/captures.h"

#include "base/memory.h"
#include "recording/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RECENT 8 /* a new capture is compared with this many previous ones */

void captures_free(struct captures *c)
{
	vec_free(&c->list);
	buf_free(&c->bytes);
}

void captures_begin(struct captures *c, const struct mem *under)
{
	c->list.n = c->last = 0;
	buf_clear(&c->bytes);
	c->under = under;
}

void captures_add(struct captures *c, uint64_t addr, const void *bytes, size_t n)
{
	if (!n || n > RECORDING_CAPTURES - c->bytes.len)
		return;
	for (size_t i = c->list.n; i > 0 && i + RECENT > c->list.n; i--) {
		const struct capture *k = &c->list.v[i - 1];
		if (addr - k->addr < k->len && k->len - (addr - k->addr) >= n)
			return;
	}
	struct capture k = {.addr = addr, .at = c->bytes.len, .len = (uint32_t)n};
	buf_add(&c->bytes, bytes, n);
	vec_push(&c->list, k);
}

static ssize_t keep_read(void *captures, uint64_t addr, void *buf, size_t n)
{
	struct captures *c = captures;
	ssize_t got = c->under->read(c->under->ctx, addr, buf, n);
	if (got > 0)
		captures_add(c, addr, buf, (size_t)got);
	return got;
}

static ssize_t keep_string(void *captures, uint64_t addr, char *buf, size_t n, int *ended)
{
	struct captures *c = captures;
	ssize_t got = mem_string(c->under, addr, buf, n, ended);
	if (got < 0)
		return got;
	/* The NUL at the end is captured as well, although mem_string() does not necessarily store it in `buf`. */
	size_t before = c->list.n;
	captures_add(c, addr, got ? buf : "", got ? (size_t)got : (size_t)*ended);
	if (got && *ended && c->list.n > before) {
		buf_addc(&c->bytes, '\0');
		c->list.v[before].len++;
	} else if (got && *ended) {
		captures_add(c, addr + (uint64_t)got, "", 1);
	}
	return got;
}

struct mem captures_keeping(struct captures *c)
{
	return (struct mem){.read = keep_read, .ctx = c, .string = keep_string};
}

/* Returns a capture that contains `addr`, or NULL, and sets *most to the length from `addr` to its end. */
static const struct capture *find(struct captures *c, uint64_t addr, size_t *most)
{
	for (size_t n = 0, i = c->last; n < c->list.n; n++, i = i + 1 < c->list.n ? i + 1 : 0) {
		const struct capture *k = &c->list.v[i];
		if (addr - k->addr < k->len) {
			*most = (size_t)(k->len - (addr - k->addr));
			c->last = i;
			return k;
		}
	}
	return NULL;
}

/* Memory that was captured in parts is also read at once. */
static ssize_t read_kept(void *captures, uint64_t addr, void *buf, size_t n)
{
	struct captures *c = captures;
	const struct capture *found;
	size_t done = 0, most;
	while (done < n && (found = find(c, addr + done, &most))) {
		most = most < n - done ? most : n - done;
		memcpy((char *)buf + done, c->bytes.s + found->at + (addr + done - found->addr), most);
		done += most;
	}
	return done ? (ssize_t)done : -EFAULT;
}

struct mem captures_memory(struct captures *c)
{
	return (struct mem){.read = read_kept, .ctx = c};
}
