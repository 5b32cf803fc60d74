#include "cmd/bench/loads.h"

#include "base/buf.h"
#include "base/diag.h"
#include "cmd/put.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int bench_opt_loads(void *ctx, const struct opt *o, const char *arg, struct buf *why)
{
	struct load_list *l = (struct load_list *)((char *)ctx + o->offset);
	l->n = 0;
	for (const char *p = arg; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
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

static int list_loads(void)
{
	struct buf out = {0};
	buf_addf(&out, "%-8s %s\n", "none", "no additional load");
	for (size_t i = 0; load_kind_at(i); i++)
		buf_addf(&out, "%-8s %s\n", load_kind_at(i)->name, load_kind_at(i)->about);
	int status = put_text(NULL, &out);
	buf_free(&out);
	return status;
}

void bench_default_loads(struct load_list *l, const char *words)
{
	static const struct opt here = {.offset = 0};
	struct buf why = {0};
	bench_opt_loads(l, &here, words, &why);
	buf_free(&why);
}

bool bench_loads_ready(bool list, const char *name, int nwords, char **words, int *status)
{
	if (list) {
		*status = list_loads();
		return false;
	}
	if (nwords) {
		diag_error("unexpected argument '%s'; see %s --help", words[0], name);
		*status = EXIT_USAGE;
		return false;
	}
	return true;
}
