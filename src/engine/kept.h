/*
 * Files in which sctrace keeps what it has found out, for later runs. They are valid until the next boot. They are in
 * $XDG_RUNTIME_DIR, which the system may remove earlier, at log-out (XDG Base Directory Specification). If the variable
 * is not set, as after sudo(8) and su(1), the folder is /run/user/UID, or /run for root. If the folder does not exist,
 * nothing is kept.
 */
#ifndef SCTRACE_ENGINE_KEPT_H
#define SCTRACE_ENGINE_KEPT_H

#include <stddef.h>

struct buf;

/*
 * Opens the folder. Returns its descriptor, which the caller closes. Returns -1 unless sctrace's user owns the folder
 * and nobody else can write to it, because sctrace trusts the files in it.
 */
int kept_folder(void);
/*
 * Appends a line that says for which machine and which sctrace a file is valid: boot, number of processors, version, and
 * the executable itself, because two builds of a version can read the contents differently. The boot id stands for the
 * kernel and the model of the processors, which do not change during one boot. Appends nothing if the boot id or the
 * executable is unknown; nothing can then be kept.
 */
void kept_describe_machine(struct buf *out);
/*
 * Writes the `n` bytes to a new file and renames it to `name`, so that no process reads an incomplete file. If that
 * fails, the old file stays.
 */
void kept_replace(int folder, const char *name, const void *bytes, size_t n);

#endif
