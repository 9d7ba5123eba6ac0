package main

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/weft-mpi/weft/internal/peek"
)

func TestTopTellsWhatRanksDo(t *testing.T) {
	t.Run("two that send", func(t *testing.T) {
		t.Parallel()
		pid := runRanks(t, 2, "pingpong")
		text := until(t, []string{`"messages_per_second":[1-9]\d*.*"messages_per_second":[1-9]`}, "top", "--once", "--json", "--interval", "200ms", pid)
		var s sample
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		if s.Size != 2 || len(s.Rows) != 2 {
			t.Fatalf("%s", text)
		}
		for i, r := range s.Rows {
			// Each message has 1000 bytes, and as many are sent as received.
			if per := (r.Sent + r.Received) / r.Messages; r.Rank != i || r.PID == 0 || per < 990 || per > 1010 || r.Problem != "" {
				t.Errorf("%+v", r)
			}
		}
	})
	t.Run("two that hang", func(t *testing.T) {
		t.Parallel()
		pid := runRanks(t, 2, "tags")
		until(t, []string{
			`^job [0-9a-f]{8}  2 ranks, shm`, `rank +process +messages/s +sent/s +received/s +unexpected +posted +backlog +requests +waits for\n`,
			` 0 +\d+ +0 +0 B +0 B +0 +1 +0 +1 +rank 1: a receive from rank 1, tag 9, MPI_COMM_WORLD`,
			` 1 +\d+ +0 +0 B +0 B +1 +1 +0 +1 +rank 0: a receive from rank 0, tag 7, MPI_COMM_WORLD, for \d+s\n`,
		}, "top", "--once", "--interval", "100ms", pid)
	})
	t.Run("one that is stopped, and one that computes", func(t *testing.T) {
		t.Parallel()
		pid := runRanks(t, 2, "stopped")
		until(t, []string{` 1 +\d+ .* no reply, its process \d+ is stopped`}, "top", "--once", "--interval", "100ms", pid)
		other := runRanks(t, 2, "send")
		until(t, []string{` 0 .*rank 1: a send`, ` 1 +\d+ +0 +0 B +0 B +1 +0 +0 +0 +-\n`}, "top", "--once", "--interval", "100ms", other)
	})
}

// Without a terminal the tables follow one another, and the end of the job ends the command.
func TestTopEndsWithTheJob(t *testing.T) {
	cmd := weft(t, "run", "-n", "2", os.Args[0], "hang", "sends")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	pid := ""
	for pid == "" {
		list, err := jobs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range list {
			if j.Parent == cmd.Process.Pid {
				pid = j.id
			}
		}
	}
	var out lineCounter
	done := make(chan int)
	go func() { done <- run([]string{"top", "--interval", "100ms", pid}, &out, &out) }()
	for out.tables() < 2 {
		time.Sleep(time.Millisecond)
	}
	cmd.Process.Kill()
	if code := <-done; code != 0 || !strings.HasSuffix(out.String(), "has ended\n") || strings.Contains(out.String(), "\x1b") {
		t.Errorf("%d, %q", code, out.String())
	}
}

func TestCountersAreAddedUp(t *testing.T) {
	r := peek.Result{Reply: peek.Reply{Body: []byte(`{"Families":[
		{"Name":"weft_bytes_total","Unit":"bytes","Later":{"x":1},"Labels":["transport","direction"],"Rows":[
			{"Values":["shm","sent"],"Value":5},{"Values":["tcp","sent"],"Value":7},{"Values":["tcp","received"],"Value":11}]},
		{"Name":"weft_backlog","Labels":null,"Rows":[{"Values":null,"Value":3}]}]}`)}}
	c, err := countersOf(&r)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []struct {
		name, label, value string
		want               uint64
	}{
		{"weft_bytes_total", "direction", "sent", 12}, {"weft_bytes_total", "direction", "received", 11},
		{"weft_bytes_total", "direction", "lost", 0}, {"weft_bytes_total", "protocol", "sent", 0}, {"weft_bytes_total", "", "", 23},
		{"weft_backlog", "", "", 3}, {"weft_gone", "", "", 0},
	} {
		if got := c.sum(q.name, q.label, q.value); got != q.want {
			t.Errorf("%+v: %d", q, got)
		}
	}
}

func TestAScreenShowsWhatHasRoom(t *testing.T) {
	const text = "first line\nsecond\nthird\nfourth\n"
	for _, c := range []struct {
		width, height int
		want          string
	}{
		{80, 24, text}, {80, 4, text}, {80, 3, "first line\nsecond\nand 2 more\n"}, {5, 4, "first\nsecon\nthird\nfourt\n"},
	} {
		if got := cutTo(text, c.width, c.height); got != c.want {
			t.Errorf("%d by %d: %q", c.width, c.height, got)
		}
	}
	if got := (*screen)(nil).fit(text); got != text {
		t.Errorf("%q", got)
	}
	for n, want := range map[float64]string{0: "0 B", 999: "999 B", 1000: "1 kB", 1.5e6: "1.5 MB", 2e9: "2 GB", 3e12: "3 TB"} {
		if got := amount(n); got != want {
			t.Errorf("%v: %s, want %s", n, got, want)
		}
	}
}

func TestJobsAreNamedByIDOrProcess(t *testing.T) {
	list := []running{
		{id: "00ff11", About: peek.About{Size: 2, Program: "one"}, ranks: make([]peek.Name, 2), pids: []int{10, 11, 9}},
		{id: "00ab22", About: peek.About{Size: 4, Program: "two"}, ranks: make([]peek.Name, 2), pids: []int{20, 8}},
		{id: "12cd33", pids: []int{30}, ranks: make([]peek.Name, 1)},
	}
	for name, want := range map[string]string{"00ff11": "00ff11", "00f": "00ff11", "00AB": "00ab22", "12": "12cd33", "11": "00ff11", "9": "00ff11", "8": "00ab22", "30": "12cd33"} {
		if j, err := pick(list, name); err != nil || j.id != want {
			t.Errorf("%s: %v, %v", name, j, err)
		}
	}
	for name, want := range map[string]string{
		"":   `(?s)several jobs run: name one.*\n  00ff11  2 ranks.*one.*\n  00ab22  4 ranks \(2 here\).*two.*\n  12cd33  1 rank here, no reply, process 30`,
		"00": `several jobs run`, "77": `no job has the id or process "77"`, "x": `no job has`,
	} {
		if _, err := pick(list, name); err == nil || !regexp.MustCompile(want).MatchString(err.Error()) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if j, err := pick(list[:1], ""); err != nil || j.id != "00ff11" {
		t.Errorf("%v, %v", j, err)
	}
	if _, err := pick(nil, "12"); err != errNoJob {
		t.Error(err)
	}
}

func TestCommandLinesOfStacksAndTop(t *testing.T) {
	for args, want := range map[string]string{
		"stacks -h": "usage: weft stacks", "top -h": "usage: weft top", "stacks a b": "takes one job", "top a b": "takes one job",
		"top --interval 1ms": "is too short", "stacks --sum": "unknown flag", "stacks no": "no job", "top no": "no job",
	} {
		var out bytes.Buffer
		run(strings.Fields(args), &out, &out)
		if !strings.Contains(out.String(), want) {
			t.Errorf("weft %s: %s", args, out.String())
		}
	}
}
