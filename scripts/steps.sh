# shellcheck shell=bash
# Read by .ci/run and scripts/proof: runs commands one after another, whatever the others
# came to, and ends with a table of them.
export WEFT_CI=1 # what this machine lacks is a failure, not a skip

# A job in the background of a script ignores SIGINT, and so would the ranks that tests
# interrupt.
[ -z "$(trap -p INT)" ] || exec env --default-signal=INT "$0" "$@"

# What is built takes 4 GB. Where the disk has less than that, a tmpfs takes it, if the
# machine has three times as much memory; not /dev/shm, which hosts of scripts/hosts have
# one each of.
spare='' left=$(df --output=avail -m "${TMPDIR:-/tmp}" | tail -n 1 | tr -d ' ')
if [ "$left" -lt 6000 ] && [ "$(free -m | awk '/^Mem:/ {print $7}')" -gt 16000 ] && spare=$(mktemp -d) &&
	{ mount -t tmpfs -o size=12g tmpfs "$spare" || { rmdir "$spare" && spare='' && false; }; }; then
	mkdir "$spare/cache" "$spare/tmp"
	export TMPDIR=$spare/tmp GOCACHE=$spare/go-build
	[ -e .cache ] || ln -s "$spare/cache" .cache
	echo "== the disk has $left MB left: building in memory, at $spare"
fi
away() {
	rm -rf "$logs"
	[ -n "$spare" ] || return 0
	[ "$(readlink .cache)" != "$spare/cache" ] || rm .cache
	umount -l "$spare" && rmdir "$spare"
}

logs=$(mktemp -d)
trap away EXIT
export FLAKY_LIST=$logs/flaky
steps=() failures=0
: >"$FLAKY_LIST"

# The lines of a log that say what failed, whoever wrote them.
telling='^ *--- FAIL|^=== FAIL|^    (hang|wrong|leak): |^FAIL|^panic:|^fatal error:|DATA RACE|^(roce|tests|check|arm64|setup|compare|fuzz|test): |: error: |^[^ ]+\.go:[0-9]+:|\*\*\*'

# step NAME COMMAND... runs a command; its output goes through, and is kept to tell why
# it failed and which planted bugs are stale.
step() {
	local name=$1 start=$SECONDS result=passed
	shift
	echo "== $name: $*"
	if ! "$@" 2>&1 | tee "$logs/out"; then
		result=FAILED failures=$((failures + 1))
		{ grep -E "$telling" "$logs/out" || tail -n 10 "$logs/out"; } | tail -n 20 | sed "s/^/$name: /" >>"$logs/failed"
	fi
	grep -o 'stale: .*' "$logs/out" >>"$logs/stale"
	steps+=("$(printf '%-9s %s %5d s' "$name" "$result" $((SECONDS - start)))")
}

# finish prints the table and exits with 1 if a step failed.
finish() {
	cat "$logs/failed" "$logs/stale" "$FLAKY_LIST" 2>/dev/null
	printf '%s\n' "${steps[@]}"
	echo "${#steps[@]} parts, $failures failed, $SECONDS s"
	[ "$failures" -eq 0 ]
}
