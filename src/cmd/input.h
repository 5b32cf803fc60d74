/* The files that a command reads and its arguments name. "-" stands for standard input. */
#ifndef SCTRACE_CMD_INPUT_H
#define SCTRACE_CMD_INPUT_H

/* Returns a message if standard input cannot be read as these arguments say, or NULL. `paths` ends with NULL. */
const char *input_refused(char *const *paths);
/* Returns a path by which the file can be found: "/dev/stdin" for "-". */
const char *input_path(const char *path);

#endif
