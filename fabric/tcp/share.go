package tcp

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/libp2p/go-reuseport"
	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/internal/greet"
	"github.com/weft-mpi/weft/internal/strangers"
)

// With WEFT_TCP_PORT all ranks of a host listen at one port (SO_REUSEPORT), and the
// kernel gives a connection to any of them. The opening names the job and the rank
// that it calls. A rank that accepts what is another's passes the socket on, with
// the opening that it has read, over the other's Unix socket in the abstract namespace.
// Its name is made of what the opening names, the tag of the job and the rank, and gives
// neither away, so that nobody else can take the name first. So two jobs of a user may
// share a port too. Each rank judges the openings that call it, whoever accepted them, and
// the one that passes on first judges those of its own job.
//
// A connection may be given to a rank that is stopped, or has just ended. Its dialer
// tries again, from another port of its own, which leads to another rank.

// listenAt listens at an address.
func (d *Domain) listenAt(o door) (net.Listener, error) {
	if d.set.port == 0 {
		return net.Listen("tcp", o.addr.String())
	}
	l, err := reuseport.Listen("tcp", o.addr.String())
	if errors.Is(err, unix.EADDRINUSE) {
		return nil, &fabric.Error{Op: "share a port", Err: err,
			Remedy: fmt.Sprintf("another program, or another user's job, has port %d; choose another with %s, the same on all hosts", d.set.port, envPort)}
	}
	return l, err
}

// passTime bounds how long a sibling may take to let a connection in.
const passTime = time.Second

// siblingName is the name of a rank's Unix socket.
func siblingName(job greet.Tag, rank uint32) string {
	return "@weft-tcp/" + strangers.Name(job[:], fmt.Sprintf("rank %d", rank))
}

// listenToSiblings makes the rank reachable for those that share its port.
func (d *Domain) listenToSiblings() error {
	if d.set.port == 0 {
		return nil
	}
	l, err := strangers.Listen("unixpacket", siblingName(d.tag, d.self.Rank))
	if err != nil {
		e := &fabric.Error{Op: "share a port with the ranks of this host", Err: err}
		if _, others := errors.AsType[*strangers.TakenError](err); !others {
			e.Remedy = "another process is this rank of this job already"
		}
		return e
	}
	d.listeners = append(d.listeners, siblings{l})
	return nil
}

// siblings is a listener of the connections that siblings pass on.
type siblings struct{ unix *net.UnixListener }

// passedOn is such a connection, whose opening has been read.
type passedOn struct {
	*net.TCPConn
	opening *greet.Opening
}

func (s siblings) Addr() net.Addr { return s.unix.Addr() }
func (s siblings) Close() error   { return s.unix.Close() }

func (s siblings) Accept() (net.Conn, error) {
	for {
		via, err := s.unix.AcceptUnix()
		if err != nil {
			return nil, err
		}
		c, err := receivePassed(via)
		via.Close()
		if err == nil {
			return c, nil
		}
	}
}

// receivePassed takes what a sibling passes on. The sibling has sent it with its
// first breath.
func receivePassed(via *net.UnixConn) (net.Conn, error) {
	if err := sameUser(via); err != nil {
		return nil, err
	}
	via.SetDeadline(time.Now().Add(passTime))
	o, oob := new(greet.Opening), make([]byte, unix.CmsgSpace(4))
	n, oobn, _, _, err := via.ReadMsgUnix(o.Bytes(), oob)
	if err != nil {
		return nil, err
	}
	var fds []int
	if messages, err := unix.ParseSocketControlMessage(oob[:oobn]); err == nil && len(messages) == 1 {
		fds, _ = unix.ParseUnixRights(&messages[0])
	}
	if len(fds) != 1 || n != len(o.Bytes()) {
		for _, fd := range fds {
			unix.Close(fd)
		}
		return nil, fmt.Errorf("%d bytes and %d descriptors of a sibling", n, len(fds))
	}
	f := os.NewFile(uintptr(fds[0]), "tcp")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	conn, ok := c.(*net.TCPConn)
	if !ok {
		c.Close()
		return nil, errors.New("what a sibling passes on is no TCP connection")
	}
	return passedOn{conn, o}, nil
}

// sameUser returns an error unless the process at the other end is of this user:
// the kernel lets no other user share a port.
func sameUser(c *net.UnixConn) error {
	cred, err := strangers.Peer(c)
	if err == nil && cred.Uid != uint32(os.Geteuid()) {
		err = fmt.Errorf("a process of user %d says that it shares the port", cred.Uid)
	}
	return err
}

// vet is the first look at a connection.
func (d *Domain) vet(g *greet.Guest) (greeting func() error, err error) {
	var o *greet.Opening
	if c, ok := g.Conn.(passedOn); ok {
		o = c.opening
	} else {
		o = new(greet.Opening)
		err = o.Read(g)
	}
	if err != nil {
		return nil, err
	}
	// A rank without a key can't judge what calls another.
	job, rank := o.To()
	ours := job == d.tag
	if mine := ours && rank == d.self.Rank; mine || ours && d.self.Key != (greet.Key{}) || d.set.port == 0 {
		if err := d.gate.Check(o); err != nil {
			return nil, err
		}
		if mine || d.set.port == 0 {
			return func() error { return d.answer(g, o) }, nil
		}
	}
	if !d.gate.Ours(o) {
		return nil, greet.ErrStranger
	}
	if err = pass(g, o); errors.Is(err, greet.ErrAbsent) {
		d.self.Absent(g)
	}
	return func() error { return nil }, err
}

// pass hands a connection on to the rank that its opening names. It returns
// greet.ErrAbsent if there is none.
func pass(g *greet.Guest, o *greet.Opening) error {
	conn, ok := g.Conn.(*net.TCPConn)
	if !ok {
		return errors.New("a connection is passed on twice")
	}
	job, rank := o.To()
	c, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Net: "unixpacket", Name: siblingName(job, rank)})
	if errors.Is(err, unix.ECONNREFUSED) {
		return greet.ErrAbsent
	}
	if err != nil {
		return err
	}
	defer c.Close()
	if err := sameUser(c); err != nil {
		return err
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	c.SetDeadline(time.Now().Add(passTime))
	var werr error
	err = raw.Control(func(fd uintptr) {
		_, _, werr = c.WriteMsgUnix(o.Bytes(), unix.UnixRights(int(fd)), nil)
	})
	return errors.Join(err, werr)
}
