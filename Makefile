GO ?= go

.PHONY: all test setup roce lint race stress bugs soak bench peers compare clean

all:
	CGO_ENABLED=0 $(GO) build ./...

# Everything that can be tested on this machine.
test: setup
	CGO_ENABLED=0 $(GO) build ./...
	$(GO) test -timeout 10m ./...
	$(MAKE) roce

setup:
	scripts/setup

# What needs an RDMA device, in a virtual machine that has one.
roce:
	scripts/roce selftest
	scripts/roce test
	scripts/roce test --two

lint:
	@test -z "$$(gofmt -l .)" || { gofmt -d .; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

race: setup
	CGO_ENABLED=1 $(GO) test -race -timeout 10m ./...

# The engine with the garbage collector and the scheduler against it.
stress:
	GOGC=1 GODEBUG=clobberfree=1 $(GO) test -count=1 -timeout 5m ./mpi ./pt2pt ./progress ./fabric/...
	GOMAXPROCS=1 $(GO) test -count=1 -timeout 5m ./mpi ./pt2pt ./progress ./match ./fabric/...
	GOMAXPROCS=8 $(GO) test -count=1 -timeout 5m ./mpi ./pt2pt ./progress ./match ./fabric/...

# Planted bugs, each of which the simulation has to find.
bugs:
	$(GO) test -tags bugs -timeout 10m ./pt2pt -run PlantedBugs -v

# The simulation with new seeds, for as long as SOAK says.
SOAK ?= 10m
soak:
	$(GO) test -timeout 0 ./pt2pt -run 'TestSim$$' -soak $(SOAK) -from $$(date +%s)00000 -v

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
