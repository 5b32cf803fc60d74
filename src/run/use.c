#include "run/use.h"

#include "base/buf.h"
#include "base/words.h"

#include <errno.h>
#include <math.h>
#include <string.h>

const struct use_row use_rows[USES] = {
#define USE(member, word, title, unit) [USE_##member] = {#member, word, title, unit, offsetof(struct run_use, member)},
#include "run/uses.def"
#undef USE
};

static const char everything[] = "all";

double run_use(const struct run_use *u, enum use which)
{
	return u->known ? *(const double *)(const void *)((const char *)u + use_rows[which].offset) : NAN;
}

static bool is_word(const char *at, size_t n, const char *word)
{
	return strlen(word) == n && memcmp(at, word, n) == 0;
}

bool run_use_listed(const char *list, enum use which)
{
	for (size_t n; list; list = list[n] ? list + n + 1 : NULL) {
		n = strcspn(list, ",");
		if (is_word(list, n, use_rows[which].word) || is_word(list, n, everything))
			return true;
	}
	return false;
}

static int unknown(const char *at, size_t n, struct buf *why)
{
	struct buf word = {0};
	struct near near;
	buf_add(&word, at, n);
	near_init(&near, buf_str(&word));
	buf_addf(why, "'%s' is not a column; the columns are", buf_str(&word));
	for (int i = 0; i < USES; i++) {
		near_offer(&near, use_rows[i].word);
		buf_addf(why, " %s,", use_rows[i].word);
	}
	buf_addf(why, " and '%s', which selects all of them", everything);
	near_say(&near, "", why);
	buf_free(&word);
	return -EINVAL;
}

int run_use_check(const char *list, struct buf *why)
{
	for (size_t n; list; list = list[n] ? list + n + 1 : NULL) {
		bool known = false;
		n = strcspn(list, ",");
		for (int i = 0; i < USES && !known; i++)
			known = is_word(list, n, use_rows[i].word) || is_word(list, n, everything);
		if (!known)
			return unknown(list, n, why);
	}
	return 0;
}
