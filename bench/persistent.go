package bench

import "github.com/weft-mpi/weft/mpi"

// runLatencyPersistent is osu_latency_persistent: a ping-pong with one
// persistent send and one persistent receive, made once for a size.
func runLatencyPersistent(j *job) error {
	return j.pingPong(persistent[byte], persistent[int32], persistent[float32])
}

// runBandwidthPersistent is osu_bw_persistent, runBandwidth with a window of
// persistent requests.
func runBandwidthPersistent(j *job) error {
	return j.windows(bandwidthPersistent[byte], bandwidthPersistent[int32], bandwidthPersistent[float32])
}

// runBidirectionalPersistent is osu_bibw_persistent, runBidirectional with two
// windows of persistent requests.
func runBidirectionalPersistent(j *job) error {
	return j.windows(bidirectionalPersistent[byte], bidirectionalPersistent[int32], bidirectionalPersistent[float32])
}

func persistent[T element](c *mpi.Comm, send, recv []T, peer int) (link, error) {
	out, err := mpi.SendInit(c, send, peer, 1)
	if err != nil {
		return link{}, err
	}
	in, err := mpi.RecvInit(c, recv, peer, 1)
	return link{
		send: func() error { return startWait(&out) },
		recv: func() error { return startWait(&in) },
		close: func() error {
			if err := mpi.RequestFree(&out); err != nil {
				return err
			}
			return mpi.RequestFree(&in)
		},
	}, err
}

func startWait(r *mpi.Request) error {
	if err := mpi.Start(r); err != nil {
		return err
	}
	_, err := mpi.Wait(r)
	return err
}

func bandwidthPersistent[T element](j *job, w *window[T], size int) (result, error) {
	if err := w.resize(size); err != nil {
		return result{}, err
	}
	if j.c.Rank() == 0 {
		return w.persistently(size, 1, w.initSends(1, 100), w.pushPersistent, w.out)
	}
	return w.persistently(size, 1, w.initRecvs(0, 100), w.pullPersistent, w.in)
}

func bidirectionalPersistent[T element](j *job, w *window[T], size int) (result, error) {
	if err := w.resize(size); err != nil {
		return result{}, err
	}
	sendTag, recvTag := 100, 101
	if j.c.Rank() != 0 {
		sendTag, recvTag = recvTag, sendTag
	}
	peer := 1 - j.c.Rank()
	err := w.initSends(peer, sendTag)
	if err == nil {
		err = w.initRecvs(peer, recvTag)
	}
	return w.persistently(size, 2, err, w.swapPersistent, w.out, w.in)
}

// persistently measures with the requests in made and frees them. err is the
// error of making them.
func (w *window[T]) persistently(size, ways int, err error, step func(peer int) error, made ...[]mpi.Request) (result, error) {
	if err != nil {
		return result{}, err
	}
	r, err := w.exchange(size, ways, step)
	if err != nil {
		return r, err
	}
	for _, requests := range made {
		for n := range requests {
			if err := mpi.RequestFree(&requests[n]); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}

func (w *window[T]) initSends(peer, tag int) (err error) {
	for n := range w.out {
		if w.out[n], err = mpi.SendInit(w.j.c, w.sends[n], peer, tag); err != nil {
			return err
		}
	}
	return nil
}

func (w *window[T]) initRecvs(peer, tag int) (err error) {
	for n := range w.in {
		if w.in[n], err = mpi.RecvInit(w.j.c, w.recvs[n], peer, tag); err != nil {
			return err
		}
	}
	return nil
}

// pushPersistent is push with persistent requests; pullPersistent and
// swapPersistent are pull and swap with them.
func (w *window[T]) pushPersistent(peer int) error {
	if err := mpi.Startall(w.out); err != nil {
		return err
	}
	if err := mpi.Waitall(w.out, nil); err != nil {
		return err
	}
	_, err := mpi.Recv(w.j.c, w.ack, peer, 101)
	return err
}

func (w *window[T]) pullPersistent(peer int) error {
	if err := mpi.Startall(w.in); err != nil {
		return err
	}
	if err := mpi.Waitall(w.in, nil); err != nil {
		return err
	}
	return mpi.Send(w.j.c, w.ack, peer, 101)
}

// swapPersistent waits for its sends first on both ranks, as OSU does here.
func (w *window[T]) swapPersistent(int) error {
	if err := mpi.Startall(w.in); err != nil {
		return err
	}
	if err := mpi.Startall(w.out); err != nil {
		return err
	}
	if err := mpi.Waitall(w.out, nil); err != nil {
		return err
	}
	return mpi.Waitall(w.in, nil)
}
