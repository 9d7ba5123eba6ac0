package peek

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/weft-mpi/weft/internal/strangers"
)

// Result is what came of asking one rank.
type Result struct {
	Name
	// PID and UID are those of the process that listens; 0 if it could not be reached.
	// They are known of a process that does not reply, too.
	PID int
	UID uint32
	Reply
	Err error // why there is no reply; Reply.Error says why a reply has no body
}

// Unmarshal decodes the body of the reply into v, whose text may be printed (shown.go). The
// error is that of the rank if there is no body.
func (r *Result) Unmarshal(v any) error {
	switch {
	case r.Err != nil:
		return r.Err
	case r.Error != "":
		return errors.New(r.Error)
	case r.Busy > 0:
		return fmt.Errorf("the owner of its loop has not come for %.1f s", r.Busy)
	}
	body, err := shown(r.Body)
	if err == nil {
		err = json.Unmarshal(body, v)
	}
	if err != nil {
		return fmt.Errorf("read the rank's answer: %s", strangers.Line(err.Error()))
	}
	return nil
}

// maxAsked bounds the ranks that are asked at once.
const maxAsked = 64

// Ask asks all ranks one question, at once, and returns the results in the order of the
// names. It returns when all have replied or ctx has ended. Non-local.
func Ask(ctx context.Context, names []Name, ask string) []Result { return AskEach(ctx, 0, names, ask) }

// AskEach is Ask with a time limit for each rank besides, unless that is 0: ranks that do
// not reply take no time from the others.
func AskEach(ctx context.Context, limit time.Duration, names []Name, ask string) []Result {
	results := make([]Result, len(names))
	places := make(chan struct{}, maxAsked)
	var room atomic.Int64
	room.Store(maxReplies)
	var wg sync.WaitGroup
	for i, n := range names {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			ctx, cancel := ctx, func() {}
			if limit > 0 {
				ctx, cancel = context.WithTimeout(ctx, limit)
			}
			defer cancel()
			r := &results[i]
			r.Name = n
			r.Err = r.ask(ctx, ask, &room)
		})
	}
	wg.Wait()
	return results
}

// ask asks the rank, for whose reply there is so much room besides its own limit.
func (r *Result) ask(ctx context.Context, ask string, room *atomic.Int64) error {
	conn, err := dial(ctx, r.Name.socket())
	if err != nil {
		return err
	}
	defer conn.Close()
	c := conn.(*net.UnixConn)
	cred, err := strangers.Peer(c)
	if err != nil {
		return err
	}
	if r.PID, r.UID = int(cred.Pid), cred.Uid; !mayTrust(cred.Uid) {
		return &UserError{cred.Uid}
	}
	stop := context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	line, err := json.Marshal(question{Version, ask})
	if err == nil {
		_, err = c.Write(append(line, '\n'))
	}
	if err == nil {
		line, err = readLine(bounded{c, room}, maxReply)
	}
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return fmt.Errorf("ask the rank: %w", err)
	}
	return r.read(line)
}

// read takes a reply, if it is that of the rank.
func (r *Result) read(line []byte) error {
	if err := json.Unmarshal(line, &r.Reply); err != nil {
		return fmt.Errorf("ask the rank: its reply is no JSON: %s", strangers.Line(err.Error()))
	}
	for _, text := range []*string{&r.About.Job, &r.Fabric, &r.Program, &r.Error} {
		*text = strangers.Line(*text)
	}
	switch {
	case r.Version != Version:
		return &VersionError{r.Version}
	case r.About.Job != r.Name.Job || r.About.Rank != r.Name.Rank:
		return fmt.Errorf("ask the rank: rank %d of job %s replies", r.About.Rank, r.About.Job)
	case r.Size > maxRanks:
		return fmt.Errorf("ask the rank: it says that its job has %d ranks, and %d are the most", r.Size, maxRanks)
	}
	return nil
}

// dialPause is how long a dial waits that has found the rank's backlog full.
const dialPause = 20 * time.Millisecond

// dial connects to a socket. While its backlog is full the kernel refuses (EAGAIN).
func dial(ctx context.Context, socket string) (net.Conn, error) {
	var d net.Dialer
	for {
		c, err := d.DialContext(ctx, "unix", socket)
		if err == nil || !errors.Is(err, syscall.EAGAIN) {
			return c, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-time.After(dialPause):
		}
	}
}
