package launch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// The longest lines sent and accepted, newline included. MPICH's own client
// (PMIU_MAXLINE) and Slurm's server keep lines in 1024 bytes. A reply may be
// longer by its msg=.
const (
	pmiSendLine = 1023
	pmiReadLine = 8 << 10
)

// pmiMessage is one line of PMI-1: "cmd=name key=value ...", without the cmd.
type pmiMessage struct {
	cmd    string
	fields []pmiField
}

type pmiField struct{ key, value string }

// parsePMI parses a line without its newline. Words without "=" belong to the
// free text that some servers send as msg=, and are skipped.
func parsePMI(line string) (pmiMessage, error) {
	var m pmiMessage
	for _, c := range []byte(line) {
		if c < ' ' || c > '~' {
			return m, protocolError("PMI line with byte %#02x: %q", c, clip(line))
		}
	}
	for i, word := range strings.Fields(line) {
		key, value, ok := strings.Cut(word, "=")
		switch {
		case i == 0 && (!ok || key != "cmd" || value == ""):
			return m, protocolError("PMI line does not begin with cmd=: %q", clip(line))
		case i == 0:
			m.cmd = value
		case ok && key != "":
			m.fields = append(m.fields, pmiField{key, value})
		}
	}
	if m.cmd == "" {
		return m, protocolError("empty PMI line")
	}
	return m, nil
}

func clip(s string) string { return s[:min(len(s), 100)] }

// get returns the first value of a key, or "".
func (m pmiMessage) get(key string) string {
	for _, f := range m.fields {
		if f.key == key {
			return f.value
		}
	}
	return ""
}

// number returns the value of a key, which must be a number not below least.
func (m pmiMessage) number(key string, least int) (int, error) {
	n, err := strconv.Atoi(m.get(key))
	if err != nil || n < least {
		return 0, protocolError("PMI answer %s with %s=%q, want a number of at least %d", m.cmd, key, clip(m.get(key)), least)
	}
	return n, nil
}

// pmiClient is a rank's side of PMI-1.
type pmiClient struct {
	conn       net.Conn
	out        outbox // onto conn
	r          *bufio.Reader
	rank, size int
	kvs        string // name of the job's key-value space
	maxKey     int    // longest key, without the terminating NUL that PMI counts
	maxValue   int
}

func newPMIClient(conn net.Conn) *pmiClient {
	return &pmiClient{conn: conn, out: outbox{conn: conn}, r: bufio.NewReaderSize(conn, pmiReadLine)}
}

func (c *pmiClient) send(line string) error {
	if len(line) >= pmiSendLine {
		return fmt.Errorf("PMI line of %d bytes, the limit is %d", len(line)+1, pmiSendLine)
	}
	return c.out.send([]byte(line + "\n"))
}

func (c *pmiClient) receive() (pmiMessage, error) {
	line, err := c.r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return pmiMessage{}, protocolError("PMI line of more than %d bytes: %q", pmiReadLine, clip(string(line)))
	case errors.Is(err, io.EOF):
		return pmiMessage{}, errors.New("the process manager has closed the connection")
	case err != nil:
		return pmiMessage{}, err
	}
	return parsePMI(string(line[:len(line)-1]))
}

// ask sends a line and returns the reply, whose cmd must be want and whose rc,
// if it has one, must be 0.
func (c *pmiClient) ask(line, want string) (pmiMessage, error) {
	if err := c.send(line); err != nil {
		return pmiMessage{}, err
	}
	m, err := c.receive()
	if err != nil {
		return m, err
	}
	if m.cmd != want {
		return m, protocolError("PMI answer %q to %q, want %s", clip(m.cmd), clip(line), want)
	}
	if rc := m.get("rc"); rc != "" && rc != "0" {
		return m, fmt.Errorf("the process manager refuses %q: rc=%s msg=%s", clip(line), clip(rc), clip(m.get("msg")))
	}
	return m, nil
}

// initack opens a connection made over PMI_PORT, where rank and size come from
// the server instead of the environment.
func (c *pmiClient) initack(ctx context.Context, id int) (rank, size int, err error) {
	err = within(ctx, c.conn.SetDeadline, func() error {
		if _, err := c.ask(fmt.Sprintf("cmd=initack pmiid=%d", id), "initack"); err != nil {
			return err
		}
		set := pmiMessage{cmd: "set"}
		for range 3 { // size, rank, debug
			m, err := c.receive()
			if err != nil {
				return err
			}
			if m.cmd != "set" {
				return protocolError("PMI line %q after initack, want set", clip(m.cmd))
			}
			set.fields = append(set.fields, m.fields...)
		}
		if size, err = set.number("size", 1); err != nil {
			return err
		}
		rank, err = set.number("rank", 0)
		return err
	})
	return rank, size, err
}

// start initialises PMI-1 and asks for the server's limits. It waits for the
// server only, not for other ranks.
func (c *pmiClient) start(rank, size int) error {
	if rank >= size {
		return protocolError("the process manager says rank %d of %d", rank, size)
	}
	c.rank, c.size = rank, size
	m, err := c.ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init")
	if err != nil {
		return err
	}
	if v := m.get("pmi_version"); v != "" && v != "1" {
		return protocolError("the process manager speaks PMI version %s, Weft speaks 1", clip(v))
	}
	if m, err = c.ask("cmd=get_maxes", "maxes"); err != nil {
		return err
	}
	if c.maxKey, err = m.number("keylen_max", 2); err != nil {
		return err
	}
	if c.maxValue, err = m.number("vallen_max", 2); err != nil {
		return err
	}
	c.maxKey--
	c.maxValue--
	if m, err = c.ask("cmd=get_my_kvsname", "my_kvsname"); err != nil {
		return err
	}
	if c.kvs = m.get("kvsname"); c.kvs == "" {
		return protocolError("PMI answer my_kvsname without a name")
	}
	return nil
}

// abort asks the server to end the job. There is no reply: Hydra and Slurm kill
// the ranks instead, and Hydra then exits with the code.
func (c *pmiClient) abort(code byte, _ string) error {
	return c.out.urgent(fmt.Appendf(nil, "cmd=abort exitcode=%d\n", code))
}

// leave finalizes. If the connection is out of step, it can only be closed; the
// process manager then takes the rank for failed.
func (c *pmiClient) leave(inStep bool) error {
	defer c.conn.Close()
	if !inStep {
		return errors.New("the conversation with the process manager broke off in a failed exchange")
	}
	c.conn.SetDeadline(time.Now().Add(leaveTimeout))
	_, err := c.ask("cmd=finalize", "finalize_ack")
	return err
}
