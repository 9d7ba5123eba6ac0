package metrics_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/weft-mpi/weft/mpi"
	"github.com/weft-mpi/weft/progress/counters"
)

// The job of the tests: ranks of this process use everything that is counted. Tests
// look at it while it waits.
const ranks = 2

// Of a job, by rank 0: how many messages of which bytes it sends besides, and how many
// blocking calls of Allreduce it makes.
const (
	shortMessages, shortBytes = 40, 8
	longMessages, longBytes   = 3, 1 << 20
	allreduces                = 7
	begunRounds               = 60 // of nonblocking collective calls
	windowTimes               = 30 // the first operation with each of two windows, the second one once more, and so on
)

// job is a job that is under way.
type job struct {
	worlds []*mpi.World
	goOn   func() // lets it end
	done   chan error
}

// start runs a job over a fabric and returns when it has done its work.
func start(t *testing.T, fabric string) *job {
	t.Helper()
	j := &job{worlds: make([]*mpi.World, ranks), done: make(chan error, 1)}
	held := make(chan struct{})
	j.goOn = sync.OnceFunc(func() { close(held) })
	var working sync.WaitGroup
	working.Add(ranks)
	go func() {
		j.done <- mpi.Run(ranks, func(w *mpi.World) error {
			rank := w.Comm().Rank()
			j.worlds[rank] = w
			err := work(w)
			working.Done()
			<-held
			return err
		}, mpi.WithFabric(fabric))
	}()
	begun := make(chan struct{})
	go func() {
		working.Wait()
		close(begun)
	}()
	select {
	case <-begun:
	case err := <-j.done:
		t.Fatalf("the job has ended: %v", err)
	}
	t.Cleanup(func() { j.end(t) })
	return j
}

// end lets the job end.
func (j *job) end(t *testing.T) {
	t.Helper()
	j.goOn()
	if err, ok := <-j.done; ok && err != nil {
		t.Errorf("the job ends with %v", err)
	}
	select {
	case <-j.done:
	default:
		close(j.done)
	}
}

func (j *job) snapshot() counters.Snapshot { return j.worlds[0].Snapshot() }

// all are the snapshots of all ranks.
func (j *job) all() map[int]counters.Snapshot {
	all := map[int]counters.Snapshot{}
	for rank, w := range j.worlds {
		all[rank] = w.Snapshot()
	}
	return all
}

// work is what each rank does.
func work(w *mpi.World) error {
	steps := []func(*mpi.Comm) error{messages, unexpected, collectives, window, partitions}
	for _, step := range steps {
		if err := step(w.Comm()); err != nil {
			return err
		}
		if err := w.Comm().Barrier(); err != nil {
			return err
		}
	}
	return nil
}

func messages(c *mpi.Comm) error {
	for _, m := range []struct{ n, bytes int }{{shortMessages, shortBytes}, {longMessages, longBytes}} {
		for range m.n {
			b := make([]byte, m.bytes)
			if c.Rank() == 0 {
				if err := mpi.Send(c, b, 1, 1); err != nil {
					return err
				}
			} else if _, err := mpi.Recv(c, b, 0, 1); err != nil {
				return err
			}
		}
	}
	for n := 1; n <= 1<<16; n *= 2 { // each length, each way
		for _, to := range []int{1, 0} {
			if c.Rank() != to {
				if err := mpi.Ssend(c, make([]byte, n), to, 2); err != nil {
					return err
				}
			} else if _, err := mpi.Recv(c, make([]byte, n), 1-to, 2); err != nil {
				return err
			}
		}
	}
	_, err := mpi.Sendrecv(c, []byte{1}, c.Rank(), 3, make([]byte, 1), c.Rank(), 3) // to itself
	return err
}

// unexpected leaves messages until they have all come.
func unexpected(c *mpi.Comm) error {
	if c.Rank() == 0 {
		for range 5 {
			if err := mpi.Send(c, make([]byte, 100), 1, 4); err != nil {
				return err
			}
		}
		return mpi.Send(c, []byte{}, 1, 5)
	}
	if _, err := mpi.Recv(c, []byte{}, 0, 5); err != nil {
		return err
	}
	if _, err := mpi.Probe(c, 0, 4); err != nil {
		return err
	}
	for range 5 {
		if _, err := mpi.Recv(c, make([]byte, 100), mpi.AnySource, 4); err != nil {
			return err
		}
	}
	return nil
}

