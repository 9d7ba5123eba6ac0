package bench

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/mpi"
)

// What is sent of a buffer is what -D says, packed by the type and by hand, and what is
// received touches nothing else.
func TestMessagesHaveTheElementsThatTheirTypeSays(t *testing.T) {
	upTo := make([]byte, 40)
	for i := range upTo {
		upTo[i] = byte(i)
	}
	for name, c := range map[string]struct {
		d    Derived
		sent []byte
	}{
		"contiguous":    {Derived{Kind: Contiguous}, upTo},
		"vector":        {Derived{Kind: Vector, Stride: 15, Block: 4}, []byte{0, 1, 2, 3, 15, 16, 17, 18}},
		"whole vector":  {Derived{Kind: Vector, Stride: 20, Block: 20}, upTo},
		"no block":      {Derived{Kind: Vector, Stride: 41, Block: 4}, nil},
		"by hand":       {Derived{Kind: ByHand, Stride: 15, Block: 4}, []byte{0, 1, 2, 3, 15, 16, 17, 18}},
		"indexed":       {Derived{Kind: Indexed, Blocks: []Block{{30, 2}, {1, 3}, {9, 0}}}, []byte{30, 31, 1, 2, 3}},
		"structs":       {Derived{Kind: Structs}, slices.Concat(upTo[:9], upTo[12:25], upTo[28:32])},
		"all in blocks": {Derived{Kind: ByHand, Stride: 4, Block: 4}, upTo},
	} {
		t.Run(name, func(t *testing.T) {
			d := &c.d
			if err := d.check([]Datatype{Char}); err != nil {
				t.Fatal(err)
			}
			if n := d.sent(len(upTo)); n != len(c.sent) {
				t.Errorf("%d elements are sent, want %d", n, len(c.sent))
			}
			got, back := make([]byte, len(c.sent)), make([]byte, len(upTo))
			arm(make([]byte, len(back)), back, 40, 3, d.mask(len(back)))
			if d.Kind == ByHand {
				pack(d, got, upTo)
				unpack(d, back, got)
			} else {
				of, err := bufs[byte](d, len(upTo))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := mpi.Pack(of(upTo), got, 0); err != nil {
					t.Fatal(err)
				}
				if _, err := mpi.Unpack(got, 0, of(back)); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(got, c.sent) {
				t.Errorf("packed %v, want %v", got, c.sent)
			}
			for i, sent := range d.mask(len(upTo)) {
				if want := untouched[byte](i, 40, 3); sent && back[i] != upTo[i] || !sent && back[i] != want || sent != slices.Contains(c.sent, byte(i)) {
					t.Errorf("byte %d came as %d; sent: %t", i, back[i], sent)
				}
			}
		})
	}
}

// A byte that is received where none belongs counts as wrong, and so does one that stays
// away.
func TestGapsAreValidated(t *testing.T) {
	for kind, d := range map[string]Derived{
		"vector": {Kind: Vector, Stride: 4, Block: 2}, "indexed": {Kind: Indexed, Blocks: []Block{{5, 40}}}, "structs": {Kind: Structs},
	} {
		const size = 64
		send, recv, sent := make([]byte, size), make([]byte, size), d.mask(size)
		arm(send, recv, size, 7, sent)
		if n := wrong(recv, size, 7, sent); n != d.sent(size) {
			t.Errorf("%s: nothing has come, and %d elements are wrong, want %d", kind, n, d.sent(size))
		}
		for i, is := range sent {
			if is {
				recv[i] = send[i]
			}
		}
		if n := wrong(recv, size, 7, sent); n != 0 {
			t.Errorf("%s: %d elements are wrong of a good message", kind, n)
		}
		gaps := 0
		for i, is := range sent {
			if !is {
				recv[i] = send[i]
				gaps++
			}
		}
		if n := wrong(recv, size, 7, sent); n != gaps || gaps == 0 {
			t.Errorf("%s: %d gaps are written to, and %d elements are wrong", kind, gaps, n)
		}
	}
}

func TestBadDerivedTypesAreRefused(t *testing.T) {
	for want, d := range map[string]Derived{
		"at least 1":                {Kind: Vector, Stride: 4},
		"overlap":                   {Kind: ByHand, Stride: 4, Block: 5},
		"the most is":               {Kind: Vector, Stride: MaxSize + 1, Block: 5},
		"0 blocks (-D)":             {Kind: Indexed},
		"not within":                {Kind: Indexed, Blocks: []Block{{-1, 4}}},
		"block (-D) 4,-4":           {Kind: Indexed, Blocks: []Block{{0, 4}, {4, -4}}},
		"block (-D) 1073741824,1":   {Kind: Indexed, Blocks: []Block{{MaxSize, 1}}},
		"0,4 and 3,2 overlap":       {Kind: Indexed, Blocks: []Block{{3, 2}, {9, 1}, {0, 4}}},
		"which need 70000 elements": {Kind: Indexed, Blocks: []Block{{69990, 10}}},
	} {
		o := bandwidthDefaults
		o.Derived, o.MaxSize = d, 1<<16
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", d, err, want)
		}
	}
	o := bandwidthDefaults
	o.Derived, o.Types = Derived{Kind: Structs}, []Datatype{Char, Int}
	if err := o.Check(); err == nil || !strings.Contains(err.Error(), "leave -T out") {
		t.Errorf("structs of MPI_INT: %v", err)
	}
	for _, b := range All() {
		o := quick(b)
		o.Derived.Kind = Contiguous
		if b.takes("D") || b.takes("E") {
			continue
		}
		if _, err := run(t, b, max(b.MinRanks, 2), o); err == nil || !strings.Contains(err.Error(), "-D") {
			t.Errorf("%s runs with a derived type: %v", b.Name, err)
		}
	}
}

