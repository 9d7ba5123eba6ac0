package mpi_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/mpi"
)

// BenchmarkShrinkAfterADeath measures the time from the death of one of eight processes
// until the last of the others has the communicator of the living.
func BenchmarkShrinkAfterADeath(b *testing.B) {
	for _, fabric := range []string{"shm", "tcp", "shm+tcp"} {
		b.Run(fabric, func(b *testing.B) {
			if testing.Short() {
				b.Skip("it starts eight processes")
			}
			var total time.Duration
			for range b.N {
				var out, stderr bytes.Buffer
				l := launch.Launch{N: 8, Path: os.Args[0], KeepGoing: true, Stdout: &out, Stderr: &stderr,
					Env: append(os.Environ(), roleVar+"=shrinks", "WEFT_FABRIC="+fabric)}
				if fabric == "shm+tcp" {
					l.Env = append(l.Env, "WEFT_TEST_NODES=2")
				}
				err := l.Run(b.Context())
				m := regexp.MustCompile(`shrunk after (\d+)`).FindStringSubmatch(out.String())
				if exit, ok := errors.AsType[*launch.ExitError](err); !ok || exit.Signal != syscall.SIGKILL || m == nil {
					b.Fatalf("%v\n%s%s", err, out.String(), stderr.String())
				}
				ns, err := strconv.ParseInt(m[1], 10, 64)
				if err != nil {
					b.Fatal(err)
				}
				total += time.Duration(ns)
			}
			b.ReportMetric(float64(total.Milliseconds())/float64(b.N), "ms/shrink")
		})
	}
}

// playShrinks is a rank of such a job, of which the last one dies.
func playShrinks(w *mpi.World, c *mpi.Comm) error {
	last, now, worst := c.Size()-1, []int64{0}, []int64{0}
	return attempt(func() {
		ok(c.Barrier())
		now[0] = time.Now().UnixNano()
		ok(mpi.Bcast(c, now, last))
		ok(c.Barrier())
		if c.Rank() == last {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		if _, err := mpi.Recv(c, now, last, 0); !errors.Is(err, mpi.ErrProcFailed) {
			stop(fmt.Errorf("a receive from the dead: %w", err))
		}
		d := get(c.Shrink())
		took := []int64{time.Now().UnixNano() - now[0]}
		ok(mpi.Allreduce(d, mpi.Max, took, worst))
		if d.Rank() == 0 {
			fmt.Println("shrunk after", worst[0])
		}
		if err := w.Finalize(); err != nil && !errors.Is(err, mpi.ErrProcFailed) {
			stop(err)
		}
	})
}
