package bench

import "github.com/weft-mpi/weft/mpi"

// runBandwidth is osu_bw: rank 0 sends a window of messages, and rank 1 replies
// to the whole window with one message.
func runBandwidth(j *job) error {
	if j.o.Derived.Kind != NotDerived {
		return j.windows(bandwidthDerived[byte], bandwidthDerived[int32], bandwidthDerived[float32])
	}
	return j.windows(bandwidth[byte], bandwidth[int32], bandwidth[float32])
}

// runBidirectional is osu_bibw: both ranks send a window to each other.
func runBidirectional(j *job) error {
	if j.o.Derived.Kind != NotDerived {
		return j.windows(bidirectionalDerived[byte], bidirectionalDerived[int32], bidirectionalDerived[float32])
	}
	return j.windows(bidirectional[byte], bidirectional[int32], bidirectional[float32])
}

// push sends a window to peer and waits for the reply; pull is the peer's side.
func (w *window[T]) push(peer int) error {
	c := w.j.c
	for n := range w.out {
		var err error
		if w.out[n], err = mpi.Isend(c, w.sends[n], peer, 100); err != nil {
			return err
		}
	}
	if err := mpi.Waitall(w.out, nil); err != nil {
		return err
	}
	_, err := mpi.Recv(c, w.ack, peer, 101)
	return err
}

func (w *window[T]) pull(peer int) error {
	c := w.j.c
	for n := range w.in {
		var err error
		if w.in[n], err = mpi.Irecv(c, w.recvs[n], peer, 100); err != nil {
			return err
		}
	}
	if err := mpi.Waitall(w.in, nil); err != nil {
		return err
	}
	return mpi.Send(c, w.ack, peer, 101)
}

// swap sends a window to peer while it receives one. OSU waits for its sends
// first on rank 0 and for its receives first on rank 1.
func (w *window[T]) swap(peer int) error {
	c := w.j.c
	sendTag, recvTag := 100, 10
	first, second := w.out, w.in
	if c.Rank() != 0 {
		sendTag, recvTag = recvTag, sendTag
		first, second = second, first
	}
	var err error
	for n := range w.in {
		if w.in[n], err = mpi.Irecv(c, w.recvs[n], peer, recvTag); err != nil {
			return err
		}
	}
	for n := range w.out {
		if w.out[n], err = mpi.Isend(c, w.sends[n], peer, sendTag); err != nil {
			return err
		}
	}
	if err := mpi.Waitall(first, nil); err != nil {
		return err
	}
	return mpi.Waitall(second, nil)
}

func bandwidth[T element](j *job, w *window[T], size int) (result, error) {
	if err := w.resize(size); err != nil {
		return result{}, err
	}
	step := w.pull
	if j.c.Rank() == 0 {
		step = w.push
	}
	return w.exchange(size, 1, step)
}

func bidirectional[T element](j *job, w *window[T], size int) (result, error) {
	if err := w.resize(size); err != nil {
		return result{}, err
	}
	return w.exchange(size, 2, w.swap)
}
