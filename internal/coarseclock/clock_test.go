package coarseclock

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestTheClockMovesWhileItIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := 0
		stop := EverySecond(func() { told++ })
		begun := Now()
		check := func(when string, seconds, calls int) {
			t.Helper()
			time.Sleep(3300 * time.Millisecond) // of the bubble, never at a tick
			if since := Since(begun); since != time.Duration(seconds)*time.Second || told != calls {
				t.Errorf("%s: %v have passed and %d calls", when, since, told)
			}
		}
		check("unused", 0, 0)
		Use()
		check("with a use", 3, 3)
		Use()
		Drop()
		stop()
		check("with a use of two", 6, 3)
		Drop()
		check("without a use", 6, 3)
	})
}
