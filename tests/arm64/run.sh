#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the tests on aarch64. Debian's packages are unpacked into a folder, sctrace is built against it by clang, and
# Debian's kernel runs both in qemu. No arm64 program runs outside qemu. Root is only needed to install packages.
# usage: run.sh [build | boot [WHAT...] | run COMMAND...]
# `build` only builds. `boot` only runs the tests, or the named parts: guest.sh has their names (unit, smoke, a case or
# a group of cases, ...). `run` runs a shell command in the machine. Without arguments, everything is built and all
# tests run. SCTRACE_ARM64_KERNEL is the file of another kernel (vmlinuz). cross.sh is a quick check that builds and runs less.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/arm64/lib.sh
. tests/arm64/lib.sh

readonly WORK=${SCTRACE_ARM64_WORK:-$PWD/build-arm64}
readonly ROOT=$WORK/root ROOT32=$WORK/root32 BUILD=$WORK/build LOG=$WORK/console.txt
readonly PACKAGES=$BUILD_PACKAGES,linux-image-arm64,python3,strace,procps,iproute2,dash,bash,coreutils,diffutils,\
findutils,grep,sed,gawk,git,tar,mount,util-linux,libc-bin,hostname,passwd
readonly SECONDS_AT_MOST=${SCTRACE_ARM64_SECONDS:-7200}
# One emulated processor is faster on a busy machine, because several wait for each other.
readonly CPUS=${SCTRACE_ARM64_CPUS:-$(nproc)}

die() { echo "arm64: $*" >&2; exit 1; }

# This script starts itself again in a new process group, and the second one does the work. When the first one
# ends, normally or by a signal, it kills the whole group. If it is killed by SIGKILL, the emulator ends because its
# parents have died.
supervise() {
	local worker
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	setsid setpriv --pdeathsig TERM tests/arm64/run.sh --worker "$@" </dev/null &
	worker=$!
	# shellcheck disable=SC2064  # the value of now, this worker
	trap "kill -TERM -- -$worker 2>/dev/null || true; wait" EXIT
	wait "$worker"
}

need_tools() {
	local tool
	for tool in $BUILD_TOOLS qemu-system-aarch64 cpio setsid setpriv; do
		command -v "$tool" >/dev/null || die "$tool is not installed (./dev arm64 installs the tools if this system has them)"
	done
}

build() {
	configure_cross "$BUILD" "$ROOT"
	meson compile -C "$BUILD" programs tests
	build_32
}

# Builds the programs of the cases for 32-bit programs. They are linked statically, so that the machine needs no armhf
# libraries.
build_32() {
	local name program
	for name in signals tasks threads; do
		program=$BUILD/tests/e2e/$name-m32
		[ "$program" -nt "tests/e2e/prog/$name.c" ] ||
			clang --target=arm-linux-gnueabihf --sysroot="$ROOT32" -fuse-ld=lld -static -O1 -g -D_GNU_SOURCE -pthread \
				-o "$program" "tests/e2e/prog/$name.c"
	done
}

# Does what dpkg's scripts would have done and the tests need: links for the alternatives, users, and a folder for the
# guest.
finish_root() {
	mkdir -p "$ROOT/sctrace" "$ROOT/proc" "$ROOT/sys" "$ROOT/dev" "$ROOT/tmp" "$ROOT/etc"
	printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/sh\n' >"$ROOT/etc/passwd"
	printf 'root:x:0:\nnogroup:x:65534:\n' >"$ROOT/etc/group"
	ln -sf gawk "$ROOT/usr/bin/awk"
	ln -sf dash "$ROOT/bin/sh"
	rm -rf "$ROOT/sctrace" && mkdir -p "$ROOT/sctrace/tests"
	cp -a tests/e2e tests/smoke.sh "$ROOT/sctrace/tests/"
	cp -a src examples man "$ROOT/sctrace/"
	install -m 755 tests/arm64/guest.sh "$ROOT/sctrace/guest.sh"
	install -m 755 tests/arm64/init "$ROOT/init"
	# The cases of sockets need these. The kernel cannot load them itself, because the machine has no other modules.
	mkdir -p "$ROOT/sctrace/modules"
	find "$ROOT/lib/modules" \( -name inet_diag.ko -o -name tcp_diag.ko -o -name unix_diag.ko -o -name netlink_diag.ko \) \
		-exec cp {} "$ROOT/sctrace/modules/" \;
	# Programs that contain the path of the build folder find the folder there.
	mkdir -p "$ROOT$WORK" && ln -sfn /sctrace/build "$ROOT$BUILD"
	find "$BUILD" -type f -perm -u+x | (cd "$BUILD" && sed "s|^$BUILD/||" | cpio -pdm --quiet \
		"$ROOT/sctrace/build")
}

# The kernel's initial memory file system contains the whole root, except files that are only needed for building.
pack() {
	(cd "$ROOT" && find . \( -path ./boot -o -path ./lib/modules -o -path ./usr/include -o -path ./usr/share/doc \
		-o -path ./usr/share/locale -o -path ./usr/lib/gcc -o -path ./var -o -path ./usr/share/man \
		-o -name '*.a' -o -name '*.o' \) -prune -o -print0 |
		cpio --null -o -H newc --quiet) >"$WORK/initrd"
}

boot() {
	local kernel
	kernel=${SCTRACE_ARM64_KERNEL:-$(find "$ROOT/boot" -name 'vmlinuz-*' | sort | tail -n 1)}
	[ -n "$kernel" ] || die "no kernel was unpacked"
	# --foreground keeps the emulator in this process group. A closed pipe at the output of this script ends everything.
	setpriv --pdeathsig TERM timeout --foreground --kill-after=10 "$SECONDS_AT_MOST" setpriv --pdeathsig KILL \
		qemu-system-aarch64 -M virt -cpu max,pauth-impdef=on -smp "$CPUS" -m 3G -nic none -nographic -no-reboot \
		-kernel "$kernel" -initrd "$WORK/initrd" -append "console=ttyAMA0 panic=-1 quiet" </dev/null |
		{ stdbuf -oL tr -d "\r" | tee "$LOG" || kill -TERM 0; }
}

# Counts the guest's results: each line of TAP, and each test program that failed.
count() {
	local passed failed skipped ended
	passed=$(grep -cE '^ok ' "$LOG" || true)
	skipped=$(grep -ciE '^ok .*# *skip' "$LOG" || true)
	failed=$(grep -cE '^not ok ' "$LOG" || true)
	ended=$(grep -c '^== done' "$LOG" || true)
	[ "$ended" = 1 ] || { echo "arm64: the machine stopped before the tests ended"; failed=$((failed + 1)); }
	echo "$((passed - skipped)) passed, $failed failed$([ "$skipped" = 0 ] || echo ", $skipped skipped")"
	[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}

main() {
	need_tools
	echo "arm64: Debian $SUITE for arm64 is in $ROOT, or is unpacked there now" >&2
	unpack "$ROOT" "$PACKAGES" || die "mmdebstrap could not unpack Debian's packages"
	unpack "$ROOT32" libc6-dev,libgcc-12-dev armhf || die "mmdebstrap could not unpack Debian's packages for armhf"
	[ "${1:-build}" != build ] || build
	[ "${1:-boot}" != build ] || return 0
	finish_root
	if [ "${1:-}" = run ]; then
		echo "${*:2}" >"$ROOT/sctrace/command"
	else
		echo "${*:2}" >"$ROOT/sctrace/named"
	fi
	pack
	boot
	[ "${1:-}" = run ] || count
}

if [ "${1:-}" = --worker ]; then
	main "${@:2}"
else
	supervise "$@"
fi
