package verbs

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// What two ranks tell each other of their queue pairs when they greet: a card, and
// one more for each rail. Integers are little-endian.
const (
	cardSize     = 4 + 4 + 4 + 2 + 3 + 16 + 4 + 4 + 8 + 1 + 4 + 8
	railCardSize = 4 + 4 + 2 + 4 + 16 + 4
)

// card is one end of a connection.
type card struct {
	qpn, psn  uint32
	slot      uint32 // bytes of a receive slot
	lid       uint16
	mtu       uint8 // as in enum ibv_mtu
	ethernet  bool
	answers   uint8 // READs and atomics it answers at a time
	gid       [16]byte
	window    uint32 // messages it takes before it has told of more room
	creditKey uint32
	credit    uint64 // where it wants to be told of room
	rails     uint8  // queue pairs besides, whose cards follow
	keysKey   uint32
	keys      uint64 // where its table of keys is, if it has several ports
}

func (c card) encode() []byte {
	le := binary.LittleEndian
	b := make([]byte, 0, cardSize)
	b = le.AppendUint32(b, c.qpn)
	b = le.AppendUint32(b, c.psn)
	b = le.AppendUint32(b, c.slot)
	b = le.AppendUint16(b, c.lid)
	b = append(b, c.mtu, 0, c.answers)
	if c.ethernet {
		b[15] = 1
	}
	b = append(b, c.gid[:]...)
	b = le.AppendUint32(b, c.window)
	b = le.AppendUint32(b, c.creditKey)
	b = le.AppendUint64(b, c.credit)
	b = append(b, c.rails)
	b = le.AppendUint32(b, c.keysKey)
	return le.AppendUint64(b, c.keys)
}

func decodeCard(b []byte) (c card, err error) {
	if len(b) != cardSize {
		return c, fmt.Errorf("card of %d bytes, want %d", len(b), cardSize)
	}
	le := binary.LittleEndian
	c.qpn, c.psn, c.slot = le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[8:])
	c.lid, c.mtu, c.ethernet, c.answers = le.Uint16(b[12:]), b[14], b[15] == 1, b[16]
	copy(c.gid[:], b[17:])
	c.window, c.creditKey, c.credit = le.Uint32(b[33:]), le.Uint32(b[37:]), le.Uint64(b[41:])
	c.rails, c.keysKey, c.keys = b[49], le.Uint32(b[50:]), le.Uint64(b[54:])
	switch {
	case c.window < 1 || c.window > 1<<14:
		err = fmt.Errorf("card with a window of %d messages", c.window)
	case c.mtu < 1 || c.mtu > 5:
		err = fmt.Errorf("card with the MTU code %d", c.mtu)
	case c.slot != slotSize:
		err = fmt.Errorf("slots of %d bytes meet slots of %d: run the same build of Weft on all ranks", c.slot, slotSize)
	case c.rails >= maxRails:
		err = fmt.Errorf("card with %d further queue pairs", c.rails)
	case c.credit%8 != 0:
		err = errors.New("card with a misplaced credit word")
	}
	return c, err
}

// railCard is one end of a queue pair for stripes.
type railCard struct {
	qpn, psn uint32
	lid      uint16
	mtu      uint8
	ethernet bool
	answers  uint8
	port     uint8 // its number among the ports of the rank, from 0 on
	gid      [16]byte
	keysKey  uint32 // of the table of keys on that port
}

func (c railCard) encode(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, c.qpn)
	b = le.AppendUint32(b, c.psn)
	b = le.AppendUint16(b, c.lid)
	kind := byte(0)
	if c.ethernet {
		kind = 1
	}
	b = append(b, c.mtu, kind, c.answers, c.port)
	b = append(b, c.gid[:]...)
	return le.AppendUint32(b, c.keysKey)
}

func decodeRailCard(b []byte) (c railCard, err error) {
	if len(b) != railCardSize {
		return c, fmt.Errorf("rail card of %d bytes, want %d", len(b), railCardSize)
	}
	le := binary.LittleEndian
	c.qpn, c.psn, c.lid = le.Uint32(b), le.Uint32(b[4:]), le.Uint16(b[8:])
	c.mtu, c.ethernet, c.answers, c.port = b[10], b[11] == 1, b[12], b[13]
	copy(c.gid[:], b[14:])
	c.keysKey = le.Uint32(b[30:])
	switch {
	case c.mtu < 1 || c.mtu > 5:
		err = fmt.Errorf("rail card with the MTU code %d", c.mtu)
	case c.port >= maxPorts:
		err = fmt.Errorf("rail card of port %d", c.port)
	}
	return c, err
}

// encodeCards is a card with those of the rails.
func encodeCards(c card, rails []railCard) []byte {
	c.rails = uint8(len(rails))
	b := c.encode()
	for _, r := range rails {
		b = r.encode(b)
	}
	return b
}

// decodeCards reads what encodeCards made.
func decodeCards(b []byte) (c card, rails []railCard, err error) {
	if c, err = decodeCard(b[:min(cardSize, len(b))]); err != nil {
		return c, nil, err
	}
	if b = b[cardSize:]; len(b) != int(c.rails)*railCardSize {
		return c, nil, fmt.Errorf("%d bytes of the cards of %d further queue pairs", len(b), c.rails)
	}
	for ; len(b) > 0; b = b[railCardSize:] {
		r, err := decodeRailCard(b[:railCardSize])
		if err != nil {
			return c, nil, err
		}
		rails = append(rails, r)
	}
	return c, rails, nil
}
