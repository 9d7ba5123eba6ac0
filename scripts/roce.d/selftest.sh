# shellcheck shell=bash disable=SC2154
# Part of scripts/roce: the script checks itself, and that what goes wrong in a
# guest is told apart.

run_selftest() {
	setup
	work_folder
	# Two at a time: a guest boots on one processor.
	run_lane refusals silence large_output panic interrupt &
	lanes+=($!)
	run_lane results hung_command failed_start killed &
	lanes+=($!)
	end_lanes
	run_lane two_hosts &
	lanes+=($!)
	end_lanes
	say "selftest: passed after $SECONDS s"
}

# end_lanes waits for the lanes, and ends the selftest if one has failed.
end_lanes() {
	local lane failed=''
	for lane in "${lanes[@]}"; do wait "$lane" || failed=1; done
	lanes=()
	[ -n "$failed" ] || return 0
	complain "selftest: failed after $SECONDS s, see above"
	exit 1
}

# run_lane runs tests, one after another, each in a folder of its own.
run_lane() (
	trap - EXIT
	all=$work
	for testing; do
		work=$all/$testing
		mkdir "$work"
		say "selftest: ${testing//_/ }"
		"test_$testing"
		no_machine_left
	done
)

# again runs the script with the arguments; its output goes to $work/out and
# $work/err, its exit code to $got.
again() {
	got=0
	"${ours[@]}" "ROCE_RUNS=$work" "${wrapper[@]}" "$root/scripts/roce" "$@" >"$work/out" 2>"$work/err" || got=$?
}
# The script ends with the selftest. A job in the background ignores SIGINT.
ours=(setpriv --pdeathsig TERM env --default-signal=INT)
wrapper=(env)

# cut_off SIGNAL ARGS... is again, and a signal as soon as the guest is up.
cut_off() {
	local signal=$1 script
	shift
	got=0
	: >"$work/err"
	"${ours[@]}" "ROCE_RUNS=$work" "$root/scripts/roce" "$@" >"$work/out" 2>"$work/err" &
	script=$!
	until grep -q '^roce: up after' "$work/err"; do
		kill -0 "$script" 2>/dev/null || break
		sleep 0.1
	done
	kill -s "$signal" "$script" || true
	wait "$script" 2>/dev/null || got=$?
}

expect() {
	[ "$got" -eq "$1" ] || wrong "exit code $got, not $1"
	[ -z "${2:-}" ] || grep -qe "$2" "$work/out" "$work/err" || wrong "it does not say $2"
}

wrong() {
	complain "selftest: $testing: $*"
	tail -q -n 30 "$work/out" "$work/err" | sed 's/^/  | /' >&2
	exit 1
}

no_machine_left() {
	local i
	for ((i = 0; i < 600; i++)); do
		grep -qsa "$work/[r]un" /proc/[0-9]*/cmdline || return 0
		sleep 0.1
	done
	complain "selftest: $testing: a machine is left"
	exit 1
}

test_refusals() {
	again run
	expect 2 'run what'
	again run --two
	expect 2 'run what'
	again run --timeout 0 -- true
	expect 2 '0 is no number'
	again run --file /nowhere -- true
	expect 2 'no such file'
	mkdir "$work/bin"
	printf '#!/bin/sh\necho riscv64\n' >"$work/bin/uname"
	chmod +x "$work/bin/uname"
	wrapper=(env -u WEFT_CI "PATH=$work/bin:$PATH")
	again run -- true
	expect 77 'skipped: the guest is for x86_64'
	again test
	expect 0 'skipped'
	wrapper=(env WEFT_CI=1 "PATH=$work/bin:$PATH")
	again test
	expect 1 'that is a failure'
	wrapper=(env)
}

test_results() {
	printf '#!/bin/sh\necho "to out: $*, $A, in $(pwd)"; echo to err >&2; exit 7\n' >"$work/say"
	chmod +x "$work/say"
	again run --file "$work/say" --env "A=it's b" -- sh -c 'check && exec say "$@"' x "two  blanks" "o'clock"
	expect 7 'ib_send_lat of 8 B takes'
	grep -qFx "to out: two  blanks o'clock, it's b, in /w" "$work/out" || wrong "the output is wrong"
	grep -qFx 'to err' "$work/err" || wrong "the error output is wrong"
}

test_large_output() {
	again run --quiet -- seq 300000
	expect 0
	cmp "$work/out" <(seq 300000) || wrong "the output is not whole"
	[ ! -s "$work/err" ] || wrong "--quiet is not quiet"
}

test_hung_command() {
	again run --timeout 15 -- sh -c 'echo hanging; sleep 1000'
	expect 124 'the time is over: not done after 15 s'
	grep -q '^roce: host0 is at: ' "$work/err" || wrong "it does not say where the guest is"
}

test_panic() {
	again run -- sh -c 'echo c >/proc/sysrq-trigger'
	expect 125 'its kernel panicked'
}

# A machine that never speaks is started three times.
test_silence() {
	mkdir "$work/bin"
	printf '#!/bin/sh\nexec sleep 1000\n' >"$work/bin/qemu-system-x86_64"
	chmod +x "$work/bin/qemu-system-x86_64"
	wrapper=(env ROCE_SILENCE=1 "PATH=$work/bin:$PATH")
	again run -- true
	wrapper=(env)
	expect 125 'no sign of life after 1 s, start 3 of 3'
}

# A module that is none keeps the guest from starting.
test_failed_start() {
	: >"$work/none"
	again run --file "$work/none:/roce/modules/crc32_generic.ko" -- true
	expect 125 'failed: modules: insmod /roce/modules/crc32_generic.ko'
}

test_interrupt() {
	cut_off INT run -- sleep 1000
	expect 130 interrupted
}

test_killed() {
	cut_off KILL run -- sleep 1000
	expect 137
}

test_two_hosts() {
	# shellcheck disable=SC2016
	again run --two -- sh -c 'check && case $(hostname) in
		host0) ib_send_lat -d rxe0 -x 1 -F -n 100 ;;
		host1) until ib_send_lat -d rxe0 -x 1 -F -n 100 host0; do sleep 0.2; done; exit 3 ;;
		esac'
	expect 3 '^host1:  2  *100 '
	grep -q '^host0:  2  *100 ' "$work/out" || wrong "host0 has no result"
}
