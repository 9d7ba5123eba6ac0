package bench

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/mpi"
)

// runCPU measures the CPU time of a rank that waits, as bench/peers/cpu.c does:
// rank 1 blocks in Recv while rank 0 sleeps outside of MPI, and then sends. The
// CPU time is that of rank 1's process, user and system, all threads.
func runCPU(j *job) error {
	buf := make([]byte, 8)
	if err := j.c.Barrier(); err != nil {
		return err
	}
	used := make([]float64, 2) // wall and CPU seconds
	if j.c.Rank() == 1 {
		cpu, err := cpuTime()
		if err != nil {
			return err
		}
		start := now()
		if _, err := mpi.Recv(j.c, buf, 0, 1); err != nil {
			return err
		}
		used[0] = (now() - start).Seconds()
		after, err := cpuTime()
		if err != nil {
			return err
		}
		used[1] = (after - cpu).Seconds()
		return mpi.Send(j.c, used, 0, tagGather)
	}
	j.progress(0, 0, 1)
	time.Sleep(j.o.Wait)
	if err := mpi.Send(j.c, buf, 1, 1); err != nil {
		return err
	}
	if _, err := mpi.Recv(j.c, used, 1, tagGather); err != nil {
		return err
	}
	if err := j.sink.Title(osufmt.Title{Name: j.Title, Own: true}); err != nil {
		return err
	}
	sec := osufmt.Section{NoSize: true, Left: true,
		Columns: []osufmt.Column{osufmt.WallTime, osufmt.CPUTime, osufmt.CoreShare}}
	if err := j.sink.Section(sec); err != nil {
		return err
	}
	return j.sink.Row(osufmt.Row{Values: []float64{used[0], used[1], 100 * used[1] / used[0]}})
}

// cpuTime is the CPU time that this process has used.
func cpuTime() (time.Duration, error) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, fmt.Errorf("read CPU time: %w", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
