package mpi_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/mpi"
)

// arrived is what a checked receive of three int16 and a gap after each says of a message
// that comes in pieces of so many bytes, and its memory then.
func arrived(message []byte, piece int) ([]int16, error) {
	memory := []int16{-1, -1, -1, -1, -1, -1}
	to := mpi.Signed(mpi.Strided(memory, 3, 1, 2))
	for at := 0; at < len(message); at += piece {
		to.Layout.Unpack(message[at:min(at+piece, len(message))], uint64(at))
	}
	return memory, to.Layout.(pt2pt.Headed).Verdict(uint64(len(message)))
}

// signedMessage is what a checked send of b sends, in pieces of so many bytes.
func signedMessage(b mpi.Buf, piece int) []byte {
	from := mpi.Signed(b)
	defer from.Layout.Free()
	message := make([]byte, from.Size)
	for at := 0; at < len(message); at += piece {
		from.Layout.Pack(message[at:min(at+piece, len(message))], uint64(at))
	}
	return message
}

// Signatures and what is behind them may come in any pieces.
func TestSignaturesComeInPieces(t *testing.T) {
	sent := []int16{1, 2, 3}
	whole := signedMessage(mpi.Of(sent), 1<<10)
	for piece := range len(whole) {
		piece++
		if message := signedMessage(mpi.Of(sent), piece); !bytes.Equal(message, whole) {
			t.Fatalf("in pieces of %d the message is %x, not %x", piece, message, whole)
		}
		if got, err := arrived(whole, piece); err != nil || got[0] != 1 || got[2] != 2 || got[4] != 3 || got[1]&got[3]&got[5] != -1 {
			t.Errorf("in pieces of %d it has received %v, %v", piece, got, err)
		}
		got, err := arrived(signedMessage(mpi.Of([]uint16{1, 2, 3}), piece), piece)
		if !errors.As(err, new(*mpi.SignatureError)) || got[0]&got[2]&got[4] != -1 {
			t.Errorf("in pieces of %d it has received other elements: %v, %v", piece, got, err)
		}
	}
}

// A message of a rank that checks no types has no signature, whatever its bytes are.
func TestAMessageWithoutASignatureIsRefused(t *testing.T) {
	good := signedMessage(mpi.Of([]int16{1, 2, 3}), 1<<10)
	shorter, longer := good[:len(good)-1], append(bytes.Clone(good), 0)
	for what, message := range map[string][]byte{
		"nothing": nil, "a byte": good[:1], "less than a signature": good[:len(good)-7], "zeros": make([]byte, len(good)),
		"a signature of something longer": shorter, "a signature of something shorter": longer,
		"another mark": append([]byte{0, 0, 0, 0, 0, 0, 0, 1}, good[8:]...),
	} {
		got, err := arrived(message, 5)
		var other *mpi.SignatureError
		if !errors.As(err, &other) || other.Sent != "" {
			t.Errorf("%s: %v", what, err)
		}
		if what == "another mark" && got[0]&got[2]&got[4] != -1 {
			t.Errorf("%s: it has received %v", what, got)
		}
	}
}
