package bench

import (
	"fmt"
	"slices"
	"time"

	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/bench/spread"
	"github.com/weft-mpi/weft/mpi"
)

// Constants of the partitioned benchmark.
const (
	lateness  = time.Millisecond // of the late partition
	tagParts  = 1                // of the partitioned messages
	tagEcho   = 106              // of the reply to a late message
	leastLate = 1e-3             // microseconds: the step of the clock
)

// runPartitioned measures partitioned messages beside plain persistent ones. A
// round is half of a ping-pong with the calls of latency_persistent, Start and
// Wait, and all partitions made ready between them.
//
// A late message is timed by the clock of rank 0 alone, so its ranks may be on
// two machines: rank 1 replies with a persistent message of one byte, whose
// receive is posted before, and half of a ping-pong of those is subtracted. The
// times are medians. Rank 0 is late by a busy wait, which any disturbance
// prolongs; a mean of differences would show little else.
func runPartitioned(j *job) error {
	b, e := &buffers[byte]{o: &j.o}, &buffers[byte]{o: &Options{MaxSize: 1}}
	defer func() { b.free(); e.free() }()
	title := osufmt.Title{After: []string{
		fmt.Sprintf("[ partitions: %d ] [ threads: %d ] [ late by: %g ms ]", j.o.Partitions, j.o.Goroutines, micros(lateness)/1e3),
	}}
	lead := []osufmt.Column{osufmt.Round, osufmt.Plain, osufmt.OnePart, osufmt.Last, osufmt.PlainLast, osufmt.Perceived}
	return j.sweep(title, lead, func(_ Datatype, size int) (result, error) {
		return partitioned(j, b, e, size)
	})
}

func partitioned(j *job, b, e *buffers[byte], size int) (r result, err error) {
	for _, m := range []struct {
		size    int
		connect linker[byte]
	}{{size, j.partitionedLink}, {size, persistent[byte]}, {size / j.o.Partitions, persistent[byte]}} {
		one, err := latency(j, b, m.size, m.connect)
		if err != nil {
			return r, err
		}
		r.values = append(r.values, one.values[0])
		r.errors += one.errors
	}
	d := &lateRank{job: j, size: size}
	if err := d.setUp(b, e); err != nil {
		return r, err
	}
	echo, err := d.median(0, lateCalls{})
	if err != nil {
		return r, err
	}
	for _, connect := range []func() (lateCalls, error){d.latePartition, d.latePlain} {
		calls, err := connect()
		if err != nil {
			return r, err
		}
		t, err := d.median(lateness, calls)
		if err != nil {
			return r, err
		}
		if err := calls.close(); err != nil {
			return r, err
		}
		r.values = append(r.values, max(t-echo/2, leastLate))
	}
	r.values = append(r.values, float64(size)/r.values[3]) // bytes a microsecond
	errors, err := j.addErrors(d.errors, 1-j.c.Rank())
	r.errors += errors
	if err != nil {
		return r, err
	}
	return r, d.close()
}

// partitionedLink connects by two partitioned operations.
func (j *job) partitionedLink(c *mpi.Comm, send, recv []byte, peer int) (link, error) {
	out, err := mpi.PsendInit(c, send, j.o.Partitions, peer, tagParts)
	if err != nil {
		return link{}, err
	}
	in, err := mpi.PrecvInit(c, recv, j.o.Partitions, peer, tagParts)
	t := newTeam(out, j.o.Goroutines)
	return link{
		send: func() error {
			if err := out.Start(); err != nil {
				return err
			}
			if err := t.ready(j.o.Partitions); err != nil {
				return err
			}
			if err := t.join(); err != nil {
				return err
			}
			_, err := out.Wait()
			return err
		},
		recv: func() error { return startWait(&in.Request) },
		close: func() error {
			t.close()
			if err := out.Free(); err != nil {
				return err
			}
			return in.Free()
		},
	}, err
}

// lateRank is one rank's part of a late message.
type lateRank struct {
	*job
	size       int
	send, recv []byte // of the message
	echo, hear mpi.Request
	errors     int // of rank 1
}

// lateCalls are the calls around a late message. On rank 0 early, unless nil,
// comes before the delay, last after it, and end when the reply has come. recv is
// the whole of rank 1. The zero value sends the reply back and forth instead.
type lateCalls struct {
	early, last, end, recv func() error
	close                  func() error
}

