package shm

import (
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// CMA names a process by any of its threads, and the kernel counts its use of
// that thread in the cache line that the thread itself reads at each of its
// system calls. Two ranks that read each other's memory in turns would pass
// these lines to and fro, at 0.1 µs a call. So each process keeps one thread
// that does nothing, for its peers to name.
var parked struct {
	sync.Mutex
	domains int
	thread  int
	stop    chan struct{}
}

// park returns the process's sleeping thread, which lives until unpark was
// called as often as park. The runtime keeps threads: the number remains a
// thread of this process afterwards.
func park() (thread int) {
	parked.Lock()
	defer parked.Unlock()
	if parked.domains++; parked.domains == 1 {
		tid, stop := make(chan int), make(chan struct{})
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			tid <- unix.Gettid()
			<-stop
		}()
		parked.thread, parked.stop = <-tid, stop
	}
	return parked.thread
}

func unpark() {
	parked.Lock()
	defer parked.Unlock()
	if parked.domains--; parked.domains == 0 {
		close(parked.stop)
	}
}

// isThread checks a peer's claim that a thread is its own. In another PID
// namespace the number means nothing.
func isThread(pid, tid int) bool {
	if tid <= 0 {
		return false
	}
	err := unix.Tgkill(pid, tid, 0)
	return err == nil || err == unix.EPERM
}
