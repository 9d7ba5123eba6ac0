package bench

import "github.com/weft-mpi/weft/mpi"

// derivedWindow is a window of messages of a derived type.
type derivedWindow[T element] struct {
	*window[T]
	outs, ins []mpi.Buf // the messages, unless they are packed by hand

	packed              *buffers[T] // by hand
	packedOut, packedIn [][]T
}

// bandwidthDerived is bandwidth, and bidirectionalDerived bidirectional, with a derived
// type.
func bandwidthDerived[T element](_ *job, w *window[T], size int) (result, error) {
	return w.derive(size, 1)
}

func bidirectionalDerived[T element](_ *job, w *window[T], size int) (result, error) {
	return w.derive(size, 2)
}

// derive measures with messages of size bytes.
func (w *window[T]) derive(size, ways int) (r result, err error) {
	if err := w.resize(size); err != nil {
		return r, err
	}
	d, o, n := &derivedWindow[T]{window: w}, &w.j.o, size/width[T]()
	if o.Derived.Kind == ByHand {
		d.packed = newPacked[T](o)
		defer func() {
			if freed := d.packed.free(); err == nil {
				err = freed
			}
		}()
		if d.packedOut, d.packedIn, err = d.packed.take(len(w.out), o.Derived.sent(n)); err != nil {
			return r, err
		}
		return d.measure(size, ways)
	}
	of, err := bufs[T](&o.Derived, n)
	if err != nil {
		return r, err
	}
	for k := range w.out {
		d.outs, d.ins = append(d.outs, of(w.sends[k])), append(d.ins, of(w.recvs[k]))
	}
	return d.measure(size, ways)
}

func (d *derivedWindow[T]) measure(size, ways int) (result, error) {
	step := d.pull
	switch {
	case ways == 2:
		step = d.swap
	case d.j.c.Rank() == 0:
		step = d.push
	}
	return d.exchange(size, ways, step)
}

func (d *derivedWindow[T]) send(peer, tag int) (err error) {
	for n := range d.out {
		if d.packed == nil {
			d.out[n], err = d.j.c.Isend(d.outs[n], peer, tag)
		} else {
			pack(&d.j.o.Derived, d.packedOut[n], d.sends[n])
			d.out[n], err = mpi.Isend(d.j.c, d.packedOut[n], peer, tag)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *derivedWindow[T]) receive(peer, tag int) (err error) {
	for n := range d.in {
		if d.packed == nil {
			d.in[n], err = d.j.c.Irecv(d.ins[n], peer, tag)
		} else {
			d.in[n], err = mpi.Irecv(d.j.c, d.packedIn[n], peer, tag)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// received waits for the receives, and unpacks by hand.
func (d *derivedWindow[T]) received() error {
	if err := mpi.Waitall(d.in, nil); err != nil {
		return err
	}
	for n := range d.packedIn {
		unpack(&d.j.o.Derived, d.recvs[n], d.packedIn[n])
	}
	return nil
}

// push, pull and swap are those of window.
func (d *derivedWindow[T]) push(peer int) error {
	if err := d.send(peer, 100); err != nil {
		return err
	}
	if err := mpi.Waitall(d.out, nil); err != nil {
		return err
	}
	_, err := mpi.Recv(d.j.c, d.ack, peer, 101)
	return err
}

func (d *derivedWindow[T]) pull(peer int) error {
	if err := d.receive(peer, 100); err != nil {
		return err
	}
	if err := d.received(); err != nil {
		return err
	}
	return mpi.Send(d.j.c, d.ack, peer, 101)
}

func (d *derivedWindow[T]) swap(peer int) error {
	sendTag, recvTag := 100, 10
	if d.j.c.Rank() != 0 {
		sendTag, recvTag = recvTag, sendTag
	}
	if err := d.receive(peer, recvTag); err != nil {
		return err
	}
	if err := d.send(peer, sendTag); err != nil {
		return err
	}
	if d.j.c.Rank() != 0 {
		if err := d.received(); err != nil {
			return err
		}
		return mpi.Waitall(d.out, nil)
	}
	if err := mpi.Waitall(d.out, nil); err != nil {
		return err
	}
	return d.received()
}
