package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

var servedAt = regexp.MustCompile(`weft: metrics at (http://\S+/metrics)\n`)

// show runs a job of "hang NAME" with --metrics, and returns how to scrape it.
func show(t *testing.T, name string) (scrape func() string) {
	t.Helper()
	cmd := weft(t, "run", "-n", "2", "--metrics", ":0", os.Args[0], "hang", name)
	out := &lineCounter{}
	cmd.Stderr = out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return func() string {
		t.Helper()
		m := servedAt.FindStringSubmatch(out.String())
		if m == nil {
			return ""
		}
		resp, err := http.Get(m[1])
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("status %d, %v: %s", resp.StatusCode, err, b)
		}
		return string(b)
	}
}

// A job that computes, hangs or is stopped is scraped.
func TestRunServesTheCountersOfTheRanks(t *testing.T) {
	for name, want := range map[string][]string{
		"pingpong": {`\nweft_up\{rank="0"\} 1\n`, `\nweft_up\{rank="1"\} 1\n`, `\nweft_messages_total\{direction="sent",protocol="eager",rank="1",transport="shm"\} [1-9]`},
		"tags":     {`\nweft_up\{rank="0"\} 1\n`, `\nweft_posted_receives\{rank="0"\} 1\n`, `\nweft_unexpected_messages\{rank="1"\} 1\n`},
		"stopped":  {`\nweft_up\{rank="0"\} 1\n`, `\nweft_up\{rank="1"\} 0\n`, `\nweft_ranks 2\n`, `\nweft_coll_calls_total\{algorithm="\w+",op="Barrier",rank="0"\} 1\n`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scrape := show(t, name)
			for end := time.Now().Add(5 * time.Minute); ; time.Sleep(time.Millisecond) {
				page, missing := scrape(), ""
				for _, w := range want {
					if !regexp.MustCompile(w).MatchString(page) {
						missing = w
					}
				}
				if missing == "" {
					return
				}
				if time.Now().After(end) {
					t.Fatalf("%s is not in:\n%s", missing, page)
				}
			}
		})
	}
}

// The file has what a job has done that nobody has looked at, and that has ended at once.
func TestRunLeavesAFileOfCounters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "weft.prom")
	out, err := weft(t, "run", "-n", "2", "--metrics-file", path, os.Args[0], "hang", "done").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []string{`op="Allreduce",rank="0"} 30`, `op="Allreduce",rank="1"} 30`, `weft_up{rank="0"} 0`} {
		if !strings.Contains(string(b), w+"\n") {
			t.Errorf("%q is not in:\n%s", w, b)
		}
	}
	if strings.Contains(string(b), "weft_requests") {
		t.Errorf("the file tells what waits:\n%s", b)
	}
}

// A file that can't be written in the end is an error, which keeps the ranks' exit code.
func TestAFileThatCanNotBeWrittenIsAnError(t *testing.T) {
	for script, code := range map[string]int{`rm -r "$0"`: 1, `rm -r "$0"; exit 7`: 7} {
		dir := filepath.Join(t.TempDir(), "d")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if got := run([]string{"run", "--metrics-file", filepath.Join(dir, "weft.prom"), "sh", "-c", script, dir}, &out, &out); got != code || strings.Count(out.String(), "write metrics to") != 1 {
			t.Errorf("%s: exit code %d, %s", script, got, &out)
		}
	}
}

func TestCommandLinesOfMetrics(t *testing.T) {
	for args, want := range map[string]string{
		"run --metrics 9464 true": "HOST:PORT", "run --metrics nowhere.invalid:1 true": "serve metrics",
		"run --metrics-file /nowhere/weft.prom true": "/nowhere/weft.prom", "run -h": "--metrics ADDR",
	} {
		var out bytes.Buffer
		code := run(strings.Fields(args), &out, &out)
		if !strings.Contains(out.String(), want) || code != 2 && args != "run -h" {
			t.Errorf("weft %s: exit code %d, %s", args, code, out.String())
		}
	}
	t.Setenv("WEFT_PEEK", "0")
	var out bytes.Buffer
	if code := run([]string{"run", "--metrics", ":0", "true"}, &out, &out); code != 2 || !strings.Contains(out.String(), "WEFT_PEEK=0") {
		t.Errorf("exit code %d, %s", code, out.String())
	}
}

// A job that is interrupted ends as without metrics.
func TestMetricsChangeNoExitCode(t *testing.T) {
	for _, c := range []struct {
		script string
		code   int
	}{{"exit 3", 3}, {"kill -TERM $PPID; sleep 1000", 128 + int(syscall.SIGTERM)}} {
		cmd := weft(t, "run", "--metrics", ":0", "sh", "-c", c.script)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if code := exitCode(t, cmd.Run()); code != c.code || !servedAt.MatchString(out.String()) {
			t.Errorf("%s: exit code %d, %s", c.script, code, out.String())
		}
	}
}
