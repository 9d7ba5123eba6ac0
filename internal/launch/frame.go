package launch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/weft-mpi/weft/mpi/cause"
)

// The protocol between a rank and the local launcher is a stream of frames:
//
//	0  magic    2 bytes  0xb0 0x07
//	2  version  1 byte   frameVersion
//	3  kind     1 byte
//	4  length   4 bytes  of the payload
//	8  payload
//
// Integers are little-endian. A rank opens with hello, and the reply is welcome;
// the reply to each offer is one table or fail; bye ends the stream. A rank that
// rests may end it without, and one that fails because another has says so by blame. In round 0 each rank offers its card: which host it is
// on, which cores it has. Two kinds
// come unrequested. After welcome the launcher sends lost for each rank that
// dies, at once, and for each that has died before. A rank sends abort at any
// time after hello, even between an offer and its reply. Between the launcher and an
// agent the same frames go for all ranks of a host: offers bundles what they bring, gone
// says which rank joins no further round. Every frame carries
// magic and version, so that garbage and a launcher of another release are
// recognised at the first frame.
const (
	frameMagic0, frameMagic1 = 0xb0, 0x07
	frameVersion             = 6
	frameHeader              = 8
)

type frameKind byte

const (
	kindHello   frameKind = 1 // rank: u32 rank, u32 size
	kindWelcome frameKind = 2 // launcher: u32 rank, u32 size, id, key
	kindOffer   frameKind = 3 // rank: u64 round, bytes
	kindTable   frameKind = 4 // launcher: u64 round, u32 count, count × (u32 length, bytes)
	kindFail    frameKind = 5 // launcher: u32 lost rank or noRank, text
	kindBye     frameKind = 6 // rank: nothing
	kindLost    frameKind = 7 // launcher: u32 lost rank, text
	kindAbort   frameKind = 8 // rank: u8 exit code of the job, text
	kindRest    frameKind = 9 // rank: u8, 1 if an end of the stream from now on is in order

	// Between the launcher and an agent (agent_frames.go).
	kindSetup  frameKind = 10 // launcher: setup
	kindReady  frameKind = 11 // agent: nothing; it can start its ranks
	kindGo     frameKind = 12 // launcher: nothing; start them
	kindOffers frameKind = 13 // agent: u64 round, what its ranks bring (appendParts)
	kindGone   frameKind = 14 // both: gone
	kindReport frameKind = 15 // agent: report
	kindSignal frameKind = 16 // launcher: signalTo
	kindOutput frameKind = 17 // agent: said
	kindInput  frameKind = 18 // launcher: bytes for rank 0, none at the end
	kindCredit frameKind = 19 // both: credit
	kindPing   frameKind = 20 // both: nothing

	kindBlame frameKind = 21 // rank: u32 rank whose failure it has told its program of
)

const (
	helloLen    = 8
	welcomeLen  = 8 + 16 + 32
	maxFailText = 1 << 10 // of fail, lost, abort and gone
	maxSetup    = 16 << 20
	maxInput    = 32 << 10
	noRank      = 1<<32 - 1
)

// maxPayload is the most that a frame of this kind may carry in a job of size
// ranks, or -1 for kinds that do not exist.
func maxPayload(kind frameKind, size int) int {
	switch kind {
	case kindHello:
		return helloLen
	case kindWelcome:
		return welcomeLen
	case kindOffer:
		return 8 + MaxExchange
	case kindTable:
		return 12 + size*(4+MaxExchange)
	case kindFail:
		return 4 + maxFailText
	case kindBye:
		return 0
	case kindLost:
		return 4 + maxFailText
	case kindAbort:
		return 1 + maxFailText
	case kindRest:
		return 1
	case kindSetup:
		return maxSetup
	case kindReady, kindGo, kindPing:
		return 0
	case kindBlame:
		return 4
	case kindOffers:
		return 8 + maxParts(size)
	case kindGone:
		return 12 + maxFailText
	case kindReport:
		return 32 + maxReportText
	case kindSignal:
		return 6
	case kindOutput:
		return 6 + maxLine
	case kindInput:
		return maxInput
	case kindCredit:
		return 5
	}
	return -1
}

func protocolError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrProtocol, fmt.Sprintf(format, args...))
}

// appendFrame appends a whole frame to b.
func appendFrame(b []byte, kind frameKind, payload []byte) []byte {
	b = append(b, frameMagic0, frameMagic1, frameVersion, byte(kind))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(payload)))
	return append(b, payload...)
}

// readFrame reads one frame in a job of size ranks. The error is io.EOF if the
// stream ended between frames. A false length costs no memory: the payload grows
// as it arrives. The payload belongs to the caller.
func readFrame(r io.Reader, size int) (frameKind, []byte, error) {
	var h [frameHeader]byte
	if n, err := io.ReadFull(r, h[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = protocolError("stream ended inside a frame, after %q", h[:n])
		}
		return 0, nil, err
	}
	if h[0] != frameMagic0 || h[1] != frameMagic1 {
		return 0, nil, protocolError("not a frame of Weft's launcher: it starts with %q", h[:])
	}
	if h[2] != frameVersion {
		return 0, nil, protocolError("the peer speaks version %d of the launcher protocol, this program version %d; build ranks and launcher from one release of Weft", h[2], frameVersion)
	}
	kind, length := frameKind(h[3]), binary.LittleEndian.Uint32(h[4:])
	limit := maxPayload(kind, size)
	if limit < 0 {
		return 0, nil, protocolError("unknown kind of frame %d", kind)
	}
	if uint64(length) > uint64(limit) {
		return 0, nil, protocolError("frame of kind %d with %d bytes, the limit is %d", kind, length, limit)
	}
	var body bytes.Buffer
	if n, err := io.CopyN(&body, r, int64(length)); err != nil {
		if errors.Is(err, io.EOF) {
			err = protocolError("stream ended inside a frame of kind %d, %d bytes into %d", kind, n, length)
		}
		return 0, nil, err
	}
	return kind, body.Bytes(), nil
}

