package launch

import (
	"strings"
	"sync"
)

// tail keeps the end of what is written to it. It is safe for concurrent use.
type tail struct {
	mu sync.Mutex
	b  []byte
}

// maxTail is in bytes.
const maxTail = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	t.b = append(t.b[:0], t.b[max(0, len(t.b)-maxTail):]...)
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.b))
}
