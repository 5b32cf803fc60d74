#include "cmd/input.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static bool is_standard_input(const char *path)
{
	return strcmp(path, "-") == 0;
}

const char *input_refused(char *const *paths)
{
	size_t n = 0;
	for (; *paths; paths++)
		n += is_standard_input(*paths);
	if (n > 1)
		return "'-' was given more than once, but standard input can be read only once; name a file";
	if (n && isatty(STDIN_FILENO))
		return "'-' stands for standard input, which is a terminal; redirect a file or a pipe to it";
	return NULL;
}

const char *input_path(const char *path)
{
	return is_standard_input(path) ? "/dev/stdin" : path;
}
