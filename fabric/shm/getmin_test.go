package shm

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

// The size from which messages are read is what the user says, or 0.
func TestSizeFromWhichToRead(t *testing.T) {
	for _, c := range []struct {
		set  string
		want int // -1: refused
	}{
		{"", 0}, {"49", 49}, {"65536", 65536}, {"1048576", 1 << 20},
		{"48", -1}, {"0", -1}, {"-1", -1}, {"1048577", -1}, {"16K", -1}, {" 9000", -1},
	} {
		n, err := Provider{}.GetMin(map[string]string{GetMinVar: c.set, "WEFT_SHM_OTHER": "1"})
		switch {
		case c.want < 0 && (err == nil || !strings.Contains(err.Error(), GetMinVar)):
			t.Errorf("%q: %d, %v", c.set, n, err)
		case c.want >= 0 && (err != nil || n != c.want):
			t.Errorf("%q: %d, %v, want %d", c.set, n, err, c.want)
		}
	}
}

// Open takes the size from its options, and from nowhere else.
func TestOpenTakesTheSizeFromItsOptions(t *testing.T) {
	t.Setenv(GetMinVar, "not for a transport to read")
	for set, want := range map[string]int{"": DefaultGetMin, "5000": 5000} {
		cfg := fabric.Config{Size: 1, Job: t.Name(), Log: slog.New(slog.DiscardHandler), Options: map[string]string{GetMinVar: set}}
		d := openOne(t, cfg).(*Domain)
		d.SetGetMin(20000)
		if set == "" {
			want = 20000
		}
		if got := d.Caps().RndvMin; got != want {
			t.Errorf("with %q messages are read from %d bytes on, want %d", set, got, want)
		}
	}
	_, err := Provider{}.Open(fabric.Config{Size: 1, Log: slog.Default(), Options: map[string]string{GetMinVar: "many"}})
	var bad *fabric.Error
	if !errors.As(err, &bad) || !strings.Contains(bad.Error(), GetMinVar) || bad.Remedy == "" {
		t.Errorf("a size that is no number: %v", err)
	}
}
