package verbs

import (
	"fmt"
	"syscall"

	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

// fakeQP is a queue pair of a fake device.
type fakeQP struct {
	hca     *fakeHCA
	id      ibv.QP
	peer    uint32
	ready   bool
	failed  bool
	clings  int        // so often it is not destroyed; until then it does not fail
	waiting []fakeSend // that have not arrived
}

func (n *fakeHCA) CreateQP() (ibv.QP, int, error) {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	n.w.next += 3
	q := &fakeQP{hca: n, id: ibv.QP{Handle: uint64(n.w.next), Num: n.w.next}}
	n.w.qps[n.w.next] = q
	n.qps = append(n.qps, q)
	return q.id, n.options.Inline, nil
}

func (n *fakeHCA) ConnectQP(q ibv.QP, p ibv.Path) error {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	f := n.w.qps[q.Num]
	f.peer, f.ready = p.QPNum, true
	return nil
}

func (n *fakeHCA) FailQP(q ibv.QP) error {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	f := n.w.qps[q.Num]
	if f.clings > 0 {
		return syscall.EIO
	}
	f.fail()
	return nil
}

func (n *fakeHCA) DestroyQP(q ibv.QP) error {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	f := n.w.qps[q.Num]
	if f == nil {
		return fmt.Errorf("queue pair %d does not exist", q.Num)
	}
	n.calls = append(n.calls, "destroy")
	if f.clings > 0 {
		f.clings--
		return syscall.EBUSY
	}
	n.settle()
	delete(n.w.qps, q.Num)
	for i, x := range n.qps {
		if x == f {
			n.qps = append(n.qps[:i], n.qps[i+1:]...)
			break
		}
	}
	return nil
}
