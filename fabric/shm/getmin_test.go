package shm

import (
	"strings"
	"testing"
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
		n, err := GetMin(func(name string) string {
			if name != GetMinVar {
				t.Errorf("it looks at %s", name)
			}
			return c.set
		})
		switch {
		case c.want < 0 && (err == nil || !strings.Contains(err.Error(), GetMinVar)):
			t.Errorf("%q: %d, %v", c.set, n, err)
		case c.want >= 0 && (err != nil || n != c.want):
			t.Errorf("%q: %d, %v, want %d", c.set, n, err, c.want)
		}
	}
}
