/* The commands. Each parses its arguments, does its work, and returns the exit status of sctrace. */
#ifndef SCTRACE_CMD_CMD_H
#define SCTRACE_CMD_CMD_H

#include <stddef.h>

struct buf;
struct opt;
struct opt_command;

/* argv[0] is the name of the command ("sctrace" or "truss" for the tracer itself). */
int cmd_trace(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_show(int argc, char **argv);

/* The option tables, for shell completion. */
extern const struct opt_command compare_command;
extern const struct opt_command report_command;

/*
 * `sctrace show`, whose options are most of the tracer's: fills in `c` and at most `max` rows; SHOW_OPTIONS rows are
 * enough.
 */
#define SHOW_OPTIONS 96
void show_face(struct opt_command *c, struct opt *rows, size_t max);

/* All options of `sctrace bench`, also for completion: at most `max` - 1 rows and the end of the table. */
void bench_options(struct opt *rows, size_t max);
/* Appends the names of its tests, separated by spaces. */
void bench_names(struct buf *out);
/* The command of test `i`, also for completion; NULL at the end. */
const struct opt_command *bench_face(size_t i);
/*
 * Appends the operands of that test, separated by spaces: operations and their groups, or kinds of switches; or
 * nothing.
 */
void bench_operands(size_t i, struct buf *out);

#endif
