package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/weft-mpi/weft/mpi/cause"
)

// pmiLeader is the rank of a group that puts and gets for it. Towards the other
// ranks of the group it is what the local launcher is to its ranks: each sends
// an offer, and the answer is a table or fail (frame.go).
type pmiLeader struct {
	*pmiClient
	round   int
	ranks   []int                 // of the group, ascending
	members map[int]*net.UnixConn // its other ranks
	groups  []pmiGroup            // of the job
}

// join makes groups of the ranks of the job. It takes two barriers: after the
// first all have met, after the second all groups have been put. d is nil for a
// rank alone.
func (l *pmiLeader) join(ctx context.Context, mine card, d *door) (*Job, error) {
	own, err := l.admit(ctx, mine, d)
	if err == nil {
		l.ranks = own.ranks
		var table [][]byte
		if table, err = l.tradeGroups(ctx, own); err == nil {
			err = l.scatter(ctx, table)
		}
	}
	if err != nil {
		l.fail(err)
		return nil, err
	}
	j := jobFromGroups(l.rank, l.size, l.groups)
	j.boot = l
	return j, nil
}

// admit waits until every rank of the job has met its host's, and returns this
// leader's group.
func (l *pmiLeader) admit(ctx context.Context, mine card, d *door) (own pmiGroup, err error) {
	err = l.barrier(ctx)
	l.members = map[int]*net.UnixConn{}
	own.card = mine
	if d != nil {
		if err != nil {
			d.drop()
			return own, err
		}
		conns, ferr := d.finish()
		err = ferr
		for _, conn := range conns {
			rank, its, ok := readGreeting(conn, l.size)
			switch {
			case !ok:
				conn.Close()
				continue
			case rank == l.rank || l.members[rank] != nil:
				err = protocolError("two processes of this host say that they are rank %d: another job may use the same process manager's name", rank)
				part(conn, err)
				continue
			}
			l.members[rank] = conn
			own.card.cores = joinMasks(own.card.cores, its.cores)
		}
	}
	for rank := range l.size {
		if rank == l.rank || l.members[rank] != nil {
			own.ranks = append(own.ranks, rank)
		}
	}
	if own.ranks[0] == 0 {
		own.card.leads = true
		own.card.id, own.card.key = newIdentity()
	}
	l.round++
	return own, err
}

// tradeGroups gives the leaders one another's groups. The table has a group at
// its lowest rank, and nothing at other ranks.
func (l *pmiLeader) tradeGroups(ctx context.Context, own pmiGroup) (table [][]byte, err error) {
	mine := own.append(nil)
	if err := l.put(ctx, 0, own.ranks[0], mine); err != nil {
		return nil, err
	}
	if err := l.barrier(ctx); err != nil {
		return nil, err
	}
	table = make([][]byte, l.size)
	l.groups, err = readGroups(l.size, func(lowest int) (b []byte, err error) {
		if b = mine; lowest != own.ranks[0] {
			b, err = l.fetch(ctx, 0, lowest, MaxExchange)
		}
		table[lowest] = b
		return b, err
	})
	return table, err
}

// exchange puts what the group's ranks bring, meets all ranks in a barrier, and
// gets what other leaders have put.
func (l *pmiLeader) exchange(ctx context.Context, mine []byte) ([][]byte, error) {
	round := l.round
	l.round++
	table, err := l.trade(ctx, round, mine)
	if err == nil {
		err = l.scatter(ctx, table)
	}
	if err != nil {
		l.fail(err)
		return nil, err
	}
	return table, nil
}

func (l *pmiLeader) trade(ctx context.Context, round int, mine []byte) ([][]byte, error) {
	own, err := l.gather(ctx, round, mine)
	if err != nil {
		return nil, err
	}
	if err := l.put(ctx, round, l.ranks[0], appendParts(nil, own)); err != nil {
		return nil, err
	}
	if err := l.barrier(ctx); err != nil {
		return nil, err
	}
	table := make([][]byte, l.size)
	for _, g := range l.groups {
		parts := own
		if g.ranks[0] != l.ranks[0] {
			b, err := l.fetch(ctx, round, g.ranks[0], maxParts(len(g.ranks)))
			if err != nil {
				return nil, err
			}
			if parts, err = parseParts(b, len(g.ranks)); err != nil {
				return nil, fmt.Errorf("value of rank %d: %w", g.ranks[0], err)
			}
		}
		for i, r := range g.ranks {
			table[r] = parts[i]
		}
	}
	return table, nil
}

