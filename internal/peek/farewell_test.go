package peek

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// hear listens for the ranks of a job; heard ends it and returns whom it has heard.
func hear(t *testing.T, job string) (heard func() []Result) {
	t.Helper()
	var mu sync.Mutex
	var all []Result
	l, err := Listen(Key{}, job, func(r Result) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, r)
	})
	if err != nil {
		t.Fatal(err)
	}
	return func() []Result {
		l.Close()
		slices.SortFunc(all, func(a, b Result) int { return a.Name.Rank - b.Name.Rank })
		return all
	}
}

// Each rank's last words are heard, also if its process ends at once.
func TestLastWordsAreHeard(t *testing.T) {
	job := jobOf(t)
	const ranks = 100
	heard := hear(t, job)
	var all []*Server
	for i := range ranks {
		all = append(all, serve(t, Config{About: About{Job: job, Rank: i}, Last: give(i * i)}))
	}
	if names, err := List(); err != nil || slices.ContainsFunc(names, func(n Name) bool { return n.Job == job && n.Rank >= ranks }) {
		t.Errorf("%v, the listener is among the ranks: %v", err, names)
	}
	var leaving sync.WaitGroup
	for _, s := range all {
		leaving.Go(func() {
			s.Farewell()
			s.Close()
		})
	}
	leaving.Wait()
	got := heard()
	if len(got) != ranks {
		t.Fatalf("%d ranks were heard", len(got))
	}
	for i, r := range got {
		n := 0
		if err := r.Unmarshal(&n); err != nil || n != i*i || r.Name != (NameOf(Key{}, job, i)) || r.PID != os.Getpid() {
			t.Errorf("rank %d: %v, %+v", i, err, r)
		}
	}
}

func TestWithoutAListenerNothingIsGiven(t *testing.T) {
	job := jobOf(t)
	s := serve(t, Config{About: About{Job: job}, Last: Answer{Give: func() (any, error) {
		t.Error("the last words are given")
		return nil, nil
	}}})
	s.Farewell()
	hear(t, jobOf(t)+"0")() // that of another job
	s.Farewell()
	(*Server)(nil).Farewell()
	(*Listener)(nil).Close()
	heard := hear(t, job+"1")
	serve(t, Config{About: About{Job: job + "1"}}).Farewell() // it has none
	if got := heard(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	if _, err := Listen(Key{}, "no job", nil); err == nil {
		t.Error("a name that is none is taken")
	}
	defer hear(t, job)()
	if _, err := Listen(Key{}, job, nil); err == nil {
		t.Error("two listen")
	}
}

// A rank whose owner does not come says so, and goes.
func TestABusyRankHasNoLastWords(t *testing.T) {
	job, come := jobOf(t), make(chan struct{})
	defer close(come)
	heard := hear(t, job)
	serve(t, Config{About: About{Job: job}, Last: Answer{Patience: time.Millisecond, Give: func() (any, error) { <-come; return 1, nil }}}).Farewell()
	if got := heard(); len(got) != 1 || got[0].Busy == 0 {
		t.Errorf("%+v", got)
	}
}

// What is no rank's last words is passed over, and keeps nobody waiting.
func TestNonsenseIsNotHeard(t *testing.T) {
	job := jobOf(t)
	heard := hear(t, job)
	for _, text := range []string{"", "\n", "{\n", "7\n", `{"weft":9,"job":"JOB","rank":3}` + "\n", `{"weft":1,"job":"JOB","rank":-1}` + "\n",
		`{"weft":1,"job":"abcd","rank":3}` + "\n", `{"weft":1,"job":"JOB","rank":3}`, `{"weft":1,"job":"JOB","rank":"3"}` + "\n",
		strings.Repeat(" ", maxLast) + `{"weft":1,"job":"JOB","rank":3}` + "\n", `{"weft":1,"job":"JOB","rank":5,"body":7}` + "\nmore"} {
		c, err := net.Dial("unix", lastSocket(Key{}, job))
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, strings.ReplaceAll(text, "JOB", job)) // it may not be read to its end
		c.Close()
	}
	if got := heard(); len(got) != 1 || got[0].Name.Rank != 5 || string(got[0].Body) != "7" {
		t.Errorf("%+v", got)
	}
}

// A listener that is stopped holds up no rank for long: the words fit into its buffer.
func TestAListenerThatDoesNotReadIsNotWaitedFor(t *testing.T) {
	job := jobOf(t)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: lastSocket(Key{}, job), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	serve(t, Config{About: About{Job: job}, Last: give(strings.Repeat("x", 50_000))}).Farewell()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if b, err := io.ReadAll(c); err != nil || len(b) < 50_000 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	big := serve(t, Config{About: About{Job: job, Rank: 1}, Last: give(strings.Repeat("x", 5_000_000))})
	big.Farewell() // returns: the rest is cut off
}

// A rank that does not reply takes no time from the others: also not from those that
// have to wait for a place.
func TestEachRankHasItsOwnTimeLimit(t *testing.T) {
	job, over := jobOf(t), make(chan struct{})
	defer close(over)
	var names []Name
	for i := range maxAsked + 1 {
		cfg := Config{About: About{Job: job, Rank: i}, Answers: map[string]Answer{"one": {Give: func() (any, error) { <-over; return 0, nil }}}}
		if i == maxAsked {
			cfg.Answers["one"] = give(7)
		}
		serve(t, cfg)
		names = append(names, NameOf(Key{}, job, i))
	}
	for try := 1; ; try++ { // the limit of the rank that replies is as short
		all := AskEach(within(t), 100*time.Millisecond, names, "one")
		for _, r := range all[:maxAsked] {
			if !errors.Is(r.Err, context.DeadlineExceeded) {
				t.Errorf("rank %d: %v", r.Name.Rank, r.Err)
			}
		}
		n, last := 0, all[maxAsked]
		if err := last.Unmarshal(&n); err == nil && n == 7 {
			return
		} else if try == 20 {
			t.Fatalf("the last one: %v", err)
		}
	}
}
