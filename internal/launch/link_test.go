package launch

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A peer is lost when ten beats have passed without a frame, but not while it is stopped.
func TestALinkIsLostWhenItIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, peer := io.Pipe()
		l := newLink(in, nowhere{}, 1)
		done, lost := make(chan struct{}), make(chan struct{})
		begin := time.Now()
		go l.watch(10*time.Second, done, func() { close(lost) })
		go func() {
			for {
				if _, _, err := l.read(); err != nil {
					return
				}
			}
		}()
		ping := appendFrame(nil, kindPing, nil)
		for range 20 {
			time.Sleep(3 * time.Second)
			peer.Write(ping)
		}
		l.pause(true)
		time.Sleep(time.Hour)
		select {
		case <-lost:
			t.Fatalf("lost after %v", time.Since(begin))
		default:
		}
		l.pause(false)
		resumed := time.Now()
		<-lost
		if d := time.Since(resumed); d < 9*time.Second || d > 11*time.Second {
			t.Errorf("lost after %v of silence", d)
		}
		peer.Close()
		l.cut()
		close(done)
	})
}

// Output waits for credit, and no longer than the connection lasts.
func TestOutputOfAHostWaitsForCredit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLink(strings.NewReader(""), nowhere{}, 1)
		r := newRelay(l, 0)
		s := &stream{}
		line := []byte(strings.Repeat("x", window/2))
		put := 0
		go func() {
			for range 6 {
				r.put(s, line)
				put++
			}
		}()
		for _, c := range []struct {
			do   func()
			want int
		}{{func() {}, 2}, {func() { r.give(overhead) }, 2}, {func() { r.give(window / 2) }, 3}, {r.end, 6}} {
			c.do()
			synctest.Wait()
			if put != c.want {
				t.Errorf("%d lines have gone, want %d", put, c.want)
			}
		}
		l.cut()
	})
}
