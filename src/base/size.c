/* SPDX-License-Identifier: MIT */
#include "base/size.h"

#include "base/buf.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
	const char *name;
	double factor;
};

static const struct unit size_units[] = {
	{"", 1},       {"B", 1},        {"K", 0x1p10}, {"KiB", 0x1p10}, {"kB", 1e3},     {"KB", 1e3},
	{"M", 0x1p20}, {"MiB", 0x1p20}, {"MB", 1e6},   {"G", 0x1p30},   {"GiB", 0x1p30}, {"GB", 1e9},
	{"T", 0x1p40}, {"TiB", 0x1p40}, {"TB", 1e12},  {"k", 0x1p10},   {"m", 0x1p20},   {"g", 0x1p30},
};

static const struct unit time_units[] = {
	{"", 1e3}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"min", 60e9}, {"m", 60e9}, {"h", 3600e9},
};

/* Parses digits with at most one decimal point, followed by a unit from the table. */
static int parse_with_unit(const char *text, const struct unit *units, size_t n, uint64_t *value)
{
	size_t digits = strspn(text, "0123456789.");
	char *end;
	double x = strtod(text, &end);
	if (!digits || end != text + digits)
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		if (strcmp(end, units[i].name) != 0)
			continue;
		x *= units[i].factor;
		if (!(x < 0x1p63))
			return -ERANGE;
		*value = (uint64_t)(x + 0.5);
		return 0;
	}
	return -EINVAL;
}

int size_parse(const char *text, uint64_t *bytes)
{
	return parse_with_unit(text, size_units, sizeof(size_units) / sizeof(*size_units), bytes);
}

int duration_parse(const char *text, uint64_t *ns)
{
	return parse_with_unit(text, time_units, sizeof(time_units) / sizeof(*time_units), ns);
}

void size_format(struct buf *out, uint64_t bytes)
{
	static const char letters[] = "KMGT";
	int i = -1;
	while (bytes && bytes % 1024 == 0 && i < 3) {
		bytes /= 1024;
		i++;
	}
	buf_addf(out, "%llu", (unsigned long long)bytes);
	if (i >= 0)
		buf_addc(out, letters[i]);
}

void factor_human(struct buf *out, double x)
{
	double a = fabs(x);
	buf_addf(out, "%.*f", a < 9.995 ? 2 : a < 99.95 ? 1 : 0, x);
}

void size_human(struct buf *out, uint64_t bytes)
{
	static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double x = (double)bytes;
	size_t i = 0;
	while (x >= 1024 && i < 4) {
		x /= 1024;
		i++;
	}
	if (x == floor(x))
		buf_addf(out, "%.0f", x);
	else
		factor_human(out, x);
	buf_addf(out, " %s", names[i]);
}

void duration_human(struct buf *out, double ns)
{
	double a = fabs(ns);
	const char *unit = a < 999.5 ? "ns" : a < 999.5e3 ? "us" : a < 999.5e6 ? "ms" : "s";
	double scale = a < 999.5 ? 1 : a < 999.5e3 ? 1e3 : a < 999.5e6 ? 1e6 : 1e9;
	factor_human(out, ns / scale);
	buf_addf(out, " %s", unit);
}

void duration_in(struct buf *out, double ns, const char *word)
{
	static const struct {
		const char *name, *word;
		double ns;
	} units[] = {
		{"ns", "nanosecond", 1}, {"us", "microsecond", 1e3}, {"ms", "millisecond", 1e6}, {"s", "second", 1e9}};
	for (size_t i = 0; word && i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(word, units[i].name) != 0 && strcmp(word, units[i].word) != 0)
			continue;
		double x = ns / units[i].ns, a = fabs(x);
		/* A number below 1000 has as many digits after the point as three significant digits need. */
		int digits = a > 0 && a < 999.5 ? 2 - (int)floor(log10(a * (1 + 0.5e-3))) : 0;
		if (digits > 0 || a < 999.5)
			buf_addf(out, "%.*f", digits < 0 ? 0 : digits > 12 ? 12 : digits, x);
		else
			count_human(out, (uint64_t)fmin(a + 0.5, 9e18));
		buf_addf(out, " %s", units[i].name);
		return;
	}
	duration_human(out, ns);
}

int number_parse(const char *text, int64_t min, int64_t max, int64_t *value)
{
	if (!isdigit((unsigned char)text[0]) && !(text[0] == '-' && isdigit((unsigned char)text[1])))
		return -EINVAL;
	char *end;
	errno = 0;
	long long x = strtoll(text, &end, 10);
	if (*end)
		return -EINVAL;
	if (errno == ERANGE || x < min || x > max)
		return -ERANGE;
	*value = x;
	return 0;
}

void count_human(struct buf *out, uint64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);
	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf_addc(out, ',');
		buf_addc(out, digits[i]);
	}
}

void factor_interval(struct buf *out, double low, double high)
{
	buf_adds(out, isfinite(high) ? "" : "above ");
	factor_human(out, low);
	if (!isfinite(high))
		return;
	buf_adds(out, " to ");
	factor_human(out, high);
}
