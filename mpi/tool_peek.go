package mpi

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"runtime"
	"time"

	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/internal/peek"
	"github.com/weft-mpi/weft/mpi/cause"
)

// WithoutPeek keeps the rank from replying to weft stacks and weft top. Otherwise each
// rank listens at an abstract Unix socket for processes of its own user and of root on
// its host, from Init or NewSession until the rank leaves its job, and tells them what it
// waits for, its counters, and the stacks of its goroutines; as it leaves it tells its
// last counters to a weft run --metrics that has started it. WEFT_PEEK=0 is the same from
// outside. Local.
func WithoutPeek() Option { return func(o *options) { o.noPeek = true } }

// peekVar turns the socket off.
const peekVar = "WEFT_PEEK"

// lookUpPeek turns the socket off if the environment asks for that.
func (o *options) lookUpPeek() error {
	switch v := os.Getenv(peekVar); v {
	case "", "1":
	case "0":
		o.noPeek = true
	default:
		return &cause.EnvError{Var: peekVar, Value: v, Err: errors.New("unknown value"), Remedy: `set it to 0, and weft stacks and weft top can't ask the ranks, or not at all`}
	}
	return nil
}

// How long a reply waits for the owner of the loop, and, where the rank first hears from
// others, for those too.
const (
	peekPatience   = 100 * time.Millisecond
	settlePatience = 1500 * time.Millisecond
)

// maxStacks bounds the text of all goroutines' stacks, in bytes.
const maxStacks = 8 << 20

// listen begins to reply to commands that ask what the rank does. local are the ranks of
// the host, nil for all. Without a socket the rank goes on, and the log says so.
func (in *instance) listen(o options, id string, key launch.Key, local []int) {
	if o.noPeek {
		return
	}
	all := in.engine.World
	if local == nil {
		for r := range all.Size {
			local = append(local, r)
		}
	}
	s, err := peek.Serve(peek.Config{
		Key:    peek.Key(key),
		About:  peek.About{Job: id, Rank: all.Rank, Size: all.Size, Local: local, Fabric: in.fabric},
		Behind: in.engine.Lateness,
		Answers: map[string]peek.Answer{
			"hello":    {Give: func() (any, error) { return true, nil }},
			"stacks":   {Give: func() (any, error) { return stacks(), nil }},
			"pending":  {Patience: peekPatience, Give: func() (any, error) { return in.engine.State(), nil }},
			"settled":  {Patience: settlePatience, Give: func() (any, error) { return in.engine.Settled(), nil }},
			"snapshot": {Patience: peekPatience, Give: func() (any, error) { return in.engine.Loop.Snapshot(), nil }},
		},
		Last: peek.Answer{Patience: settlePatience, Give: func() (any, error) { return in.engine.Loop.Snapshot(), nil }},
	})
	if err != nil {
		in.log.Warn("weft stacks and weft top can't ask this rank", "rank", all.Rank, "err", err)
		return
	}
	in.peek = s
}

// stacks are those of all goroutines of the process.
func stacks() string {
	for n := 64 << 10; ; n *= 2 {
		b := make([]byte, min(n, maxStacks))
		if got := runtime.Stack(b, true); got < len(b) || len(b) == maxStacks {
			return string(b[:got])
		}
	}
}

// newCrewID names ranks that are goroutines as a job.
func newCrewID() (id string, key launch.Key) {
	var b [16]byte
	rand.Read(b[:]) // crypto/rand.Read never fails
	rand.Read(key[:])
	return hex.EncodeToString(b[:]), key
}
