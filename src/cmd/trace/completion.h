/* Shell completion for all commands. */
#ifndef SCTRACE_CMD_TRACE_COMPLETION_H
#define SCTRACE_CMD_TRACE_COMPLETION_H

struct buf;

/* Appends the script for `shell`. Returns 0, or -EINVAL if the shell is unknown. */
int completion_script(const char *shell, struct buf *out);

#endif
