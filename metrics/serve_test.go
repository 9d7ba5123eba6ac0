package metrics_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weft-mpi/weft/metrics"
	"github.com/weft-mpi/weft/progress/counters"
)

// patience bounds waits for what must happen.
const patience = 5 * time.Minute

func one() counters.Snapshot {
	var s counters.Snapshot
	s.Add(counters.Family{Name: "weft_a_total", Help: "A."}, 41)
	return s
}

// get returns the status of a page, and what is there.
func get(t *testing.T, method, url string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestServeRepliesToMetricsOnly(t *testing.T) {
	addr, err := metrics.Serve(t.Context(), ":0", one)
	if err != nil {
		t.Fatal(err)
	}
	if !addr.(*net.TCPAddr).IP.IsLoopback() {
		t.Errorf("it listens at %v", addr)
	}
	url := "http://" + addr.String()
	if code, body := get(t, "GET", url+"/metrics"); code != 200 || !strings.Contains(body, "\nweft_a_total 41\n") || !strings.Contains(body, "weft_build_info{") {
		t.Errorf("status %d: %s", code, body)
	}
	for _, page := range []struct{ method, path string }{{"GET", "/"}, {"GET", "/metrics/"}, {"GET", "/debug/pprof/"}, {"POST", "/metrics"}} {
		if code, _ := get(t, page.method, url+page.path); code < 400 {
			t.Errorf("%s %s has status %d", page.method, page.path, code)
		}
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	addr, err := metrics.ServeRanks(ctx, "127.0.0.1:0", func() map[int]counters.Snapshot { return manyRanks(2) })
	if err != nil {
		t.Fatal(err)
	}
	if code, body := get(t, "GET", "http://"+addr.String()+"/metrics"); code != 200 || !strings.Contains(body, `weft_a_total{rank="1",x="y"} 1`) {
		t.Errorf("status %d: %s", code, body)
	}
	cancel()
	for end := time.Now().Add(patience); ; {
		l, err := net.Listen("tcp", addr.String())
		if err == nil {
			l.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the address is in use still: %v", err)
		}
	}
}

func TestBadAddressesAreRefused(t *testing.T) {
	taken, err := metrics.Serve(t.Context(), ":0", one)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ addr, want string }{
		{"", "HOST:PORT"}, {"9464", "HOST:PORT"}, {"localhost", "HOST:PORT"}, {taken.String(), "in use"}, {":99999", "invalid port"},
	} {
		if _, err := metrics.Serve(t.Context(), c.addr, one); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.addr, err)
		}
	}
}

func TestWriteFileReplacesTheFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "weft.prom")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for _, c := range []struct {
		from []func() counters.Snapshot
		want []string
	}{
		{[]func() counters.Snapshot{one}, []string{"\nweft_a_total 41\n"}},
		{[]func() counters.Snapshot{one, one}, []string{"\nweft_a_total{rank=\"0\"} 41\n", "\nweft_a_total{rank=\"1\"} 41\n", "\nweft_ranks 2\n"}},
	} {
		if err := metrics.WriteFile(path, c.from...); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(string(got), want) {
				t.Errorf("%q is not in:\n%s", want, got)
			}
		}
	}
	if old, _ := io.ReadAll(reader); string(old) != "old" {
		t.Errorf("who reads the old file gets %q", old)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("the directory has %v", files)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := metrics.WriteFile(pipe, one); err == nil || !strings.Contains(err.Error(), "no regular file but a pipe") {
		t.Errorf("a pipe: %v", err)
	}
	if err := metrics.WriteFile(filepath.Join(dir, "missing", "weft.prom"), one); err == nil {
		t.Error("a directory that does not exist is no error")
	}
}
