// Package page makes one HTML page of a directory of results: plots, a table
// below each, the machine, the commands. The page needs neither network nor
// scripts. It draws a comparison alone too, as an SVG.
//
// It is for the command osu-go. It reads osu-go's documents (package record),
// what osu-go compare has printed, and the output of any program in OSU's
// format. It names what it can't read, with the reason, and goes on.
//
// read.go finds and reads the files. runs.go makes cards (card.go) of single runs
// and comparisons.go of comparisons, glance.go sums these up, and machine.go
// describes the machines. axis.go, lines.go, rows.go and clip.go lay out
// drawings, table.go tables. html.go fills in page.html and svg.go comparison.svg, with
// the parts of markup.go; both use drawing.css and colours.css. It imports
// bench/compare, bench/floor, bench/osufmt, bench/record and bench/spread.
package page
