package verbs

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

// A peer that asks without end and reads no answer is hung up. It holds up
// nobody, not even where what it is to be told has no room.
func TestAPeerThatReadsNothingIsHungUp(t *testing.T) {
	emulated(t)
	ds, _ := connected(t, fakeJob(newFakeNet()))
	its := ds[1]
	its.mu.Lock() // its goroutine stops at the first answer
	conn := its.links[0].conn
	conn.(*net.TCPConn).SetReadBuffer(4096)
	ds[0].mu.Lock()
	ds[0].links[1].conn.(*net.TCPConn).SetWriteBuffer(4096)
	ds[0].mu.Unlock()
	asks := make([]byte, 1<<16)
	for i := range asks {
		asks[i] = byteAsk
	}
	conn.SetWriteDeadline(time.Now().Add(patience / 4))
	var err error
	for err == nil {
		_, err = conn.Write(asks)
	}
	its.mu.Unlock()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("its questions are not read any more: %v", err)
	}
	newMourner().untilDown(t, ds[0])
}
