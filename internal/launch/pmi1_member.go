package launch

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
)

// pmiMember is a rank of a group that another one leads.
type pmiMember struct {
	*pmiClient
	round  int
	up     *net.UnixConn
	leader string // in words
}

func newPMIMember(c *pmiClient, up *net.UnixConn) *pmiMember {
	pid, _ := ours(up)
	return &pmiMember{c, 0, up, fmt.Sprintf("process %d, which exchanges for the ranks of this host,", pid)}
}

// join makes the job. Its greeting was its offer to the first round.
func (m *pmiMember) join(ctx context.Context) (*Job, error) {
	table, err := m.await(ctx, 0, 2) // barriers: see pmiLeader.join
	var groups []pmiGroup
	if err == nil {
		groups, err = readGroups(m.size, func(lowest int) ([]byte, error) { return table[lowest], nil })
	}
	if err != nil {
		m.up.Close()
		return nil, err
	}
	m.round = 1
	j := jobFromGroups(m.rank, m.size, groups)
	j.boot = m
	return j, nil
}

// exchange gives mine to the leader and takes the table from it.
func (m *pmiMember) exchange(ctx context.Context, mine []byte) ([][]byte, error) {
	round := m.round
	m.round++
	table, err := m.offer(ctx, round, mine)
	if err != nil {
		m.up.Close() // the leader need not wait for this rank
		return nil, err
	}
	return table, nil
}

func (m *pmiMember) offer(ctx context.Context, round int, mine []byte) ([][]byte, error) {
	err := within(ctx, m.up.SetWriteDeadline, func() error {
		_, err := m.up.Write(appendFrame(nil, kindOffer, appendOffer(nil, uint64(round), mine)))
		return err
	})
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s has not taken what this rank brings: %w", m.leader, ended(ctx))
	case err != nil: // the leader may have said why
		if _, e := m.table(ctx, round); e != nil {
			err = e
		}
		return nil, err
	}
	return m.await(ctx, round, 1)
}

// await takes part in the barriers of a round and reads the table, both at once:
// a leader that fails does not come to the barrier.
func (m *pmiMember) await(ctx context.Context, round, barriers int) (table [][]byte, err error) {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	heard := make(chan struct{})
	var terr error
	go func() {
		defer close(heard)
		if table, terr = m.table(inner, round); terr != nil {
			cancel(terr)
		}
	}()
	for range barriers {
		if err = m.barrier(inner); err != nil {
			cancel(err)
			break
		}
	}
	<-heard
	switch {
	case err == nil && terr == nil:
		return table, nil
	case ctx.Err() == nil:
		return nil, context.Cause(inner) // the first of the two errors
	case err != nil:
		return nil, err
	}
	return nil, fmt.Errorf("%s has not said what all have brought: %w", m.leader, ended(ctx))
}

// table reads the leader's answer to an offer.
func (m *pmiMember) table(ctx context.Context, round int) (parts [][]byte, err error) {
	err = within(ctx, m.up.SetReadDeadline, func() error {
		kind, p, err := readFrame(m.up, m.size)
		switch {
		case errors.Is(err, io.EOF):
			return fmt.Errorf("%s has closed its connection", m.leader)
		case err != nil:
			return fmt.Errorf("answer of %s: %w", m.leader, err)
		case kind == kindFail:
			return m.told(p)
		case kind != kindTable:
			return protocolError("frame of kind %d from %s want a table", kind, m.leader)
		}
		got, t, err := parseTable(p, m.size)
		if err == nil && got != uint64(round) {
			err = protocolError("table of round %d, want %d", got, round)
		}
		parts = t
		return err
	})
	return parts, err
}

// told returns the error of the leader's fail.
func (m *pmiMember) told(p []byte) error {
	if len(p) > 4 && binary.LittleEndian.Uint32(p) == noRank {
		return fmt.Errorf("%s says: %q", m.leader, p[4:])
	}
	return parseFail(p, m.size)
}

func (m *pmiMember) leave(inStep bool) error {
	m.up.Close()
	return m.pmiClient.leave(inStep)
}
