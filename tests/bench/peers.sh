#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs sctrace bench and similar tools alternately on this machine. Prints figures and ratios, and asserts nothing.
#   raw getpid, getppid   perf bench syscall basic (getppid)
#   clock_gettime         a fresh loop of two reads, compiled here
#   pipe switch           perf bench sched pipe
#   wake-up latency       cyclictest, same policy and interval; "yes" if both mean and minimum are within 25 %
# The tool that runs first changes from round to round. On a busy machine, compare the minima. However, under policy
# `other` the minimum of a wake-up depends on the timer slack of 50 us: it belongs to a wake-up that another timer of
# the CPU caused earlier.
# usage: peers.sh [ROUNDS]    SCTRACE names the program to measure
set -euo pipefail

readonly ROUNDS=${1:-5}
readonly SCTRACE=${SCTRACE:-build/sctrace}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

have() { command -v "$1" >/dev/null 2>&1; }

# ours TEST ARGS... WHAT NAME: prints one figure of a saved run. WHAT is an expression of the keys of the result called
# NAME.
ours() {
	local what=${*: -2:1} name=${*: -1}
	"$SCTRACE" bench "${@:1:$#-2}" --quiet --format json -o "$work/run.json" >/dev/null
	python3 - "$work/run.json" "$what" "$name" <<'PY'
import json, sys
run, what, name = sys.argv[1:]
print(next(eval(what, {}, r) for r in json.load(open(run))["results"] if r["name"] == name))
PY
}

# Prints the median and the minimum of the figures on standard input. Other work on the machine affects the minimum
# least.
median_and_least() {
	sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2, v[1] }'
}

# alternately OURS PEER: runs two commands in turns; the one that runs first changes with the round.
alternately() {
	local i
	for ((i = 0; i < ROUNDS; i++)); do
		if ((i % 2)); then "$2" && "$1"; else "$1" && "$2"; fi
	done
}

# side_by_side TITLE OURS PEER: prints two files of figures, with one figure for each round.
side_by_side() {
	local a b
	a=$(median_and_least <"$2")
	b=$(median_and_least <"$3")
	echo "$a $b" | awk -v title="$1" '{
		printf "%s\n", title
		split("median least", name)
		for (i = 1; i <= 2; i++) {
			ratio = $(i) / $(i + 2)
			near = (ratio >= 0.75 && ratio <= 1.25) ? "yes" : "no"
			printf "    %-6s   sctrace %10.1f   peer %10.1f   ratio %.2f   within 25 %%: %s\n", name[i], $(i), $(i + 2),
				ratio, near
		} }'
}

compile_clock_loop() {
	cat >"$work/clock.c" <<'C'
/* The published loop: two reads of the clock, the difference; the least difference of whole seconds is kept too. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int by_value(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;
	return (x > y) - (x < y);
}

int main(void)
{
	enum { N = 500 };
	static long d[N];
	for (int i = 0; i < N; i++) {
		struct timespec a, b;
		clock_gettime(CLOCK_MONOTONIC, &a);
		clock_gettime(CLOCK_MONOTONIC, &b);
		d[i] = (b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec;
	}
	qsort(d, N, sizeof(*d), by_value);
	printf("%ld\n", d[N / 2]);
	return 0;
}
C
	"${CC:-cc}" -O2 -o "$work/clock" "$work/clock.c"
}

# perf bench prints "0.152326 usecs/op"; takes the minimum of many short runs, because some of them are not interrupted
# by other processes.
readonly SHORT_RUNS=30
perf_ns() {
	local i
	for ((i = 0; i < SHORT_RUNS; i++)); do
		taskset -c 0 perf bench "$@" 2>/dev/null | awk '/usecs\/op/ { print $1 * 1000 }'
	done | sort -g | awk 'NR == 1'
}

our_calls() {
	ours syscall --runs 200 --no-count getpid-raw getppid min_ns getpid-raw >>"$work/getpid-raw"
	ours syscall --runs 200 --no-count getppid min_ns getppid >>"$work/getppid"
}
perf_calls() { perf_ns syscall basic --loop 5000 >>"$work/perf-getppid"; }

# The published figure is that of two reads, like the row "loop" of a single call.
our_clock() {
	ours syscall --single --no-count loop median_ns loop >>"$work/two-reads"
	ours syscall --no-count monotonic median_ns monotonic >>"$work/monotonic"
}
fresh_clock() { "$work/clock" >>"$work/clock-loop"; }

# A round of sctrace bench is an operation of perf: to the other process and back. perf's two processes may preempt each
# other, so those of sctrace may, too.
our_pipe() { ours switch --cpus 0 --policy other --runs 50 pipe \
	"2 * (min_ns + own_median_ns)" pipe >>"$work/pipe"; }
perf_pipe() { perf_ns sched pipe -l 2000 >>"$work/perf-pipe"; }

syscalls_and_switches() {
	alternately our_calls perf_calls
	side_by_side "getppid, ns: least batch | perf's least mean" "$work/getppid" "$work/perf-getppid"
	side_by_side "raw getpid, ns: least batch | perf's least mean of getppid" "$work/getpid-raw" "$work/perf-getppid"
	alternately our_clock fresh_clock
	side_by_side "two reads of the clock, ns: row loop of --single | fresh loop" "$work/two-reads" "$work/clock-loop"
	side_by_side "one clock_gettime, ns: median of batches | fresh loop of two" "$work/monotonic" "$work/clock-loop"
	alternately our_pipe perf_pipe
	side_by_side "pipe there and back on one CPU, ns: least" "$work/pipe" "$work/perf-pipe"
}

our_latency() {
	"$SCTRACE" bench latency --loads none --time 2s --policy "$policy" --quiet --format csv |
		awk -F, 'NR == 2 { print $2 >> mean; print $4 >> least }' mean="$work/mean" least="$work/least"
}
# cyclictest -q prints "T: 0 (  123) P: 0 I:1000 C:   2000 Min:   4123 Act:    5123 Avg:    6123 Max:   70123", with -N in ns.
cyclictest_latency() {
	local how=(--policy other)
	[ "$policy" = fifo ] && how=(-p 80)
	cyclictest -q -m -N -t1 -i 1000 -l 2000 "${how[@]}" | sed 's/: */:/g' | tr ' ' '\n' >"$work/cyclic"
	awk -F: -v mean="$work/c-mean" -v least="$work/c-least" \
		'$1 == "Avg" { print $2 / 1000 >> mean } $1 == "Min" { print $2 / 1000 >> least }' "$work/cyclic"
}
latencies() {
	policy=$1
	rm -f "$work"/{mean,least,c-mean,c-least}
	alternately our_latency cyclictest_latency
	side_by_side "wake-up latency, $policy, us: mean" "$work/mean" "$work/c-mean"
	side_by_side "wake-up latency, $policy, us: least" "$work/least" "$work/c-least"
}

printf '%d rounds, each tool in turn; medians over the rounds\n' "$ROUNDS"
compile_clock_loop
if have perf; then
	syscalls_and_switches
else
	echo "perf is not installed (Debian: linux-perf): no comparison of calls and switches"
fi
if have cyclictest; then
	latencies other
	if chrt -f 80 true 2>/dev/null; then latencies fifo; else echo "real-time priorities are not permitted on this machine"; fi
else
	echo "cyclictest is not installed (Debian: rt-tests): no comparison of latencies"
fi
