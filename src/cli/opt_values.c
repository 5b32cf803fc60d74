/* The ready-made value parsers. */
#include "cli/opt.h"

#include "base/buf.h"
#include "base/near.h"
#include "base/size.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

static void *target(void *settings, const struct opt *o)
{
	return (char *)settings + o->offset;
}

int opt_flag(void *ctx, const struct opt *o, const char *arg, struct buf *why)
{
	(void)arg;
	(void)why;
	*(bool *)target(ctx, o) = true;
	return 0;
}

int opt_count(void *ctx, const struct opt *o, const char *arg, struct buf *why)
{
	(void)arg;
	(void)why;
	int *n = target(ctx, o);
	if (*n < 100)
		++*n;
	return 0;
}

int opt_string(void *ctx, const struct opt *o, const char *arg, struct buf *why)
{
	(void)why;
	*(const char **)target(ctx, o) = arg;
	return 0;
}

int opt_svg(void *ctx, const struct opt *o, const char *arg, struct buf *why)
{
	static const char *const others[] = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf", ".eps", ".ps"};
	size_t n = strlen(arg);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		size_t len = strlen(others[i]);
		if (n <= len || strcasecmp(arg + n - len, others[i]) != 0)
			continue;
		buf_addf(why,
			 "pictures are written as SVG only, so '%s' must end in .svg; write %.*s.svg (rsvg-convert "
			 "converts it to other formats)",
			 arg, (int)(n - len), arg);
		return -EINVAL;
	}
	return opt_string(ctx, o, arg, why);
}

int opt_int(void *ctx, const struct opt *o, const char *arg, struct buf *why)
{
	int64_t value;
	int r = number_parse(arg, o->min, o->max, &value);
	if (r == -EINVAL)
		buf_addf(why, "'%s' is not a whole number", arg);
	else if (r < 0)
		buf_addf(why, "%s is out of range; write a number from %ld to %ld", arg, o->min, o->max);
	if (r < 0)
		return -EINVAL;
	*(int *)target(ctx, o) = (int)value;
	return 0;
}

int opt_size(void *ctx, const struct opt *o, const char *arg, struct buf *why)
{
	int r = size_parse(arg, target(ctx, o));
	if (r == -EINVAL)
		buf_addf(why, "'%s' is not a size; write for example 4096, 4K or 1M", arg);
	else if (r < 0)
		buf_addf(why, "%s is too large", arg);
	return r < 0 ? -EINVAL : 0;
}

int opt_duration(void *ctx, const struct opt *o, const char *arg, struct buf *why)
{
	int r = duration_parse(arg, target(ctx, o));
	if (r == -EINVAL)
		buf_addf(why, "'%s' is not a duration; write for example 250ms, 1.5s or 10us", arg);
	else if (r < 0)
		buf_addf(why, "%s is too long", arg);
	else if (*(uint64_t *)target(ctx, o) < (uint64_t)o->min) {
		buf_addf(why, "%s is too short; the shortest %s is ", arg, o->name);
		duration_human(why, (double)o->min);
		if (!arg[strspn(arg, "0123456789.")])
			buf_adds(why, "; a number without a unit means microseconds, so write for example 2s or 250ms");
		r = -EINVAL;
	}
	return r < 0 ? -EINVAL : 0;
}

/* Copies the next of the space-separated `words` into `word`. Returns false if no word is left. */
static bool next_word(const char **words, char *word, size_t size)
{
	const char *w = *words + strspn(*words, " ");
	size_t len = strcspn(w, " ");
	if (!len || len >= size)
		return false;
	memcpy(word, w, len);
	word[len] = '\0';
	*words = w + len;
	return true;
}

void opt_say_words(const struct opt *o, const char *arg, struct buf *why)
{
	char words[16][32];
	struct near near;
	const char *at = o->words;
	near_init(&near, arg);
	buf_addf(why, "'%s' is not one of", arg);
	for (size_t i = 0; i < 16 && next_word(&at, words[i], sizeof(words[i])); i++) {
		buf_addf(why, "%s %s", i ? "," : "", words[i]);
		near_offer(&near, words[i]);
	}
	near_say(&near, "", why);
}

int opt_word(void *ctx, const struct opt *o, const char *arg, struct buf *why)
{
	char word[32];
	bool known = !arg; /* the value of "[WHEN]" was omitted */
	for (const char *at = o->words; !known && next_word(&at, word, sizeof(word));)
		known = strcmp(word, arg) == 0;
	if (known)
		return opt_string(ctx, o, arg ? arg : "", why);
	opt_say_words(o, arg, why);
	return -EINVAL;
}
