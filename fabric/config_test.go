package fabric_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

// A Config may be logged: its key is told to nobody.
func TestAKeyIsNotPrinted(t *testing.T) {
	c := fabric.Config{Key: fabric.Key{0xde, 0xad, 0xbe, 0xef}}
	marshaled, err := json.Marshal(c.Key)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	timeless := &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey { // may have the same digits
			return slog.Attr{}
		}
		return a
	}}
	slog.New(slog.NewTextHandler(&log, timeless)).Info("open", "key", c.Key, "config", c)
	slog.New(slog.NewJSONHandler(&log, timeless)).Info("open", "key", c.Key)
	for _, s := range []string{fmt.Sprint(c), fmt.Sprintf("%+v %x %#v %d", c, c.Key, c.Key, c.Key), string(marshaled), log.String()} {
		if !strings.Contains(s, "redacted") || strings.Contains(strings.ToLower(s), "dead") || strings.Contains(s, "222") {
			t.Errorf("the key is in %q", s)
		}
	}
}
