package diagnose_test

import (
	"log/slog"
	"os"

	"github.com/weft-mpi/weft/internal/diagnose"
)

// The library logs to a LogQueue, and the user's handler may do what it likes.
func ExampleLogQueue() {
	noTime := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}
	queue := diagnose.NewLogQueue(slog.NewTextHandler(os.Stdout, noTime))
	slog.New(queue).Info("a peer has died", "rank", 3)
	queue.Flush()
	// Output: level=INFO msg="a peer has died" rank=3
}
