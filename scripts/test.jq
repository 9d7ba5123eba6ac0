# Of the events of go test -json in which failed tests may have been run again: prints
# each test that has failed, with what it said first, and fails if that is no bad luck:
#
#   a data race, a panic, a fatal error of the runtime, a time limit of go test: in any
#     line of a test that failed, so of its processes too, and at the begin of a line in
#     a package that failed, where a test may have come to no end;
#   a test that failed after five minutes, the patience of all tests: it hung;
#   a package that failed without a test that did.
def root: (.Test // "") | sub("/.*"; "");
def fatal: "(panic: |fatal error: |WARNING: DATA RACE|unexpected fault address|SIG(SEGV|BUS|ABRT))";

[inputs | select(.Package)] as $events
| ($events | map(select(.Action == "fail"))) as $fails
| ($fails | map([.Package, root]) | unique) as $failed
| ($failed | map(.[0]) | unique) as $packages
| [
	($events[] | select(.Action == "output" and (.Package | IN($packages[])))
		| select((.Output | test("^" + fatal)) or (([.Package, root] | IN($failed[])) and root != "" and (.Output | test(fatal))))
		| "\(.Package) \(.Test // "") \(.Output | rtrimstr("\n"))"),
	($fails[] | select(.Test and .Elapsed >= 300) | "\(.Package) \(.Test): hung, it failed after \(.Elapsed) s"),
	(reduce $fails[] as $f ({}; if $f.Test then .[$f.Package] = true elif .[$f.Package] then .[$f.Package] = false else .none += [$f.Package] end)
		| .none // [] | .[] | . + ": the package failed, none of its tests did")
] as $never
| if $never != [] then "test: never excused:\n" + ($never[:20] | join("\n")) + "\n" | halt_error(1) else
	$failed[] | select(.[1] != "") as $f
	| "flaky: \($f | join(" "))",
	([label $first | $events[] | select([.Package, root] == $f) | if .Action == "fail" and .Test == $f[1] then break $first else select(.Action == "output") | .Output | rtrimstr("\n") end]
		| .[-20:][] | "    " + .)
end