type hello struct{ rank, size uint32 }

func (h hello) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, h.rank)
	return binary.LittleEndian.AppendUint32(b, h.size)
}

func parseHello(p []byte) (hello, error) {
	if len(p) != helloLen {
		return hello{}, protocolError("hello of %d bytes, want %d", len(p), helloLen)
	}
	return hello{binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint32(p[4:])}, nil
}

type welcome struct {
	rank, size uint32
	id         [16]byte
	key        Key
}

func (w welcome) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, w.rank)
	b = binary.LittleEndian.AppendUint32(b, w.size)
	b = append(b, w.id[:]...)
	return append(b, w.key[:]...)
}

func parseWelcome(p []byte) (w welcome, err error) {
	if len(p) != welcomeLen {
		return w, protocolError("welcome of %d bytes, want %d", len(p), welcomeLen)
	}
	w.rank = binary.LittleEndian.Uint32(p)
	w.size = binary.LittleEndian.Uint32(p[4:])
	copy(w.id[:], p[8:])
	copy(w.key[:], p[24:])
	return w, nil
}

func appendOffer(b []byte, round uint64, mine []byte) []byte {
	return append(binary.LittleEndian.AppendUint64(b, round), mine...)
}

// parseOffer returns a slice of p.
func parseOffer(p []byte) (round uint64, theirs []byte, err error) {
	if len(p) < 8 {
		return 0, nil, protocolError("offer of %d bytes, want at least 8", len(p))
	}
	return binary.LittleEndian.Uint64(p), p[8:], nil
}

func appendTable(b []byte, round uint64, parts [][]byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, round)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(parts)))
	for _, p := range parts {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(p)))
		b = append(b, p...)
	}
	return b
}

// parseTable returns slices of p, size of them and none nil.
func parseTable(p []byte, size int) (round uint64, parts [][]byte, err error) {
	if len(p) < 12 {
		return 0, nil, protocolError("table of %d bytes, want at least 12", len(p))
	}
	round = binary.LittleEndian.Uint64(p)
	if n := binary.LittleEndian.Uint32(p[8:]); uint64(n) != uint64(size) {
		return 0, nil, protocolError("table of %d ranks in a job of %d", n, size)
	}
	p = p[12:]
	parts = make([][]byte, size)
	for i := range parts {
		if len(p) < 4 {
			return 0, nil, protocolError("table ends before rank %d", i)
		}
		n := binary.LittleEndian.Uint32(p)
		p = p[4:]
		if n > MaxExchange || uint64(n) > uint64(len(p)) {
			return 0, nil, protocolError("table gives rank %d %d bytes, %d remain and the limit is %d", i, n, len(p), MaxExchange)
		}
		parts[i], p = p[:n:n], p[n:]
	}
	if len(p) != 0 {
		return 0, nil, protocolError("table has %d bytes after its last rank", len(p))
	}
	return round, parts, nil
}

// appendFail appends why the peer's request has failed.
func appendFail(b []byte, why error) []byte {
	rank, text := uint32(noRank), why.Error()
	if lost, ok := errors.AsType[*cause.LostError](why); ok {
		rank, text = uint32(lost.Rank), lost.Reason
	}
	b = binary.LittleEndian.AppendUint32(b, rank)
	return append(b, text[:min(len(text), maxFailText)]...)
}

// parseFail returns the error that a fail frame carries, or an ErrProtocol
// about the frame.
func parseFail(p []byte, size int) error {
	if len(p) < 4 {
		return protocolError("fail of %d bytes, want at least 4", len(p))
	}
	rank, text := binary.LittleEndian.Uint32(p), string(p[4:])
	switch {
	case rank == noRank:
		return fmt.Errorf("the launcher refuses: %q", text)
	case uint64(rank) >= uint64(size):
		return protocolError("fail about rank %d in a job of %d", rank, size)
	}
	return &cause.LostError{Rank: int(rank), Reason: text}
}

// appendLost appends which rank is gone, and why.
func appendLost(b []byte, lost *cause.LostError) []byte { return appendFail(b, lost) }

// parseLost is the reverse of appendLost.
func parseLost(p []byte, size int) (lost *cause.LostError, err error) {
	if err = parseFail(p, size); errors.As(err, &lost) {
		return lost, nil
	}
	if !errors.Is(err, ErrProtocol) {
		err = protocolError("news of a lost rank without the rank")
	}
	return nil, err
}

func parseBlame(p []byte, size int) (rank int, err error) {
	if len(p) != 4 || binary.LittleEndian.Uint32(p) >= uint32(size) {
		return 0, protocolError("blame of %q, want one of %d ranks", p, size)
	}
	return int(binary.LittleEndian.Uint32(p)), nil
}

func appendAbort(b []byte, code byte, why string) []byte {
	b = append(b, code)
	return append(b, why[:min(len(why), maxFailText)]...)
}

func parseAbort(p []byte) (code byte, why string, err error) {
	if len(p) < 1 {
		return 0, "", protocolError("abort of %d bytes, want at least 1", len(p))
	}
	return p[0], string(p[1:]), nil
}
