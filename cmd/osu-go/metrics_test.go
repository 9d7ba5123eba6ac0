package main

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
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
	if _, err := http.Get(served.FindStringSubmatch(errs.String())[1]); err == nil {
		t.Error("the metrics are served after the end")
	}
}
