package boot

import "sync"

// news is what the launcher sends the ranks unrequested: the ranks that are
// gone, in the order in which that became known. Each session reads it at its
// own pace, so a rank that does not read delays no other. It is safe for
// concurrent use.
type news struct {
	mu   sync.Mutex
	all  []notice
	more chan struct{} // closed when all grows
}

// notice is one piece of news, as a frame.
type notice struct {
	rank  int
	frame []byte
}

func newNews() *news { return &news{more: make(chan struct{})} }

// lost adds that a rank is gone.
func (n *news) lost(e *LostError) {
	f := appendFrame(nil, kindLost, appendLost(nil, e))
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, notice{e.Rank, f})
	close(n.more)
	n.more = make(chan struct{})
}

// since returns the news after the first i, which are read-only, and a channel
// that is closed when there are more.
func (n *news) since(i int) ([]notice, <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.all[i:len(n.all):len(n.all)], n.more
}
