/* Completion by the shell, of all commands. */
#ifndef SCTRACE_CMD_TRACE_COMPLETION_H
#define SCTRACE_CMD_TRACE_COMPLETION_H

struct buf;

/* Appends the script for `shell`; 0, or -EINVAL: there is none. */
int completion_script(const char *shell, struct buf *out);

#endif