func TestSizesWithoutRoomForTheBlocksAreLeftOut(t *testing.T) {
	o := Options{MinSize: 1, MaxSize: 64, Derived: Derived{Kind: Indexed, Blocks: []Block{{0, 1}, {5, 4}, {2, 1}}}}
	for typ, want := range map[Datatype][]int{Char: {16, 32, 64}, Int: {64}} {
		if got := o.sizes(typ); !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", typ, got, want)
		}
	}
	o.Derived = Derived{Kind: Vector, Stride: 32, Block: 1}
	if got := len(o.sizes(Char)); got != 7 {
		t.Errorf("%d sizes of a vector, want all 7: the short ones have no blocks", got)
	}
}

// The last column is what is sent of a size, which is what a bandwidth counts.
func TestTransmitSizeIsWhatIsSent(t *testing.T) {
	for _, name := range []string{"latency", "bw", "bibw", "bcast", "put_latency", "put_bibw"} {
		b, _ := Lookup(name)
		o := quick(b)
		o.Derived, o.MinSize, o.MaxSize, o.Types = Derived{Kind: Vector, Stride: 32, Block: 3}, 64, 1024, []Datatype{Char, Int}
		out, err := run(t, b, 2, o)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		tab, err := osufmt.Parse([]byte(out))
		if err != nil {
			t.Fatal(err)
		}
		for i, width := range []int{1, 4} {
			for _, r := range tab.Sections[i].Rows {
				last := len(r.Values) - 1
				if want := float64(r.Size / width / 32 * 3 * width); r.Values[last] != want || tab.Sections[i].Columns[last] != osufmt.TransmitSize {
					t.Errorf("%s: %d bytes of %d: %g under %+v, want %g", name, r.Size, width, r.Values[last], tab.Sections[i].Columns[last], want)
				}
			}
		}
	}
	o := Options{Derived: Derived{Kind: ByHand, Stride: 32, Block: 3}}
	if n := o.sent(65, 1); n != 6 {
		t.Errorf("%d bytes are sent, want 6", n)
	}
	if o.Derived.Kind = NotDerived; o.sent(65, 4) != 65 {
		t.Error("a size without -D is what is sent")
	}
}

// A wrong byte stops the run of each kind: the validation sees what is received.
func TestDerivedMessagesAreValidated(t *testing.T) {
	b, _ := Lookup("latency")
	for _, kind := range []DerivedKind{Contiguous, Vector, Structs, ByHand} {
		d := Derived{Kind: kind, Stride: 8, Block: 4}
		err := mpi.Run(2, func(w *mpi.World) error {
			o := quick(b)
			o.Derived = d
			j := &job{Benchmark: b, o: o, c: w.Comm(), sink: osufmt.NewWriter(&strings.Builder{}), progress: func(int, int, int) {}}
			connect := derivedLink[byte](&j.o)
			return j.pingPong(func(c *mpi.Comm, send, recv []byte, peer int) (link, error) {
				l, err := connect(c, send, recv, peer)
				good := l.recv
				l.recv = func() error {
					err := good()
					recv[0] ^= 1
					return err
				}
				return l, err
			}, nil, nil)
		}, mpi.WithFabric("mem"))
		if !errors.Is(err, ErrValidation) {
			t.Errorf("%d: %v", kind, err)
		}
	}
}