func collectives(c *mpi.Comm) error {
	n := c.Size()
	one, all, big := []int{c.Rank()}, make([]int, n), make([]int, 1<<15)
	counts, displs := []int{1, 1}, []int{0, 1}
	calls := []func() error{
		func() error { return c.Barrier() },
		func() error { return c.Barrier() },
		func() error { return c.Barrier() },
		func() error { return mpi.Bcast(c, one, 0) },
		func() error { return mpi.Gather(c, one, all, 0) },
		func() error { return mpi.Gather(c, big, make([]int, n*len(big)), 0) },
		func() error { return mpi.Gatherv(c, one, all, counts, displs, 0) },
		func() error { return mpi.Scatter(c, all, one, 0) },
		func() error { return mpi.Scatter(c, make([]int, n*len(big)), big, 0) },
		func() error { return mpi.Scatterv(c, all, one, counts, displs, 0) },
		func() error { return mpi.Allgather(c, one, all) },
		func() error { return mpi.Allgather(c, big, make([]int, n*len(big))) },
		func() error { return mpi.Allgatherv(c, one, all, counts, displs) },
		func() error { return mpi.Alltoall(c, make([]int, n), all) },
		func() error { return mpi.Alltoall(c, mpi.InPlace[int](), all) },
		func() error { return mpi.Alltoallv(c, make([]int, n), counts, displs, all, counts, displs) },
		func() error { return mpi.Reduce(c, mpi.Sum, one, all[:1], 0) },
		func() error { return mpi.ReduceScatterBlock(c, mpi.Sum, make([]int, n), one) },
		func() error { return mpi.Scan(c, mpi.Sum, one, all[:1]) },
		func() error { return mpi.Exscan(c, mpi.Sum, one, all[:1]) },
	}
	for range allreduces {
		calls = append(calls, func() error { return mpi.Allreduce(c, mpi.Sum, one, all[:1]) })
	}
	for _, call := range calls {
		if err := call(); err != nil {
			return err
		}
	}
	begun := []func() (mpi.Request, error){
		func() (mpi.Request, error) { return c.Ibarrier() },
		func() (mpi.Request, error) { return mpi.Ibcast(c, one, 0) },
		func() (mpi.Request, error) { return mpi.Igather(c, one, all, 0) },
		func() (mpi.Request, error) { return mpi.Iscatter(c, all, one, 0) },
		func() (mpi.Request, error) { return mpi.Iallgather(c, one, all) },
		func() (mpi.Request, error) { return mpi.Ialltoall(c, make([]int, n), all) },
		func() (mpi.Request, error) { return mpi.Ireduce(c, mpi.Sum, one, all[:1], 0) },
		func() (mpi.Request, error) { return mpi.Iallreduce(c, mpi.Sum, one, all[:1]) },
		func() (mpi.Request, error) { return mpi.Iscan(c, mpi.Sum, one, all[:1]) },
	}
	for range begunRounds { // so that requests of each kind are timed
		for _, call := range begun {
			r, err := call()
			if err != nil {
				return err
			}
			if _, err := mpi.Wait(&r); err != nil {
				return err
			}
		}
	}
	return nil
}

// window does each operation with a window that ranks of one process reach by loads
// and stores, if at all, and with one that takes packets.
func window(c *mpi.Comm) error {
	near, err := mpi.WinCreate(c, make([]int64, 64), mpi.WinOptions{})
	if err != nil {
		return err
	}
	far, err := mpi.WinCreateDynamic(c, mpi.WinOptions{})
	if err != nil {
		return err
	}
	memory := make([]int64, 64)
	place := make([]int, 1)
	if place[0], err = mpi.Attach(far, memory); err != nil {
		return err
	}
	places := make([]int, c.Size())
	if err := mpi.Allgather(c, place, places); err != nil {
		return err
	}
	to := 1 - c.Rank()
	for _, t := range []struct {
		w  *mpi.Win
		at int
	}{{near.Win, 0}, {far, places[to]}} {
		if err := t.w.LockAll(); err != nil {
			return err
		}
		b, old := []int64{1}, []int64{0}
		for i, operate := range []func() error{
			func() error { return mpi.Put(t.w, b, to, t.at) },
			func() error { return mpi.Get(t.w, old, to, t.at) },
			func() error { return mpi.Accumulate(t.w, mpi.Sum, b, to, t.at) },
			func() error { return mpi.GetAccumulate(t.w, mpi.Sum, b, old, to, t.at) },
			func() error { return mpi.CompareAndSwap(t.w, &b[0], &b[0], &old[0], to, t.at) },
		} {
			for range windowTimes + i {
				if err := errors.Join(operate(), t.w.Flush(to)); err != nil {
					return err
				}
			}
		}
		if err := t.w.UnlockAll(); err != nil {
			return err
		}
	}
	if err := c.Barrier(); err != nil {
		return err
	}
	if err := near.Free(); err != nil {
		return err
	}
	return far.Free()
}

// partRounds is how many rounds partitions has: in one half the receiver is first, and the
// sender knows it, in the other one, and in the first round, the sender.
const partRounds = 8

// partitions has rounds in which either side is first. A message of that side, which
// nothing of it overtakes, lets the other one begin.
func partitions(c *mpi.Comm) error {
	const parts = 4
	b := make([]byte, parts<<16)
	make := mpi.PsendInit[byte]
	if c.Rank() == 1 {
		make = mpi.PrecvInit[byte]
	}
	p, err := make(c, b, parts, 1-c.Rank(), 6)
	if err != nil {
		return err
	}
	for round := range partRounds {
		if round%2 != c.Rank() { // the other one is first
			if _, err := mpi.Recv(c, []byte{0}, 1-c.Rank(), 7); err != nil {
				return err
			}
		}
		if err := p.Start(); err != nil {
			return err
		}
		if c.Rank() == 0 {
			for i := range parts { // which come one by one if the receiver is there
				if err := mpi.Pready(i, p.Request); err != nil {
					return err
				}
			}
		}
		if round%2 == c.Rank() {
			if err := mpi.Send(c, []byte{1}, 1-c.Rank(), 7); err != nil {
				return err
			}
		}
		if _, err := p.Wait(); err != nil {
			return err
		}
	}
	return p.Free()
}
