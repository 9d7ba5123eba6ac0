package launch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weft-mpi/weft/mpi/cause"
)

// exits lists the ExitErrors that an error of Run joins.
func exits(err error) (all []ExitError) {
	switch e := err.(type) {
	case *ExitError:
		all = []ExitError{*e}
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			all = append(all, exits(err)...)
		}
	}
	return all
}

// Without KeepGoing the first death would end the job a nanosecond later.
func keepGoing(l *Launch) { l.KeepGoing, l.KillGrace = true, 1 }

func TestAJobThatKeepsGoingSurvivesDeaths(t *testing.T) {
	out, err := launch(t, 4, "keep going", keepGoing)
	want := []ExitError{{Rank: 1, Code: -1, Signal: syscall.SIGKILL}, {Rank: 2, Code: 3}}
	if got := exits(err); !reflect.DeepEqual(got, want) {
		t.Errorf("Run: %v, want %v", err, want)
	}
	if strings.Count(out, "lost 1, lost 2, no exchange\n") != 2 {
		t.Errorf("the survivors say:\n%s", out)
	}
	_, err = launch(t, 4, "keep going", func(l *Launch) { l.KillGrace = 1 })
	if got := exits(err); len(got) == 0 || !reflect.DeepEqual(got[0], want[0]) {
		t.Errorf("without KeepGoing: %v", err)
	}
}

// playKeepGoing: rank 1 dies, rank 2 exits because of that, the others go on
// and leave in order.
func playKeepGoing() error {
	ctx := context.Background()
	j, err := Discover(ctx)
	if err != nil {
		return err
	}
	if _, err := j.Exchange(ctx, nil); err != nil {
		return err
	}
	if j.Rank == 1 {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	first := <-j.Events()
	if j.Rank == 2 {
		os.Exit(3)
	}
	second := <-j.Events()
	if _, err := j.Exchange(ctx, nil); !errors.As(err, new(*cause.LostError)) {
		return fmt.Errorf("Exchange without the dead: %v", err)
	}
	fmt.Printf("lost %d, lost %d, no exchange\n", first.Rank, second.Rank)
	return leaveQuietly(j)
}

func TestAJobThatKeepsGoingEndsARankThatBreaksTheProtocol(t *testing.T) {
	out, err := launch(t, 3, "garbage event", keepGoing)
	got := exits(err)
	if len(got) != 1 || got[0].Rank != 1 || !errors.Is(err, ErrProtocol) {
		t.Errorf("Run: %v", err)
	}
	if strings.Count(out, "lost 1: launch: rank 1 is gone: was killed by signal 9") != 2 {
		t.Errorf("the survivors say:\n%s", out)
	}
}

func playGarbageEvent() error {
	if rankNumber() == 1 {
		card, err := ownCard()
		if err != nil {
			return err
		}
		return rawFrames(append(joinWith(card), "cmd=init pmi_version=1\n"...))
	}
	j, err := Discover(context.Background())
	if err != nil {
		return err
	}
	e := <-j.Events()
	fmt.Printf("lost %d: %v\n", e.Rank, e.Err)
	return leaveQuietly(j)
}

func TestWhatEndsAJobThatKeepsGoing(t *testing.T) {
	out, err := launch(t, 4, "abort", func(l *Launch) { l.KeepGoing, l.KillGrace = true, time.Hour })
	if e, ok := errors.AsType[*cause.AbortError](err); !ok || e.Code != 7 || len(exits(err)) != 0 {
		t.Errorf("Run: %v", err)
	}
	noneLeft(t, out)

	ctx, cancel := context.WithCancelCause(deadline(t))
	defer cancel(nil)
	r, w := io.Pipe()
	l := Launch{N: 3, Path: os.Args[0], Env: roleEnv("one fails"), Stdout: w, KeepGoing: true, KillGrace: time.Hour}
	done := make(chan error, 1)
	go func() {
		done <- l.Run(ctx)
		w.Close()
	}()
	in := bufio.NewReader(r)
	out = ""
	for range 2 {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		out += line
	}
	cancel(&Interrupted{syscall.SIGINT})
	err = <-done
	if got := exits(err); !reflect.DeepEqual(got, []ExitError{{Rank: 1, Code: 6}}) || !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v", err)
	}
	noneLeft(t, out)
}

// playOneFails: the others hang from the death of rank 1 on.
func playOneFails() error {
	j, err := Discover(context.Background())
	if err != nil {
		return err
	}
	if j.Rank == 1 {
		os.Exit(6)
	}
	<-j.Events()
	return playHang()
}

func TestFailuresAreOnePerRankInTheirOrder(t *testing.T) {
	exit := func(rank, code int) error { return &ExitError{Rank: rank, Code: code} }
	abort := &cause.AbortError{Rank: 1, Code: 7, Why: ""}
	for _, c := range []struct {
		name    string
		reports []report
		want    []error
	}{
		{"nothing", nil, nil},
		{"one", []report{{1, 5, exit(1, 3), true, 0}}, []error{exit(1, 3)}},
		{"reports that overtake one another", []report{{1, 5, exit(1, 3), true, 0}, {2, 4, exit(2, 4), true, 0}}, []error{exit(2, 4), exit(1, 3)}},
		{"the first of a rank", []report{{1, 5, exit(1, 3), true, 0}, {1, 4, exit(1, 9), false, 0}}, []error{exit(1, 9)}},
		{"an abort, then the exit", []report{{1, 4, abort, false, 0}, {1, 5, exit(1, 7), true, 0}}, []error{abort}},
		{"an abort that is read after the exit", []report{{2, 4, exit(2, 2), true, 0}, {1, 5, abort, false, 0}, {1, 3, exit(1, 7), true, 0}}, []error{abort, exit(2, 2)}},
		{"an abort that is told after the exit", []report{{2, 4, exit(2, 2), true, 0}, {1, 3, exit(1, 7), true, 0}, {1, 5, abort, false, 0}}, []error{abort, exit(2, 2)}},
		{"one that follows from a later one", []report{{1, 4, exit(1, 1), true, 1 + 2}, {2, 5, exit(2, 9), true, 0}}, []error{exit(2, 9), exit(1, 1)}},
		{"a chain", []report{{1, 4, exit(1, 1), true, 1 + 3}, {2, 6, exit(2, 9), true, 0}, {3, 5, exit(3, 1), true, 1 + 2}}, []error{exit(2, 9), exit(3, 1), exit(1, 1)}},
		{"two that blame each other, one of them with a follower", []report{{1, 4, exit(1, 1), true, 1 + 2}, {2, 5, exit(2, 2), true, 1 + 3}, {3, 6, exit(3, 3), true, 1 + 2}}, []error{exit(2, 2), exit(1, 1), exit(3, 3)}},
		{"one that blames a rank without a failure", []report{{1, 4, exit(1, 1), true, 1 + 7}, {2, 5, exit(2, 2), true, 0}}, []error{exit(1, 1), exit(2, 2)}},
		{"the end of the context", []report{{2, 4, exit(2, 2), true, 0}, {theJob, 3, context.Canceled, false, 0}}, []error{context.Canceled, exit(2, 2)}},
	} {
		f := failures{}
		for _, r := range c.reports {
			f.add(r)
		}
		var got []error
		switch err := f.join().(type) {
		case nil:
		case interface{ Unwrap() []error }:
			got = err.Unwrap()
		default:
			got = []error{err}
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
