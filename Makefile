GO ?= go

# A package whose tests take longer hangs: Go then prints where its goroutines
# are. No test takes a tenth of it, under the race detector either.
LIMIT ?= 30m

.PHONY: all test setup roce lint race stress bugs soak faults fuzz bench peers compare clean

# All packages: the longest tests first, so that those of the others run beside them.
ALL = ./mpi ./boot ./...

all:
	CGO_ENABLED=0 $(GO) build ./...

# What a developer runs: every test that needs this machine only.
test: setup
	CGO_ENABLED=0 $(GO) build ./...
	$(GO) test -timeout $(LIMIT) $(ALL)
	@echo 'left out: RDMA (make roce), the race detector (make race), make stress, make bugs, make soak; .ci/run runs most of it'

setup:
	scripts/setup

# What needs an RDMA device, in a virtual machine that has one. It sets itself
# up: Debian packages, and a kernel.
roce:
	scripts/roce selftest
	scripts/roce test
	scripts/roce test --two

lint:
	@test -z "$$(gofmt -l .)" || { gofmt -d .; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

# What race and stress leave to test: it is about gigabytes and millions of
# messages, which show nothing more there, and a third of what mpi takes.
ONCE = ^(TestAFloodTakesABoundedPartOfTheReceiver|TestAMessageOfMoreThan4GBComesWhole)$$
# The suite of mpi between processes, the longest test there is.
SUITE = ^TestTheSuiteBetweenProcesses$$

# make race SHORT= runs the long ones too.
SHORT ?= -short
# The detector sees within a process only, so ranks that are goroutines show all it can.
race: setup
	CGO_ENABLED=1 $(GO) test -race $(SHORT) -tags invariants -vet=off -skip '$(ONCE)|$(SUITE)' -timeout $(LIMIT) $(ALL)

# The engine with the garbage collector and the scheduler against it: against
# the test programs, not the go command and its linker, hence -exec. With one
# processor the suite of mpi between processes adds nothing: a bound rank has one anyway.
# make stress BUT='|$(SUITE)' leaves it out of the first part too.
STRESS = $(GO) test -count=1 -vet=off -timeout $(LIMIT)
ENGINE = ./mpi ./comm ./job ./report ./internal/procs ./pt2pt ./partitioned ./progress ./match ./fabric/...
stress:
	$(STRESS) -short -skip '$(ONCE)$(BUT)' -exec 'env GOMAXPROCS=8 GOGC=1 GODEBUG=clobberfree=1' $(ENGINE)
	$(STRESS) -short -skip '$(ONCE)|$(SUITE)' -exec 'env GOMAXPROCS=1' $(ENGINE)

# Planted bugs: the simulations have to find those of the engine and of flags, the
# symbolic machine those of collective plans, tests those of waiting, of counters and of
# the transports. Those of the check of types and of the calls about failed ranks (make
# bugs BUGS=./mpi) build the tests of mpi anew for each, and are left to who changes them.
BUGS = ./progress ./fabric/... ./pt2pt ./partitioned ./comm ./coll ./rma ./ulfm ./metrics ./internal/scrape
bugs:
	$(GO) test -tags bugs -timeout $(LIMIT) $(BUGS) -run PlantedBugs -v

# The simulations with new seeds, for as long as SOAK says; from FROM on they are
# the same each time.
SOAK ?= 10m
FROM ?= $$(date +%s)00000
soak:
	$(GO) test -timeout 0 ./pt2pt ./partitioned ./comm ./rma -run 'Test(Sim|Model)$$' -soak $(SOAK) -from $(FROM) -v

# The kill matrix: a rank dies in each state of each protocol. FAULTS has further
# flags.
RUNS ?= 100
faults:
	$(GO) run -tags faults ./internal/faults -runs $(RUNS) $(FAULTS)

# Every fuzz target, one after another, for as long each as FUZZ says.
FUZZ ?= 30s
fuzz:
	scripts/fuzz $(FUZZ)

# Every Go benchmark once: they compile and run.
bench:
	$(GO) test -run '^$$' -bench . -benchtime 1x ./...

# The C programs that measure the C MPIs.
peers:
	$(MAKE) -C bench/peers

# The standard comparison; writes bench/results.
compare: peers
	scripts/compare

clean:
	rm -rf bin .cache
	$(MAKE) -C bench/peers clean
