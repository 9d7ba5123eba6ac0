package mpi_test

import (
	"log"
	"strings"

	"github.com/weft-mpi/weft/mpi"
)

// sent returns the elements of b as a receiver gets them, of type T.
func sent[T mpi.Scalar](b mpi.Buf) []T {
	n, err := mpi.PackSize(b.Count(), b.Type())
	if err != nil {
		log.Fatal(err)
	}
	packed, elements := make([]byte, n), make([]T, mpi.Count[T](mpi.Status{Bytes: uint64(n)}))
	if _, err := mpi.Pack(b, packed, 0); err != nil {
		log.Fatal(err)
	}
	if _, err := mpi.Unpack(packed, 0, mpi.Of(elements)); err != nil {
		log.Fatal(err)
	}
	return elements
}

// picture shows the memory of a type of up to 36 basic elements, with a character for each
// unit bytes: the place of an element in the message, or a dot for what is not sent. [ is
// the type's lower bound and ] the upper one.
func picture(d *mpi.Datatype, unit int) string {
	d, err := d.Dup() // which is committed here
	if err != nil {
		log.Fatal(err)
	}
	if err := d.Commit(); err != nil {
		log.Fatal(err)
	}
	lb, extent := d.Extent()
	trueLb, trueExtent := d.TrueExtent()
	from, to := min(0, lb, lb+extent, trueLb), max(0, lb, lb+extent, trueLb+trueExtent)
	places := make([]byte, to-from) // of the bytes in the memory from on
	for i := range places {
		places[i] = byte(i)
	}
	packed := make([]byte, d.Size())
	if _, err := mpi.Pack(mpi.As(d, places, 1).At(-from), packed, 0); err != nil {
		log.Fatal(err)
	}
	line := []byte(strings.Repeat(".", (to-from)/unit))
	var st mpi.Status
	for i, n := 0, 0; n < len(packed); i++ {
		if err := st.SetElements(d, i+1); err != nil {
			log.Fatal(err)
		}
		for ; n < int(st.Bytes); n++ {
			line[int(packed[n])/unit] = "0123456789abcdefghijklmnopqrstuvwxyz"[i]
		}
	}
	var b strings.Builder
	for i := range len(line) + 1 {
		if from+i*unit == lb+extent {
			b.WriteByte(']')
		}
		if from+i*unit == lb {
			b.WriteByte('[')
		}
		if i < len(line) {
			b.WriteByte(line[i])
		}
	}
	return b.String()
}

// rows is the picture of an array's type with rows of some length.
func rows(d *mpi.Datatype, unit, length int) string {
	p := strings.Trim(picture(d, unit), "[]")
	var lines []string
	for ; len(p) > length; p = p[length:] {
		lines = append(lines, p[:length])
	}
	return strings.Join(append(lines, p), "\n")
}
