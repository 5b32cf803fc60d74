/* SPDX-License-Identifier: MIT */
#include "run/field.h"

#include "base/buf.h"
#include "base/memory.h"
#include "stats/hist.h"
#include "stats/summary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The layout of any VEC(). */
struct any_list {
	char *v;
	size_t n, cap;
};

static struct any_list list_of(const void *at)
{
	struct any_list l;
	memcpy(&l, at, sizeof(l));
	return l;
}

static void *member(void *object, const struct field *f)
{
	return (char *)object + f->offset;
}

static const void *const_member(const void *object, const struct field *f)
{
	return (const char *)object + f->offset;
}

static char *copy_of(const char *text)
{
	return text ? memory_copy(text) : NULL;
}

void field_set(char **to, const char *text)
{
	char *s = copy_of(text);
	free(*to);
	*to = s;
}

void strings_add(struct strings *s, const char *text)
{
	s->known = true;
	vec_push(s, memory_copy(text));
}

void strings_add_lines(struct strings *s, const char *text)
{
	s->known = true;
	while (*text) {
		size_t len = strcspn(text, "\n");
		auto_buf line = {0};
		buf_add(&line, text, len);
		strings_add(s, buf_str(&line));
		text += len + (text[len] == '\n');
	}
}

void texts_add(struct texts *t, const char *name, const char *text)
{
	vec_push(t, (struct named_text){memory_copy(name), copy_of(text)});
}

const char *texts_find(const struct texts *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->v[i].name, name) == 0)
			return t->v[i].text;
	return NULL;
}

void numbers_add(struct numbers *t, const char *name, double number)
{
	vec_push(t, (struct named_number){memory_copy(name), number});
}

void reals_add(struct reals *r, double x)
{
	vec_push(r, x);
}

/* Makes a zeroed member unknown. Nothing needs to be done for types whose unknown value consists of zeros. */
static void init_one(const struct field *f, void *at)
{
	if (f->type == FIELD_REAL || f->type == FIELD_INTEGER)
		*(double *)at = NAN;
	else if (f->type == FIELD_TRUTH)
		*(enum truth *)at = TRUTH_UNKNOWN;
	else if (f->type == FIELD_OBJECT)
		fields_init(f->of, at);
}

void fields_init(const struct fields *f, void *object)
{
	memset(object, 0, f->size);
	for (size_t i = 0; i < f->n; i++)
		init_one(&f->v[i], member(object, &f->v[i]));
}

void strings_clear(struct strings *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i]);
	vec_free(s);
	s->known = false;
}

void texts_clear(struct texts *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->v[i].name);
		free(t->v[i].text);
	}
	vec_free(t);
}

static void free_numbers(void *at)
{
	struct numbers *t = at;
	for (size_t i = 0; i < t->n; i++)
		free(t->v[i].name);
	vec_free(t);
}

static void free_list(const struct fields *of, const void *at)
{
	struct any_list l = list_of(at);
	for (size_t i = 0; i < l.n; i++)
		fields_free(of, l.v + i * of->size);
	free(l.v);
}

static void free_one(const struct field *f, void *at)
{
	if (f->type == FIELD_STRING)
		free(*(char **)at);
	else if (f->type == FIELD_STRINGS)
		strings_clear(at);
	else if (f->type == FIELD_REALS || f->type == FIELD_WHOLE)
		free(((struct reals *)at)->v);
	else if (f->type == FIELD_TEXTS)
		texts_clear(at);
	else if (f->type == FIELD_NUMBERS)
		free_numbers(at);
	else if (f->type == FIELD_HIST)
		hist_free(at);
	else if (f->type == FIELD_CALLS)
		summary_free(at);
	else if (f->type == FIELD_OBJECT)
		fields_free(f->of, at);
	else if (f->type == FIELD_TRIPLES)
		free(list_of(at).v);
	else if (f->type == FIELD_LIST)
		free_list(f->of, at);
}

void fields_free(const struct fields *f, void *object)
{
	for (size_t i = 0; i < f->n; i++)
		free_one(&f->v[i], member(object, &f->v[i]));
	fields_init(f, object);
}

