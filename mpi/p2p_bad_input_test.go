package mpi_test

import (
	"context"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

func TestBadArgumentsAreAnsweredWithTheirClass(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		run(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) error {
			if c.Rank() != 0 {
				return nil
			}
			b := make([]int32, 4)
			for _, tc := range []struct {
				what      string
				peer, tag int
				send      mpi.Class
				recv      mpi.Class
			}{
				{"rank too large", 2, 0, mpi.ErrRank, mpi.ErrRank},
				{"rank far too large", math.MaxInt, 0, mpi.ErrRank, mpi.ErrRank},
				{"rank negative", -5, 0, mpi.ErrRank, mpi.ErrRank},
				{"rank far too small", math.MinInt, 0, mpi.ErrRank, mpi.ErrRank},
				{"rank that fits 32 bits only", 1 << 32, 0, mpi.ErrRank, mpi.ErrRank},
				{"tag negative", 1, -5, mpi.ErrTag, mpi.ErrTag},
				{"tag too large", 1, mpi.TagUB + 1, mpi.ErrTag, mpi.ErrTag},
				{"tag that fits 32 bits only", 1, 1 << 32, mpi.ErrTag, mpi.ErrTag},
				{"bad tag for no process", mpi.ProcNull, -7, mpi.ErrTag, mpi.ErrTag},
				{"wildcard source", mpi.AnySource, 0, mpi.ErrRank, 0},
				{"wildcard tag", 1, mpi.AnyTag, mpi.ErrTag, 0},
			} {
				want(t, "Send: "+tc.what, mpi.Send(c, b, tc.peer, tc.tag), tc.send)
				r, err := mpi.Isend(c, b, tc.peer, tc.tag)
				want(t, "Isend: "+tc.what, err, tc.send)
				if r != (mpi.Request{}) {
					t.Errorf("Isend: %s: a request", tc.what)
				}
				_, err = mpi.Sendrecv(c, b, tc.peer, tc.tag, b, mpi.ProcNull, 0)
				want(t, "Sendrecv to: "+tc.what, err, tc.send)
				if tc.recv == 0 {
					continue
				}
				_, err = mpi.Recv(c, b, tc.peer, tc.tag)
				want(t, "Recv: "+tc.what, err, tc.recv)
				r, err = mpi.Irecv(c, b, tc.peer, tc.tag)
				want(t, "Irecv: "+tc.what, err, tc.recv)
				if r != (mpi.Request{}) {
					t.Errorf("Irecv: %s: a request", tc.what)
				}
				_, err = mpi.Sendrecv(c, b, mpi.ProcNull, 0, b, tc.peer, tc.tag)
				want(t, "Sendrecv from: "+tc.what, err, tc.recv)
			}
			return nil
		})
	})
}

// What is nil by mistake, after an error that was not looked at say, is told
// as such.
func TestNilIsAnError(t *testing.T) {
	b := make([]byte, 1)
	message := func(_ mpi.Message, _ mpi.Status, err error) error { return err }
	request := func(_ mpi.Request, err error) error { return err }
	status := func(_ mpi.Status, err error) error { return err }
	for what, err := range map[string]error{
		"Send":     mpi.Send(nil, b, 0, 0),
		"Ssend":    mpi.Ssend(nil, b, 0, 0),
		"Recv":     status(mpi.Recv(nil, b, 0, 0)),
		"Irecv":    request(mpi.Irecv(nil, b, 0, 0)),
		"SendInit": request(mpi.SendInit(nil, b, 0, 0)),
		"Sendrecv": status(mpi.Sendrecv(nil, b, 0, 0, b, 0, 0)),
		"Probe":    status(mpi.Probe(nil, 0, 0)),
		"Mprobe":   message(mpi.Mprobe(nil, 0, 0)),
		"Barrier":  (*mpi.Comm)(nil).Barrier(),
		"Flush":    (*mpi.Comm)(nil).BufferFlush(),
		"Iflush":   request((*mpi.Comm)(nil).BufferIflush()),
		"Attach":   (*mpi.Comm)(nil).BufferAttach(b),
		"Grequest": request(mpi.GrequestStart(nil, nil, nil, nil)),
	} {
		want(t, what, err, mpi.ErrComm)
	}
	_, _, terr := mpi.Test(nil)
	for what, err := range map[string]error{
		"Mrecv":           status(mpi.Mrecv(nil, b)),
		"Imrecv":          request(mpi.Imrecv(nil, b)),
		"Mrecv of a Buf":  status((*mpi.Message)(nil).Mrecv(mpi.Of(b))),
		"Imrecv of a Buf": request((*mpi.Message)(nil).Imrecv(mpi.Of(b))),
		"Wait":            status(mpi.Wait(nil)),
		"Test":            terr,
		"Start":           mpi.Start(nil),
		"Cancel":          mpi.Cancel(nil),
		"RequestFree":     mpi.RequestFree(nil),
		"OnComplete":      mpi.OnComplete(nil, func(mpi.Status, error) {}),
	} {
		want(t, what, err, mpi.ErrRequest)
	}
	want(t, "SetCount", mpi.SetCount[byte](nil, 1), mpi.ErrArg)
	_, err := (*mpi.Comm)(nil).BufferDetach()
	want(t, "BufferDetach", err, mpi.ErrComm)
	_, err = (*mpi.Comm)(nil).Dup()
	want(t, "Dup", err, mpi.ErrComm)
	var none context.Context
	_, err = mpi.Init(none)
	want(t, "Init", err, mpi.ErrArg)
	run(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) error { return c.WithContext(none).Barrier() }, nil)
}

