package verbs

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// BenchmarkBetweenProcesses measures what perftest's ib_send_lat, ib_write_lat
// and ib_read_lat do: 8 bytes between two processes, each bound to a processor.
// send and put are half of a round trip, get is the whole READ. Put looks for
// the answer in memory, as ib_write_lat does. -test.benchtime says how many.
func BenchmarkBetweenProcesses(b *testing.B) {
	needDevice(b)
	for _, c := range []struct {
		name string
		run  func(*side, int)
	}{{"send", (*side).send}, {"put", (*side).put}, {"get", (*side).get}} {
		b.Run(c.name, func(b *testing.B) {
			if os.Getenv(envPeer) != "" {
				var n, cpu int
				if _, err := fmt.Sscan(os.Getenv(envPeer), &n, &cpu); err != nil {
					b.Fatal(err)
				}
				newSide(b, 1, cpu, os.NewFile(3, "in"), os.NewFile(4, "out")).measure(c.run, n)
				return
			}
			in, out := startPeer(b, c.name, b.N)
			s := newSide(b, 0, firstCPU, in, out)
			s.measure(c.run, b.N)
			b.ReportMetric(0, "ns/op")
			report(b, s.took, c.name != "get")
		})
	}
}

// envPeer makes a process the second rank: how many operations, on which
// processor.
const envPeer = "WEFT_TEST_PEER"

// firstCPU and lastCPU are the processors that the program was given.
var firstCPU, lastCPU = func() (first, last int) {
	var set unix.CPUSet
	unix.SchedGetaffinity(0, &set)
	for first = 0; first < len(set)*64 && !set.IsSet(first); first++ {
	}
	for last = len(set)*64 - 1; last > first && !set.IsSet(last); last-- {
	}
	return first, last
}()

// side is one of the two ranks.
type side struct {
	b        *testing.B
	rank     int
	d        *Domain
	ep       fabric.Endpoint
	src, dst fabric.Segment
	theirs   fabric.Remote
	in       *bufio.Reader
	out      io.Writer
	took     []time.Duration

	nobody
	messages int
	ended    int
}

func (s *side) Deliver(fabric.Peer, uint8, uint64, []byte, []byte) { s.messages++ }

func (s *side) Complete(_ fabric.Op, err error) {
	if err != nil {
		s.b.Error(err)
	}
	s.ended++
}

// startPeer runs this program as rank 1 on the last processor.
func startPeer(b *testing.B, name string, n int) (io.Reader, io.Writer) {
	theirs, out, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	in, ours, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	c := exec.Command(os.Args[0], "-test.run=^$", "-test.benchtime=1x", "-test.bench=^BenchmarkBetweenProcesses$/^"+name+"$")
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d", envPeer, n, lastCPU))
	c.ExtraFiles = []*os.File{theirs, ours}
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	theirs.Close()
	ours.Close()
	b.Cleanup(func() {
		out.Close()
		if err := c.Wait(); err != nil {
			b.Errorf("the peer: %v", err)
		}
		in.Close()
	})
	return in, out
}

// newSide opens a rank, bound to a processor, and connects it.
func newSide(b *testing.B, rank, cpu int, in io.Reader, out io.Writer) *side {
	bind(b, cpu)
	d, err := openDevice(fabric.Config{Rank: fabric.Peer(rank), Size: 2, Job: "between", Options: environment(), Log: slog.New(slog.NewTextHandler(b.Output(), nil))})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { d.Close() })
	s := &side{b: b, rank: rank, d: d, in: bufio.NewReader(in), out: out}
	for _, m := range []*fabric.Segment{&s.src, &s.dst} {
		m.Bytes = make([]byte, 8)
		m.Region = register(b, d, m.Bytes, fabric.LocalWrite|fabric.RemoteRead|fabric.RemoteWrite)
	}
	mine := struct {
		Addr   []byte
		Remote fabric.Remote
	}{d.Addr(), s.dst.Region.Remote}
	yours := mine
	if err := json.NewEncoder(out).Encode(mine); err != nil {
		b.Fatal(err)
	}
	// A line, since a decoder would take what follows it too.
	line, err := s.in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &yours)
	}
	if err != nil {
		b.Fatal(err)
	}
	s.theirs = yours.Remote
	if s.ep, err = d.Connect(fabric.Peer(1-rank), yours.Addr); err != nil {
		b.Fatal(err)
	}
	return s
}