static json_t *reals_json(const struct reals *r, bool whole)
{
	json_t *a = json_array();
	for (size_t i = 0; i < r->n; i++)
		json_array_append_new(a, summary_json_number(r->v[i], whole));
	return a;
}

static json_t *strings_json(const struct strings *s)
{
	json_t *a = json_array();
	for (size_t i = 0; i < s->n; i++)
		json_array_append_new(a, summary_json_text(s->v[i]));
	return a;
}

static json_t *texts_json(const struct texts *t)
{
	json_t *o = json_object();
	for (size_t i = 0; i < t->n; i++)
		json_object_set_new(o, t->v[i].name, t->v[i].text ? summary_json_text(t->v[i].text) : json_null());
	return o;
}

static json_t *numbers_json(const struct numbers *t)
{
	json_t *o = json_object();
	for (size_t i = 0; i < t->n; i++)
		json_object_set_new(o, t->v[i].name, summary_json_number(t->v[i].number, true));
	return o;
}

static json_t *triples_json(const void *at)
{
	struct any_list l = list_of(at);
	json_t *a = json_array();
	for (size_t i = 0; i < l.n; i++) {
		double x[3];
		memcpy(x, l.v + i * sizeof(x), sizeof(x));
		json_array_append_new(a, json_pack("[o, o, o]", summary_json_number(x[0], false),
						   summary_json_number(x[1], false), summary_json_number(x[2], true)));
	}
	return a;
}

static json_t *list_json(const struct field *f, const void *at, unsigned kinds)
{
	struct any_list l = list_of(at);
	json_t *a = json_array();
	for (size_t i = 0; i < l.n; i++)
		json_array_append_new(a, fields_write(f->of, l.v + i * f->of->size, kinds));
	return a;
}

static json_t *write_one(const struct field *f, const void *object, unsigned kinds)
{
	const void *at = const_member(object, f);
	switch (f->type) {
	case FIELD_STRING:
		return summary_json_text(*(char *const *)at);
	case FIELD_REAL:
	case FIELD_INTEGER:
		return summary_json_number(*(const double *)at, f->type == FIELD_INTEGER);
	case FIELD_TRUTH:
		return json_boolean(*(const enum truth *)at == TRUTH_YES);
	case FIELD_STRINGS:
		return strings_json(at);
	case FIELD_REALS:
	case FIELD_WHOLE:
		return reals_json(at, f->type == FIELD_WHOLE);
	case FIELD_TEXTS:
		return texts_json(at);
	case FIELD_NUMBERS:
		return numbers_json(at);
	case FIELD_TRIPLES:
		return triples_json(at);
	case FIELD_HIST:
		return summary_hist_json(at);
	case FIELD_CALLS:
		return summary_json(at);
	case FIELD_OBJECT:
		return fields_write(f->of, at, kinds);
	case FIELD_LIST:
		return list_json(f, at, kinds);
	}
	return NULL;
}

double field_number(const struct field *f, const void *object)
{
	return *(const double *)const_member(object, f);
}

bool field_is_unknown(const struct field *f, const void *object)
{
	const void *at = const_member(object, f);
	switch (f->type) {
	case FIELD_STRING:
		return !*(char *const *)at;
	case FIELD_REAL:
	case FIELD_INTEGER:
		return !isfinite(*(const double *)at);
	case FIELD_TRUTH:
		return *(const enum truth *)at == TRUTH_UNKNOWN;
	case FIELD_STRINGS:
		return !((const struct strings *)at)->known;
	case FIELD_OBJECT:
		return !*(const bool *)at;
	case FIELD_HIST:
		return !((const struct hist *)at)->n;
	case FIELD_CALLS:
		return !((const struct summary *)at)->groups.n;
	case FIELD_REALS:
	case FIELD_WHOLE:
	case FIELD_TEXTS:
	case FIELD_NUMBERS:
	case FIELD_TRIPLES:
	case FIELD_LIST:
		return !list_of(at).n;
	}
	return true;
}