func TestNoProcessIsAPartnerForNothing(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		run(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) error {
			b := []int64{1, 2}
			null := mpi.Status{Source: mpi.ProcNull, Tag: mpi.AnyTag}
			want(t, "Send", mpi.Send(c, b, mpi.ProcNull, 3), 0)
			st, err := mpi.Recv(c, b, mpi.ProcNull, 3)
			if st != null || err != nil || mpi.Count[int64](st) != 0 {
				t.Errorf("Recv = %+v, %v", st, err)
			}
			st, err = mpi.Sendrecv(c, b, mpi.ProcNull, 3, b, mpi.ProcNull, mpi.AnyTag)
			if st != null || err != nil {
				t.Errorf("Sendrecv = %+v, %v", st, err)
			}
			for _, start := range []func(*mpi.Comm, []int64, int, int) (mpi.Request, error){mpi.Isend[int64], mpi.Irecv[int64]} {
				r, err := start(c, b, mpi.ProcNull, 3)
				want(t, "start", err, 0)
				if _, err := mpi.Wait(&r); err != nil {
					t.Error(err)
				}
			}
			if b[0] != 1 || b[1] != 2 {
				t.Error("the buffer was touched")
			}
			return nil
		})
	})
}

func TestACompletedRequestIsToldFromItsSuccessors(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		run(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) error {
			start := map[string]func() mpi.Request{
				"short send": func() mpi.Request {
					r, err := mpi.Isend(c, []byte{1}, 0, 1)
					want(t, "Isend", err, 0)
					_, err = mpi.Recv(c, make([]byte, 1), 0, 1)
					want(t, "Recv", err, 0)
					return r
				},
				"receive": func() mpi.Request {
					r, err := mpi.Irecv(c, make([]byte, 1), 0, 1)
					want(t, "Irecv", err, 0)
					want(t, "Send", mpi.Send(c, []byte{1}, 0, 1), 0)
					return r
				},
			}
			for name, f := range start {
				r := f()
				c1, c2, c3, c4, c5 := r, r, r, r, r
				if _, err := mpi.Wait(&r); err != nil || r != (mpi.Request{}) {
					t.Errorf("%s: Wait = %v, handle null: %t", name, err, r == mpi.Request{})
				}
				for range 3 {
					next := f() // takes the place of the first
					if _, err := mpi.Wait(&next); err != nil {
						t.Errorf("%s: the next: %v", name, err)
					}
				}
				pending := f()
				_, err := mpi.Wait(&c1)
				want(t, name+": second Wait", err, mpi.ErrRequest)
				_, _, err = mpi.Test(&c2)
				want(t, name+": Test", err, mpi.ErrRequest)
				want(t, name+": Waitall", mpi.Waitall([]mpi.Request{c3}, nil), mpi.ErrRequest)
				_, _, err = mpi.Waitany([]mpi.Request{c4})
				want(t, name+": Waitany", err, mpi.ErrRequest)
				_, err = mpi.Testall([]mpi.Request{c5}, nil)
				want(t, name+": Testall", err, mpi.ErrRequest)
				if _, err := mpi.Wait(&pending); err != nil {
					t.Errorf("%s: a request that was not touched: %v", name, err)
				}
			}
			return nil
		})
	})
}

