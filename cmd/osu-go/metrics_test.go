package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weft-mpi/weft/internal/launch"
)

// reader asks for the metrics as soon as rank 0 prints its first result.
type reader struct {
	bytes.Buffer
	stderr *locked
	page   string
	err    error
}

var served = regexp.MustCompile(`metrics at (http://\S+/metrics)\n`)

func (r *reader) Write(b []byte) (int, error) {
	if r.page == "" && r.err == nil && bytes.HasPrefix(b, []byte("8 ")) {
		var resp *http.Response
		if resp, r.err = http.Get(served.FindStringSubmatch(r.stderr.String() + "metrics at http://nowhere/metrics\n")[1]); r.err == nil {
			var page []byte
			page, r.err = io.ReadAll(resp.Body)
			resp.Body.Close()
			r.page = string(page)
		}
	}
	return r.Buffer.Write(b)
}

// locked is what several goroutines write.
type locked struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestTheMetricsOfABenchmarkAreServed(t *testing.T) {
	errs := &locked{}
	out := &reader{stderr: errs}
	status := run([]string{"latency", "--fabric", "mem", "--metrics", ":0", "-m8:8", "-i100", "-x10"}, out, errs)
	if status != 0 || out.err != nil {
		t.Fatalf("status %d, %v, printed %s%s", status, out.err, out, errs)
	}
	for _, want := range []string{"\nweft_ranks 2\n", "\nweft_messages_total{direction=\"sent\",protocol=\"eager\",rank=\"1\",transport=\"mem\"} 1"} {
		if !strings.Contains(out.page, want) {
			t.Errorf("%q is not in:\n%s", want, out.page)
		}
	}
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(time.Millisecond) {
		r, err := http.Get(served.FindStringSubmatch(errs.String())[1])
		if err != nil {
			return
		}
		r.Body.Close()
		if time.Now().After(end) {
			t.Fatal("the metrics are served after the end")
		}
	}
}

// Ranks that are processes are served by the command that has started them.
func TestTheMetricsOfProcessesAreServed(t *testing.T) {
	cmd := exec.Command(os.Args[0], "latency", "--metrics", ":0", "-m8:8", "-i1000000000")
	cmd.Env = append(os.Environ(), beOsuGo+"=1")
	said := &locked{}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill() // and the kernel the ranks
	want := []string{"\nweft_ranks 2\n", "\nweft_up{rank=\"0\"} 1\n", "\nweft_messages_total{direction=\"sent\",protocol=\"eager\",rank=\"1\",transport=\"shm\"} "}
	page := ""
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(time.Millisecond) {
		if m := served.FindStringSubmatch(said.String()); m != nil {
			resp, err := http.Get(m[1])
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			page = string(b)
		}
		missing := ""
		for _, w := range want {
			if !strings.Contains(page, w) {
				missing = w
			}
		}
		if missing == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%q is not in:\n%s%s", missing, page, said)
		}
	}
}

// The ranks of a launcher would all want the address.
func TestUnderALauncherTheLauncherServes(t *testing.T) {
	out := &locked{}
	l := launch.Launch{N: 2, Path: os.Args[0], Args: []string{"latency", "--metrics", ":9464"}, Env: append(os.Environ(), beOsuGo+"=1"), Stdout: out, Stderr: out}
	if err := l.Run(t.Context()); launch.ExitCode(err) != 2 || !strings.Contains(out.String(), "write weft run --metrics :9464 osu-go latency\n") {
		t.Errorf("%v, %s", err, out)
	}
	t.Setenv("WEFT_PEEK", "0")
	var text bytes.Buffer
	if status := run([]string{"latency", "--metrics", ":0"}, &text, &text); status != 2 || !strings.Contains(text.String(), "WEFT_PEEK=0") {
		t.Errorf("status %d, %s", status, text.String())
	}
}
