/* The commands of sctrace. Each parses its arguments, does its work, and returns the exit status of sctrace. */
#ifndef SCTRACE_CMD_CMD_H
#define SCTRACE_CMD_CMD_H

#include <stddef.h>

struct buf;
struct opt;
struct opt_command;

/* Each runs a command. argv[0] is the name of the command; for cmd_trace(), "sctrace" or "truss". */
int cmd_trace(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_show(int argc, char **argv);

/* The tables of options, which shell completion needs. */
extern const struct opt_command compare_command;
extern const struct opt_command report_command;

/* Fills in the command `sctrace show`, and writes at most `max` rows; SHOW_OPTIONS rows are enough. */
#define SHOW_OPTIONS 96
void show_face(struct opt_command *c, struct opt *rows, size_t max);

/*
 * Fills in the commands `sctrace bench`, whose `rows` are the options of all tests, and `sctrace bench TEST`, for
 * completion. `words`, an empty buffer for each of them, keeps the operands that they offer.
 */
#define BENCH_FACES   6
#define BENCH_OPTIONS 64
void bench_faces(struct opt_command *faces, struct opt *rows, struct buf *words);

#endif
