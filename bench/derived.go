package bench

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/weft-mpi/weft/mpi"
)

// DerivedKind is how the elements of a message lie in memory.
type DerivedKind uint8

// The derived datatypes of OSU 7.4, then ours.
const (
	NotDerived DerivedKind = iota // a slice of elements, with the calls on slices
	Contiguous                    // MPI_Type_contiguous: the same memory, with the calls on Bufs
	Vector                        // MPI_Type_vector
	Indexed                       // MPI_Type_indexed
	Structs                       // a Go struct with padding
	ByHand                        // as Vector, but the program packs and unpacks, and sends a slice
)

// Derived is what the messages of a run consist of. Sizes are then those of the memory
// that a message is spread over, as in OSU, and not of what is sent. It is a plain value.
type Derived struct {
	Kind          DerivedKind
	Stride, Block int     // Vector, ByHand: blocks of so many elements, so many elements apart
	Blocks        []Block // Indexed: in the order in which they are sent
}

// Block is a block of elements: Len elements from element Disp on.
type Block struct{ Disp, Len int }

// MaxBlocks is the most Blocks. (OSU: 100)
const MaxBlocks = 1 << 16

// record is the struct of Structs: 16 bytes, 3 of which are padding.
type record struct {
	Mass   float64
	Kind   int8
	Charge float32
}

// recordData is how many bytes of a record are sent, and recordSize all.
const recordData, recordSize = 8 + 1 + 4, 16

// check returns an error if the messages can't be made.
func (d *Derived) check(types []Datatype) error {
	switch d.Kind {
	case Vector, ByHand:
		switch {
		case d.Block < 1:
			return fmt.Errorf("blocks (-D) of %d elements: a block has at least 1", d.Block)
		case d.Stride < d.Block:
			return fmt.Errorf("blocks (-D) of %d elements that begin %d apart overlap, so that nothing can be received into them", d.Block, d.Stride)
		case d.Stride > MaxSize:
			return fmt.Errorf("blocks (-D) begin %d elements apart, the most is %d", d.Stride, MaxSize)
		}
	case Indexed:
		return d.checkBlocks()
	case Structs:
		if !slices.Equal(types, []Datatype{Char}) {
			return errors.New("structs (-D) have a type of their own: leave -T out")
		}
	}
	return nil
}

func (d *Derived) checkBlocks() error {
	if n := len(d.Blocks); n < 1 || n > MaxBlocks {
		return fmt.Errorf("%d blocks (-D): there are between 1 and %d", n, MaxBlocks)
	}
	sorted := slices.Clone(d.Blocks)
	for _, b := range sorted {
		if b.Disp < 0 || b.Len < 0 || b.Disp > MaxSize || b.Len > MaxSize-b.Disp {
			return fmt.Errorf("block (-D) %d,%d is not within the elements from 0 to %d", b.Disp, b.Len, MaxSize)
		}
	}
	sorted = slices.DeleteFunc(sorted, func(b Block) bool { return b.Len == 0 })
	slices.SortFunc(sorted, func(a, b Block) int { return a.Disp - b.Disp })
	for i := 1; i < len(sorted); i++ {
		if a, b := sorted[i-1], sorted[i]; a.Disp+a.Len > b.Disp {
			return fmt.Errorf("blocks (-D) %d,%d and %d,%d overlap, so that nothing can be received into them", a.Disp, a.Len, b.Disp, b.Len)
		}
	}
	return nil
}

// room is the least number of elements of a buffer for a message. The other kinds send
// what a buffer has room for, which may be nothing.
func (d *Derived) room() (n int) {
	if d.Kind == Indexed {
		for _, b := range d.Blocks {
			n = max(n, b.Disp+b.Len)
		}
	}
	return n
}

// blocks calls f with what is sent of a buffer of n elements, in the order in which it is.
func (d *Derived) blocks(n int, f func(Block)) {
	switch d.Kind {
	case Vector, ByHand:
		for k := range n / d.Stride {
			f(Block{k * d.Stride, d.Block})
		}
	case Indexed:
		for _, b := range d.Blocks {
			f(b)
		}
	case Structs:
		t := reflect.TypeFor[record]()
		for k := range n / recordSize {
			for i := range t.NumField() {
				field := t.Field(i)
				f(Block{k*recordSize + int(field.Offset), int(field.Type.Size())})
			}
		}
	default:
		f(Block{0, n})
	}
}

