/* The lines under the table: what cannot run, and how the figures came about. */
#include "compare/compare.h"

#include "base/buf.h"
#include "base/size.h"

#include <inttypes.h>
#include <string.h>

const char *compare_engine(const struct compare *c)
{
	for (size_t i = 0; i < c->subjects.n; i++)
		if (c->subjects.v[i]->counted)
			return c->subjects.v[i]->count.engine;
	return NULL;
}

/* Is `i` the first row that gives its reason? */
static bool first_with_reason(const struct compare *c, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (c->subjects.v[k]->unable && strcmp(c->subjects.v[k]->unable, c->subjects.v[i]->unable) == 0)
			return false;
	return true;
}

/* "fgetc/fputc, one-shot cannot run here: cannot write 'out': No space left on device" */
static void say_unable(const struct compare *c, struct buf *out)
{
	for (size_t i = 0; i < c->subjects.n; i++) {
		const char *reason = c->subjects.v[i]->unable;
		if (!reason || !first_with_reason(c, i))
			continue;
		for (size_t k = i; k < c->subjects.n; k++) {
			const struct subject *s = c->subjects.v[k];
			if (!s->unable || strcmp(s->unable, reason) != 0)
				continue;
			buf_adds(out, k > i ? ", " : "");
			compare_label(out, s);
		}
		buf_addf(out, " cannot run here: %s\n", reason);
	}
}

/* "* counted on the first 128 KiB of the input: ..." */
static void say_parts(const struct compare *c, struct buf *out)
{
	for (size_t i = 0; i < c->subjects.n; i++) {
		const struct subject *s = c->subjects.v[i];
		if (!s->partly)
			continue;
		buf_adds(out, "* ");
		compare_label(out, s);
		buf_addf(out,
			 ": calls of the first %" PRIu64
			 " bytes of the input alone; --count-all counts over all of it\n",
			 s->counted_bytes);
	}
}

static void say_how(const struct compare *c, struct buf *out)
{
	const struct subject *best = compare_fastest(c);
	const char *engine = compare_engine(c);
	size_t least = best ? best->wall.of.n : 0;
	size_t most = least;
	for (size_t i = 0; i < c->subjects.n; i++) {
		size_t n = c->subjects.v[i]->wall.of.n;
		least = n && n < least ? n : least;
		most = n > most ? n : most;
	}
	buf_addf(out, "wall and peak RSS: medians, user and system: means of %zu", least);
	if (most > least)
		buf_addf(out, " to %zu", most);
	buf_adds(out, most == 1 ? " untraced run" : " untraced runs");
	buf_addf(out, ", interleaved in random order (seed %d), %s cache%s%s; IQR: the distance of wall's quartiles\n",
		 c->opt.seed, c->opt.cold ? "cold" : "warm",
		 c->opt.cold && c->resident == 0 ? " (mincore found none of the input in it)" : "",
		 c->opt.fsync ? ", fsync included" : "");
	if (engine)
		buf_addf(out,
			 "calls, errors, time in calls: one more run, counted by engine %s, tracing cost taken out\n",
			 engine);
	if (c->shell_s[0] > 0) {
		buf_adds(out, "commands ran in a shell, whose own start (");
		duration_human(out, c->shell_s[0] * 1e9);
		buf_adds(out, ") was taken out; calls are those of the whole process tree, the shell's too, and peak "
			      "RSS is that "
			      "of its largest process\n");
	} else if (best && !best->strategy) {
		buf_adds(out, "calls are those of the whole process tree, peak RSS that of its largest process\n");
	}
	if (c->fs.mount.type[0])
		buf_addf(out, "files: %s on %s\n", c->fs.mount.type, c->fs.mount.source);
}

void compare_notes(const struct compare *c, struct buf *out)
{
	say_unable(c, out);
	say_parts(c, out);
	if (compare_fastest(c))
		say_how(c, out);
}