func TestNullRequestsAreComplete(t *testing.T) {
	empty := mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag}
	var r mpi.Request
	if st, err := mpi.Wait(&r); st != empty || err != nil {
		t.Errorf("Wait = %+v, %v", st, err)
	}
	if ended, st, err := mpi.Test(&r); !ended || st != empty || err != nil {
		t.Errorf("Test = %t, %+v, %v", ended, st, err)
	}
	for _, rs := range [][]mpi.Request{nil, make([]mpi.Request, 3)} {
		sts := make([]mpi.Status, len(rs))
		want(t, "Waitall", mpi.Waitall(rs, sts), 0)
		ended, err := mpi.Testall(rs, sts)
		if !ended || err != nil {
			t.Errorf("Testall = %t, %v", ended, err)
		}
		for _, st := range sts {
			if st != empty {
				t.Errorf("status %+v", st)
			}
		}
		if i, st, err := mpi.Waitany(rs); i != mpi.Undefined || st != empty || err != nil {
			t.Errorf("Waitany = %d, %+v, %v", i, st, err)
		}
	}
	want(t, "Waitall with few statuses", mpi.Waitall(make([]mpi.Request, 2), make([]mpi.Status, 1)), mpi.ErrArg)
	want(t, "Waitall with many statuses", mpi.Waitall(nil, make([]mpi.Status, 1)), mpi.ErrArg)
	_, err := mpi.Testall(make([]mpi.Request, 2), []mpi.Status{})
	want(t, "Testall with no statuses", err, mpi.ErrArg)
}

func TestRequestsOfTwoWorldsDoNotMix(t *testing.T) {
	requests := make(chan mpi.Request, 1)
	run(t, "mem", 2, func(w *mpi.World, c *mpi.Comm) error {
		r, err := mpi.Isend(c, []byte{1}, c.Rank(), 0)
		if err != nil {
			return err
		}
		if c.Rank() == 1 {
			requests <- r
		} else {
			rs := []mpi.Request{r, <-requests}
			want(t, "Waitall", mpi.Waitall(rs, nil), mpi.ErrRequest)
			sts := []mpi.Status{{Tag: 7}, {Tag: 7}}
			want(t, "Waitall with statuses", mpi.Waitall(rs, sts), mpi.ErrRequest)
			if sts[0] != (mpi.Status{Tag: 7}) {
				t.Errorf("Waitall has written a status: %+v", sts[0])
			}
			_, _, err = mpi.Waitany(rs)
			want(t, "Waitany", err, mpi.ErrRequest)
		}
		_, err = mpi.Recv(c, make([]byte, 1), c.Rank(), 0)
		return err
	})
}

func TestAllocRefusesSizesThatCannotBe(t *testing.T) {
	for _, n := range []int{-1, math.MinInt, math.MaxInt, math.MaxInt/8 + 1} {
		_, err := mpi.Alloc[int64](n)
		want(t, "Alloc", err, mpi.ErrCount)
	}
	for _, n := range []int{math.MaxInt, math.MaxInt/2 + 1, 1<<36 + 1} {
		_, err := mpi.Alloc[byte](n)
		want(t, "Alloc of bytes", err, mpi.ErrNoMem)
	}
	b, err := mpi.Alloc[float64](0)
	if err != nil || len(b) != 0 {
		t.Fatalf("Alloc(0) = %d elements, %v", len(b), err)
	}
	want(t, "Free of nothing", mpi.Free(b), 0)
}

