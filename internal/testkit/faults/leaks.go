package main

import (
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/mpi"
)

// plantedShm is what a test leaves in /dev/shm. Other tests, which look there for
// what is Weft's, do not take it for that.
const plantedShm = "/dev/shm/faults-planted"

// settleTime bounds the wait for goroutines that have been told to return. It ends
// when they have.
const settleTime = 5 * time.Second

// prime has the process get what a process gets once and keeps: the poller of
// the runtime, the goroutine of os/signal, the arena.
func prime() error {
	got := make(chan os.Signal, 1)
	signal.Notify(got, unix.SIGUSR1)
	signal.Stop(got)
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	r.Close()
	w.Close()
	b, err := mpi.Alloc[byte](1)
	if err != nil {
		return err
	}
	return mpi.Free(b)
}

// held is what a process holds.
type held struct {
	files      []string // what its descriptors are, sorted
	maps       []string // memory that is shared with other processes, sorted
	goroutines int
}

func inventory() (h held) {
	fds, _ := filepath.Glob("/proc/self/fd/*")
	for _, fd := range fds {
		// The descriptor of the directory itself is gone by now.
		if to, err := os.Readlink(fd); err == nil {
			h.files = append(h.files, what(to))
		}
	}
	text, _ := os.ReadFile("/proc/self/maps")
	for l := range strings.Lines(string(text)) {
		if _, name, ok := strings.Cut(l, "/memfd:"); ok {
			h.maps = append(h.maps, strings.TrimSpace(name))
		}
	}
	slices.Sort(h.files)
	slices.Sort(h.maps)
	h.goroutines = runtime.NumGoroutine()
	return h
}

// what is a descriptor's target without its number: "socket:[1234]".
func what(link string) string {
	name, _, _ := strings.Cut(link, ":[")
	return name
}

// beyond lists what is in list more often than in before. Both are sorted.
func beyond(list, before []string) (more []string) {
	for _, s := range list {
		if len(before) > 0 {
			if i, ok := slices.BinarySearch(before, s); ok {
				before = slices.Delete(slices.Clone(before), i, i+1)
				continue
			}
		}
		more = append(more, s)
	}
	return more
}

// leaks says what the process holds, called who, that it did not hold before: a
// rank before Init, the launcher before the job.
func leaks(who string, before held) (list []string) {
	var h held
	for until := time.Now().Add(settleTime); ; time.Sleep(time.Millisecond) {
		h = inventory()
		if list = nil; h.goroutines > before.goroutines {
			list = append(list, fmt.Sprintf("%s: %d goroutines, %d before\n%s", who, h.goroutines, before.goroutines, stacks()))
		}
		if more := beyond(h.files, before.files); len(more) > 0 {
			list = append(list, fmt.Sprintf("%s: descriptors: %s", who, strings.Join(more, ", ")))
		}
		if more := beyond(h.maps, before.maps); len(more) > 0 {
			list = append(list, fmt.Sprintf("%s: memory: %s", who, strings.Join(more, ", ")))
		}
		if list == nil || time.Now().After(until) {
			return list
		}
	}
}

func stacks() []byte {
	b := make([]byte, 64<<10)
	return bytes.TrimSpace(b[:runtime.Stack(b, true)])
}

// leftovers lists what a job has left on the machine: shared memory with a name
// beyond what was there before, and sockets of its domains, which have addrs.
func leftovers(before, addrs []string) (list []string) {
	for _, name := range beyond(sharedMemory(), before) {
		list = append(list, "/dev/shm/"+name)
	}
	sockets, _ := os.ReadFile("/proc/net/unix")
	for _, addr := range addrs {
		if name, ok := strings.CutPrefix(addr, "shm "); ok && bytes.Contains(sockets, []byte("@"+name+"\n")) {
			list = append(list, "socket @"+name)
		}
	}
	return list
}

// sharedMemory lists what is ours in /dev/shm, sorted.
func sharedMemory() (names []string) {
	es, _ := os.ReadDir("/dev/shm")
	for _, e := range es {
		if strings.Contains(e.Name(), "weft") || e.Name() == filepath.Base(plantedShm) {
			names = append(names, e.Name())
		}
	}
	return names
}

// orphans ends the processes that a job has left to this one, which is the
// subreaper of what it starts, and names them.
func orphans() (list []string) {
	tasks, _ := filepath.Glob("/proc/self/task/*/children")
	for _, t := range tasks {
		b, _ := os.ReadFile(t)
		for _, f := range strings.Fields(string(b)) {
			var pid int
			fmt.Sscan(f, &pid)
			name, _ := os.ReadFile("/proc/" + f + "/comm")
			unix.Kill(pid, unix.SIGKILL)
			unix.Wait4(pid, nil, 0, nil)
			list = append(list, fmt.Sprintf("process %d (%s)", pid, bytes.TrimSpace(name)))
		}
	}
	return list
}
