package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
)

// playBadCard: rank 1 brings a card that no rank brings, and leaves in order.
func playBadCard() error {
	if rankNumber() != 1 {
		_, err := Discover(context.Background())
		if !errors.Is(err, ErrProtocol) {
			return fmt.Errorf("Discover: %v", err)
		}
		fmt.Println(err)
		return nil
	}
	card := []byte{cardVersion + 1}
	if os.Getenv(badVar) == "leads" {
		c, err := newCard()
		if err != nil {
			return err
		}
		c.leads = true
		card = c.append(nil)
	}
	conn, err := inheritedConn(os.LookupEnv, envFD)
	if err != nil {
		return err
	}
	_, err = conn.Write(appendFrame(joinWith(card), kindBye, nil))
	return err
}

// joinWith is what a rank sends that joins its job and brings a card.
func joinWith(card []byte) []byte {
	size, _ := strconv.Atoi(os.Getenv(envSize))
	b := appendFrame(nil, kindHello, hello{uint32(rankNumber()), uint32(size)}.append(nil))
	return appendFrame(b, kindOffer, appendOffer(nil, 0, card))
}

// ownCard is this process's card, in bytes.
func ownCard() ([]byte, error) {
	c, err := newCard()
	return c.append(nil), err
}
