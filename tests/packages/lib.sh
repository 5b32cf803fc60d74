# SPDX-License-Identifier: MIT
# Shared by the scripts of this folder; sourced. Each is run as `SCRIPT BUILD_ROOT` and writes TAP.
# shellcheck shell=bash disable=SC2034,SC2154  # some variables are for the scripts, and they set `work`
number=0
failed=0

skip() {
	if [ "${SCTRACE_MUST_WORK:-}" = 1 ]; then echo "not ok 1 - skipped, but SCTRACE_MUST_WORK=1 allows no skip: $*"; else echo "1..0 # SKIP $*"; fi
	exit 0
}

need_tools() {
	local tool
	for tool; do
		command -v "$tool" >/dev/null || skip "$tool is not installed"
	done
}

# check NAME COMMAND...: passes if the command succeeds; otherwise the end of its output is shown.
check() {
	local name=$1
	shift
	number=$((number + 1))
	if "$@" >"$work/check.txt" 2>&1; then
		echo "ok $number - $name"
	else
		failed=1
		echo "not ok $number - $name"
		tail -n 40 "$work/check.txt" | sed 's/^/# /'
	fi
}

finish() {
	echo "1..$number"
	exit "$failed"
}

# has_all_files ROOT LIBEXEC LICENCE ZSH: checks that the folder ROOT has all files of a package. The other arguments
# are folders and a file in ROOT.
has_all_files() {
	local root=$1 source name status=0
	local -a files=(usr/bin/sctrace "$3" usr/share/bash-completion/completions/sctrace usr/share/fish/vendor_completions.d/sctrace.fish
		"$4/_sctrace")
	for source in examples/copy-*.c; do files+=("$2/$(basename "$source" .c)"); done
	for name in "${files[@]}"; do
		[ -s "$root/$name" ] || { echo "$name is missing"; status=1; }
	done
	for source in man/*.[1-8] man/truss.1; do
		name=$(basename "$source")
		compgen -G "$root/usr/share/man/man${name##*.}/$name*" >/dev/null || { echo "the page $name is missing"; status=1; }
	done
	[ "$(readlink "$root/usr/bin/truss")" = sctrace ] || { echo "usr/bin/truss is not a link to sctrace"; status=1; }
	return $status
}

# smoke ROOT LIBEXEC: runs the smoke tests with ROOT/usr mounted over /usr, so that all files are where a package
# installs them.
smoke() {
	local user=()
	[ "$(id -u)" = 0 ] || user=(--map-root-user)
	# shellcheck disable=SC2016  # the shell expands its variables
	unshare "${user[@]}" --mount sh -ec '
		mount -t overlay overlay -o "lowerdir=$1/usr:/usr" /usr
		exec tests/smoke.sh /usr/bin/sctrace "/$2"' sh "$1" "$2"
}
