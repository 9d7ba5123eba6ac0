GO ?= go

# A package whose tests take longer hangs: Go then prints where its goroutines
# are. No test takes a tenth of it, under the race detector either.
LIMIT ?= 30m

# The gate has short tests; make test SHORT= runs the long ones too.
SHORT ?= -short

.PHONY: all test setup roce guest lint race stress bugs soak faults fuzz bench peers compare capi install-capi proof clean

# All packages: the longest tests first, so that those of the others run beside them.
ALL = ./mpi ./internal/launch ./...

all:
	CGO_ENABLED=0 $(GO) build ./...

# The gate's tests, which need this machine only: short, and the same every time.
test: setup
	CGO_ENABLED=0 scripts/test -p 4 -vet=off $(SHORT) -timeout $(LIMIT) $(ALL)

setup:
	scripts/setup

# Everything that takes long, or a part: make proof PART='race fuzz'.
proof: setup
	scripts/proof $(PART)

# What needs an RDMA device, in a virtual machine that has one. It sets itself
# up: Debian packages, and a kernel. The gate has a part of it, make guest the rest.
roce:
	scripts/test -- scripts/roce gate --timeout 900

guest:
	scripts/roce test
	scripts/roce test --two
	WEFT_MESSAGES=300000 scripts/roce soak

lint:
	@test -z "$$(gofmt -l .)" || { gofmt -d .; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

# What race and stress leave to test: it is about gigabytes and millions of
# messages, which show nothing more there, and a third of what mpi takes.
ONCE = ^(TestAFloodTakesABoundedPartOfTheReceiver|TestA(Message|Buf)OfMoreThan4GBComesWhole)$$
# The suite of mpi between processes, the longest test there is.
SUITE = ^TestTheSuiteBetweenProcesses$$

# The detector sees within a process only, so ranks that are goroutines show all it can.
# The gate has the tests in which goroutines meet; make race RACES=. RACY=./... has all.
RACES ?= Goroutine|Hammer|Storm|Concurrent|AtOnce|Meanwhile|While|^TestConformance$$
RACY ?= ./mpi ./rma ./internal/comm ./internal/pt2pt ./partitioned ./progress ./match ./internal/transports ./fabric/... ./internal/scrape
race: setup
	CGO_ENABLED=1 scripts/test -p 4 -race $(SHORT) -tags invariants -vet=off -run '$(RACES)' -skip '$(ONCE)|$(SUITE)' -timeout $(LIMIT) $(RACY)

# The engine with the garbage collector and the scheduler against it: against
# the test programs, not the go command and its linker, hence -exec. With one
# processor the suite of mpi between processes adds nothing: a bound rank has one anyway.
STRESS = $(GO) test -count=1 -vet=off -timeout $(LIMIT)
ENGINE = ./mpi ./internal/comm ./internal/transports ./internal/diagnose ./internal/procs ./internal/pt2pt ./partitioned ./progress ./match ./fabric/...
stress:
	$(STRESS) -short -skip '$(ONCE)' -exec 'env GOMAXPROCS=8 GOGC=1 GODEBUG=clobberfree=1' $(ENGINE)
	$(STRESS) -short -skip '$(ONCE)|$(SUITE)' -exec 'env GOMAXPROCS=1' $(ENGINE)

# Planted bugs: the simulations have to find those of the engine and of flags, the
# symbolic machine those of collective plans, tests those of waiting, of counters and of
# the transports.
BUGS = ./progress ./fabric/... ./internal/pt2pt ./partitioned ./internal/comm ./internal/coll ./rma ./internal/ulfm ./metrics ./progress/counters ./internal/scrape
bugs:
	$(GO) test -tags bugs -timeout $(LIMIT) $(BUGS) -run PlantedBugs -v

# The simulations with new seeds, for as long as SOAK says, and the property tests with
# one; from FROM on they are the same each time.
SOAK ?= 10m
FROM ?= $$(date +%s)00000
RANDOM = $$(grep -rl --include='*_test.go' '"pgregory.net/rapid"' . | xargs -n 1 dirname | sort -u)
soak:
	$(GO) test -short -timeout $(LIMIT) $(RANDOM) -rapid.seed $(FROM) -rapid.checks 1000
	$(GO) test -timeout 0 ./internal/pt2pt ./partitioned ./internal/comm ./rma -run 'Test(Sim|Model)$$' -soak $(SOAK) -from $(FROM) -v

# The kill matrix: a rank dies in each state of each protocol. FAULTS has further
# flags.
RUNS ?= 100
faults:
	$(GO) run -tags faults ./internal/testkit/faults -runs $(RUNS) $(FAULTS)

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

# The C library libmpi_abi.so, mpi.h, mpicc, mpicxx and mpiexec, in bin/capi (docs/c.md).
capi:
	scripts/capi bin/capi

install-capi: capi
	@test -n "$(PREFIX)" || { echo "make install-capi PREFIX=DIR: where to?" >&2; exit 1; }
	mkdir -p "$(DESTDIR)$(PREFIX)"
	cp -R bin/capi/. "$(DESTDIR)$(PREFIX)"

clean:
	rm -rf bin .cache
	$(MAKE) -C bench/peers clean