// sent is how many elements of a buffer of n are sent.
func (d *Derived) sent(n int) (sum int) {
	switch d.Kind {
	case NotDerived, Contiguous:
		return n
	case Vector, ByHand:
		return n / d.Stride * d.Block
	case Structs:
		return n / recordSize * recordData
	}
	d.blocks(n, func(b Block) { sum += b.Len })
	return sum
}

// mask says of each of n elements whether it is sent; nil: all are.
func (d *Derived) mask(n int) []bool {
	if d.Kind == NotDerived {
		return nil
	}
	m := make([]bool, n)
	d.blocks(n, func(b Block) {
		for i := range b.Len {
			m[b.Disp+i] = true
		}
	})
	return m
}

// bufs makes Bufs of a derived type for messages in buffers of n elements.
func bufs[T element](d *Derived, n int) (of func(b []T) mpi.Buf, err error) {
	base, _ := baseOf([]T(nil))
	t, count, err := d.elements(base, n)
	return func(b []T) mpi.Buf { return mpi.As(t, b, count) }, err
}

// baseOf is the datatype of the elements of a slice, and their length in bytes.
func baseOf(b any) (*mpi.Datatype, int) {
	switch b.(type) {
	case []int32:
		return mpi.TypeInt32, 4
	case []float32:
		return mpi.TypeFloat32, 4
	}
	return mpi.TypeUint8, 1
}

// bufOf is count elements of type t in a slice.
func bufOf(t *mpi.Datatype, b any, count int) mpi.Buf {
	switch b := b.(type) {
	case []int32:
		return mpi.As(t, b, count)
	case []float32:
		return mpi.As(t, b, count)
	case []byte:
		return mpi.As(t, b, count)
	}
	return mpi.Buf{}
}

// elements is a type of which count elements are a message in a buffer of n elements of
// type base. A derived one is made and committed here, once.
func (d *Derived) elements(base *mpi.Datatype, n int) (t *mpi.Datatype, count int, err error) {
	count = 1
	switch d.Kind {
	case NotDerived:
		return base, n, nil
	case Contiguous:
		t, err = mpi.TypeContiguous(n, base)
	case Vector:
		t, err = mpi.TypeVector(n/d.Stride, d.Block, d.Stride, base)
	case Indexed:
		var lens, disps []int
		d.blocks(n, func(b Block) { lens, disps = append(lens, b.Len), append(disps, b.Disp) })
		t, err = mpi.TypeIndexed(lens, disps, base)
	case Structs:
		t, err = mpi.TypeOf[record]()
		count = n / recordSize
	}
	if err == nil {
		err = t.Commit()
	}
	return t, count, err
}

// pack copies the blocks of src to dst, whose length is a multiple of a block's.
func pack[T element](d *Derived, dst, src []T) {
	for at := 0; len(dst) > 0; at += d.Stride {
		copy(dst[:d.Block], src[at:])
		dst = dst[d.Block:]
	}
}

// unpack copies src to the blocks of dst.
func unpack[T element](d *Derived, dst, src []T) {
	for at := 0; len(src) > 0; at += d.Stride {
		copy(dst[at:], src[:d.Block])
		src = src[d.Block:]
	}
}

// derivedLink is standard with messages of a derived type.
func derivedLink[T element](o *Options) linker[T] {
	d := &o.Derived
	if d.Kind == ByHand {
		return func(c *mpi.Comm, send, recv []T, peer int) (link, error) { return linkByHand(c, o, send, recv, peer) }
	}
	return func(c *mpi.Comm, send, recv []T, peer int) (link, error) {
		of, err := bufs[T](d, len(send))
		if err != nil {
			return link{}, err
		}
		out, in := of(send), of(recv)
		return link{
			send: func() error { return c.Send(out, peer, 1) },
			recv: func() error {
				_, err := c.Recv(in, peer, 1)
				return err
			},
		}, nil
	}
}

func linkByHand[T element](c *mpi.Comm, o *Options, send, recv []T, peer int) (link, error) {
	d := &o.Derived
	packed := newPacked[T](o)
	sends, recvs, err := packed.take(1, d.sent(len(send)))
	if err != nil {
		return link{}, err
	}
	out, in := sends[0], recvs[0]
	return link{
		send: func() error {
			pack(d, out, send)
			return mpi.Send(c, out, peer, 1)
		},
		recv: func() error {
			if _, err := mpi.Recv(c, in, peer, 1); err != nil {
				return err
			}
			unpack(d, recv, in)
			return nil
		},
		close: packed.free,
	}, nil
}

// newPacked has buffers to pack into, one for each message in flight.
func newPacked[T element](o *Options) *buffers[T] {
	each := *o
	each.Multiple = true
	return &buffers[T]{o: &each}
}
