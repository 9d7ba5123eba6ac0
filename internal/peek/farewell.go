package peek

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/weft-mpi/weft/internal/strangers"
)

// last names the socket of a job's Listener, in place of a rank's number, and the lane of
// the last words.
const last = "last"

// lastRank stands for it where its tag is made.
const lastRank = -1

func lastSocket(key Key, job string) string {
	return prefix + job + "/" + last + "/" + key.tag(job, lastRank)
}

// farewellIn is the time for a rank's last words on their way. They fit into the socket's
// buffer, so that a listener which is stopped holds up nobody.
const farewellIn = time.Second

// Farewell tells what Last of the Config gives to the job's Listener, if there is one of
// the same user or of root. It returns when the words are on their way, so that the
// process may exit; without a listener at once. For nil it does nothing.
func (s *Server) Farewell() {
	if s == nil || s.cfg.Last.Give == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), farewellIn)
	defer cancel()
	conn, err := dial(ctx, lastSocket(s.cfg.Key, s.cfg.Job))
	if err != nil {
		return
	}
	defer conn.Close()
	c := conn.(*net.UnixConn)
	if cred, err := strangers.Peer(c); err != nil || !mayAsk(cred.Uid) {
		return
	}
	r := Reply{Version: Version, About: s.cfg.About}
	s.give(s.cfg.Last, s.lanes[last], &r)
	c.SetWriteDeadline(time.Now().Add(farewellIn))
	c.Write(s.encode(&r)) // the listener sees what is cut off
}

// Limits of last words, in bytes and in how many are read at once.
const (
	maxLast   = 1 << 20
	maxHeard  = 64
	wordsIn   = 5 * time.Second
	endSuffix = "/end"
)

// Listener hears what the ranks of a job say as they leave it.
type Listener struct {
	job     string
	key     Key
	at      *net.UnixListener
	each    func(Result)
	ends    string // the address of the connection that Close makes
	hearing sync.WaitGroup
}

// Listen calls each with the last words of each rank of a job on this host, from several
// goroutines, until Close. The Result's rank is the one that the words name; whether the
// job has such a rank is for each to check.
func Listen(key Key, job string, each func(Result)) (*Listener, error) {
	if !NameOf(key, job, 0).valid() {
		return nil, fmt.Errorf("listen for the ranks of job %q: this makes no name of a socket", job)
	}
	at, err := strangers.Listen("unix", lastSocket(key, job))
	if err != nil {
		return nil, fmt.Errorf("listen for the ranks' last words: %w", err)
	}
	l := &Listener{job: job, key: key, at: at, each: each, ends: lastSocket(key, job) + endSuffix}
	l.hearing.Go(l.accept)
	return l, nil
}

func (l *Listener) accept() {
	places := make(chan struct{}, maxHeard)
	for {
		c, err := l.at.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // descriptors have run out
			time.Sleep(acceptPause)
			continue
		}
		if from := c.RemoteAddr(); from != nil && from.String() == l.ends {
			c.Close()
			return
		}
		places <- struct{}{}
		l.hearing.Go(func() {
			defer func() { <-places }()
			defer c.Close()
			l.hear(c)
		})
	}
}

// hear reads the words of one rank. Strangers, and what is none, are passed over.
func (l *Listener) hear(c *net.UnixConn) {
	cred, err := strangers.Peer(c)
	if err != nil || !mayAsk(cred.Uid) { // unasked, root believes no other user
		return
	}
	c.SetReadDeadline(time.Now().Add(wordsIn))
	line, err := readLine(c, maxLast)
	if err != nil {
		return
	}
	var who About
	if json.Unmarshal(line, &who) != nil {
		return
	}
	r := Result{Name: NameOf(l.key, l.job, who.Rank), PID: int(cred.Pid), UID: cred.Uid}
	if r.Name.valid() && r.read(line) == nil {
		l.each(r)
	}
}

// Close ends it once it has heard all ranks that had said something before: their
// connections are accepted in their order, and that of Close is the last. For nil it
// does nothing.
func (l *Listener) Close() {
	if l == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), farewellIn)
	defer cancel()
	d := net.Dialer{LocalAddr: &net.UnixAddr{Name: l.ends, Net: "unix"}}
	if c, err := d.DialContext(ctx, "unix", lastSocket(l.key, l.job)); err != nil {
		l.at.Close() // it accepts no more in any case
	} else {
		defer c.Close()
	}
	l.hearing.Wait()
	l.at.Close()
}
