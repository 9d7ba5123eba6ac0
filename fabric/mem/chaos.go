package mem

import "math/rand/v2"

// chaos chooses what a seeded domain does. It is the owner's.
type chaos struct {
	pcg   rand.PCG
	order []int // sources for one Poll: each peer, then the completions, then the deaths
}

func newChaos(seed, rank uint64, size int) *chaos {
	c := &chaos{order: make([]int, size+2)}
	c.pcg.Seed(seed, rank)
	for i := range c.order {
		c.order[i] = i
	}
	return c
}

// below returns a number from 0 to n-1; its small bias does not matter here.
func (c *chaos) below(n int) int { return int(c.pcg.Uint64() >> 1 % uint64(n)) }

// refuse decides whether to return ErrAgain.
func (c *chaos) refuse() bool { return c.below(16) == 0 }

// budget returns the number of events for a Poll of at most max.
func (c *chaos) budget(max int) int {
	if c.below(4) == 0 {
		return 1 + c.below(max)
	}
	return max
}

func (c *chaos) shuffle() []int {
	for i := len(c.order) - 1; i > 0; i-- {
		j := c.below(i + 1)
		c.order[i], c.order[j] = c.order[j], c.order[i]
	}
	return c.order
}
