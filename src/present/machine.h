/* Describes the machine of a run in words. */
#ifndef SCTRACE_PRESENT_MACHINE_H
#define SCTRACE_PRESENT_MACHINE_H

#include "present/page.h"

/* "Linux 6.12.1, PREEMPT_DYNAMIC (voluntary), 2 x Intel ..., in a virtual machine (KVM)" */
void machine_line(const struct env *e, struct buf *out);
/* Appends what makes the machine's figures worthless, if anything. */
void machine_alarm(const struct env *e, struct buf *out);
/* "kvm: bench-syscall of 2026-..., Linux 6.1.0, AMD ..., sctrace 0.1.0" */
void machine_run_line(const struct page_run *r, struct buf *out);
/* The machines: "vanilla, rt: Linux 6.1.0, a CPU; kvm: ...", or the whole line for a single run. */
void machine_subtitle(const struct page *p, struct buf *out);
/* A column for each run's machine, folded up; rows that differ are marked. */
void machine_html(const struct page_run *runs, size_t n, struct buf *out);
/* How the page was made: version, date and command of each run. */
void page_footer(const struct page *p, struct buf *out);

#endif
