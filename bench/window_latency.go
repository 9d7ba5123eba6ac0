package bench

import (
	"time"

	"github.com/weft-mpi/weft/bench/osufmt"
)

// runOneSidedLatency is osu_put_latency, osu_get_latency, osu_acc_latency,
// osu_get_acc_latency, osu_fop_latency and osu_cas_latency: the mean time of an
// operation with its synchronization. Where that needs calls of the target, both ranks
// have operations in turns, and half of the time is the latency.
func runOneSidedLatency(j *job) error {
	return j.onWindows(osufmt.Latency, pingPongs, func(nanos float64, _ int, halves bool) float64 {
		if halves {
			nanos /= 2
		}
		return nanos / 1e3
	})
}

// runOneSidedBandwidth is osu_put_bw and osu_get_bw: a round is a window of operations,
// each with memory of its own, and one synchronization.
func runOneSidedBandwidth(j *job) error {
	return j.onWindows(osufmt.Bandwidth, oneWay, func(nanos float64, size int, _ bool) float64 {
		return float64(size) * 1e3 * float64(j.o.Window) / nanos
	})
}

// runPutBothWays is osu_put_bibw: both ranks put a window to each other.
func runPutBothWays(j *job) error {
	return j.onWindows(osufmt.Bandwidth, bothWays, func(nanos float64, size int, _ bool) float64 {
		return 2 * float64(size) * 1e3 * float64(j.o.Window) / nanos
	})
}

// figure is what a table shows of the time of a round with operations that send size bytes,
// which is above 0.
type figure func(nanos float64, size int, halves bool) float64

// onWindows measures a one-sided benchmark. Each size has a window of its own.
func (j *job) onWindows(column osufmt.Column, f flow, value figure) error {
	b, i := &memory[byte]{buffers: buffers[byte]{o: &j.o}}, &memory[int32]{buffers: buffers[int32]{o: &j.o}}
	r, l := &memory[float32]{buffers: buffers[float32]{o: &j.o}}, &memory[int64]{buffers: buffers[int64]{o: &j.o}}
	defer func() { b.free(); i.free(); r.free(); l.free() }()
	title := osufmt.Title{Tight: true, After: []string{
		"Window creation: " + j.o.Creation.String(),
		"Synchronization: " + j.o.Sync.String(),
	}}
	return j.sweep(title, []osufmt.Column{column}, func(t Datatype, size int) (result, error) {
		switch t {
		case Int:
			return onWindow(j, i, size, f, value)
		case Float:
			return onWindow(j, r, size, f, value)
		case Int64:
			return onWindow(j, l, size, f, value)
		}
		return onWindow(j, b, size, f, value)
	})
}

func onWindow[T element](j *job, m *memory[T], size int, f flow, value figure) (result, error) {
	w, err := expose(j, m, size/width[T]())
	if err != nil {
		return result{}, err
	}
	calls, err := w.rounds(f)
	if err != nil {
		return result{}, err
	}
	return w.measure(&calls, size, j.o.sent(size, width[T]()), value, func() (int, error) { return w.validate(&calls, size) })
}

// measure is the result of operations of size bytes, sent of which are sent.
func (w *access) measure(calls *rounds, size, sent int, value figure, validate func() (int, error)) (r result, err error) {
	j := w.j
	iterations, warmup := j.o.counts(size)
	r = result{samples: j.samples(iterations)}
	var each func(time.Duration)
	if r.samples != nil {
		each = func(d time.Duration) { r.samples = append(r.samples, value(float64(max(d, 1)), sent, calls.halves)) }
	}
	total, err := calls.measure(j.c, iterations, warmup, each)
	if err != nil {
		return r, err
	}
	if j.o.Validate {
		if r.errors, err = validate(); err != nil {
			return r, err
		}
	}
	if j.c.Rank() == 0 {
		r.values = []float64{value(float64(max(total, 1))/float64(iterations), sent, calls.halves)}
		r.spread()
	}
	return r, w.free()
}
