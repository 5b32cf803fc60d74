#include "stats/box.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int box_init(struct box *b, const double *v, size_t n)
{
	*b = (struct box){0};
	double *sorted = sample_sorted(v, &n);
	if (!n) {
		free(sorted);
		return -EINVAL;
	}
	struct sample_summary *s = &b->summary;
	sample_summarise_sorted(sorted, n, s);
	b->whisker_low = sorted[s->outliers_low];
	b->whisker_high = sorted[n - 1 - s->outliers_high];
	b->noutliers = s->outliers_low + s->outliers_high;
	/* The low outliers are already at the start of the array. Move the high outliers to the place after them. */
	memmove(sorted + s->outliers_low, sorted + n - s->outliers_high, s->outliers_high * sizeof(*sorted));
	b->outliers = sorted;
	return 0;
}

void box_free(struct box *b)
{
	free(b->outliers);
	*b = (struct box){0};
}
