package shm

import (
	"strings"
	"testing"
)

// The size from which messages are read is the default or what the user says.
func TestSizeFromWhichToRead(t *testing.T) {
	for _, c := range []struct {
		set  string
		want int // 0: refused
	}{
		{"", DefaultGetMin}, {"49", 49}, {"65536", 65536}, {"1048576", 1 << 20},
		{"48", 0}, {"0", 0}, {"-1", 0}, {"1048577", 0}, {"16K", 0}, {" 9000", 0},
	} {
		n, err := GetMin(func(name string) string {
			if name != GetMinVar {
				t.Errorf("it looks at %s", name)
			}
			return c.set
		})
		switch {
		case c.want == 0 && (err == nil || !strings.Contains(err.Error(), GetMinVar)):
			t.Errorf("%q: %d, %v", c.set, n, err)
		case c.want > 0 && (err != nil || n != c.want):
			t.Errorf("%q: %d, %v, want %d", c.set, n, err, c.want)
		}
	}
}
