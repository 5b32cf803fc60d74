/* SPDX-License-Identifier: MIT */
/* The commands of sctrace. Each parses its arguments, does its work, and returns the exit status of sctrace. */
#ifndef SCTRACE_CMD_CMD_H
#define SCTRACE_CMD_CMD_H

#include <stddef.h>

struct buf;
struct opt;
struct opt_command;
struct trace_opts;

/* Each function runs a command. argv[0] is the name of the command; for cmd_trace(), "sctrace" or "truss". */
int cmd_trace(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_show(int argc, char **argv);

/* The tables of options, which shell completion needs. */
extern const struct opt_command compare_command;
extern const struct opt_command report_command;

/* Fills in the command `sctrace show`. `rows` has room for SHOW_OPTIONS options. */
#define SHOW_OPTIONS 128
void show_face(struct opt_command *c, struct opt *rows);
/* The same with all options of the tracer, even if show_check() rejects them. */
void show_all_options(struct opt_command *c, struct opt *rows);
/* Checks that the options suit a recording and each other. Returns 0, or -EINVAL with the reason in `why`. */
int show_check(struct trace_opts *o, struct buf *why);

/*
 * For completion: fills in the BENCH_FACES commands, `sctrace bench` and `sctrace bench TEST`. They refer to `words`: an
 * empty buffer for each command, for the operands that it accepts. The caller frees `words`.
 */
#define BENCH_FACES 6
void bench_faces(struct opt_command *faces, struct buf *words);

#endif