/*
 * Returns true if the member has no value: it is written as null or, with FIELD_OPTIONAL, not at all. An empty list or
 * histogram without FIELD_OPTIONAL is written as an empty array or object.
 */
static bool is_null(const struct field *f, const void *object)
{
	bool may_be_empty = f->type >= FIELD_REALS && f->type != FIELD_OBJECT;
	return field_is_unknown(f, object) && (!may_be_empty || f->flags & FIELD_OPTIONAL);
}

json_t *fields_write(const struct fields *f, const void *object, unsigned kinds)
{
	json_t *o = json_object();
	for (size_t i = 0; i < f->n; i++) {
		const struct field *x = &f->v[i];
		bool null = is_null(x, object);
		if ((x->kinds && !(x->kinds & kinds)) || (null && x->flags & FIELD_OPTIONAL))
			continue;
		json_object_set_new(o, x->key, null ? json_null() : write_one(x, object, kinds));
	}
	return o;
}

int fields_read_reals(const json_t *array, struct reals *r)
{
	size_t i;
	json_t *x;
	if (!json_is_array(array))
		return -EINVAL;
	json_array_foreach(array, i, x)
	{
		if (!json_is_number(x) && !json_is_null(x))
			return -EINVAL;
		vec_push(r, json_is_number(x) ? json_number_value(x) : NAN);
	}
	return 0;
}

static int read_strings(struct strings *s, const json_t *v)
{
	size_t i;
	json_t *x;
	if (!json_is_array(v))
		return -EINVAL;
	s->known = true;
	json_array_foreach(v, i, x)
	{
		if (!json_is_string(x))
			return -EINVAL;
		strings_add(s, json_string_value(x));
	}
	return 0;
}

static int read_texts(struct texts *t, const json_t *v)
{
	const char *key;
	json_t *x;
	if (!json_is_object(v))
		return -EINVAL;
	json_object_foreach((json_t *)v, key, x)
	{
		if (!json_is_string(x) && !json_is_null(x))
			return -EINVAL;
		texts_add(t, key, json_string_value(x));
	}
	return 0;
}

static int read_numbers(struct numbers *t, const json_t *v)
{
	const char *key;
	json_t *x;
	if (!json_is_object(v))
		return -EINVAL;
	json_object_foreach((json_t *)v, key, x)
	{
		if (!json_is_number(x))
			return -EINVAL;
		numbers_add(t, key, json_number_value(x));
	}
	return 0;
}

static int read_list(const struct field *f, void *at, const json_t *v, unsigned kinds, struct buf *why)
{
	size_t n = json_array_size(v);
	if (!json_is_array(v))
		return -EINVAL;
	struct any_list l = {.v = memory_zeroed(n + 1, f->of->size), .n = n, .cap = n};
	int err = 0;
	for (size_t i = 0; i < n; i++) {
		fields_init(f->of, l.v + i * f->of->size);
		if (!err)
			err = fields_read(f->of, l.v + i * f->of->size, json_array_get(v, i), kinds, why);
	}
	memcpy(at, &l, sizeof(l));
	return err;
}

static int read_triples(void *at, const json_t *v)
{
	double(*x)[3] = memory_zeroed(json_array_size(v) + 1, sizeof(*x));
	struct any_list l = {.v = (char *)x, .n = json_array_size(v), .cap = json_array_size(v)};
	int err = json_is_array(v) ? 0 : -EINVAL;
	for (size_t i = 0; i < l.n && !err; i++)
		for (size_t k = 0; k < 3 && !err; k++) {
			const json_t *number = json_array_get(json_array_get(v, i), k);
			x[i][k] = json_number_value(number);
			err = json_is_number(number) ? 0 : -EINVAL;
		}
	memcpy(at, &l, sizeof(l));
	return err;
}

static int read_simple(const struct field *f, void *at, const json_t *v)
{
	bool right = f->type == FIELD_STRING  ? json_is_string(v)
		     : f->type == FIELD_TRUTH ? json_is_boolean(v)
					      : json_is_number(v);
	if (!right)
		return -EINVAL;
	if (f->type == FIELD_STRING)
		field_set(at, json_string_value(v));
	else if (f->type == FIELD_TRUTH)
		*(enum truth *)at = json_is_true(v) ? TRUTH_YES : TRUTH_NO;
	else
		*(double *)at = json_number_value(v);
	return 0;
}

