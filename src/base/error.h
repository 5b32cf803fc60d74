/* The reason of an error, for messages. */
#ifndef SCTRACE_BASE_ERROR_H
#define SCTRACE_BASE_ERROR_H

/*
 * Returns the words of strerror(3) for `err` (ENOENT and others). If the user can remove the cause but the words do not
 * say how, returns a sentence that does. The string is static.
 */
const char *error_text(int err);

#endif