// bind binds all threads to a processor, like a rank's.
func bind(b *testing.B, cpu int) {
	procs := runtime.GOMAXPROCS(1)
	b.Cleanup(func() { runtime.GOMAXPROCS(procs) })
	var set unix.CPUSet
	set.Set(cpu)
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		b.Fatal(err)
	}
	for _, t := range tasks {
		tid, _ := strconv.Atoi(t.Name())
		unix.SchedSetaffinity(tid, &set)
		// As our launcher does; without the right to, the monitor disturbs more.
		os.WriteFile("/proc/"+t.Name()+"/timerslack_ns", []byte("4000000"), 0)
	}
}

// The clock is read after each block of operations, since in Go that costs more
// than a part of what is measured; the first few do not count.
const block, warmUp = 10, 100

// measure runs a method n times.
func (s *side) measure(run func(*side, int), n int) {
	s.took = make([]time.Duration, 0, n)
	*s.d.Linger() = true
	start := time.Now()
	last, yielded := time.Duration(0), time.Duration(0)
	block := min(block, n)
	for i := range n + warmUp {
		run(s, i+1)
		if (i+1)%block != 0 {
			continue
		}
		now := time.Since(start)
		if i >= warmUp {
			s.took = append(s.took, (now-last)/time.Duration(block))
		}
		if last = now; last-yielded > 8*time.Millisecond {
			yielded = last
			runtime.Gosched() // before the monitor looks, as a waiter of the engine does
		}
	}
	*s.d.Linger() = false
	// Neither closes before the other has what it sent.
	s.out.Write([]byte{1})
	for b := []byte{0}; b[0] != 1; {
		if _, err := s.in.Read(b); err != nil {
			s.b.Fatal(err)
		}
	}
}

// refused says whether an operation has to be tried again, and makes room.
func (s *side) refused(err error) bool { return err != nil && s.makeRoom(err) }

func (s *side) makeRoom(err error) bool {
	if err != fabric.ErrAgain {
		s.b.Fatal(err)
	}
	s.d.Poll(s, 64)
	return true
}

func (s *side) send(i int) {
	for k := range 2 {
		if k == s.rank {
			for s.refused(s.ep.Send(1, 0, nil, s.src.Bytes)) {
			}
			continue
		}
		for s.messages < i {
			s.d.Poll(s, 1)
		}
	}
}

func (s *side) put(i int) {
	binary.NativeEndian.PutUint64(s.src.Bytes, uint64(i))
	for k := range 2 {
		if k == s.rank {
			for s.refused(s.ep.Put(s.src, s.theirs, 1)) {
			}
			continue
		}
		for look := 1; loadWord(s.dst.Bytes, 0) != uint64(i); look++ {
			if look%(1<<16) == 0 {
				s.d.Poll(s, 1) // the connection may still be made
			}
		}
	}
	for s.ended < i {
		s.d.Poll(s, 1)
	}
}

func (s *side) get(i int) {
	if s.rank == 1 {
		return
	}
	for s.refused(s.ep.Get(s.src, s.theirs, 1)) {
	}
	for s.ended < i {
		s.d.Poll(s, 1)
	}
}

// report gives the mean and the median in µs.
func report(b *testing.B, took []time.Duration, half bool) {
	per := 1e3
	if half {
		per = 2e3
	}
	sum := time.Duration(0)
	for _, t := range took {
		sum += t
	}
	mid := middle(took)
	b.ReportMetric(float64(sum)/float64(len(took))/per, "mean-µs")
	b.ReportMetric(float64(mid)/per, "median-µs")
}
