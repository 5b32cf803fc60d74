/* SPDX-License-Identifier: MIT */
#include "syscall/filter.h"

#include "base/buf.h"
#include "base/memory.h"
#include "base/size.h"
#include "base/words.h"
#include "event.h"
#include "syscall/call_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct group_name {
	const char *name;
	uint32_t groups;
	bool bare; /* strace also accepts the group without % */
} group_names[] = {
	{"file", G_FILE, true},
	{"desc", G_DESC, true},
	{"network", G_NETWORK, true},
	{"net", G_NETWORK, false},
	{"process", G_PROCESS, true},
	{"signal", G_SIGNAL, true},
	{"memory", G_MEMORY, true},
	{"ipc", G_IPC, true},
	{"clock", G_CLOCK, false},
	{"creds", G_CREDS, false},
	{"stat", G_STAT, false},
	{"lstat", G_LSTAT, false},
	{"fstat", G_FSTAT, false},
	{"%stat", G_STAT | G_LSTAT | G_FSTAT, false},
	{"statfs", G_STATFS, false},
	{"fstatfs", G_FSTATFS, false},
	{"%statfs", G_STATFS | G_FSTATFS, false},
	{"pure", G_PURE, false},
};

#define GROUPS (sizeof(group_names) / sizeof(*group_names))

static const struct group_name *find_group(const char *name)
{
	for (size_t i = 0; i < GROUPS; i++)
		if (strcmp(group_names[i].name, name) == 0)
			return &group_names[i];
	return NULL;
}

static bool name_is_known(const char *name)
{
	const struct syscall_desc *d;
	if (syscall_number(syscall_native_arch(), name) >= 0)
		return true;
	for (size_t i = 0; (d = syscall_row(i)); i++)
		if (strcmp(d->name, name) == 0)
			return true;
	return false;
}

/*
 * Explains a spelling of strace(1) that sctrace does not accept, so that no similar names need to be suggested. Returns
 * false if `word` has no such spelling.
 */
static bool say_spelling(const char *word, struct buf *why)
{
	const char *abi = strchr(word, '@');
	if (word[0] == '!')
		buf_adds(why, "; a ! must be at the start of the set, where it selects all other calls");
	else if (abi)
		buf_addf(why, "; calls cannot be selected by ABI; omit %s", abi);
	return word[0] == '!' || abi;
}

/*
 * Appends to `why` that there is no group (`sign` is "%") or no call (`sign` is "") of this name, and similar names.
 * Returns -EINVAL.
 */
static int unknown(const char *name, const char *sign, struct buf *why)
{
	const struct syscall_desc *d;
	struct near near = {.word = name};
	for (size_t i = 0; *sign && i < GROUPS; i++)
		near_offer(&near, group_names[i].name);
	for (size_t i = 0; !*sign && (d = syscall_row(i)); i++)
		near_offer(&near, d->name);
	buf_addf(why, "there is no %s '%s%s'", *sign ? "group" : "call", sign, name);
	if (!say_spelling(name, why))
		near_say(&near, sign, why);
	return -EINVAL;
}

/* Returns true if the expression matches the name of a call, on any architecture. */
static bool matches_some(const regex_t *regex)
{
	const struct syscall_desc *d;
	bool found = false;
	for (size_t i = 0; !found && (d = syscall_row(i)); i++)
		found = regexec(regex, d->name, 0, NULL, 0) == 0;
	for (int64_t nr = 0; !found && nr < FILTER_NATIVE_MAX; nr++) {
		const char *name = syscall_name_known(syscall_native_arch(), nr);
		found = name && regexec(regex, name, 0, NULL, 0) == 0;
	}
	return found;
}

/* Returns 1 after filling in *t; 0 if the expression matches no call and `may_miss` is true; or -EINVAL. */
static int parse_regex(struct filter_term *t, const char *pattern, bool may_miss, struct buf *why)
{
	int r = regcomp(&t->regex, pattern, REG_EXTENDED | REG_NOSUB);
	if (r != 0) {
		char text[128];
		regerror(r, &t->regex, text, sizeof(text));
		buf_addf(why, "'/%s' is not a valid regular expression: %s", pattern, text);
		return -EINVAL;
	}
	if (matches_some(&t->regex)) {
		t->kind = TERM_REGEX;
		return 1;
	}
	regfree(&t->regex);
	if (may_miss)
		return 0;
	bool ends = *pattern && pattern[strlen(pattern) - 1] == '/';
	buf_addf(why, "the regular expression '/%s' matches no call%s", pattern, ends ? "; omit the / at its end" : "");
	return -EINVAL;
}

static bool parse_number(struct filter_term *t, const char *word)
{
	if (strncmp(word, "syscall_0x", 10) == 0 && strspn(word + 10, "0123456789abcdef") == strlen(word + 10))
		t->nr = (int64_t)strtoull(word + 10, NULL, 16);
	else if (number_parse(word, 0, INT32_MAX, &t->nr) < 0)
		return false;
	t->kind = TERM_NUMBER;
	return true;
}

/* Parses one word. Returns 1 after filling in *t; 0 if the word begins with "?" and its name is unknown; or -errno. */
static int parse_word(struct filter_term *t, const char *word, struct buf *why)
{
	*t = (struct filter_term){.kind = TERM_NAME};
	bool may_miss = word[0] == '?';
	word += may_miss;
	const struct group_name *g = find_group(word[0] == '%' ? word + 1 : word);
	if (strcmp(word, "all") == 0) {
		t->kind = TERM_ALL;
		return 1;
	}
	if (word[0] == '/')
		return parse_regex(t, word + 1, may_miss, why);
	if (word[0] == '%' || (g && g->bare)) {
		if (!g)
			return may_miss ? 0 : unknown(word + 1, "%", why);
		t->kind = TERM_GROUP;
		t->groups = g->groups;
		return 1;
	}
	if (parse_number(t, word))
		return 1;
	if (!name_is_known(word))
		return may_miss ? 0 : unknown(word, "", why);
	t->name = memory_copy(word);
	return 1;
}

