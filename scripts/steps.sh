# shellcheck shell=bash
# Read by .ci/run and scripts/proof: runs commands one after another, whatever the others
# came to, and ends with a table of them.
export WEFT_CI=1 # what this machine lacks is a failure, not a skip

# A job in the background of a script ignores SIGINT, and so would the ranks that tests
# interrupt.
[ -z "$(trap -p INT)" ] || exec env --default-signal=INT "$0" "$@"

# What is built takes 4 GB. Where the disk has less than that, memory takes it, if the
# machine has three times as much.
free() { df --output=avail -m "$1" | tail -n 1; }
spare=
if [ "$(free "${TMPDIR:-/tmp}")" -lt 6000 ] && [ "$(free /dev/shm)" -gt 12000 ]; then
	spare=$(mktemp -d /dev/shm/steps.XXXXXX)
	mkdir -p "$spare/cache" "$spare/tmp"
	export TMPDIR=$spare/tmp GOCACHE=$spare/go-build
	[ -e .cache ] || ln -s "$spare/cache" .cache
	echo "== the disk has $(free /tmp) MB left: building in $spare"
fi

logs=$(mktemp -d)
trap 'rm -rf "$logs" ${spare:+"$spare"}' EXIT
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
