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

/* Writes all options of `sctrace bench`: at most `max` - 1 rows, and the end of the table. */
void bench_options(struct opt *rows, size_t max);
/* Appends the names of the tests, separated by spaces. */
void bench_names(struct buf *out);
/* Returns the command of test `i`, for --help and for completion; NULL after the last test. */
const struct opt_command *bench_face(size_t i);
/* Appends the operands that test `i` accepts, separated by spaces. Appends nothing if there are none. */
void bench_operands(size_t i, struct buf *out);

#endif
