#!/usr/bin/env bash
# The tests on aarch64: Debian's packages are unpacked into a folder, sctrace is built against it by clang, and Debian's
# kernel runs both in qemu. Nothing of arm64 is executed outside of it, and no root is needed beyond the packages.
# run.sh [build | boot [WHAT...] | run COMMAND...]: only the one step, only these parts (guest.sh has their names: unit, smoke, a
# case or a group of cases, ...), or a shell's command there; without a word both steps, and all. cross.sh is the quick check that
# builds alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/arm64/lib.sh
. tests/arm64/lib.sh

readonly WORK=${SCTRACE_ARM64_WORK:-$PWD/build-arm64}
readonly ROOT=$WORK/root ROOT32=$WORK/root32 BUILD=$WORK/build LOG=$WORK/console.txt
readonly PACKAGES=$BUILD_PACKAGES,linux-image-arm64,python3,strace,procps,iproute2,dash,bash,coreutils,diffutils,\
findutils,grep,sed,gawk,git,tar,mount,util-linux,libc-bin,hostname,passwd
readonly SECONDS_AT_MOST=${SCTRACE_ARM64_SECONDS:-7200}
# One processor is quicker where the machine itself is busy: its processors wait for each other.
readonly CPUS=${SCTRACE_ARM64_CPUS:-$(nproc)}

die() { echo "arm64: $*" >&2; exit 1; }

# The work is done by this script again, in a process group of its own. However the first one ends, by a signal that it is sent or
# at the end of the work, nothing of the group is left; SIGKILL ends the emulator by way of its parents' death.
supervise() {
	local worker
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	setsid setpriv --pdeathsig TERM tests/arm64/run.sh --worker "$@" </dev/null &
	worker=$!
	# shellcheck disable=SC2064  # this worker
	trap "kill -TERM -- -$worker 2>/dev/null || true; wait" EXIT
	wait "$worker"
}

need_tools() {
	local tool
	for tool in $BUILD_TOOLS qemu-system-aarch64 cpio setsid setpriv; do
		command -v "$tool" >/dev/null || die "$tool is not here (./dev arm64 installs what it can)"
	done
}

build() {
	configure_cross "$BUILD" "$ROOT"
	meson compile -C "$BUILD"
	build_32
}

# The programs of the cases for 32-bit ones; linked statically, so that nothing of armhf is needed in the machine.
build_32() {
	local name program
	for name in signals birth threads; do
		program=$BUILD/tests/e2e/$name-m32
		[ "$program" -nt "tests/e2e/prog/$name.c" ] ||
			clang --target=arm-linux-gnueabihf --sysroot="$ROOT32" -fuse-ld=lld -static -O1 -g -D_GNU_SOURCE -pthread \
				-o "$program" "tests/e2e/prog/$name.c"
	done
}

# What dpkg's scripts would have done and the tests need: the names of the alternatives, users, a place for the guest.
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
	# What the build folder's path was compiled into finds it there.
	mkdir -p "$ROOT$WORK" && ln -sfn /sctrace/build "$ROOT$BUILD"
	find "$BUILD" -type f -perm -u+x | (cd "$BUILD" && sed "s|^$BUILD/||" | cpio -pdm --quiet \
		"$ROOT/sctrace/build")
}

# The whole root is the kernel's initial memory file system, without what only building needs.
pack() {
	(cd "$ROOT" && find . \( -path ./boot -o -path ./lib/modules -o -path ./usr/include -o -path ./usr/share/doc \
		-o -path ./usr/share/locale -o -path ./usr/lib/gcc -o -path ./var -o -path ./usr/share/man \
		-o -name '*.a' -o -name '*.o' \) -prune -o -print0 |
		cpio --null -o -H newc --quiet) >"$WORK/initrd"
}

boot() {
	local kernel
	kernel=$(find "$ROOT/boot" -name 'vmlinuz-*' | sort | tail -n 1)
	[ -n "$kernel" ] || die "no kernel was unpacked"
	# --foreground: in this group. A closed pipe on our output ends it all.
	setpriv --pdeathsig TERM timeout --foreground --kill-after=10 "$SECONDS_AT_MOST" setpriv --pdeathsig KILL \
		qemu-system-aarch64 -M virt -cpu max,pauth-impdef=on -smp "$CPUS" -m 3G -nic none -nographic -no-reboot \
		-kernel "$kernel" -initrd "$WORK/initrd" -append "console=ttyAMA0 panic=-1 quiet" </dev/null |
		{ stdbuf -oL tr -d "\r" | tee "$LOG" || kill -TERM 0; }
}

# The guest's word for it: each line of TAP, and each test program that ended badly.
count() {
	local passed failed skipped ended
	passed=$(grep -cE '^ok ' "$LOG" || true)
	skipped=$(grep -ciE '^ok .*# *skip' "$LOG" || true)
	failed=$(grep -cE '^not ok ' "$LOG" || true)
	ended=$(grep -c '^== done' "$LOG" || true)
	[ "$ended" = 1 ] || { echo "arm64: the machine did not come to its end"; failed=$((failed + 1)); }
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
