package launch

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

// pmiText encodes values: PMI-1 forbids spaces, and "=" confuses some servers.
var pmiText = base64.RawURLEncoding

// pmiMinChunk is in bytes; a server that takes less is not supported.
const pmiMinChunk = 32

// maxChunks is the most chunks of a value of at most limit bytes.
func maxChunks(limit int) int { return pmiText.EncodedLen(limit)/pmiMinChunk + 1 }

// pmiKey is where a chunk of a group's value is. rank is the group's lowest.
func pmiKey(round, rank, chunk int) string {
	return fmt.Sprintf("weft-%d-%d-%d", round, rank, chunk)
}

// put stores b in as many chunks as the server's limits require. The first
// begins with the number of chunks and a dot.
func (c *pmiClient) put(ctx context.Context, round, rank int, b []byte) error {
	const digits = 10
	longest := pmiKey(round, c.size, maxChunks(len(b)))
	if len(longest) > c.maxKey {
		return fmt.Errorf("PMI keys of %d bytes are needed, the process manager takes %d", len(longest), c.maxKey)
	}
	frame := len("cmd=put kvsname= key= value=\n") + len(c.kvs) + len(longest)
	room := min(c.maxValue, pmiSendLine-frame) - digits
	if room < pmiMinChunk {
		return fmt.Errorf("PMI values of %d bytes are needed, the process manager takes %d (name of its key-value space: %d bytes)", pmiMinChunk+digits, c.maxValue, len(c.kvs))
	}
	chunks := splitChunks(pmiText.EncodeToString(b), room)
	return within(ctx, c.conn.SetDeadline, func() error {
		for i, text := range chunks {
			if i == 0 {
				text = strconv.Itoa(len(chunks)) + "." + text
			}
			line := fmt.Sprintf("cmd=put kvsname=%s key=%s value=%s", c.kvs, pmiKey(round, rank, i), text)
			if _, err := c.ask(line, "put_result"); err != nil {
				return err
			}
		}
		return nil
	})
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

// barrier waits until every rank of the job has called it. What was put before
// it can be fetched after it.
func (c *pmiClient) barrier(ctx context.Context) error {
	err := within(ctx, c.conn.SetDeadline, func() error {
		_, err := c.ask("cmd=barrier_in", "barrier_out")
		return err
	})
	if err != nil {
		return fmt.Errorf("wait for all ranks in the process manager's barrier: %w", err)
	}
	return nil
}

// fetch gets the value of a group, of at most limit bytes, by its lowest rank.
func (c *pmiClient) fetch(ctx context.Context, round, rank, limit int) (b []byte, err error) {
	err = within(ctx, c.conn.SetDeadline, func() error {
		b, err = joinChunks(limit, func(i int) (string, error) {
			m, err := c.ask(fmt.Sprintf("cmd=get kvsname=%s key=%s", c.kvs, pmiKey(round, rank, i)), "get_result")
			return m.get("value"), err
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("value of rank %d: %w", rank, err)
	}
	return b, nil
}

// joinChunks undoes splitChunks and the encoding of a value of at most limit
// bytes.
func joinChunks(limit int, chunk func(i int) (string, error)) ([]byte, error) {
	first, err := chunk(0)
	if err != nil {
		return nil, err
	}
	most := maxChunks(limit)
	count, text, ok := strings.Cut(first, ".")
	n, err := strconv.Atoi(count)
	if !ok || err != nil || n < 1 || n > most {
		return nil, protocolError("first chunk %q, want a number up to %d and a dot", clip(first), most)
	}
	var all strings.Builder
	all.WriteString(text)
	for i := 1; i < n; i++ {
		if text, err = chunk(i); err != nil {
			return nil, err
		}
		all.WriteString(text)
		if all.Len() > pmiText.EncodedLen(limit) {
			return nil, protocolError("value of more than %d bytes", limit)
		}
	}
	b, err := pmiText.DecodeString(all.String())
	if err != nil {
		return nil, protocolError("value is no base64: %v", err)
	}
	if len(b) > limit {
		return nil, protocolError("value of %d bytes, the limit is %d", len(b), limit)
	}
	return b, nil
}
