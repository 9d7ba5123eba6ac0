# shellcheck shell=bash disable=SC2154
# Part of scripts/roce: what it runs in the guest besides commands.

# run_tests builds the test programs and runs them in one boot, each in a copy
# of its package's folder.
run_tests() {
	local entry package flags name script='check || exit' built
	setup
	work_folder
	built=$work/tests
	for entry in "${tested[@]}"; do
		package=${entry%%|*} flags=${entry#*|}
		has_roce_test "$root/$package" || continue
		name=${package#./}
		mkdir -p "$built/$name"
		say "building the tests of $package"
		(cd "$root" && CGO_ENABLED=1 go test -c -o "$built/$name/$(basename "$name").test" "$package")
		[ ! -d "$root/$name/testdata" ] || cp -r "$root/$name/testdata" "$built/$name/"
		files+=("$built/$name:/w/$name")
		script+="; $(run_one "$name" "$flags")"
	done
	guest sh -c "code=0; $script; exit \$code"
}

# verbs_tests puts the tests of fabric/verbs into the guest.
verbs_tests() {
	setup
	work_folder
	say "building the tests of ./fabric/verbs"
	(cd "$root" && CGO_ENABLED=1 go test -c -o "$work/verbs.test" ./fabric/verbs)
	files+=("$work/verbs.test:/w/verbs.test")
}

# run_two runs the test of two hosts.
run_two() {
	verbs_tests
	environment+=(WEFT_TWO=1)
	guest sh -c 'check && ./verbs.test -test.v -test.timeout=100s -test.run=TestTwoHosts'
}

# run_soak sends a million messages of mixed lengths and validates them.
run_soak() {
	verbs_tests
	environment+=("WEFT_MESSAGES=${WEFT_MESSAGES:-1000000}")
	guest ./verbs.test -test.v -test.timeout=10m -test.run AStreamOfMixedMessages
}

has_roce_test() { grep -qs WEFT_ROCE "$1"/*_test.go; }

# run_one prints the guest's shell command for one test program.
run_one() {
	local program
	program=$(basename "$1").test
	# shellcheck disable=SC2086
	echo "echo '== $1'; cd '/w/$1'; $(quote "./$program" $2) || code=\$?"
}

# run_perf prints OSU tables of perftest's programs for the sizes.
run_perf() {
	[ $# -gt 0 ] || set -- 8 4096 65536 1048576
	local s
	for s; do [[ $s =~ ^[1-9][0-9]*$ ]] || bad_usage "$s is no size in bytes"; done
	[ "$hosts" -eq 1 ] || bad_usage "perf runs in one guest"
	setup
	guest perftest-all --rounds "$rounds" "$@"
}
