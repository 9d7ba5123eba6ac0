package comm

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/expiry"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/progress"
)

// simWorld is a job over a simulated network whose ranks make barriers by flags,
// in several communicators one after another. One goroutine drives all ranks, by
// calls that do not block. How a rank learns where the flags of others are (flags'
// messages) is left out: a rank takes it from the other's memory.
type simWorld struct {
	rng      *rand.Rand
	net      *mem.Sim
	ranks    []*simRank
	comms    int            // communicators
	barriers int            // in each
	slowNet  int            // steps of ranks for each move of the network
	die      int            // step of a death, or never
	died     bool           // somebody has
	come     map[[2]int]int // how many ranks have come to a barrier of a communicator
	steps    int
	slept    int

	tracing bool
	trace   []byte
}

// simRank is one rank of it.
type simRank struct {
	w      *simWorld
	id     int
	in     *Instance
	dom    fabric.Domain
	state  simState
	gen    int // of the communicator, from 0 on
	number int // of the barrier, from 1 on
	f      *flags
	find   finding
	h      progress.Handle // of what it waits for
	places [][][]byte      // of its flags, by communicator and round
	err    error           // why its calls end
}

// simState is what a rank does next.
type simState uint8

const (
	between simState = iota // begins a communicator, or a barrier, or ends
	placing                 // has shared its flags, and waits for the places of others
	finds                   // waits until it reaches the flags of others
	waits                   // in a barrier, awake
	armed                   // has armed the doorbell, and looks next
	asleep
	ended
	dead
)

func (s simState) String() string {
	return [...]string{"between", "placing", "finding", "waiting", "armed", "asleep", "ended", "dead"}[s]
}

func newSimWorld(t *testing.T, seed uint64, tracing bool) *simWorld {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0xba11))
	size := 2 + int((seed-1)%8)
	c := mem.DrawSim(rng, size)
	c.Caps.Reach = true
	w := &simWorld{rng: rng, comms: 1 + rng.IntN(3), barriers: 1 + rng.IntN(3), slowNet: 1 + rng.IntN(8), die: never,
		come: map[[2]int]int{}, tracing: tracing}
	if rng.IntN(3) == 0 {
		w.die = rng.IntN(40 * size)
	}
	w.net = mem.NewSim(rng, c)
	w.net.Observe = w.observe
	log := slog.New(slog.DiscardHandler)
	for i := range size {
		d, err := w.net.Open(w.net.Config(i))
		if err != nil {
			t.Fatal(err)
		}
		in := New(Config{Rank: i, Limits: pt2pt.DefaultLimits, Beat: noBeat, // there is no time here
			Progress: progress.Config{Domain: d, Addrs: w.net.Addrs(), Log: log, NoThread: true}})
		w.ranks = append(w.ranks, &simRank{w: w, id: i, in: in, dom: d})
	}
	return w
}

// close ends all ranks. The domains go first: the progress threads are asleep in
// them.
func (w *simWorld) close() {
	w.net.Observe = nil
	for _, r := range w.ranks {
		r.dom.Close()
		r.in.End()
		r.in.Close()
	}
}

func (w *simWorld) note(format string, args ...any) {
	if w.tracing {
		w.trace = append(fmt.Appendf(w.trace, format, args...), '\n')
	}
}

func (w *simWorld) observe(e mem.SimEvent) {
	switch e.What {
	case mem.SimStore, mem.SimKnock, mem.SimRing, mem.SimDeath, mem.SimDown:
		w.note("  %d %v of %d", e.Rank, e.What, e.Peer)
	}
}

func (w *simWorld) kill(r *simRank) {
	w.died = true
	r.state = dead
	w.net.Kill(r.id)
}

func (r *simRank) over() bool { return r.state >= ended }

// mayGo reports whether the rank's next step is its own to make.
func (r *simRank) mayGo() bool {
	switch r.state {
	case placing:
		return r.placed() || r.orphan()
	case asleep:
		if !r.w.net.Woken(r.id) {
			return false
		}
		r.w.note("%d wakes", r.id)
		r.dom.Disarm()
		r.state = waits
	}
	return true
}

