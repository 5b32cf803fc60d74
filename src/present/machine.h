/* The machine of a run in words. */
#ifndef SCTRACE_PRESENT_MACHINE_H
#define SCTRACE_PRESENT_MACHINE_H

#include "present/page.h"

/* "Linux 6.12.1, PREEMPT_DYNAMIC (voluntary), 2 x Intel ..., in a virtual machine (KVM)" */
void machine_line(const struct env *e, struct buf *out);
/* What makes its figures worthless; nothing where there is nothing. */
void machine_alarm(const struct env *e, struct buf *out);
/* "kvm: bench-syscall of 2026-..., Linux 6.1.0, AMD ..., sctrace 0.1.0" */
void machine_run_line(const struct page_run *r, struct buf *out);
/* Which machines: "vanilla, rt: Linux 6.1.0, a CPU; kvm: ..."; of one run its whole line. */
void machine_subtitle(const struct page *p, struct buf *out);
/* A column for each run's machine, folded up; rows that differ are marked. */
void machine_html(const struct page_run *runs, size_t n, struct buf *out);
/* How it was made: version, date and command of each run. */
void page_footer(const struct page *p, struct buf *out);

#endif
