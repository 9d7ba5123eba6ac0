package strangers

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// MostText bounds what Line returns, in bytes, but for the dots behind a longer text.
const MostText = 1024

// Line returns text of another process as it may be shown on a terminal or in a log: what
// is not printable, a newline too, is escaped as in a string of Go, and what is too long
// is cut. Controls of a terminal and of the direction of writing are not printable.
// Ordinary text is as it was.
func Line(s string) string {
	odd := func(r rune) bool { return r == utf8.RuneError || !strconv.IsPrint(r) }
	if len(s) <= MostText && !strings.ContainsFunc(s, odd) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		shown := s[:n]
		if odd(r) {
			shown = strings.Trim(strconv.Quote(shown), `"`)
		}
		if b.Len()+len(shown) > MostText {
			return b.String() + "..."
		}
		b.WriteString(shown)
		s = s[n:]
	}
	return b.String()
}

// Lines is Line for each line of a text. Tabs in front of a line stay.
func Lines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		text := strings.TrimLeft(l, "\t")
		lines[i] = l[:len(l)-len(text)] + Line(text)
	}
	return strings.Join(lines, "\n")
}
