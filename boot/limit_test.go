package boot

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestNumberOfRanksHasTypedLimits(t *testing.T) {
	wide := limits{1 << 40, 1 << 40}
	for _, c := range []struct {
		n     int
		l     limits
		limit uint64 // 0: accepted
	}{
		{-1, wide, 1}, {0, wide, 1}, {1, wide, 0},
		{MaxRanks, wide, 0}, {MaxRanks + 1, wide, MaxRanks},
		{10, limits{9, 1 << 40}, 9}, {9, limits{9, 1 << 40}, 0},
		{10, limits{1 << 40, fdsSpare + 9*fdsPerRank}, 9}, {9, limits{1 << 40, fdsSpare + 9*fdsPerRank}, 0},
		{1, limits{1 << 40, 3}, 0 + 1<<63},
	} {
		err := c.l.check(c.n)
		if c.limit == 0 {
			if err != nil {
				t.Errorf("%d ranks in %v: %v", c.n, c.l, err)
			}
			continue
		}
		e, ok := errors.AsType[*LimitError](err)
		if !ok || e.N != c.n || e.Limit != c.limit&^(1<<63) || !strings.Contains(e.Error(), fmt.Sprint(e.Limit)) {
			t.Errorf("%d ranks in %v: %v, want limit %d", c.n, c.l, err, c.limit)
		}
	}
	if _, err := launch(t, MaxRanks+1, "greet"); !errors.As(err, new(*LimitError)) {
		t.Error(err)
	}
}
