package page

import "strings"

// textSize is the largest size of a text in a drawing: style.css sets it for
// narrow pages.
const textSize = 12.0

// Widths of letters in ems, as those of wide fonts.
const (
	narrowEm = 0.4
	usualEm  = 0.65
	wideEm   = 1.0
)

// advance is at least the width of a letter in ems, whatever the font.
func advance(r rune) float64 {
	switch {
	case strings.ContainsRune(" .,:;'|!()ijlftrI/-", r):
		return narrowEm
	case r < 0x80 && !strings.ContainsRune("mwMWQ@%&+<=>~#_", r) && !(r >= 'A' && r <= 'Z'):
		return usualEm
	}
	return wideEm
}

// clip shortens a text so that it fits into a width of a drawing.
func clip(s string, width float64) string {
	const dots = "…"
	most := width/textSize - wideEm
	used, cut := 0.0, -1
	for i, r := range s {
		if used += advance(r); used > most && cut < 0 {
			cut = i
		}
	}
	if used <= most+wideEm {
		return s
	}
	return s[:cut] + dots
}
