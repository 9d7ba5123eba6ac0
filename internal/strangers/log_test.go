package strangers

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAnEventIsToldOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said strings.Builder
		l := NewLog(slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}})))
		for i := range 1000 {
			l.Tell(slog.LevelWarn, "refused", "n", i)
		}
		l.Tell(slog.LevelInfo, "another")
		time.Sleep(toldEach - 1)
		l.Tell(slog.LevelWarn, "refused", "n", 1000)
		time.Sleep(time.Nanosecond)
		l.Tell(slog.LevelWarn, "refused", "n", 1001)
		time.Sleep(toldEach)
		l.Tell(slog.LevelWarn, "refused", "n", 1002)
		const want = "level=WARN msg=refused n=0\nlevel=INFO msg=another\nlevel=WARN msg=refused n=1001 more_since_the_last=1000\nlevel=WARN msg=refused n=1002\n"
		if said.String() != want {
			t.Errorf("%swant\n%s", &said, want)
		}
	})
}
