package boot

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// pmiText encodes values: PMI-1 forbids spaces, and "=" confuses some servers.
var pmiText = base64.RawURLEncoding

const (
	pmiMinChunk  = 32 // bytes; a server that takes less is not supported
	pmiMaxChunks = MaxExchange*4/3/pmiMinChunk + 2
)

// joinPMI initialises PMI-1 and returns the job. PMI-1 does not say which ranks
// are on this host, which cores they have, or the job's id and key: the ranks
// exchange cards for that. On an error it closes the connection.
func joinPMI(ctx context.Context, c *pmiClient, rank, size int) (*Job, error) {
	j, err := func() (*Job, error) {
		err := within(ctx, c.conn.SetDeadline, func() error { return c.start(rank, size) })
		if err != nil {
			return nil, err
		}
		mine, err := newCard(rank)
		if err != nil {
			return nil, err
		}
		all, err := c.exchange(ctx, mine.append(nil))
		if err != nil {
			return nil, err
		}
		return jobFromCards(rank, all)
	}()
	if err != nil {
		c.conn.Close()
		return nil, fmt.Errorf("boot: join the job over PMI-1 as rank %d: %w", rank, err)
	}
	j.boot = c
	return j, nil
}

// jobFromCards makes a job from the cards of all ranks; the caller sets its
// bootstrap.
func jobFromCards(rank int, all [][]byte) (*Job, error) {
	j := &Job{Rank: rank, Size: len(all), Launcher: LauncherPMI1, events: make(chan Event)}
	cards := make([]card, len(all))
	for i, b := range all {
		var err error
		if cards[i], err = parseCard(b); err != nil {
			return nil, fmt.Errorf("card of rank %d: %w", i, err)
		}
		if cards[i].leads != (i == 0) {
			return nil, protocolError("card of rank %d: only rank 0 gives the job its id", i)
		}
	}
	j.ID, j.Key = hex.EncodeToString(cards[0].id[:]), cards[0].key
	var union [maxCPUs / 8]byte
	hosts := map[hostID]uint32{}
	for i, c := range cards {
		if _, known := hosts[c.host]; !known {
			hosts[c.host] = uint32(len(hosts))
		}
		j.Hosts = append(j.Hosts, hosts[c.host])
		if c.host != cards[rank].host {
			continue
		}
		j.LocalRanks = append(j.LocalRanks, i)
		for k, m := range c.cores {
			union[k] |= m
		}
	}
	for _, m := range union {
		j.Cores += bits.OnesCount8(m)
	}
	return j, nil
}

// exchange puts mine under keys of this round, meets all ranks in a barrier,
// and gets what they have put.
func (c *pmiClient) exchange(ctx context.Context, mine []byte) (all [][]byte, err error) {
	round := c.round
	c.round++
	err = within(ctx, c.conn.SetDeadline, func() error {
		if err := c.put(round, mine); err != nil {
			return err
		}
		if _, err := c.ask("cmd=barrier_in", "barrier_out"); err != nil {
			return err
		}
		all = make([][]byte, c.size)
		for rank := range all {
			if rank == c.rank {
				all[rank] = append([]byte{}, mine...)
				continue
			}
			if all[rank], err = c.fetch(round, rank); err != nil {
				return fmt.Errorf("value of rank %d: %w", rank, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func pmiKey(round, rank, chunk int) string {
	return fmt.Sprintf("weft-%d-%d-%d", round, rank, chunk)
}

// put stores b in as many chunks as the server's limits require. The first
// begins with the number of chunks and a dot.
func (c *pmiClient) put(round int, b []byte) error {
	const digits = 10
	longest := pmiKey(round, c.size, pmiMaxChunks)
	if len(longest) > c.maxKey {
		return fmt.Errorf("PMI keys of %d bytes are needed, the process manager takes %d", len(longest), c.maxKey)
	}
	frame := len("cmd=put kvsname= key= value=\n") + len(c.kvs) + len(longest)
	room := min(c.maxValue, pmiSendLine-frame) - digits
	if room < pmiMinChunk {
		return fmt.Errorf("PMI values of %d bytes are needed, the process manager takes %d (name of its key-value space: %d bytes)", pmiMinChunk+digits, c.maxValue, len(c.kvs))
	}
	chunks := splitChunks(pmiText.EncodeToString(b), room)
	for i, text := range chunks {
		if i == 0 {
			text = strconv.Itoa(len(chunks)) + "." + text
		}
		line := fmt.Sprintf("cmd=put kvsname=%s key=%s value=%s", c.kvs, pmiKey(round, c.rank, i), text)
		if _, err := c.ask(line, "put_result"); err != nil {
			return err
		}
	}
	return nil
}

// splitChunks cuts s into pieces of at most room bytes, at least one.
func splitChunks(s string, room int) []string {
	var chunks []string
	for len(s) > room {
		chunks = append(chunks, s[:room])
		s = s[room:]
	}
	return append(chunks, s)
}

// fetch gets the bytes that another rank has put.
func (c *pmiClient) fetch(round, rank int) ([]byte, error) {
	return joinChunks(func(i int) (string, error) {
		m, err := c.ask(fmt.Sprintf("cmd=get kvsname=%s key=%s", c.kvs, pmiKey(round, rank, i)), "get_result")
		return m.get("value"), err
	})
}

// joinChunks undoes splitChunks and the encoding.
func joinChunks(chunk func(i int) (string, error)) ([]byte, error) {
	first, err := chunk(0)
	if err != nil {
		return nil, err
	}
	count, text, ok := strings.Cut(first, ".")
	n, err := strconv.Atoi(count)
	if !ok || err != nil || n < 1 || n > pmiMaxChunks {
		return nil, protocolError("first chunk %q, want a number up to %d and a dot", clip(first), pmiMaxChunks)
	}
	var all strings.Builder
	all.WriteString(text)
	for i := 1; i < n; i++ {
		if text, err = chunk(i); err != nil {
			return nil, err
		}
		all.WriteString(text)
		if all.Len() > pmiText.EncodedLen(MaxExchange) {
			return nil, protocolError("value of more than %d bytes", MaxExchange)
		}
	}
	b, err := pmiText.DecodeString(all.String())
	if err != nil {
		return nil, protocolError("value is no base64: %v", err)
	}
	if len(b) > MaxExchange {
		return nil, protocolError("value of %d bytes, the limit is %d", len(b), MaxExchange)
	}
	return b, nil
}
