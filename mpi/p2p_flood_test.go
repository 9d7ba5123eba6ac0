package mpi_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weft-mpi/weft/mpi"
)

func init() {
	roles["flood: reverse"] = playReverse
	roles["flood: small"] = playSmall
}

// peakMemory is what the process has had resident at most, in bytes.
func peakMemory() (int, error) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.Atoi(strings.Fields(rest)[0])
			return kb << 10, err
		}
	}
	return 0, fmt.Errorf("no VmHWM in /proc/self/status")
}

const (
	floodMessages = 1_000_000
	floodSize     = 4096
	floodMemory   = 256 << 20
)

// playReverse: rank 0 sends a million messages, which rank 1 wants in reverse
// order.
func playReverse(c *mpi.Comm) error {
	pool := make([]byte, 1<<20)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := 0; i < len(pool); i += 8 {
		binary.LittleEndian.PutUint64(pool[i:], rnd.Uint64())
	}
	message := func(i int) []byte { return pool[i*37%(len(pool)-floodSize):][:floodSize] }
	if c.Rank() == 0 {
		rs := make([]mpi.Request, floodMessages)
		for i := range rs {
			var err error
			if rs[i], err = mpi.Isend(c, message(i), 1, i); err != nil {
				return err
			}
		}
		return mpi.Waitall(rs, nil)
	}
	in := make([]byte, floodSize)
	for i := floodMessages - 1; i >= 0; i-- {
		if _, err := mpi.Recv(c, in, 0, i); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		if !bytes.Equal(in, message(i)) {
			return fmt.Errorf("message %d has other bytes", i)
		}
	}
	return tellMemory()
}

func tellMemory() error {
	peak, err := peakMemory()
	if err != nil {
		return err
	}
	if peak > floodMemory {
		return fmt.Errorf("the receiver took %d MB, want at most %d", peak>>20, floodMemory>>20)
	}
	fmt.Printf("receiver: %d MB\n", peak>>20)
	return nil
}

// playSmall: ten million small messages come to a rank that computes at first.
func playSmall(c *mpi.Comm) error {
	const many = 10_000_000
	b := make([]byte, 8)
	if c.Rank() == 0 {
		for i := range many {
			binary.LittleEndian.PutUint64(b, uint64(i))
			if err := mpi.Send(c, b, 1, 1); err != nil {
				return err
			}
		}
		return nil
	}
	<-time.After(300 * time.Millisecond) // what it computes
	for i := range many {
		if _, err := mpi.Recv(c, b, 0, 1); err != nil {
			return err
		}
		if got := binary.LittleEndian.Uint64(b); got != uint64(i) {
			return fmt.Errorf("message %d came as number %d", got, i)
		}
	}
	return tellMemory()
}

// What a rank does not receive takes a bounded part of its memory, whatever
// comes: the rest waits at the sender, and all of it arrives.
func TestAFloodTakesABoundedPartOfTheReceiver(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("it takes some seconds and is about memory")
	}
	for _, role := range []string{"flood: reverse", "flood: small"} {
		t.Run(role, func(t *testing.T) {
			start := time.Now()
			out, err := runRanks(t, 2, role)
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			t.Logf("%v\n%s", time.Since(start), out)
		})
	}
}

// A receive that waits for a message behind more than the rank takes can't be
// served: it is told so, and nothing is lost.
func TestAReceiveBehindTheLimitIsToldSo(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		limits := mpi.DefaultLimits
		limits.Messages, limits.Stall = 500, 50*time.Millisecond
		const many = 5000
		run(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) error {
			ok(c.Barrier()) // a receiver that is connected can say stop
			b := make([]byte, 8)
			if c.Rank() == 0 {
				var rs []mpi.Request
				for i := range many {
					if i%64 == 0 { // so that it hears of the limit: the reply to a Cancel comes behind
						asked := begin(mpi.Issend(c, b, 1, 9))
						ok(mpi.Cancel(asked))
						get(mpi.Wait(asked))
					}
					r, err := mpi.Isend(c, binary.LittleEndian.AppendUint64(nil, uint64(i)), 1, i/(many-1))
					if err != nil {
						return err
					}
					rs = append(rs, r)
				}
				return mpi.Waitall(rs, nil)
			}
			_, err := mpi.Recv(c, b, 0, 1)
			var limit *mpi.LimitError
			if !errors.As(err, &limit) || limit.Limit != limits.Messages {
				return fmt.Errorf("a receive of the last message answers %w, want a LimitError", err)
			}
			if limit.Held < limits.Messages || limit.Held > limits.Messages+2000 {
				return fmt.Errorf("%d messages are held, the limit is %d and what was on its way", limit.Held, limits.Messages)
			}
			for i := range many {
				if _, err := mpi.Recv(c, b, 0, i/(many-1)); err != nil {
					return err
				}
				if got := binary.LittleEndian.Uint64(b); got != uint64(i) {
					return fmt.Errorf("message %d came as number %d", got, i)
				}
			}
			return nil
		}, mpi.WithLimits(limits))
	})
}