static void term_free(struct filter_term *t)
{
	if (t->kind == TERM_REGEX)
		regfree(&t->regex);
	free(t->name);
}

static int add_word(struct filter *f, const char *text, size_t len, struct buf *why)
{
	auto_buf word = {0};
	struct filter_term term;
	buf_add(&word, text, len);
	int r = len ? parse_word(&term, buf_str(&word), why) : -EINVAL;
	if (!len)
		buf_adds(why, "the name of a call is missing");
	if (r > 0)
		vec_push(&f->terms, term);
	return r < 0 ? r : 0;
}

static bool term_matches(const struct filter_term *t, const struct syscall_desc *d, int64_t nr, const char *name)
{
	switch (t->kind) {
	case TERM_ALL:
		return true;
	case TERM_NUMBER:
		return t->nr == nr;
	case TERM_NAME:
		return name && strcmp(t->name, name) == 0;
	case TERM_GROUP:
		return d && (d->groups & t->groups);
	case TERM_REGEX:
		return name && regexec(&t->regex, name, 0, NULL, 0) == 0;
	}
	return false;
}

static bool evaluate(const struct filter *f, const struct syscall_desc *d, uint32_t arch, int64_t nr)
{
	const char *name = d ? d->name : syscall_name_known(arch, nr);
	bool in = false;
	for (size_t i = 0; !in && i < f->terms.n; i++)
		in = term_matches(&f->terms.v[i], d, nr, name);
	return in != f->negated;
}

#define BLANKS " \t"

int filter_parse(struct filter *f, const char *text, size_t *at, struct buf *why)
{
	const char *p = text;
	while (*p == '!') {
		f->negated = !f->negated;
		p++;
	}
	*at = (size_t)(p - text);
	bool none = strcmp(p, "none") == 0;
	while (!none) {
		p += strspn(p, BLANKS);
		size_t len = strcspn(p, ",");
		size_t rest = len;
		while (len > 0 && strchr(BLANKS, p[len - 1]))
			len--;
		*at = (size_t)(p - text);
		int r = add_word(f, p, len, why);
		if (r < 0)
			return r;
		p += rest;
		if (!*p)
			break;
		p++;
	}
	uint32_t arch = syscall_native_arch();
	for (int nr = 0; nr < FILTER_NATIVE_MAX; nr++)
		if (evaluate(f, syscall_lookup(arch, nr), arch, nr))
			f->native[nr / 64] |= UINT64_C(1) << (nr % 64);
	return 0;
}

void filter_free(struct filter *f)
{
	for (size_t i = 0; i < f->terms.n; i++)
		term_free(&f->terms.v[i]);
	vec_free(&f->terms);
	*f = (struct filter){0};
}

bool filter_takes(const struct filter *f, const struct call *c)
{
	if (c->arch == syscall_native_arch() && c->nr >= 0 && c->nr < FILTER_NATIVE_MAX)
		return f->native[c->nr / 64] >> (c->nr % 64) & 1;
	return evaluate(f, c->desc, c->arch, c->nr);
}

bool filter_matches(const struct filter *f, uint32_t arch, int64_t nr)
{
	return filter_takes(f, &(struct call){.arch = arch, .nr = nr, .desc = syscall_lookup(arch, nr)});
}

bool filter_overlaps(const struct filter *a, const struct filter *b)
{
	const struct syscall_desc *d;
	bool found = false;
	for (size_t i = 0; !found && i < FILTER_NATIVE_MAX / 64; i++)
		found = a->native[i] & b->native[i];
	for (size_t i = 0; !found && (d = syscall_row(i)); i++) /* calls that only other architectures have */
		found = evaluate(a, d, 0, -1) && evaluate(b, d, 0, -1);
	for (size_t i = 0; !found && i < a->terms.n; i++) { /* numbers without a call */
		const struct filter_term *t = &a->terms.v[i];
		found = t->kind == TERM_NUMBER && evaluate(a, NULL, 0, t->nr) && evaluate(b, NULL, 0, t->nr);
	}
	return found;
}

bool filter_returns_bytes(const struct filter *f)
{
	const struct syscall_desc *d;
	uint32_t arch = syscall_native_arch();
	bool found = false;
	for (size_t i = 0; !found && (d = syscall_row(i)); i++)
		found = d->result == R_BYTES && evaluate(f, d, arch, syscall_number(arch, d->name));
	return found;
}

int filter_check_name(const char *name, struct buf *why)
{
	auto_buf word = {0};
	struct filter known = {0};
	size_t at = 0;
	if (!*name || strpbrk(name, ",%!?/")) {
		buf_addf(why, "'%s' is not a system call; write the name of one call, for example read", name);
		return -EINVAL;
	}
	buf_add(&word, name, strcspn(name, "#"));
	int r = filter_parse(&known, buf_str(&word), &at, why);
	filter_free(&known);
	return r;
}

void filter_words(struct buf *out)
{
	for (size_t i = 0; i < GROUPS; i++)
		buf_addf(out, "%%%s ", group_names[i].name);
	buf_adds(out, "all none");
	for (int64_t nr = 0; nr < FILTER_NATIVE_MAX; nr++) {
		const char *name = syscall_name_known(syscall_native_arch(), nr);
		if (name)
			buf_addf(out, " %s", name);
	}
}
