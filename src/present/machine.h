/* Describes the machine on which a run was made. */
#ifndef SCTRACE_PRESENT_MACHINE_H
#define SCTRACE_PRESENT_MACHINE_H

#include "present/page.h"

/*
 * Appends one line without a newline, such as "Linux 6.12.1, PREEMPT_DYNAMIC (voluntary), 2 x Intel ..., in a virtual
 * machine (KVM)".
 */
void machine_line(const struct env *e, struct buf *out);
/* Appends a warning if the kernel was built with debugging options that make it slower. */
void machine_alarm(const struct env *e, struct buf *out);
/* Appends, also without a newline, a line about a run: "kvm: bench-syscall of 2026-..., Linux 6.1.0, AMD ...". */
void machine_run_line(const struct page_run *r, struct buf *out);
/*
 * Returns the machines of all runs: "vanilla, rt: Linux 6.1.0, a CPU; kvm: ...". For a single run, returns the line of
 * machine_line(). The page owns the string.
 */
const char *machine_subtitle(struct page *p);
/*
 * Appends an HTML table in a <details> element, with a column for the machine of each run. Rows whose values differ are
 * marked.
 */
void machine_html(const struct page_run *runs, size_t n, struct buf *out);
/* Appends how the page was made: the version, the date and the command of each run. */
void page_footer(const struct page *p, struct buf *out);
/* Appends the command of the run, with quotes where a shell needs them. */
void machine_command(const struct run *r, struct buf *out);

#endif
