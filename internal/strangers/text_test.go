package strangers

import (
	"strings"
	"testing"
)

func TestALineIsPrintableAndShort(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		`./hung -n "3" C:\new`:          `./hung -n "3" C:\new`,
		"Größe 界 é 😀 \ufffd":            "Größe 界 é 😀 \ufffd",
		"a\nb\r\tc\x00":                 `a\nb\r\tc\x00`,
		"\x1b]0;root\x07\x7f":           `\x1b]0;root\a\x7f`,
		"\u009b2J":                      `\u009b2J`,
		"\xff\xc3":                      `\xff\xc3`,
		"a\u202eb\u2066c\ufeff":         `a\u202eb\u2066c\ufeff`,
		"a\u2028b\u00a0":                `a\u2028b\u00a0`,
		strings.Repeat("x", MostText):   strings.Repeat("x", MostText),
		strings.Repeat("x", MostText+1): strings.Repeat("x", MostText) + "...",
		strings.Repeat("x", MostText-1) + "\x1b" + "y": strings.Repeat("x", MostText-1) + "...",
	} {
		if got := Line(text); got != want {
			t.Errorf("%.60q: %q, want %q", text, got, want)
		}
	}
	if got := Lines("goroutine 1:\n\tmain.go:3 +0x1\n\n\x1b[2J\r\n"); got != "goroutine 1:\n\tmain.go:3 +0x1\n\n\\x1b[2J\\r\n" {
		t.Errorf("%q", got)
	}
}
