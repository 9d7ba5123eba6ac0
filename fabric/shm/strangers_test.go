package shm

import (
	"log/slog"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// What anybody can say any number of times is in the log once a minute at most.
func TestStrangersDoNotFillTheLog(t *testing.T) {
	var log records
	begin := time.Now()
	d, err := open(fabric.Config{Size: 2, Job: "job", Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		s := call(t, d)
		s.conn.Write(make([]byte, 80))
		if _, err := s.answer(); err == nil {
			t.Error("garbage is answered")
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if n, most := strings.Count(log.String(), "a connection was refused"), 1+int(time.Since(begin)/time.Minute); n < 1 || n > most {
		t.Errorf("%d lines, %d at most:\n%s", n, most, log.String())
	}
}

// A process of another user is hung up on, whatever it says, and told of once a minute.
func TestAnotherUserIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	var log records
	d, err := open(fabric.Config{Size: 2, Job: "job", Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	begin, same := time.Now(), uintptr(1<<32-1)
	var wg sync.WaitGroup
	wg.Go(func() {
		runtime.LockOSThread() // and the thread, which is another user's, ends with the goroutine
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, same, 65534, same); errno != 0 {
			t.Error(errno)
			return
		}
		for range 20 {
			conn, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: "@" + d.addr, Net: "unixpacket"})
			if err != nil {
				t.Error(err)
				return
			}
			h := d.greeting()
			h.rank = 1
			conn.Write(h.encode())
			if h, _, err := read(conn); err == nil {
				t.Errorf("it is answered %q", h.refusal)
			}
			conn.Close()
		}
	})
	wg.Wait()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if n, most := strings.Count(log.String(), "belongs to user 65534"), 1+int(time.Since(begin)/time.Minute); n < 1 || n > most {
		t.Errorf("%d lines, %d at most:\n%s", n, most, log.String())
	}
}
