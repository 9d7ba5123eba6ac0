package report_test

import (
	"log/slog"
	"os"

	"github.com/weft-mpi/weft/internal/report"
)

// The library logs to an Aside, and the user's handler may do what it likes.
func ExampleAside() {
	noTime := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}
	aside := report.NewAside(slog.NewTextHandler(os.Stdout, noTime))
	slog.New(aside).Info("a peer has died", "rank", 3)
	aside.Flush()
	// Output: level=INFO msg="a peer has died" rank=3
}
