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

/* Appends the components of `path`. The first of them may be "..", which removes the last component of `out`. */
static void add_components(struct buf *out, const char *path)
{
	bool is_first = true;
	for (size_t n; *path; path += n + (path[n] == '/')) {
		n = strcspn(path, "/");
		bool up = n == 2 && path[0] == '.' && path[1] == '.';
		if (n == 0 || (n == 1 && *path == '.'))
			continue;
		if (up && is_first && (remove_last(out) || strcmp(buf_str(out), "/") == 0))
			continue;
		is_first = is_first && up;
		if (out->len && buf_str(out)[out->len - 1] != '/')
			buf_addc(out, '/');
		buf_add(out, path, n);
	}
}

void io_path_join(struct buf *out, const char *folder, const char *path)
{
	if (!*path)
		return;
	if (*path == '/' || *folder == '/')
		buf_addc(out, '/');
	if (*path != '/')
		add_components(out, folder);
	add_components(out, path);
	if (!out->len)
		buf_addc(out, '.');
}
