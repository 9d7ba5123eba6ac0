package boot

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

func TestLinesOfRanksStayWhole(t *testing.T) {
	const n = 3
	out, err := launch(t, n, "lines")
	if err != nil {
		t.Fatal(err)
	}
	next := [n]int{}
	for line := range strings.Lines(out) {
		var rank, i int
		if _, err := fmt.Sscanf(line, "rank %d line %d end\n", &rank, &i); err == nil && i == next[rank] {
			next[rank]++
		} else if _, err := fmt.Sscanf(line, "rank %d last\n", &rank); err != nil || next[rank] != 50 {
			t.Errorf("line %q after %v", line, next)
		}
	}
	if next != [n]int{50, 50, 50} {
		t.Errorf("%v lines came", next)
	}
}

func TestOneRankKeepsALastLineWithoutEnd(t *testing.T) {
	out, err := launch(t, 1, "lines")
	if err != nil || !strings.HasSuffix(out, "rank 0 last") {
		t.Errorf("%q, %v", out, err)
	}
}

func TestInputGoesToRankZero(t *testing.T) {
	long := strings.Repeat("a line of input\n", 10_000)
	name := t.TempDir() + "/in"
	if err := os.WriteFile(name, []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, c := range []struct {
		name string
		r    io.Reader
		want string
	}{{"reader", strings.NewReader(long), long}, {"file", file, long}, {"none", nil, ""}} {
		t.Run(c.name, func(t *testing.T) {
			out, err := launch(t, 2, "cat", func(l *Launch) { l.Stdin = c.r })
			if err != nil || out != c.want {
				t.Errorf("%d bytes came out of %d, %v", len(out), len(c.want), err)
			}
		})
	}
}

func TestFilesAreHandedToTheRanks(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := launch(t, 2, "greet", func(l *Launch) { l.Stdout = f }); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	checkGreetings(t, string(b), 2, LauncherWeft)
}

type fullDisk struct{}

var errFull = errors.New("disk is full")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestAWriterThatFailsBlocksNoRankAndIsReported(t *testing.T) {
	_, err := launch(t, 2, "cat", func(l *Launch) {
		l.Stdin = strings.NewReader(strings.Repeat("a line\n", 100_000))
		l.Stdout = fullDisk{}
	})
	if !errors.Is(err, errFull) {
		t.Error(err)
	}
}