func TestFreeRefusesWhatIsNotAllocs(t *testing.T) {
	b, err := mpi.Alloc[int32](5000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range b {
		if b[i] != 0 {
			t.Fatalf("element %d is %d", i, b[i])
		}
		b[i] = -1
	}
	for what, foreign := range map[string][]int32{
		"nil": nil, "empty": {}, "of the heap": make([]int32, 5000), "from the middle": b[1024:], "from the end": b[4999:],
	} {
		want(t, "Free of memory "+what, mpi.Free(foreign), mpi.ErrBase)
	}
	want(t, "Free of a shorter slice", mpi.Free(b[:1]), 0)
	want(t, "Free again", mpi.Free(b), mpi.ErrBase)
	again, err := mpi.Alloc[byte](20000)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range again {
		if v != 0 {
			t.Fatalf("byte %d of memory used before is %d", i, v)
		}
	}
	want(t, "Free", mpi.Free(again), 0)
}

func TestRunRefusesWhatItCannotRun(t *testing.T) {
	never := func(*mpi.World) error { t.Error("the function was called"); return nil }
	for _, n := range []int{-1, math.MinInt, 1025, 1 << 40, math.MaxInt} {
		want(t, "Run", mpi.Run(n, never), mpi.ErrArg)
	}
	err := mpi.Run(2, never, mpi.WithFabric("shmem"))
	want(t, "Run on an unknown fabric", err, mpi.ErrArg)
	for _, name := range append(mpi.Fabrics(), "shmem") {
		if err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("error %q does not name %q", err, name)
		}
	}
	_, err = mpi.Init(context.Background(), mpi.WithFabric(""))
	want(t, "Init with an empty fabric", err, mpi.ErrArg)
	for _, name := range mpi.Fabrics() {
		if mpi.FabricAvailable(name) != nil {
			err := mpi.Run(1, never, mpi.WithFabric(name))
			want(t, "Run on "+name, err, mpi.ErrUnsupported)
			if strings.Count(err.Error(), "mpi.") != 1 {
				t.Errorf("Run on %s: %v", name, err)
			}
		}
	}
}

// What can be sent is decided when a program is compiled.
func TestTypesThatHoldPointersDoNotCompile(t *testing.T) {
	source, err := os.ReadFile("type_scalar_unsafe.go")
	if err != nil {
		t.Fatal(err)
	}
	for typ, valid := range map[string]bool{
		"byte": true, "int": true, "complex128": true, "named": true,
		"*int": false, "string": false, "[]byte": false, "map[int]int": false, "chan int": false, "func()": false, "any": false,
		"error": false, "uintptr": false, "unsafe.Pointer": false, "[2]int": false, "struct{ p *int }": false,
	} {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "type_scalar_unsafe.go", string(source)+"\ntype named float32\nvar _ = bytesOf["+typ+"]\n", 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = (&types.Config{Importer: importer.Default()}).Check("mpi", fset, []*ast.File{file}, nil)
		if valid != (err == nil) || err != nil && !strings.Contains(err.Error(), "does not satisfy Scalar") {
			t.Errorf("%s: %v", typ, err)
		}
	}
}

func TestEveryClassHasItsTextAndIsToldFromOthers(t *testing.T) {
	for _, class := range mpi.Classes() {
		if s := class.Error(); !strings.HasPrefix(s, "mpi: ") || strings.Contains(s, "class") {
			t.Errorf("class %d has the text %q", int(class), s)
		}
		e := &mpi.Error{Class: class, Call: "Send", Err: errors.New("cause")}
		for _, other := range mpi.Classes() {
			if errors.Is(e, other) != (class == other) {
				t.Errorf("an error of class %v is one of class %v: %t", class, other, errors.Is(e, other))
			}
		}
	}
	if s := mpi.Class(99).Error(); !strings.Contains(s, "99") {
		t.Errorf("class 99 has the text %q", s)
	}
}

func TestCountIsInElements(t *testing.T) {
	for _, c := range []struct {
		bytes uint64
		want  int
	}{{0, 0}, {8, 1}, {16, 2}, {12, mpi.Undefined}, {7, mpi.Undefined}} {
		if got := mpi.Count[float64](mpi.Status{Bytes: c.bytes}); got != c.want {
			t.Errorf("%d bytes are %d float64, want %d", c.bytes, got, c.want)
		}
	}
	if got := mpi.Count[complex128](mpi.Status{Bytes: 32}); got != 2 {
		t.Errorf("32 bytes are %d complex128", got)
	}
}
