package mpi_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/mpi"
)

// mortalRank is a rank that does rounds of work with others, of which some die, until so
// many are done. Each round counts at all living ranks or at none.
type mortalRank struct {
	rnd   *rand.Rand // this rank's
	dies  int        // after so many points; -1: never
	state uint64     // of the rounds that count
	lost  int        // ranks
	own   bool       // its communicator can be freed

	process bool // it is one of its own
}

// point is one at which the rank may die.
func (m *mortalRank) point() {
	if m.dies--; m.dies == 0 {
		if m.process {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		stop(errDies)
	}
}

// rounds does n rounds, and returns the communicator of the survivors.
func (m *mortalRank) rounds(c *mpi.Comm, n int) *mpi.Comm {
	for round := 0; round < n; {
		got := []uint64{0}
		m.point()
		err := m.work(c, round, got)
		m.point()
		if err != nil && !errors.Is(err, mpi.ErrProcFailed) && !errors.Is(err, mpi.ErrRevoked) {
			stop(err)
		}
		// In a ring a neighbour may wait for what this rank does not send any more.
		if err != nil && (m.rnd.IntN(2) == 0 || round%4 == 1) || m.rnd.IntN(20) == 0 {
			ok(c.Revoke())
			m.point()
		}
		all, err := m.agree(c, err == nil && !c.IsRevoked())
		if err != nil && !errors.Is(err, mpi.ErrProcFailed) {
			stop(err)
		}
		if all && err == nil {
			m.state = m.state*31 + got[0]
			round++
			continue
		}
		d := m.shrink(c)
		m.lost += c.Size() - d.Size()
		if c.Size() == d.Size() && all {
			stop(errors.New("a rank has failed, and Shrink finds all alive"))
		}
		if m.own {
			ok(c.Free())
		}
		c, m.own = d, true
	}
	return c
}

func (m *mortalRank) work(c *mpi.Comm, round int, got []uint64) error {
	switch round % 4 {
	case 0:
		return c.Barrier()
	case 1:
		return passRound(c, 8<<round)
	case 2:
		r, err := mpi.Iallreduce(c, mpi.Sum, []uint64{1}, got)
		m.point()
		if err == nil {
			_, err = mpi.Wait(&r)
		}
		return err
	}
	return mpi.Allreduce(c, mpi.Sum, []uint64{uint64(c.Rank() + 1)}, got)
}

func (m *mortalRank) agree(c *mpi.Comm, well bool) (bool, error) {
	flag := 0
	if well {
		flag = 1
	}
	if m.rnd.IntN(2) == 0 {
		got, err := c.Agree(flag)
		return got == 1, err
	}
	r, got, err := c.Iagree(flag)
	ok(err)
	m.point()
	_, err = mpi.Wait(&r)
	return *got == 1, err
}

func (m *mortalRank) shrink(c *mpi.Comm) *mpi.Comm {
	if m.rnd.IntN(2) == 0 {
		return get(c.Shrink())
	}
	r, d, err := c.Ishrink()
	ok(err)
	for range m.rnd.IntN(20) {
		m.point()
		if done, _, err := mpi.Test(&r); done {
			ok(err)
			return d
		}
	}
	_, err = mpi.Wait(&r)
	ok(err)
	return d
}

// mortals draws a job: how many ranks it has, and after how many points each dies.
func mortals(seed uint64, most int) (dies []int, victims int) {
	rnd := rand.New(rand.NewPCG(seed, 5))
	dies = make([]int, 3+rnd.IntN(most-2))
	victims = 1 + rnd.IntN(len(dies)-1)
	for i, r := range rnd.Perm(len(dies)) {
		if dies[r] = -1; i < victims {
			dies[r] = 1 + rnd.IntN(80)
		}
	}
	return dies, victims
}

// mortalRounds is how many rounds the survivors of a job do.
const mortalRounds = 12

// Ranks die at random, also in the midst of agreements and shrinks, and the survivors end
// with the same rounds done.
func TestRandomDeaths(t *testing.T) {
	jobs := 24
	if testing.Short() {
		jobs = 6
	}
	onEach(t, func(t *testing.T, fabric string) {
		for seed := range uint64(jobs) {
			dies, victims := mortals(seed, 12)
			n := len(dies)
			t.Run(fmt.Sprintf("seed %d, %d ranks, %d die", seed, n, victims), func(t *testing.T) {
				state, survivors := shared[atomic.Uint64](), shared[atomic.Int64]()
				lose(t, fabric, n, func(w *mpi.World, c *mpi.Comm) error {
					m := &mortalRank{rnd: rand.New(rand.NewPCG(seed, uint64(c.Rank()))), dies: dies[c.Rank()]}
					return attempt(func() {
						d := m.rounds(c, mortalRounds)
						if m.dies > 0 {
							stop(errDies)
						}
						survivors.Add(1)
						if got := m.state | 1<<63; !state.CompareAndSwap(0, got) && state.Load() != got {
							t.Errorf("rank %d of %d left ends with %#x, another with %#x", d.Rank(), d.Size(), got, state.Load())
						}
					})
				})
				if survivors.Load() != int64(n-victims) {
					t.Errorf("%d ranks have survived, want %d", survivors.Load(), n-victims)
				}
			})
		}
	})
}

// A process that is killed ends receives from any source, and waits for them.
func TestAProcessDiesThatAnySourceMightBe(t *testing.T) {
	for _, fabric := range []string{"shm", "tcp"} {
		t.Run(fabric, func(t *testing.T) {
			var out, stderr bytes.Buffer
			l := launch.Launch{N: 3, Path: os.Args[0], KeepGoing: true, Stdout: &out, Stderr: &stderr,
				Env: append(os.Environ(), roleVar+"=any source", "WEFT_FABRIC="+fabric, "GORACE=atexit_sleep_ms=0")}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			err := l.Run(ctx)
			exit, killed := errors.AsType[*launch.ExitError](err)
			if !killed || exit.Rank != 1 || exit.Signal != syscall.SIGKILL || !strings.Contains(out.String(), "went on") {
				t.Fatalf("%v\n%s%s", err, out.String(), stderr.String())
			}
		})
	}
}

// playAnySource is a rank of such a job, of which rank 1 dies.
func playAnySource(w *mpi.World, c *mpi.Comm) error {
	b := make([]byte, 8)
	return attempt(func() {
		switch c.Rank() {
		case 1:
			get(mpi.Recv(c, b, 0, 2))
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		case 2:
			get(mpi.Recv(c, b, 0, 3))
			ok(mpi.Send(c, []byte{1}, 0, 1))
			ok(mpi.Send(c, []byte{2}, 0, 1))
			get(mpi.Recv(c, b, 0, 3))
		default:
			first, second := []byte{0}, []byte{0}
			r := get(mpi.Irecv(c, first, mpi.AnySource, 1))
			ok(mpi.Send(c, b, 1, 2))
			_, err := mpi.Wait(&r)
			_, again := mpi.Recv(c, second, mpi.AnySource, 1)
			if !errors.Is(err, mpi.ErrProcFailedPending) || !errors.Is(again, mpi.ErrProcFailedPending) {
				stop(fmt.Errorf("after a death: %w, %w", err, again))
			}
			get(c.AckFailed(1))
			ok(mpi.Send(c, b, 2, 3))
			get(mpi.Recv(c, second, mpi.AnySource, 1))
			get(mpi.Wait(&r))
			if first[0] != 1 || second[0] != 2 {
				stop(fmt.Errorf("the messages are %d and %d", first[0], second[0]))
			}
			ok(mpi.Send(c, b, 2, 3))
			fmt.Println("went on")
		}
		if err := w.Finalize(); err != nil && !errors.Is(err, mpi.ErrProcFailed) {
			stop(err)
		}
	})
}

var deathJobs = flag.Int("deaths", 0, "jobs of each kind in TestRandomDeathsOfProcesses, if not 0")

// Processes are killed at random. -deaths 1000 is a soak.
func TestRandomDeathsOfProcesses(t *testing.T) {
	jobs := 4
	if testing.Short() {
		jobs = 1
	}
	if *deathJobs > 0 {
		jobs = *deathJobs
	}
	for _, fabric := range []string{"shm", "tcp", "shm+tcp"} {
		for seed := range uint64(jobs) {
			dies, victims := mortals(seed, 16)
			n := len(dies)
			t.Run(fmt.Sprintf("%s, seed %d, %d processes, %d die", fabric, seed, n, victims), func(t *testing.T) {
				var out, stderr bytes.Buffer
				l := launch.Launch{N: n, Path: os.Args[0], KeepGoing: true, Stdout: &out, Stderr: &stderr,
					Env: append(os.Environ(), fmt.Sprintf("%s=mortal#%d", roleVar, seed), "WEFT_FABRIC="+fabric, "GORACE=atexit_sleep_ms=0")}
				if fabric == "shm+tcp" {
					l.Env = append(l.Env, "WEFT_TEST_NODES=2")
				}
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				err := l.Run(ctx)
				states := regexp.MustCompile(`survived with (\w+)`).FindAllString(out.String(), -1)
				exit, killed := errors.AsType[*launch.ExitError](err)
				if !killed || exit.Signal != syscall.SIGKILL || len(states) != n-victims || len(states) == 0 || strings.Count(out.String(), states[0]) != n-victims {
					t.Fatalf("%v\n%s%s", err, out.String(), stderr.String())
				}
			})
		}
	}
}

// playMortal is a rank of such a job.
func playMortal(w *mpi.World, c *mpi.Comm, role string) error {
	var seed uint64
	if _, err := fmt.Sscanf(role, "mortal#%d", &seed); err != nil {
		return err
	}
	dies, _ := mortals(seed, 16)
	m := &mortalRank{rnd: rand.New(rand.NewPCG(seed, uint64(c.Rank()))), dies: dies[c.Rank()], process: true}
	return attempt(func() {
		m.rounds(c, mortalRounds)
		if m.dies > 0 {
			m.dies = 1
			m.point()
		}
		fmt.Printf("survived with %x\n", m.state)
		if err := w.Finalize(); err != nil && !errors.Is(err, mpi.ErrProcFailed) {
			stop(err)
		}
	})
}
