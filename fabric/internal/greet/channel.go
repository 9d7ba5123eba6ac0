package greet

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
)

// A Channel is what the two ranks of a greeting go on over once what they say is
// encrypted. Somebody in the middle who passes the greeting on and encrypts anew
// towards each of them has two channels.
type Channel struct {
	Dialer, Listener uint32
	// Binding is what the two ends of one channel know, and nobody else, nor the
	// ends of another one: keying material of a TLS connection (RFC 9266).
	Binding []byte
	// Told is the offer and the answer of the greeting, which had no protection.
	Told []byte
}

// ChannelProof is what one side of a channel says over it: that it knows the secret
// of the job, and has that end of the channel. token is the listener's.
func (s *Self) ChannelProof(token Token, byDialer bool, c *Channel) []byte {
	role := listener
	if byDialer {
		role = dialer
	}
	b := binary.LittleEndian.AppendUint32(nil, c.Dialer)
	b = append(binary.LittleEndian.AppendUint32(b, c.Listener), c.Told...)
	return s.proof(token, "channel of the "+role, b, c.Binding)
}

// CheckChannel reads the other side's proof.
func (s *Self) CheckChannel(theirs []byte, token Token, byDialer bool, c *Channel) error {
	if !hmac.Equal(theirs, s.ChannelProof(token, byDialer, c)) {
		return strange("somebody else has the other end of the encrypted connection")
	}
	return nil
}

// ProofSize is the length of a proof, in bytes.
const ProofSize = sha256.Size
