/* Metrics that commands print (--metric). */
#include "compare/compare.h"

#include "base/buf.h"
#include "base/memory.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int compare_metric_parse(struct compare_options *o, const char *text, struct buf *why)
{
	const char *equals = strchr(text, '=');
	size_t len = strlen(text);
	struct compare_metric m = {0};
	if (!equals || equals == text || equals[1] != '/' || text + len - 1 <= equals + 2 || text[len - 1] != '/') {
		buf_addf(why, "'%s' is not a metric; write NAME=/REGEX/, for example 'ops/s=/([0-9.]+) ops/'", text);
		return -EINVAL;
	}
	for (size_t i = 0; i < o->metrics.n; i++)
		if (strlen(o->metrics.v[i].name) == (size_t)(equals - text) &&
		    strncmp(o->metrics.v[i].name, text, (size_t)(equals - text)) == 0) {
			buf_addf(why, "the metric '%s' is given twice", o->metrics.v[i].name);
			return -EINVAL;
		}
	auto_free char *regex = memory_copy_part(equals + 2, (size_t)(text + len - 1 - (equals + 2)));
	int failed = regcomp(&m.pattern, regex, REG_EXTENDED | REG_NEWLINE);
	if (failed) {
		char reason[128];
		regerror(failed, &m.pattern, reason, sizeof(reason));
		buf_addf(why, "'%s' is not an extended regular expression (regex(7)): %s", regex, reason);
	} else if (strstr(regex, "\\d")) {
		/* glibc would take it for the letter d, without a message. */
		buf_addf(why, "'%s': extended regular expressions (regex(7)) do not have \\d; write [0-9]", regex);
		regfree(&m.pattern);
		failed = -1;
	} else {
		m.name = memory_copy_part(text, (size_t)(equals - text));
		vec_push(&o->metrics, m);
	}
	return failed ? -EINVAL : 0;
}

/* Reads the beginning of a file as text. */
static void read_text(const char *path, struct buf *text)
{
	enum { TEXT_MAX = 64 << 20 };
	char part[4096];
	FILE *f = fopen(path, "re");
	size_t n;
	while (f && text->len < TEXT_MAX && (n = fread(part, 1, sizeof(part), f)) > 0) {
		for (size_t i = 0; i < n; i++)
			part[i] = part[i] ? part[i] : '\n'; /* regexec(3) ends at a NUL */
		buf_add(text, part, n);
	}
	if (f)
		fclose(f);
}

/*
 * Converts a number, also with commas between thousands. Returns NAN if the text is not a number. A comma elsewhere is
 * perhaps a decimal comma, so such a text is not a number.
 */
static double number(const char *text, size_t len)
{
	auto_buf digits = {0};
	char *end;
	bool thousands = true;
	for (size_t i = 0; i < len; i++)
		if (text[i] != ',')
			buf_addc(&digits, text[i]);
		else
			thousands &= i > 0 && len - i > 3 && strspn(text + i + 1, "0123456789") == 3;
	double v = strtod(buf_str(&digits), &end);
	bool all = thousands && end != buf_str(&digits) && end[strspn(end, " \t")] == '\0';
	return all && isfinite(v) ? v : NAN;
}

double compare_metric_read(const struct compare_metric *m, const char *const *paths, size_t n)
{
	double found = NAN;
	for (size_t i = 0; i < n && isnan(found); i++) {
		auto_buf text = {0};
		regmatch_t at[2];
		read_text(paths[i], &text);
		if (regexec(&m->pattern, buf_str(&text), 2, at, 0) == 0) {
			const regmatch_t *part = at[1].rm_so >= 0 ? &at[1] : &at[0];
			found = number(buf_str(&text) + part->rm_so, (size_t)(part->rm_eo - part->rm_so));
		}
	}
	return found;
}
