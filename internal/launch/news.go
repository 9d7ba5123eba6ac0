package launch

import (
	"sync"

	"github.com/weft-mpi/weft/mpi/cause"
)

// news is what the launcher sends the ranks unrequested: the ranks that are
// gone, in the order in which that became known. Each session reads it at its
// own pace, so a rank that does not read delays no other. It is safe for
// concurrent use.
type news struct {
	mu   sync.Mutex
	all  []notice
	more chan struct{}          // closed when all grows
	also func(*cause.LostError) // unless nil, tells ranks elsewhere of those lost here
}

// notice is one piece of news, as a frame. The rank itself is not told.
type notice struct {
	rank  int
	frame []byte
}

func newNews() *news { return &news{more: make(chan struct{})} }

// lost adds that a rank of this host is gone.
func (n *news) lost(e *cause.LostError) {
	n.hear(e)
	if n.also != nil {
		n.also(e)
	}
}

// hear adds that a rank is gone.
func (n *news) hear(e *cause.LostError) {
	n.tell(e.Rank, appendFrame(nil, kindLost, appendLost(nil, e)))
}

// tell adds a frame for all ranks but one.
func (n *news) tell(but int, frame []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, notice{but, frame})
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
