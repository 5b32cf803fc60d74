# SPDX-License-Identifier: MIT
# Shared by run.sh and cross.sh, which source it. Unpacks Debian's arm64 packages into a folder, and builds against it
# by clang and lld.
# shellcheck shell=bash disable=SC2034  # run.sh and cross.sh use the constants
readonly SUITE=bookworm MIRROR=${SCTRACE_DEBIAN_MIRROR:-http://deb.debian.org/debian}
readonly BUILD_TOOLS="mmdebstrap clang ld.lld llvm-ar llvm-objcopy"
readonly BUILD_PACKAGES=libc6-dev,libgcc-12-dev,libseccomp-dev,libjansson-dev,libzstd-dev,libunwind-dev,libdw-dev,\
liburing-dev,libbpf-dev,libelf-dev,zlib1g-dev,liblzma-dev,libcmocka-dev

# unpack FOLDER PACKAGES [ARCHITECTURE]: unpacks the packages once, with a time limit in case the mirror does not
# answer. No script or program of the packages is run.
unpack() {
	[ ! -e "$1.unpacked" ] || return 0
	rm -rf "$1"
	mkdir -p "$(dirname "$1")"
	timeout 900 mmdebstrap --quiet --mode=auto --architectures="${3:-arm64}" --variant=extract --include="$2" \
		--aptopt='Acquire::http::Timeout "20"' --aptopt='Acquire::Retries "2"' "$SUITE" "$1" "$MIRROR" || return 1
	touch "$1.unpacked"
}

# configure_cross BUILD ROOT [MESON OPTION...]
configure_cross() {
	local build=$1 root=$2
	shift 2
	[ ! -e "$build/build.ninja" ] || return 0
	sed "s|@ROOT@|$root|" tests/arm64/cross.ini.in >"$build.ini"
	meson setup "$build" --cross-file "$build.ini" --prefix=/usr -Dtests=auto "$@"
}
