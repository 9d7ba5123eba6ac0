package tcp

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/internal/greet"
)

// With WEFT_TCP_TLS the ranks go on over TLS 1.3 once they have greeted. The dialer
// says that it is ready, and is the client. The certificate is nobody's: that the
// peer is the one is shown by a proof of each side, over TLS, with the secret of the
// greeting and the keys of this TLS connection. Somebody in the middle, who has
// passed the greeting on, has other keys on each side.
//
//	listener proof
//	dialer   proof
//
// From the dialer's proof on the connection may be in use: it has the place that
// ready has in a connection without TLS.

// newTLS makes the keys of a domain.
func newTLS() (*tls.Config, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key for TLS: %w", err)
	}
	// Nobody looks at it.
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Now().AddDate(100, 0, 0)}
	cert, err := x509.CreateCertificate(rand.Reader, form, form, public, private)
	if err != nil {
		return nil, fmt.Errorf("make a certificate for TLS: %w", err)
	}
	return &tls.Config{
		MinVersion:                  tls.VersionTLS13,
		Certificates:                []tls.Certificate{{Certificate: [][]byte{cert}, PrivateKey: private}},
		InsecureSkipVerify:          true, // the proofs follow
		SessionTicketsDisabled:      true,
		DynamicRecordSizingDisabled: true,
	}, nil
}

// sameTLS returns why a peer with such ways is no peer of this rank.
func (d *Domain) sameTLS(p fabric.Peer, ways byte) error {
	on, off := d.cfg.Rank, p
	switch theirs := ways&wayTLS != 0; {
	case theirs == d.set.tls:
		return nil
	case theirs:
		on, off = off, on
	}
	return &fabric.Error{Op: "agree on TLS", Peer: p, HasPeer: true,
		Err: fmt.Errorf("%s=1 is set for rank %d and not for rank %d", envTLS, on, off), Remedy: "set it alike for all ranks"}
}

// sealDialled encrypts a connection that this rank has dialled. told is the offer and
// the answer. Once the listener has proved that it is the peer, the caller says ready.
func (d *Domain) sealDialled(conn net.Conn, p fabric.Peer, token greet.Token, told []byte) (s *sealed, ready func() error, err error) {
	if err = greet.Ready(conn); err != nil {
		return nil, nil, err
	}
	s = newSealed(conn)
	s.tls = tls.Client(&s.under, d.tls)
	ch, err := s.channel(d.self.Rank, uint32(p), told)
	if err == nil {
		err = d.hearProof(s, token, false, ch)
	}
	if err != nil {
		return nil, nil, err
	}
	return s, func() error {
		_, err := s.tls.Write(d.self.ChannelProof(token, true, ch))
		return err
	}, nil
}

// sealAnswered is the listener's side. It returns when the dialer is ready.
func (d *Domain) sealAnswered(conn net.Conn, p fabric.Peer, told []byte) (*sealed, error) {
	s := newSealed(conn)
	s.tls = tls.Server(&s.under, d.tls)
	ch, err := s.channel(uint32(p), d.self.Rank, told)
	if err == nil {
		_, err = s.tls.Write(d.self.ChannelProof(d.token, false, ch))
	}
	if err == nil {
		err = d.hearProof(s, d.token, true, ch)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// channel makes the keys, and what both sides prove.
func (s *sealed) channel(dialer, listener uint32, told []byte) (*greet.Channel, error) {
	if err := s.tls.Handshake(); err != nil {
		return nil, fmt.Errorf("agree on keys: %w", err)
	}
	state := s.tls.ConnectionState()
	binding, err := state.ExportKeyingMaterial("EXPORTER-weft-tcp", nil, 32)
	if err != nil {
		return nil, err
	}
	return &greet.Channel{Dialer: dialer, Listener: listener, Binding: binding, Told: told}, nil
}

func (d *Domain) hearProof(s *sealed, token greet.Token, byDialer bool, ch *greet.Channel) error {
	theirs := make([]byte, greet.ProofSize)
	if _, err := io.ReadFull(s.tls, theirs); err != nil {
		return fmt.Errorf("the peer proves nothing over TLS: %w", err)
	}
	return d.self.CheckChannel(theirs, token, byDialer, ch)
}
