#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures programs with 1 to 4,000 threads that exist at the same time. Nothing passes or fails.

usage: threads.py BUILD [ROUNDS]

For each program, native runs, `sctrace -c` and `sctrace -o FILE` alternate. Prints the medians of the CPU time of the
native run, and of the ratios to it, in CPU time and in wall time; and the share of calls that stopped the program under
`sctrace -o FILE`, with the most frequent reason. The CPU times include those of sctrace. The share depends on the load
only if rings become full. Programs whose compiler is not installed are left out.
"""
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BUILD = Path(sys.argv[1]).resolve()
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 3
SCTRACE = str(BUILD / "sctrace")
CROWD = str(BUILD / "tests" / "e2e" / "crowd")
CALLS = {1: 300000, 8: 50000, 40: 10000, 400: 3000, 1000: 3000, 4000: 1000}

GO = """
package main

// static int one(void) { return 1; }
import "C"
import (
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
)

func main() {
	threads, _ := strconv.Atoi(os.Args[1])
	calls, _ := strconv.Atoi(os.Args[2])
	zero, _ := syscall.Open("/dev/zero", syscall.O_RDONLY, 0)
	var ready, done sync.WaitGroup
	ready.Add(threads)
	done.Add(threads)
	for i := 0; i < threads; i++ {
		go func() {
			runtime.LockOSThread()
			ready.Done()
			ready.Wait()
			var b [1]byte
			for k := 0; k < calls; k += int(C.one()) {
				syscall.Read(zero, b[:])
			}
			done.Done()
		}()
	}
	done.Wait()
}
"""
JAVA = """
import java.io.FileInputStream;
import java.util.concurrent.CyclicBarrier;

class Crowd {
	public static void main(String[] args) throws Exception {
		int threads = Integer.parseInt(args[0]), calls = Integer.parseInt(args[1]);
		FileInputStream zero = new FileInputStream("/dev/zero");
		CyclicBarrier all = new CyclicBarrier(threads);
		for (int i = 0; i < threads; i++)
			new Thread(() -> {
				try {
					all.await();
					for (int k = 0; k < calls; k++)
						zero.read();
				} catch (Exception e) {
					e.printStackTrace();
				}
			}).start();
	}
}
"""
RUST = """
use std::io::Read;
use std::sync::{Arc, Barrier};

fn main() {
    let args: Vec<usize> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let all = Arc::new(Barrier::new(args[0]));
    let threads: Vec<_> = (0..args[0])
        .map(|_| {
            let (all, calls) = (all.clone(), args[1]);
            std::thread::spawn(move || {
                let mut zero = std::fs::File::open("/dev/zero").unwrap();
                all.wait();
                for _ in 0..calls {
                    zero.read(&mut [0u8; 1]).unwrap();
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
}
"""


def builds(work):
    """(name, command without the numbers of threads and calls, the largest number of threads) of the programs in other languages."""
    made = []
    for name, tool, file, text, build, command in (
            ("Go, cgo", "go", "crowd.go", GO, ["go", "build", "-o", "crowd-go", "crowd.go"], ["./crowd-go"]),
            ("Java", "javac", "Crowd.java", JAVA, ["javac", "Crowd.java"], ["java", "-cp", ".", "Crowd"]),
            ("Rust", "rustc", "crowd.rs", RUST, ["rustc", "-O", "-o", "crowd-rust", "crowd.rs"], ["./crowd-rust"])):
        if shutil.which(tool):
            (work / file).write_text(text)
            subprocess.run(build, cwd=work, check=True)
            made.append((name, command))
    return made


def kinds(work):
    """(name, number of threads, command)"""
    for threads, calls in CALLS.items():
        for stack in (0, 64) if threads < 4000 else (64,):
            for allocates in (0, 1):
                name = f"C, {'small' if stack else 'default'} stacks{', malloc' if allocates else ''}"
                yield name, threads, [CROWD, str(threads), str(calls), str(stack), str(allocates)]
    for name, command in builds(work):
        for threads, calls in CALLS.items():
            if threads <= 1000:
                yield name, threads, [*command, str(threads), str(calls)]


def cost(command, work):
    """The CPU time and the wall time of a command and its children"""
    before, start = os.times(), time.monotonic()
    subprocess.run(command, cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return max(cpu, 0.01), time.monotonic() - start


def stops(command, work):
    """The share of calls that stopped, and the most frequent reason"""
    traced = [SCTRACE, "--engine=patch", "-f", "-o", "t", *command]
    said = subprocess.run(traced, cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
                          check=True, env={**os.environ, "SCTRACE_DEBUG": "1"}).stderr
    stopped, all_of = map(int, re.search(r"sctrace: stopped (\d+) of (\d+)", said).groups())
    reasons = {}
    for n, reason in re.findall(r"sctrace: stopped (\d+) times at call \d+: (.*)", said):
        reasons[reason] = reasons.get(reason, 0) + int(n)
    most = max(reasons, key=reasons.get) if reasons else ""
    return f"{100 * stopped / all_of:8.3f} % of {all_of:>9} calls   {most} ({reasons.get(most, 0)})"


def main():
    print(f"medians of {ROUNDS} alternating rounds: CPU time of the native run, then ratios to it, in CPU time / in wall time")
    print(f"{'':<28}{'threads':>8}{'native':>9}{'-c':>14}{'-o FILE':>14}   stopped")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for name, threads, command in kinds(work):
            ways = [command, [SCTRACE, "--engine=patch", "-c", "-o", "t", *command],
                    [SCTRACE, "--engine=patch", "-f", "-o", "t", *command]]
            taken = [[cost(way, work) for way in ways] for _ in range(ROUNDS)]
            ratios = ["{:6.2f} /{:6.2f}".format(*(statistics.median(r[way][i] / r[0][i] for r in taken) for i in (0, 1)))
                      for way in (1, 2)]
            native = statistics.median(r[0][0] for r in taken)
            print(f"{name:<28}{threads:>8}{native:>8.2f}s{ratios[0]:>14}{ratios[1]:>14}{stops(command, work)}", flush=True)


if __name__ == "__main__":
    main()
