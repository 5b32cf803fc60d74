# Shared by the scripts of this folder; sourced. Each is run as `SCRIPT BUILD_ROOT` and writes TAP.
# shellcheck shell=bash disable=SC2034,SC2154  # some variables are for the scripts, and they set `work`
number=0
failed=0

skip() {
	if [ "${SCTRACE_MUST_WORK:-}" = 1 ]; then echo "not ok 1 - skipped where all must work: $*"; else echo "1..0 # SKIP $*"; fi
	exit 0
}

need_tools() {
	local tool
	for tool; do
		command -v "$tool" >/dev/null || skip "$tool is not here"
	done
}

# check NAME COMMAND...: the command's success is the check's; the end of what it printed is shown if it fails.
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

# has_all_files ROOT LIBEXEC LICENCE ZSH: all that a package must carry is in the folder ROOT. The others are folders and a file in it.
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
	[ "$(readlink "$root/usr/bin/truss")" = sctrace ] || { echo "usr/bin/truss does not lead to sctrace"; status=1; }
	return $status
}

# smoke ROOT LIBEXEC: the smoke tests with ROOT/usr laid over /usr, so that all files are where a package installs them.
smoke() {
	local user=()
	[ "$(id -u)" = 0 ] || user=(--map-root-user)
	# shellcheck disable=SC2016  # the shell expands its own
	unshare "${user[@]}" --mount sh -ec '
		mount -t overlay overlay -o "lowerdir=$1/usr:/usr" /usr
		exec tests/smoke.sh /usr/bin/sctrace "/$2"' sh "$1" "$2"
}
