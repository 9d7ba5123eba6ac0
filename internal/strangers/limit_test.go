package strangers

import (
	"syscall"
	"testing"
)

func TestConnectionsAreAPartOfTheDescriptors(t *testing.T) {
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was)
	for limit, want := range map[uint64]int{1024: 256, 512: 128, 16: leastConnections, was.Max: 256} {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: min(limit, was.Max), Max: was.Max}); err != nil {
			t.Fatal(err)
		}
		if got := Connections(4, 256); got != min(want, max(int(min(limit, was.Max)/4), leastConnections)) {
			t.Errorf("with %d descriptors %d", limit, got)
		}
	}
}
