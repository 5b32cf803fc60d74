#include "io/path.h"

#include "base/buf.h"

#include <stdbool.h>
#include <string.h>

/* Removes the last component of `out`. Returns false if there is none, or if it is "..". */
static bool remove_last(struct buf *out)
{
	const char *s = buf_str(out);
	const char *slash = strrchr(s, '/');
	const char *last = slash ? slash + 1 : s;
	if (!*last || strcmp(last, "..") == 0)
		return false;
	buf_truncate(out, slash && slash > s ? (size_t)(slash - s) : slash ? 1 : 0);
	return true;
}

static void add_component(struct buf *out, const char *s, size_t n)
{
	bool up = n == 2 && s[0] == '.' && s[1] == '.';
	if (n == 0 || (n == 1 && *s == '.'))
		return;
	if (up && (remove_last(out) || strcmp(buf_str(out), "/") == 0))
		return;
	if (out->len && buf_str(out)[out->len - 1] != '/')
		buf_addc(out, '/');
	buf_add(out, s, n);
}

static void add_components(struct buf *out, const char *path)
{
	while (*path) {
		size_t n = strcspn(path, "/");
		add_component(out, path, n);
		path += n + (path[n] == '/');
	}
}

void io_path_join(struct buf *out, const char *folder, const char *path)
{
	while (strncmp(path, "./", 2) == 0 && path[2])
		path += 2;
	if (!*path || *path == '/' || !*folder) {
		buf_adds(out, path);
		return;
	}
	if (*folder == '/')
		buf_addc(out, '/');
	add_components(out, folder);
	add_components(out, path);
	if (!out->len)
		buf_addc(out, '.');
}
