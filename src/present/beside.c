#include "present/beside.h"

#include "base/escape.h"
#include "base/memory.h"
#include "run/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int beside_load(struct beside *b, char *const *paths, size_t n, struct buf *why)
{
	int rc = 0;
	b->runs = memory_zeroed(n, sizeof(*b->runs));
	b->list = memory_zeroed(n, sizeof(*b->list));
	for (size_t i = 0; i < n && rc == 0; i++) {
		b->list[i] = (struct page_run){.run = &b->runs[i], .path = run_file_name(paths[i])};
		b->n = i + 1;
		rc = run_load(&b->runs[i], paths[i], why);
		if (rc == 0 && i > 0)
			rc = run_comparable(&b->runs[0], b->list[0].path, &b->runs[i], b->list[i].path, why);
	}
	return rc;
}

/* Returns the name of a file without its folder and without ".json". */
static char *label_of(const char *path)
{
	const char *base = strrchr(path, '/');
	base = base ? base + 1 : path;
	size_t len = strlen(base);
	if (len > 5 && strcmp(base + len - 5, ".json") == 0)
		len -= 5;
	return len ? memory_copy_part(base, len) : memory_copy(path);
}

/* Sets the label of run `i` to a printable copy of `label`, and frees `label`. */
static void set_label(struct beside *b, size_t i, char *label)
{
	struct buf shown = {0};
	escape_line(&shown, label, strlen(label));
	free((char *)b->list[i].label);
	free(label);
	b->list[i].label = buf_take(&shown);
}

static bool label_is_taken(const struct beside *b, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(b->list[i].label, b->list[k].label) == 0)
			return true;
	return false;
}

/* Makes labels from the names of the files. If another file has the same name, uses the whole path instead. */
static void name_from_files(struct beside *b)
{
	for (size_t i = 0; i < b->n; i++) {
		set_label(b, i, label_of(b->list[i].path));
		if (label_is_taken(b, i))
			set_label(b, i, memory_copy(b->list[i].path));
	}
}

int beside_name(struct beside *b, const char *names, struct buf *why)
{
	size_t i = 0;
	if (!names) {
		name_from_files(b);
		return 0;
	}
	for (; i < b->n && *names; i++) {
		size_t len = strcspn(names, ",");
		if (!len)
			break;
		set_label(b, i, memory_copy_part(names, len));
		if (label_is_taken(b, i)) {
			buf_addf(why, "--names gives the name '%s' to two runs", b->list[i].label);
			return -ERANGE;
		}
		names += len + (names[len] == ',');
	}
	if (i == b->n && *names == '\0')
		return 0;
	buf_addf(why, "--names must give one name for each run, separated by commas; %zu run%s given", b->n,
		 b->n == 1 ? " is" : "s are");
	return -ERANGE;
}

/*
 * Writes the note "Merged from a.json, b.json; ..." and the label "a+b". For counts, the lines that each run had below
 * its table follow the note.
 */
static void name_merged(struct beside *b, struct buf *note)
{
	struct buf label = {0};
	buf_adds(note, "Merged from");
	for (size_t i = 0; i < b->n; i++) {
		buf_addf(note, "%s%s", i ? ", " : " ", b->list[i].path);
		buf_addf(&label, "%s%s", i ? "+" : "", b->list[i].label);
	}
	if (b->runs[0].bits == RUN_COUNT)
		buf_adds(note, "; the numbers of calls and the times are sums.");
	else
		buf_adds(note, "; the differences between the runs are part of the spread of the merged run.");
	for (size_t i = 0; i < b->n; i++)
		for (size_t k = 0; k < b->runs[i].footer.n; k++)
			buf_addf(note, "\n%s: %s", b->list[i].label, b->runs[i].footer.v[k]);
	set_label(b, 0, buf_take(&label));
}

static void forget(struct beside *b, size_t from)
{
	for (size_t i = from; i < b->n; i++) {
		run_free(&b->runs[i]);
		free((char *)b->list[i].label);
	}
	b->n = from;
}

int beside_merge(struct beside *b, struct buf *note, struct buf *why)
{
	int rc = 0;
	for (size_t i = 0; i < b->n && rc == 0; i++)
		for (size_t k = 0; k < i && rc == 0; k++)
			rc = run_poolable(&b->runs[k], b->list[k].path, &b->runs[i], b->list[i].path, why);
	if (rc < 0)
		return rc;
	name_merged(b, note);
	for (size_t i = 1; i < b->n; i++)
		run_merge(&b->runs[0], &b->runs[i]);
	forget(b, 1);
	return 0;
}

void beside_free(struct beside *b)
{
	forget(b, 0);
	free(b->runs);
	free(b->list);
}
