package tcp

import (
	"net"
	"testing"
)

// A dialer that was welcomed, and then says nothing, since it is stopped or its host
// is gone, holds the place of a connection for no longer than the deadline: then this
// rank dials by itself.
func TestAWelcomeThatNobodyTakesEnds(t *testing.T) {
	cs := callers(t, 2, soon)
	conn, err := net.Dial("tcp", cs[0].doors[0].addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := cs[1].self.Dial(conn, 0, cs[0].token, func() ([]byte, error) { return []byte{byte(forMessages), 0}, nil }); err != nil {
		t.Fatal(err)
	}
	cs[0].reach(t, cs[1], cs[1].card(t))
	hear(t, cs[0], cs[1])
	cs[1].reach(t, cs[0], cs[0].card(t))
	hear(t, cs[1], cs[0])
}
