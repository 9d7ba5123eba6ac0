package peek

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const patience = 5 * time.Minute

// jobOf makes a job of its own for a test of this process.
func jobOf(t *testing.T) string {
	h := fnv.New64a()
	fmt.Fprint(h, t.Name(), os.Getpid(), time.Now().UnixNano())
	return fmt.Sprintf("%016x", h.Sum64())
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func serve(t *testing.T, cfg Config) *Server {
	t.Helper()
	s, err := Serve(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func give(v any) Answer { return Answer{Give: func() (any, error) { return v, nil }} }

func TestAllRanksOfAJobAreFoundAndReply(t *testing.T) {
	job := jobOf(t)
	const ranks = 100
	var names []Name
	for i := range ranks {
		serve(t, Config{About: About{Job: job, Rank: i, Size: ranks, Fabric: "mem"}, Answers: map[string]Answer{
			"square": give(i * i),
			"error":  {Give: func() (any, error) { return nil, errors.New("none today") }},
			"panic":  {Give: func() (any, error) { panic("at once") }},
			"number": {Give: func() (any, error) { return func() {}, nil }},
		}})
		names = append(names, NameOf(Key{}, job, i))
	}
	all, err := List()
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(n Name) bool { return n.Job != job })
	if !slices.Equal(all, names) {
		t.Fatalf("the list is %v", all)
	}
	for i, r := range Ask(within(t), names, "square") {
		var n int
		if err := r.Unmarshal(&n); err != nil || n != i*i || r.Rank != i || r.Size != ranks || r.Fabric != "mem" || r.PID != os.Getpid() || r.About.PID != r.PID {
			t.Fatalf("rank %d: %v, %+v", i, err, r)
		}
	}
	for ask, want := range map[string]string{
		"error": "none today", "panic": "the answer has failed: at once", "number": "unsupported type",
		"cube": `there is no question "cube": it is one of error, number, panic, square`,
	} {
		r := Ask(within(t), names[:1], ask)[0]
		if err := r.Unmarshal(new(int)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", ask, err)
		}
	}
}

// The first question finds the owner busy, the second one longer so, and none waits for
// it; when the owner has come, ranks answer again.
func TestAnAnswerThatTakesLongIsNotWaitedFor(t *testing.T) {
	job, come := jobOf(t), make(chan struct{})
	begun := make(chan struct{}, 1000)
	s := serve(t, Config{About: About{Job: job}, Answers: map[string]Answer{
		"slow":  {Patience: 10 * time.Millisecond, Give: func() (any, error) { begun <- struct{}{}; <-come; return 7, nil }},
		"quick": {Patience: patience, Give: func() (any, error) { return 8, nil }},
	}, Behind: func() time.Duration { return 0 }})
	ask := func(what string) Result { return Ask(within(t), []Name{NameOf(Key{}, job, 0)}, what)[0] }
	first := ask("slow")
	<-begun
	second := ask("slow")
	var n int
	if err := first.Unmarshal(&n); err == nil || first.Busy <= 0 || second.Busy <= first.Busy || len(begun) != 0 {
		t.Errorf("%v; busy for %v, then for %v, %d more begun", err, first.Busy, second.Busy, len(begun))
	}
	if r := ask("quick"); r.Unmarshal(&n) != nil || n != 8 {
		t.Errorf("another question: %+v", r)
	}
	close(come)
	for r := ask("slow"); r.Unmarshal(&n) != nil; r = ask("slow") {
		if r.Busy == 0 {
			t.Fatalf("%+v", r)
		}
	}
	s.cfg.Behind = nil
	if n != 7 {
		t.Errorf("the answer is %d", n)
	}
}

func TestABusyRankSaysSinceWhenItIs(t *testing.T) {
	job, come := jobOf(t), make(chan struct{})
	serve(t, Config{About: About{Job: job}, Behind: func() time.Duration { return time.Hour },
		Answers: map[string]Answer{"slow": {Patience: time.Millisecond, Give: func() (any, error) { <-come; return 7, nil }}}})
	if r := Ask(within(t), []Name{NameOf(Key{}, job, 0)}, "slow")[0]; r.Busy != 3600 {
		t.Errorf("%+v", r)
	}
	close(come)
}

func TestCloseWaitsForNoAnswerAndFreesTheName(t *testing.T) {
	job, come, begun := jobOf(t), make(chan struct{}), make(chan struct{})
	cfg := Config{About: About{Job: job}, Answers: map[string]Answer{
		"slow": {Patience: 10 * time.Millisecond, Give: func() (any, error) { close(begun); <-come; return 7, nil }}}}
	s := serve(t, cfg)
	silent, err := net.Dial("unix", NameOf(Key{}, job, 0).socket())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	// A process that the rank has started does not keep the socket.
	child := exec.Command("cat")
	hold, err := child.StdinPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go Ask(within(t), []Name{NameOf(Key{}, job, 0)}, "slow")
	<-begun
	s.Close()
	s.Close()
	if _, err := silent.Read(make([]byte, 1)); err == nil {
		t.Error("a connection outlives Close")
	}
	if r := Ask(within(t), []Name{NameOf(Key{}, job, 0)}, "slow")[0]; !errors.Is(r.Err, syscall.ECONNREFUSED) {
		t.Errorf("behind Close: %v", r.Err)
	}
	serve(t, Config{About: About{Job: job}})
	close(come)
	hold.Close()
	if err := child.Wait(); err != nil {
		t.Error(err)
	}
	(*Server)(nil).Close()
}

func TestWhatIsNoQuestionIsRefused(t *testing.T) {
	job := jobOf(t)
	serve(t, Config{About: About{Job: job}, Answers: map[string]Answer{"one": give(1)}})
	for line, want := range map[string]string{
		"{\n":                               `"error":"the question is no JSON`,
		`{"weft":2,"ask":"one"}` + "\n":     "the question is of version 2, and the rank is of version 1",
		`{"weft":1,"ask":"one"}` + "\n":     `"body":1}`,
		`{"weft":1,"ask":"two"}` + "\nmore": "there is no question",
		strings.Repeat("x", maxQuestion+1):  "",
	} {
		c, err := net.Dial("unix", NameOf(Key{}, job, 0).socket())
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, line)
		got, _ := io.ReadAll(c) // the end may be a reset: the rank has not read all
		c.Close()
		if !strings.Contains(string(got), want) || want == "" && len(got) > 0 {
			t.Errorf("%.40q: %s", line, got)
		}
	}
}

// A rank that says what it may not is not believed.
func TestARepliesLimitsAreChecked(t *testing.T) {
	for reply, want := range map[string]string{
		`{"weft":9,"job":"JOB","rank":3}` + "\n":                 "version 9",
		`{"weft":1,"job":"JOB","rank":4}` + "\n":                 "rank 4 of job",
		`{"weft":1,"job":"abcd","rank":3}` + "\n":                "rank 3 of job abcd",
		`{"weft":1,"job":"\u009bx","rank":3}` + "\n":             `rank 3 of job \u009bx`,
		`{"weft":1,"job":"JOB","rank":3,"size":9999999}` + "\n":  "9999999 ranks",
		`{"weft":1,"job":"JOB","rank":3,"error":"\n=> "}` + "\n": `\n=> `,
		`{"weft":1,"job":"JOB","rank":3}`:                        "unexpected EOF",
		"no JSON\n":                                              "no JSON",
		strings.Repeat(" ", maxReply) + "{\"weft\":1}\n":         "too long",
		`{"weft":1,"job":"JOB","rank":3,"body":5}` + "\n":        "",
		`{"weft":1,"job":"JOB","rank":3,"later":5}` + "\n":       "there is none",
	} {
		name := NameOf(Key{}, jobOf(t), 3)
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: name.socket(), Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			c, err := l.Accept()
			if err == nil {
				readLine(c, maxQuestion)
				io.WriteString(c, strings.Replace(reply, "JOB", name.Job, 1))
				c.Close()
			}
		}()
		r := Ask(within(t), []Name{name}, "one")[0]
		err = r.Unmarshal(new(int))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.60q: %v, want %q", reply, err, want)
		}
		l.Close()
	}
}

func TestASilentRankIsNotWaitedForBeyondTheContext(t *testing.T) {
	name := NameOf(Key{}, jobOf(t), 0)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: name.socket(), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	r := Ask(ctx, []Name{name}, "one")[0]
	if !errors.Is(r.Err, context.DeadlineExceeded) || r.PID != os.Getpid() {
		t.Errorf("%v, process %d", r.Err, r.PID)
	}
}
