package verbs

import (
	"fmt"
	"syscall"
)

// fakeQP is a queue pair of a fake device.
type fakeQP struct {
	nic     *fakeNIC
	id      qp
	peer    uint32
	ready   bool
	failed  bool
	clings  int        // so often it is not destroyed; until then it does not fail
	waiting []fakeSend // that have not arrived
}

func (n *fakeNIC) createQP() (qp, int, error) {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	n.w.next += 3
	q := &fakeQP{nic: n, id: qp{uint64(n.w.next), n.w.next}}
	n.w.qps[n.w.next] = q
	n.qps = append(n.qps, q)
	return q.id, n.options.inline, nil
}

func (n *fakeNIC) connectQP(q qp, p path) error {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	f := n.w.qps[q.number]
	f.peer, f.ready = p.qpn, true
	return nil
}

func (n *fakeNIC) failQP(q qp) error {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	f := n.w.qps[q.number]
	if f.clings > 0 {
		return syscall.EIO
	}
	f.fail()
	return nil
}

func (n *fakeNIC) destroyQP(q qp) error {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	f := n.w.qps[q.number]
	if f == nil {
		return fmt.Errorf("queue pair %d does not exist", q.number)
	}
	n.calls = append(n.calls, "destroy")
	if f.clings > 0 {
		f.clings--
		return syscall.EBUSY
	}
	n.settle()
	delete(n.w.qps, q.number)
	for i, x := range n.qps {
		if x == f {
			n.qps = append(n.qps[:i], n.qps[i+1:]...)
			break
		}
	}
	return nil
}