// sources visits the ranks that this one looks at.
func (r *simRank) sources(f func(round int, s *source)) {
	for k := range r.f.rounds {
		for i := range r.f.rounds[k].sources {
			f(k, &r.f.rounds[k].sources[i])
		}
	}
}

// placed reports whether all of them have shared their flags.
func (r *simRank) placed() bool {
	all := true
	r.sources(func(_ int, s *source) { all = all && len(r.w.ranks[s.rank].places) > r.gen })
	return all
}

// orphan reports whether one never will: its messages would end with an error.
func (r *simRank) orphan() (is bool) {
	r.sources(func(_ int, s *source) {
		is = is || r.w.ranks[s.rank].over() && len(r.w.ranks[s.rank].places) <= r.gen
	})
	return is
}

// step does what comes next. An error is a rule that was broken.
func (r *simRank) step() error {
	w := r.w
	switch r.state {
	case between:
		return r.begin()
	case placing:
		if !r.placed() {
			r.end(fabric.ErrPeerDown)
			return nil
		}
		r.sources(func(k int, s *source) { s.decode(w.ranks[s.rank].places[r.gen][k]) })
		r.find = finding{f: r.f, can: 1}
		r.h = r.in.Loop.Watch(expiry.Expiry{}, &r.find)
		r.state = finds
	case armed:
		dry := w.net.Waiting(r.id) == 0
		if over, err := r.test(); over || err != nil {
			return err
		}
		if dry && w.net.Waiting(r.id) == 0 {
			w.note("%d sleeps", r.id)
			w.slept++
			r.state = asleep
		}
	case finds:
		_, err := r.test()
		return err
	case waits:
		if w.rng.IntN(2) == 0 {
			_, err := r.test()
			return err
		}
		w.note("%d arms", r.id)
		r.state = armed
		return r.dom.Arm(fabric.WakeAll)
	}
	return nil
}

// begin begins the next barrier, or communicator, or comes to the end.
func (r *simRank) begin() error {
	w := r.w
	switch {
	case r.f != nil && r.number < w.barriers:
		r.number++
		w.come[[2]int{r.gen, r.number}]++
		w.note("%d comes to [%d %d]", r.id, r.gen, r.number)
		r.f.begin(0)
		r.h = r.in.Loop.Watch(expiry.Expiry{}, r.f)
		r.state = waits
		return nil
	case r.f != nil:
		r.f.release()
		if r.gen, r.number = r.gen+1, 0; r.gen == w.comms {
			r.end(nil)
			return nil
		}
	}
	r.f = &flags{in: r.in, rounds: plan(r.id, len(w.ranks), w.ranks[0].in.World.world)}
	if !r.f.share() {
		return fmt.Errorf("rank %d can't share its flags", r.id)
	}
	var places [][]byte
	for k := range r.f.rounds {
		places = append(places, r.f.place(k, true))
	}
	r.places = append(r.places, places)
	r.state = placing
	return nil
}

// test moves the rank's loop on, and takes the end of what it waits for.
func (r *simRank) test() (over bool, err error) {
	was := r.state
	over, _, err = progress.Test(&r.h)
	if !over {
		return false, err
	}
	r.dom.Disarm()
	r.state = between
	if was == finds {
		if err == nil && r.find.can != 1 {
			return true, fmt.Errorf("rank %d does not reach the flags of others", r.id)
		}
		r.w.note("%d has found the flags of communicator %d: %v", r.id, r.gen, err)
	} else if broken := r.left(err); broken != nil {
		return true, broken
	}
	if err != nil {
		r.end(err)
	}
	return true, nil
}

// end ends a rank's calls. It polls no more: the others need nothing of it.
func (r *simRank) end(err error) {
	r.w.note("%d ends: %v", r.id, err)
	r.state, r.err = ended, err
}
