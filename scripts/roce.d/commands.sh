# shellcheck shell=bash disable=SC2154
# Part of scripts/roce: what it runs in the guest besides commands.

# run_tests builds the test programs and runs them in one boot.
run_tests() {
	local entry package arguments=()
	setup
	work_folder
	for entry in "${tested[@]}"; do
		package=${entry%%|*}
		has_roce_test "$root/$package" || continue
		put_tests "$package"
		arguments+=("$package" "${entry#*|}")
	done
	guest_tests "${arguments[@]}"
}

# run_gate runs the conformance suite and a dozen tests of mpi, or one test again
# where -test.run=TEST PACKAGE are given, and prints their events as go test -json does.
run_gate() {
	local code=0
	quiet=1
	tested=("${gate[@]}")
	[ $# -eq 0 ] || tested=("${2#"$module/"}|-test.short $1")
	tested=("${tested[@]/|/|-test.v=test2json }")
	run_tests 2> >(grep -v '^tests: failed' >&2) | awk -v module="$module" '
		/^== / {if (to) close(to); to = ""; if ($2 != "took") to = "go tool test2json -t -p " module "/" $2; next}
		to {print | to}' || code=$?
	[ "$code" -le 1 ] || exit 2 # the guest has failed, not a test
	return "$code"
}

# run_two runs the test of two hosts.
run_two() {
	setup
	work_folder
	put_tests fabric/verbs
	environment+=(WEFT_TWO=1)
	guest_tests fabric/verbs '-test.v -test.run=TestTwoHosts'
}

# run_soak sends a million messages of mixed lengths and validates them.
run_soak() {
	setup
	work_folder
	put_tests fabric/verbs
	environment+=("WEFT_MESSAGES=${WEFT_MESSAGES:-1000000}")
	guest_tests fabric/verbs '-test.v -test.run=AStreamOfMixedMessages'
}

has_roce_test() { grep -qs WEFT_ROCE "$1"/*_test.go; }

# put_tests builds the test program of a package and puts it into the guest,
# beside a copy of what the tests read: /w/PACKAGE there is the package's folder.
put_tests() {
	local package=$1 folder=$work/tests/$1
	mkdir -p "$folder"
	say "building the tests of $package"
	(cd "$root" && CGO_ENABLED=1 go test -c -o "$folder/$(basename "$package").test" "./$package")
	[ ! -d "$root/$package/testdata" ] || cp -r "$root/$package/testdata" "$folder/"
	files+=("$folder:/w/$package")
}

# guest_tests PACKAGE FLAGS... runs test programs in the guest. A hang ends a
# tenth of the time before the machine is stopped, and says where it is.
guest_tests() { guest tests $((timeout * 9 / 10)) "$@"; }

# run_perf prints OSU tables of perftest's programs for the sizes.
run_perf() {
	[ $# -gt 0 ] || set -- 8 4096 65536 1048576
	local s
	for s; do [[ $s =~ ^[1-9][0-9]*$ ]] || bad_usage "$s is no size in bytes"; done
	[ "$hosts" -eq 1 ] || bad_usage "perf runs in one guest"
	setup
	guest perftest-all --rounds "$rounds" "$@"
}
