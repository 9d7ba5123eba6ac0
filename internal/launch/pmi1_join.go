package launch

import (
	"context"
	"fmt"
)

// joinPMI initialises PMI-1 and returns the job. PMI-1 does not say which ranks
// are on this host, which cores they have, or the job's id and key: the ranks of
// a host meet (pmi1_meet.go), and their leaders exchange that for all of them.
// On an error it closes the connection.
func joinPMI(ctx context.Context, c *pmiClient, rank, size int) (*Job, error) {
	mine, err := newCard()
	if err != nil {
		c.conn.Close()
		return nil, fmt.Errorf("launch: join the job over PMI-1 as rank %d: %w", rank, err)
	}
	return joinPMIAs(ctx, c, rank, size, mine)
}

// joinPMIAs is joinPMI with this rank's card.
func joinPMIAs(ctx context.Context, c *pmiClient, rank, size int, mine card) (*Job, error) {
	j, err := func() (*Job, error) {
		err := within(ctx, c.conn.SetDeadline, func() error { return c.start(rank, size) })
		if err != nil {
			return nil, err
		}
		var met encounter
		if size > 1 {
			met = meet(ctx, c.meetingName(mine.host), appendGreeting(nil, rank, size, mine))
		}
		if met.up != nil {
			return newPMIMember(c, met.up).join(ctx)
		}
		return (&pmiLeader{pmiClient: c}).join(ctx, mine, met.door)
	}()
	if err != nil {
		c.conn.Close()
		return nil, fmt.Errorf("launch: join the job over PMI-1 as rank %d: %w", rank, err)
	}
	return j, nil
}
