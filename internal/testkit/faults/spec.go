package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// size is the ranks of each job.
const size = 4

// role is which rank dies.
type role string

const (
	sender   role = "sender"
	receiver role = "receiver"
	third    role = "third"
)

var victims = map[role]int{sender: 0, receiver: 1, third: 2}

// runVar makes the command a rank: it holds the spec.
const runVar = "FAULTS_RUN"

// spec is one run, the same for all its ranks.
type spec struct {
	State  string
	Role   role
	Fabric string
	Seed   uint64
	Dir    string // of the ranks' process numbers
	Plant  string // a fault of the survivors themselves, for tests of this command
}

// victim is the rank that dies.
func (s spec) victim() int { return victims[s.Role] }

// node is the name of a rank's machine, where the fabric tells machines apart.
// The pair is on one machine for every other seed, and in half of the states with
// one seed.
func (s spec) node(rank int) string {
	if s.Fabric != "shm+tcp" {
		return ""
	}
	if (s.Seed+uint64(len(s.State)+len(s.Role)))%2 == 0 {
		return fmt.Sprint("node", rank/2)
	}
	return fmt.Sprint("node", rank%2)
}

// delay is the time from the point to the kill: none in half of the runs.
func (s spec) delay() time.Duration {
	rng := rand.New(rand.NewPCG(s.Seed, 1))
	switch rng.IntN(4) {
	case 0:
		return time.Duration(rng.IntN(200)) * time.Microsecond
	case 1:
		return time.Duration(rng.IntN(5000)) * time.Microsecond
	}
	return 0
}

// line is what a rank prints, one a line as JSON: when it kills, and what became
// of it.
type line struct {
	Rank   int
	Killed int64   `json:",omitempty"`
	Report *report `json:",omitempty"`
}

// report is a survivor's.
type report struct {
	Ops   []op     // that have failed because of the death
	Wrong []string // outcomes
	Leaks []string
	Addrs []string // of its domains
}

// op is an operation that has failed. Times are of the machine's monotonic clock,
// in nanoseconds.
type op struct {
	Name       string
	Begin, End int64
}

func (l line) print() {
	b, err := json.Marshal(l)
	if err != nil {
		panic(err) // a struct of numbers and strings has a JSON
	}
	os.Stdout.Write(append(b, '\n'))
}

// now is the time of the clock that all processes share.
func now() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0
	}
	return t.Nano()
}