func (d *lateRank) setUp(b, e *buffers[byte]) error {
	sends, recvs, err := b.take(1, d.size)
	if err != nil {
		return err
	}
	d.send, d.recv = sends[0], recvs[0]
	echoes, heard, err := e.take(1, 1)
	if err != nil {
		return err
	}
	peer := 1 - d.c.Rank()
	if d.echo, err = mpi.SendInit(d.c, echoes[0], peer, tagEcho); err != nil {
		return err
	}
	d.hear, err = mpi.RecvInit(d.c, heard[0], peer, tagEcho)
	return err
}

func (d *lateRank) close() error {
	if err := mpi.RequestFree(&d.echo); err != nil {
		return err
	}
	return mpi.RequestFree(&d.hear)
}

// median returns on rank 0 the median time in microseconds from before last to
// the end of the reply. Without calls the message is one byte, as the reply is.
func (d *lateRank) median(delay time.Duration, calls lateCalls) (float64, error) {
	iterations, warmup := d.o.counts(d.size)
	validate := d.o.Validate && delay > 0 // the reply has no pattern
	times := make([]float64, 0, iterations)
	if err := d.c.Barrier(); err != nil {
		return 0, err
	}
	for i := range warmup + iterations {
		if validate {
			arm(d.send, d.recv, d.size, i, nil)
			if err := d.c.Barrier(); err != nil {
				return 0, err
			}
		}
		if d.c.Rank() == 1 {
			if err := d.reply(calls); err != nil {
				return 0, err
			}
			if validate {
				d.errors += wrong(d.recv, d.size, i, nil)
			}
			continue
		}
		t, err := d.time(delay, calls)
		if err != nil {
			return 0, err
		}
		if i >= warmup {
			times = append(times, micros(t))
		}
	}
	if d.c.Rank() == 1 {
		return 0, nil
	}
	slices.Sort(times)
	return spread.Quantile(times, 0.5), nil
}

// time is one message of rank 0.
func (d *lateRank) time(delay time.Duration, calls lateCalls) (time.Duration, error) {
	if err := mpi.Start(&d.hear); err != nil {
		return 0, err
	}
	if calls.early != nil {
		if err := calls.early(); err != nil {
			return 0, err
		}
	}
	for begun := now(); now()-begun < delay; {
	}
	last := calls.last
	if last == nil {
		last = func() error { return mpi.Start(&d.echo) }
	}
	start := now()
	if err := last(); err != nil {
		return 0, err
	}
	if _, err := mpi.Wait(&d.hear); err != nil {
		return 0, err
	}
	t := now() - start
	end := calls.end
	if end == nil {
		end = func() error {
			_, err := mpi.Wait(&d.echo)
			return err
		}
	}
	return t, end()
}

// reply is one message of rank 1.
func (d *lateRank) reply(calls lateCalls) error {
	recv := calls.recv
	if recv == nil {
		recv = func() error { return startWait(&d.hear) }
	}
	if err := recv(); err != nil {
		return err
	}
	return startWait(&d.echo)
}

// latePartition is a message whose last partition is late.
func (d *lateRank) latePartition() (lateCalls, error) {
	parts := d.o.Partitions
	if d.c.Rank() == 1 {
		in, err := mpi.PrecvInit(d.c, d.recv, parts, 0, tagParts)
		return lateCalls{recv: func() error { return startWait(&in.Request) }, close: func() error { return in.Free() }}, err
	}
	out, err := mpi.PsendInit(d.c, d.send, parts, 1, tagParts)
	if err != nil {
		return lateCalls{}, err
	}
	t := newTeam(out, d.o.Goroutines)
	return lateCalls{
		early: func() error {
			if err := out.Start(); err != nil {
				return err
			}
			if err := t.ready(parts - 1); err != nil {
				return err
			}
			return t.join()
		},
		last: func() error { return t.p.Ready(parts - 1) },
		end: func() error {
			_, err := out.Wait()
			return err
		},
		close: func() error { t.close(); return out.Free() },
	}, nil
}

// latePlain is a plain persistent message that is sent when the last of it is
// there.
func (d *lateRank) latePlain() (lateCalls, error) {
	if d.c.Rank() == 1 {
		in, err := mpi.RecvInit(d.c, d.recv, 0, tagParts)
		return lateCalls{recv: func() error { return startWait(&in) }, close: func() error { return mpi.RequestFree(&in) }}, err
	}
	out, err := mpi.SendInit(d.c, d.send, 1, tagParts)
	return lateCalls{
		last: func() error { return mpi.Start(&out) },
		end: func() error {
			_, err := mpi.Wait(&out)
			return err
		},
		close: func() error { return mpi.RequestFree(&out) },
	}, err
}
