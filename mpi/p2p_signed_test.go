package mpi_test

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// receiving are the ways to receive a message of rank 0 with tag 1 into a Buf.
var receiving = map[string]func(c *mpi.Comm, b mpi.Buf) (mpi.Status, error){
	"Recv": func(c *mpi.Comm, b mpi.Buf) (mpi.Status, error) { return c.Recv(b, 0, 1) },
	"Irecv of anything": func(c *mpi.Comm, b mpi.Buf) (mpi.Status, error) {
		return mpi.Wait(begin(c.Irecv(b, mpi.AnySource, mpi.AnyTag)))
	},
	"Mprobe and Mrecv": func(c *mpi.Comm, b mpi.Buf) (mpi.Status, error) {
		m, _, err := mpi.Mprobe(c, 0, 1)
		ok(err)
		return m.Mrecv(b)
	},
	"RecvInit": func(c *mpi.Comm, b mpi.Buf) (mpi.Status, error) {
		r := begin(c.RecvInit(b, 0, 1))
		defer mpi.RequestFree(r)
		ok(mpi.Start(r))
		return mpi.Wait(r)
	},
	"Sendrecv": func(c *mpi.Comm, b mpi.Buf) (mpi.Status, error) {
		return c.Sendrecv(mpi.Buf{}, mpi.ProcNull, 0, b, 0, 1)
	},
}

func TestAReceiveOfOtherElementsFailsAndWritesNothing(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		opts = append(opts, mpi.WithTypeChecks())
		for name, receive := range ordered(receiving) {
			for _, n := range []int{1, 9, 1000, 100_000} { // eager, in chunks, by rendezvous
				for _, early := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%d/%v", name, n, early), func(t *testing.T) {
						act(t, fabric, 2, func(_ *mpi.World, c *mpi.Comm) {
							if c.Rank() == 0 {
								if early {
									ok(c.Barrier())
								}
								ok(mpi.Send(c, make([]int32, n), 1, 1))
								ok(mpi.Send(c, make([]int32, n), 1, 1))
								return
							}
							got := slices.Repeat([]float32{1}, n)
							if early {
								ok(c.Barrier())
							}
							_, err := receive(c, mpi.Of(got))
							var other *mpi.SignatureError
							if !errors.Is(err, mpi.ErrType) || !errors.As(err, &other) {
								stop(fmt.Errorf("the error is %v", err))
							}
							const here = "p2p_signed_test.go:"
							if !strings.Contains(other.Sender, here) || !strings.Contains(other.Receiver, here) || other.Sender == other.Receiver {
								stop(fmt.Errorf("the lines of both sides are %q and %q", other.Sender, other.Receiver))
							}
							if slices.ContainsFunc(got, func(v float32) bool { return v != 1 }) {
								stop(errors.New("the receive has written to its memory"))
							}
							right := slices.Repeat([]int32{1}, n)
							st := get(receive(c, mpi.Of(right)))
							if st.Bytes != uint64(4*n) || slices.ContainsFunc(right, func(v int32) bool { return v != 0 }) {
								stop(fmt.Errorf("the right receive got %v", st))
							}
						}, opts...)
					})
				}
			}
		}
	})
}

// lines are those of the program in an error of signatures.
var lines = regexp.MustCompile(` \([^()]* at [^()]*\)`)

