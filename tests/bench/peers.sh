#!/usr/bin/env bash
# sctrace bench beside its peers, run alternately on this machine; prints figures and ratios, asserts none.
#   raw getpid            perf bench syscall basic (getppid), and a fresh clock_gettime loop compiled here
#   pipe switch           perf bench sched pipe
#   wake-up latency       cyclictest, same policy and interval
# usage: peers.sh [ROUNDS]    SCTRACE names the program to measure
set -euo pipefail

readonly ROUNDS=${1:-5}
readonly SCTRACE=${SCTRACE:-build/sctrace}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

have() { command -v "$1" >/dev/null 2>&1; }

# ours TEST ARGS... KEY NAME: one figure of a saved run, by its key and the result's name.
ours() {
	local key=${*: -2:1} name=${*: -1}
	"$SCTRACE" bench "${@:1:$#-2}" --quiet --format json -o "$work/run.json" >/dev/null
	python3 - "$work/run.json" "$key" "$name" <<'PY'
import json, sys
run, key, name = sys.argv[1:]
print(next(r[key] for r in json.load(open(run))["results"] if r["name"] == name))
PY
}

# Of the figures on stdin: their median and the least, which a busy machine disturbs least.
median_and_least() {
	sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2, v[1] }'
}

# side_by_side TITLE OURS PEER: two files of figures, a round each.
side_by_side() {
	local a b
	a=$(median_and_least <"$2")
	b=$(median_and_least <"$3")
	echo "$a $b" | awk -v title="$1" '{
		printf "%s\n", title
		printf "    median   sctrace %10.1f   peer %10.1f   ratio %.2f\n", $1, $3, $1 / $3
		printf "    least    sctrace %10.1f   peer %10.1f   ratio %.2f\n", $2, $4, $2 / $4 }'
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

# perf bench prints "0.152326 usecs/op".
perf_ns() { perf bench "$@" 2>/dev/null | awk '/usecs\/op/ { print $1 * 1000 }'; }

syscalls() {
	for ((i = 0; i < ROUNDS; i++)); do
		ours syscall getppid min_ns getppid >>"$work/getppid"
		ours syscall getppid mean_ns getppid >>"$work/getppid-mean"
		perf_ns syscall basic --loop 1000000 >>"$work/perf-getppid"
		ours syscall --no-count monotonic median_ns monotonic >>"$work/monotonic"
		"$work/clock" >>"$work/clock-loop"
	done
	side_by_side "getppid, ns: least batch | perf's mean" "$work/getppid" "$work/perf-getppid"
	side_by_side "getppid, ns: mean | perf's mean" "$work/getppid-mean" "$work/perf-getppid"
	side_by_side "clock_gettime, ns: median | fresh loop" "$work/monotonic" "$work/clock-loop"
}

# A round of ours is perf's operation: there and back. perf's two may preempt each other, so ours may too.
switches() {
	for ((i = 0; i < ROUNDS; i++)); do
		ours switch --cpus 0 --policy other --runs 20 pipe round_median_ns pipe >>"$work/pipe"
		taskset -c 0 perf bench sched pipe -l 50000 2>/dev/null | awk '/usecs\/op/ { print $1 * 1000 }' >>"$work/perf-pipe"
	done
	side_by_side "pipe there and back on one CPU, ns" "$work/pipe" "$work/perf-pipe"
}

# cyclictest -q prints "T: 0 (  123) P: 0 I:1000 C:   3000 Min:      4 Act:    5 Avg:    6 Max:      70".
latencies() {
	local policy=$1
	shift
	rm -f "$work"/{min,avg,c-min,c-avg}
	for ((i = 0; i < ROUNDS; i++)); do
		"$SCTRACE" bench latency --loads none --time 3s --policy "$policy" "$@" --quiet --format csv |
			awk -F, 'NR == 2 { print $2 >> min; print $4 >> least }' min="$work/avg" least="$work/min"
		local how=(--policy other)
		[ "$policy" = fifo ] && how=(-p 80)
		cyclictest -q -m -t1 -i 1000 -l 3000 "${how[@]}" |
			sed 's/: */:/g' | tr ' ' '\n' >"$work/cyclic"
		sed -n 's/^Min://p' "$work/cyclic" >>"$work/c-min"
		sed -n 's/^Avg://p' "$work/cyclic" >>"$work/c-avg"
	done
	side_by_side "wake-up latency, $policy, us: mean" "$work/avg" "$work/c-avg"
	side_by_side "wake-up latency, $policy, us: least" "$work/min" "$work/c-min"
}

printf '%d rounds, each tool in turn; medians over the rounds\n' "$ROUNDS"
compile_clock_loop
if have perf; then
	syscalls
	switches
else
	echo "perf is not here (Debian: linux-perf): no comparison of calls and switches"
fi
if have cyclictest; then
	latencies other
	if chrt -f 80 true 2>/dev/null; then latencies fifo; else echo "real-time priorities are not permitted here"; fi
else
	echo "cyclictest is not here (Debian: rt-tests): no comparison of latencies"
fi