// gather returns what the group's ranks bring, in the order of their ranks.
func (l *pmiLeader) gather(ctx context.Context, round int, mine []byte) ([][]byte, error) {
	own := make([][]byte, len(l.ranks))
	missing, err := l.each(ctx, func(ctx context.Context, i, rank int, conn net.Conn) error {
		return within(ctx, conn.SetReadDeadline, func() error {
			kind, p, err := readFrame(conn, l.size)
			if errors.Is(err, io.EOF) {
				return &cause.LostError{Rank: rank, Reason: "it has closed its connection to rank " + strconv.Itoa(l.rank) + ", which exchanges for its host"}
			}
			if err != nil {
				return err
			}
			if kind != kindOffer {
				return protocolError("frame of kind %d, want an offer", kind)
			}
			got, b, err := parseOffer(p)
			if err == nil && got != uint64(round) {
				err = protocolError("offer to round %d, want %d", got, round)
			}
			own[i] = b
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("wait for what this host's %s must bring: %w", missing, err)
	}
	for i, rank := range l.ranks {
		if rank == l.rank {
			own[i] = append([]byte{}, mine...)
		}
	}
	return own, nil
}

// scatter sends all members the table of the round before l.round.
func (l *pmiLeader) scatter(ctx context.Context, table [][]byte) error {
	if len(l.members) == 0 {
		return nil
	}
	b := appendFrame(nil, kindTable, appendTable(nil, uint64(l.round-1), table))
	missing, err := l.each(ctx, func(ctx context.Context, _, rank int, conn net.Conn) error {
		return within(ctx, conn.SetWriteDeadline, func() error {
			_, err := conn.Write(b)
			if errors.Is(err, net.ErrClosed) || ctx.Err() != nil || err == nil {
				return err
			}
			return &cause.LostError{Rank: rank, Reason: fmt.Sprintf("it takes nothing more from rank %d, which exchanges for its host: %v", l.rank, err)}
		})
	})
	if err != nil {
		return fmt.Errorf("give this host's %s what all have brought: %w", missing, err)
	}
	return nil
}

// each calls f for every member at once, i being the member's place in the
// group, and waits for all. The first error ends the context of the others; it
// is returned, with the ranks whose calls have failed.
func (l *pmiLeader) each(ctx context.Context, f func(ctx context.Context, i, rank int, conn net.Conn) error) (missing string, err error) {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	var calls sync.WaitGroup
	var mu sync.Mutex
	failed := make([]bool, len(l.ranks))
	for i, rank := range l.ranks {
		if conn := l.members[rank]; conn != nil {
			calls.Go(func() {
				e := f(inner, i, rank, conn)
				mu.Lock()
				defer mu.Unlock()
				if e != nil && (err == nil || ctx.Err() != nil) { // else it was interrupted
					failed[i] = true
				}
				if err == nil && e != nil {
					err = e
					cancel()
				}
			})
		}
	}
	calls.Wait()
	var ranks []string
	for i, rank := range l.ranks {
		if failed[i] {
			ranks = append(ranks, strconv.Itoa(rank))
		}
	}
	missing = "rank " + strings.Join(ranks, ", ")
	if len(ranks) > 1 {
		missing = "ranks " + strings.Join(ranks, ", ")
	}
	return missing, err
}

// fail tells the members why the round has failed, and parts with them. After a
// part of a table fail is no frame to them; they then report a broken stream.
func (l *pmiLeader) fail(why error) {
	var told sync.WaitGroup
	for _, conn := range l.members {
		told.Go(func() { part(conn, why) })
	}
	told.Wait()
}

// part tells a member why its leader parts with it.
func part(conn net.Conn, why error) {
	conn.SetWriteDeadline(time.Now().Add(leaveTimeout))
	conn.Write(appendFrame(nil, kindFail, appendFail(nil, why)))
	conn.Close()
}

func (l *pmiLeader) leave(inStep bool) error {
	for _, conn := range l.members {
		conn.Close()
	}
	return l.pmiClient.leave(inStep)
}