static int read_one(const struct field *f, void *at, const json_t *v, unsigned kinds, struct buf *why)
{
	switch (f->type) {
	case FIELD_STRING:
	case FIELD_REAL:
	case FIELD_INTEGER:
	case FIELD_TRUTH:
		return read_simple(f, at, v);
	case FIELD_STRINGS:
		return read_strings(at, v);
	case FIELD_REALS:
	case FIELD_WHOLE:
		return fields_read_reals(v, at);
	case FIELD_TEXTS:
		return read_texts(at, v);
	case FIELD_NUMBERS:
		return read_numbers(at, v);
	case FIELD_TRIPLES:
		return read_triples(at, v);
	case FIELD_HIST:
		return summary_hist_read(v, at);
	case FIELD_CALLS:
		return summary_read(v, at, why);
	case FIELD_OBJECT:
		if (!json_is_object(v))
			return -EINVAL;
		*(bool *)at = true;
		return fields_read(f->of, at, v, kinds, why);
	case FIELD_LIST:
		return read_list(f, at, v, kinds, why);
	}
	return -EINVAL;
}

int fields_read(const struct fields *f, void *object, const json_t *o, unsigned kinds, struct buf *why)
{
	if (!json_is_object(o)) {
		buf_adds(why, "it is not an object");
		return -EINVAL;
	}
	for (size_t i = 0; i < f->n; i++) {
		const struct field *x = &f->v[i];
		const json_t *v = json_object_get(o, x->key);
		if (!v || json_is_null(v) || (x->kinds && !(x->kinds & kinds)))
			continue;
		int err = read_one(x, member(object, x), v, kinds, why);
		if (err == -EINVAL && !why->len)
			buf_addf(why, "'%s' does not have the expected type", x->key);
		if (err < 0)
			return err;
	}
	return 0;
}

const struct field *fields_find(const struct fields *f, const char *key)
{
	for (size_t i = 0; i < f->n; i++)
		if (strcmp(f->v[i].key, key) == 0)
			return &f->v[i];
	return NULL;
}

static bool strings_equal(const struct strings *a, const struct strings *b)
{
	bool equal = a->known == b->known && a->n == b->n;
	for (size_t i = 0; equal && i < a->n; i++)
		equal = strcmp(a->v[i], b->v[i]) == 0;
	return equal;
}

bool field_equal(const struct field *f, const void *a, const void *b)
{
	const void *x = const_member(a, f);
	const void *y = const_member(b, f);
	if (field_is_unknown(f, a) || field_is_unknown(f, b))
		return field_is_unknown(f, a) && field_is_unknown(f, b);
	if (f->type == FIELD_STRING)
		return strcmp(*(char *const *)x, *(char *const *)y) == 0;
	if (f->type == FIELD_STRINGS)
		return strings_equal(x, y);
	if (f->type == FIELD_TRUTH)
		return *(const enum truth *)x == *(const enum truth *)y;
	return *(const double *)x == *(const double *)y;
}

void field_say(const struct field *f, const void *object, struct buf *out)
{
	const void *at = const_member(object, f);
	if (field_is_unknown(f, object)) {
		buf_adds(out, "unknown");
	} else if (f->type == FIELD_STRING) {
		buf_adds(out, *(char *const *)at);
	} else if (f->type == FIELD_TRUTH) {
		buf_adds(out, *(const enum truth *)at == TRUTH_YES ? "on" : "off");
	} else if (f->type == FIELD_STRINGS) {
		const struct strings *s = at;
		buf_adds(out, s->n ? "" : "none");
		for (size_t i = 0; i < s->n; i++)
			buf_addf(out, "%s%s", i ? ", " : "", s->v[i]);
	} else if (f->type == FIELD_INTEGER) {
		buf_addf(out, "%.0f", *(const double *)at);
	} else {
		buf_addf(out, "%g", *(const double *)at);
	}
}
