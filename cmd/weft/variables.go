package main

import (
	"fmt"
	"strings"

	"github.com/weft-mpi/weft/internal/setting"
)

// variables is the part of the help about the environment.
func variables() string {
	var b strings.Builder
	list := func(title string, kind setting.Kind) {
		b.WriteString(title)
		for _, s := range setting.List(kind) {
			name := s.Name
			if s.Values != "" {
				name += "=" + s.Values
			}
			if s.Name != "" {
				fmt.Fprintf(&b, "  %-33s %s\n", name, s.What)
			}
		}
	}
	list("Environment variables, the same for all ranks (docs/configuration.md has more):\n", setting.User)
	b.WriteString("Other names that begin with WEFT_ are refused; an option in code wins.\n")
	list("Set for each rank:\n", setting.Launcher)
	b.WriteString("A rank that computes in Go gets two processors (GOMAXPROCS) more, for its progress\nthread, unless GOMAXPROCS is set.\n")
	return b.String()
}
