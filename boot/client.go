package boot

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"time"
)

// client is a rank's side of the local launcher's protocol.
type client struct {
	conn  net.Conn
	r     *bufio.Reader
	size  int
	round uint64
}

// joinLauncher says hello and returns the job. The caller closes conn if it
// fails; otherwise the job does.
func joinLauncher(ctx context.Context, conn net.Conn, rank, size int) (*Job, error) {
	c := &client{conn: conn, r: bufio.NewReader(conn), size: size}
	var w welcome
	err := within(ctx, conn, func() error {
		h := hello{uint32(rank), uint32(size)}
		p, err := c.ask(kindHello, h.append(nil), kindWelcome)
		if err != nil {
			return err
		}
		w, err = parseWelcome(p)
		return err
	})
	if err != nil {
		return nil, err
	}
	if int64(w.rank) != int64(rank) || int64(w.size) != int64(size) {
		return nil, protocolError("the environment says rank %d of %d, the launcher rank %d of %d", rank, size, w.rank, w.size)
	}
	local := make([]int, size)
	for i := range local {
		local[i] = i
	}
	return &Job{
		Rank: rank, Size: size,
		ID: hex.EncodeToString(w.id[:]), Key: w.key,
		LocalRanks: local,
		Cores:      int(w.cores),
		Launcher:   LauncherWeft,
		boot:       c,
	}, nil
}

// ask sends one frame and returns the payload of its answer.
func (c *client) ask(kind frameKind, payload []byte, answer frameKind) ([]byte, error) {
	// The launcher may have failed us and closed already; what it said is
	// still there to be read and tells more than the failed write.
	_, werr := c.conn.Write(appendFrame(nil, kind, payload))
	got, p, err := readFrame(c.r, c.size)
	switch {
	case err != nil:
		if werr != nil {
			err = werr
		}
		if errors.Is(err, io.EOF) {
			err = errors.New("the launcher has closed the connection")
		}
		return nil, err
	case got == kindFail:
		return nil, parseFail(p, c.size)
	case got != answer:
		return nil, protocolError("answer of kind %d to a frame of kind %d", got, kind)
	}
	return p, nil
}

func (c *client) exchange(ctx context.Context, mine []byte) (parts [][]byte, err error) {
	round := c.round
	c.round++
	err = within(ctx, c.conn, func() error {
		p, err := c.ask(kindOffer, appendOffer(nil, round, mine), kindTable)
		if err != nil {
			return err
		}
		var got uint64
		got, parts, err = parseTable(p, c.size)
		if err == nil && got != round {
			err = protocolError("table of round %d, want %d", got, round)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return parts, nil
}

// leave needs no answer: the launcher reads what was written even after this
// process has ended. It says bye after a failed exchange too, for an orderly
// end after an error is still an orderly end.
func (c *client) leave(bool) error {
	defer c.conn.Close()
	c.conn.SetDeadline(time.Now().Add(leaveTimeout))
	_, err := c.conn.Write(appendFrame(nil, kindBye, nil))
	return err
}
