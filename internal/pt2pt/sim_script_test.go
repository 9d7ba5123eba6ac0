package pt2pt

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/testkit/oracle"
)

var update = flag.Bool("update", false, "write the golden traces of testdata anew")

// A script is a file of testdata: commands, each with the trace of what it did
// between "----" and an empty line. Nothing happens but what a command says:
//
//	job ranks=2 eager=32 ...     makes the job; the names are those of newScript
//	send 0 1 tag=1 n=8 mode=..   rank 0 sends to 1; with ctx=1 a context cancels it
//	recv 1 0 tag=any room=64     rank 1 receives from 0, or from any
//	sendinit 0 1, start 0        makes a persistent send and starts it; starts rank 0's oldest again
//	probe, claim 1 any tag=1     Iprobe, Improbe; mrecv 1 receives the oldest claim
//	test #3, cancel #3           of a request, by its number
//	arrive 1 0 2                 two messages come from rank 0 to 1
//	transfer 1                   rank 1's oldest Get or Put is carried out
//	down 1 0                     rank 1 may learn of rank 0's death
//	poll 1                       rank 1 turns its loop
//	kill 0                       rank 0 dies; nothing it has sent is lost that has arrived
//	settle, drain                all that can happen does; all is brought to an end
type script struct {
	t *testing.T
	w *simWorld
}

// args are the words of a command: numbers in their order, and names.
type args struct {
	t     *testing.T
	words []string
	names map[string]string
}

func parse(t *testing.T, line string) (cmd string, a args) {
	fields := strings.Fields(line)
	a = args{t: t, names: map[string]string{}}
	for _, f := range fields[1:] {
		if k, v, ok := strings.Cut(f, "="); ok {
			a.names[k] = v
		} else {
			a.words = append(a.words, strings.TrimPrefix(f, "#"))
		}
	}
	return fields[0], a
}

func (a args) number(s string) int {
	if s == "any" {
		return oracle.AnySource
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		a.t.Fatalf("%q is no number", s)
	}
	return n
}

func (a args) at(i, otherwise int) int {
	if i >= len(a.words) {
		return otherwise
	}
	return a.number(a.words[i])
}

func (a args) named(name string, otherwise int) int {
	if v, ok := a.names[name]; ok {
		if name == "tag" && v == "any" {
			return oracle.AnyTag
		}
		return a.number(v)
	}
	return otherwise
}

func newScript(t *testing.T, a args) *simWorld {
	eager := a.named("eager", 32)
	lim := DefaultLimits
	lim.PeerBytes = uint64(a.named("peerbytes", int(lim.PeerBytes)))
	lim.PeerMessages = a.named("peermessages", lim.PeerMessages)
	lim.Messages = a.named("messages", lim.Messages)
	rng, size := rand.New(rand.NewPCG(0, 0)), a.named("ranks", 2)
	w := newSimWorld(rng, size, newSimNets(rng, []mem.SimConfig{{
		Size: size, Depth: a.named("depth", 16),
		Caps: fabric.Caps{MaxEager: eager, Chunk: a.named("chunk", 16), RndvMin: a.named("getmin", 64),
			RndvMinMapped: a.named("getmin", 64), Get: a.named("get", 1) == 1,
			Put: a.named("put", 0) == 1, PutFirst: a.named("put", 0) == 1},
	}}), lim)
	w.tracing = true
	return w
}

func (s *script) run(line string) {
	cmd, a := parse(s.t, line)
	if cmd == "job" {
		s.w = newScript(s.t, a)
		return
	}
	w := s.w
	var r *simRank
	if len(a.words) > 0 && !strings.Contains(line, "#") {
		r = w.ranks[a.at(0, 0)]
	}
	cid, tag := uint32(a.named("cid", 2)), int32(a.named("tag", 0))
	switch cmd {
	case "send":
		mode := map[string]Mode{"": Standard, "sync": Synchronous, "ready": Ready, "buffered": Buffered}[a.names["mode"]]
		r.isend(mode, a.at(1, 0), cid, tag, a.named("n", 4), a.named("ctx", 0) == 1)
	case "sendinit":
		r.sendInit(Standard, a.at(1, 0), cid, tag, a.named("n", 4))
	case "start":
		q := r.resting[0]
		r.resting = r.resting[1:]
		r.startAgain(q)
	case "recv":
		r.irecv(a.at(1, AnySource), cid, tag, a.named("room", 256), false)
	case "probe", "claim":
		r.iprobe(a.at(1, AnySource), cid, tag, cmd == "claim")
	case "mrecv":
		r.imrecv(0, a.named("room", 256))
	case "test":
		w.reqs[a.at(0, 0)].test()
	case "cancel":
		w.reqs[a.at(0, 0)].withdraw()
	case "arrive":
		for range a.at(2, 1) {
			s.move(mem.MoveArrive, r.id, a.at(1, 0))
		}
	case "transfer":
		s.move(mem.MoveTransfer, r.id, oracle.AnySource)
	case "down":
		s.move(mem.MoveDown, r.id, a.at(1, 0))
	case "poll":
		r.poll()
	case "kill":
		w.kill(r)
	case "settle":
		w.settle()
	case "drain":
		w.drain()
	default:
		s.t.Fatalf("unknown command %q", line)
	}
}

// move makes the first move that fits.
func (s *script) move(kind mem.SimMoveKind, rank, peer int) {
	net := s.w.nets.(*simNets).all[0]
	for _, m := range net.Moves() {
		if m.Kind == kind && m.Rank == rank && (peer == oracle.AnySource || m.Peer == peer) {
			net.Do(m)
			return
		}
	}
	s.t.Fatalf("there is no move %d at %d from %d", kind, rank, peer)
}

// play runs a script and returns it with its traces.
func playScript(t *testing.T, src string) string {
	var out strings.Builder
	s := &script{t: t}
	inTrace := false
	for _, line := range strings.Split(strings.TrimRight(src, "\n"), "\n") {
		switch {
		case inTrace:
			inTrace = line != ""
			continue
		case line == "----":
			inTrace = true
			continue
		}
		fmt.Fprintln(&out, line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := func() error {
			if s.w == nil {
				s.run(line)
				return nil
			}
			s.w.trace = nil
			return s.w.try(func() { s.run(line) })
		}(); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if len(s.w.trace) > 0 {
			fmt.Fprintf(&out, "----\n%s\n", s.w.trace)
		}
	}
	s.w.close()
	return strings.TrimRight(out.String(), "\n") + "\n"
}

// Scripts play interleavings that matter, and their traces are kept.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d scripts: %v", len(files), err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := playScript(t, string(src))
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(src) {
				t.Errorf("the trace is another; look at it, and then run with -update:\n%s", firstDifference(string(src), got))
			}
		})
	}
}

func firstDifference(a, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range bs {
		if i >= len(as) || as[i] != bs[i] {
			was := "the end"
			if i < len(as) {
				was = as[i]
			}
			return fmt.Sprintf("line %d was\n\t%s\nand is\n\t%s", i+1, was, bs[i])
		}
	}
	return fmt.Sprintf("it ends after line %d", len(bs))
}