// Sequences that are equal match, whatever the datatypes are.
func TestSignaturesAreThoseOfTheElements(t *testing.T) {
	const n = 12
	type pair struct {
		A int32
		B float64
	}
	int32s, float64s := make([]int32, 2*n), make([]float64, n)
	for _, x := range []struct {
		what       string
		send, recv mpi.Buf
		is         string // the error, "" for none
	}{
		{"a column as a row", mpi.Strided(int32s, n, 1, 2), mpi.Of(make([]int32, n)), ""},
		{"less than there is room for", mpi.Of(int32s[:5]), mpi.Of(make([]int32, n)), ""},
		{"nothing", mpi.Buf{}, mpi.Of(make([]int32, n)), ""},
		{"nothing into nothing", mpi.Buf{}, mpi.Buf{}, ""},
		{"structs", mpi.OfStructs(make([]pair, n)), mpi.OfStructs(make([]pair, n)), ""},
		{"a part of a struct", mpi.Of(int32s[:1]), mpi.OfStructs(make([]pair, n)), ""},
		{"packed into anything", mpi.As(mpi.TypePacked, make([]byte, 8*n), 8*n), mpi.Of(make([]float64, n)), ""},
		{"anything as packed", mpi.Of(float64s), mpi.As(mpi.TypePacked, make([]byte, 8*n), 8*n), ""},
		{"numbers of one size", mpi.Of(float64s), mpi.Of(make([]int64, n)), "12 elements that begin with 8 x float64, the receive takes 12 elements that begin with 8 x int64"},
		{"signed and unsigned", mpi.Of(make([]int8, 3)), mpi.Of(make([]uint8, 3)), "has 3 x int8, the receive takes 3 x uint8"},
		{"structs as numbers", mpi.OfStructs(make([]pair, 1)), mpi.Of(float64s), "has 1 x int32, 1 x float64, the receive takes"},
		{"as many bytes in more elements", mpi.Of(make([]int8, 8*n)), mpi.Of(float64s), "96 elements that begin with 8 x int8, the receive takes 12 elements"},
		{"as many bytes in fewer elements", mpi.Of(float64s), mpi.Of(make([]int8, 8*n)), "12 elements that begin with 8 x float64, the receive takes 96 elements"},
		{"more elements than the receive has, in less room", mpi.Of(make([]int8, 3)), mpi.Of(float64s[:1]), "has 3 x int8, the receive takes 1 x float64"},
		{"pairs as other numbers", mpi.As(mpi.Type2Int, int32s, 2), mpi.Of(make([]float32, 4)), "has 4 x int32, the receive takes 4 x float32"},
		{"a difference further on", mpi.OfStructs(make([]struct {
			A [9]int32
			B int32
		}, 1)), mpi.OfStructs(make([]struct {
			A [9]int32
			B uint32
		}, 1)), "differ further on"},
		{"pairs as numbers", mpi.As(mpi.Type2Int, int32s, n), mpi.Of(make([]int32, 2*n)), ""},
	} {
		t.Run(x.what, func(t *testing.T) {
			run(t, "mem", 1, func(_ *mpi.World, c *mpi.Comm) error {
				_, err := c.Sendrecv(x.send, 0, 0, x.recv, 0, 0)
				switch {
				case x.is == "" && err != nil, x.is != "" && (err == nil || !strings.Contains(lines.ReplaceAllString(err.Error(), ""), x.is)):
					return fmt.Errorf("%v, want %q", err, x.is)
				}
				return nil
			}, mpi.WithTypeChecks())
		})
	}
}

// Probes, truncation and attached memory count the program's bytes.
func TestLengthsAreThoseWithoutSignatures(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, n := range []int{0, 3, 100_000} {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
					if c.Rank() == 0 {
						ok(w.BufferAttach(make([]byte, n+mpi.BsendOverhead)))
						ok(mpi.Bsend(c, pattern(n, 1), 1, 1))
						get(w.BufferDetach(t.Context()))
						if n == 0 {
							return
						}
						ok(w.BufferAttach(make([]byte, n-1+mpi.BsendOverhead)))
						var room *mpi.NoBufferError
						if err := mpi.Bsend(c, pattern(n, 1), 1, 1); n > 100 && (!errors.As(err, &room) || room.Need != n+mpi.BsendOverhead) {
							stop(fmt.Errorf("without room the error is %v", err))
						}
						get(w.BufferDetach(t.Context()))
						return
					}
					if st := get(mpi.Probe(c, 0, 1)); st.Bytes != uint64(n) {
						stop(fmt.Errorf("the probe tells %v", st))
					}
					for _, p := range w.Pending() {
						if p.Tag == 1 && p.Bytes != uint64(n) {
							stop(fmt.Errorf("pending is %v", p))
						}
					}
					got := make([]byte, max(n-1, 0))
					st, err := mpi.Recv(c, got, 0, 1)
					var short *mpi.TruncateError
					if n > 0 && (!errors.As(err, &short) || short.Length != uint64(n) || short.Room != uint64(n-1)) || n == 0 && err != nil || st.Bytes != uint64(n) {
						stop(fmt.Errorf("a receive that is too short: %v, %w", st, err))
					}
					if !bytes.Equal(got, pattern(n, 1)[:len(got)]) {
						stop(errors.New("the beginning is wrong"))
					}
				}, mpi.WithTypeChecks())
			})
		}
	})
}
