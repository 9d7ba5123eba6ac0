package partitioned

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/weft-mpi/weft/progress"
)

// Blocks that are ready before their receiver is are early, in packets too, and each
// round counts once at either end.
func TestRoundsAndBlocksAreCounted(t *testing.T) {
	const parts, rounds = 4, 6
	for name, open := range transports() {
		for _, part := range []int{8, 1 << 16} { // packets, blocks of one partition
			t.Run(fmt.Sprintf("%s/%d", name, part), func(t *testing.T) {
				es := pair(t, open(), true)
				s, r := es[0].PsendInit(t.Context(), 1, 2, 0, make([]byte, parts*part), parts), es[1].PrecvInit(t.Context(), 0, 2, 0, make([]byte, parts*part), parts)
				for round := range rounds {
					if receiverFirst := round%3 == 1; receiverFirst {
						must(t, progress.Restart(r.h))
						for s.began.Load() != s.round.Load()+1 {
							runtime.Gosched()
						}
						must(t, progress.Restart(s.h))
						for i := range parts {
							must(t, s.Ready(i, i))
						}
					} else {
						must(t, progress.Restart(s.h))
						must(t, s.Ready(0, parts-1))
						must(t, progress.Restart(r.h))
					}
					for _, h := range []progress.Handle{s.h, r.h} {
						if _, err := progress.Wait(&h); err != nil {
							t.Fatal(err)
						}
					}
				}
				all := uint64(rounds * s.shape.blocks())
				for i, want := range []map[[2]string]uint64{
					{{"blocks", "early"}: all * 2 / 3, {"blocks", "late"}: all / 3, {"rounds", "sent"}: rounds, {"bytes", "sent"}: uint64(rounds * parts * part)},
					{{"rounds", "received"}: rounds, {"bytes", "received"}: uint64(rounds * parts * part)},
				} {
					snapshot := es[i].loop.Snapshot()
					for _, family := range []string{"blocks", "rounds", "bytes"} {
						for _, value := range []string{"early", "late", "sent", "received"} {
							if got := snapshot.Value("weft_part_"+family+"_total", value); got != want[[2]string{family, value}] {
								t.Errorf("rank %d: %s %s: %d instead of %d", i, family, value, got, want[[2]string{family, value}])
							}
						}
					}
				}
			})
		}
	}
}
