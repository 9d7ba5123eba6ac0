package transports

import (
	"slices"
	"testing"
)

func TestHostsHaveNamesThatDiffer(t *testing.T) {
	type rank struct {
		host uint32
		card card
	}
	for _, c := range []struct {
		name  string
		ranks []rank
		want  []string
	}{
		{"one host", []rank{{0, card{Host: "a"}}, {0, card{Host: "a"}}}, []string{"a", "a"}},
		{"two hosts in turns", []rank{{0, card{Host: "a"}}, {1, card{Host: "b"}}, {0, card{Host: "a"}}}, []string{"a", "b", "a"}},
		{"three of one name", []rank{{0, card{Host: "a"}}, {1, card{Host: "a"}}, {2, card{Host: "a"}}, {1, card{Host: "a"}}}, []string{"a", "a~2", "a~3", "a~2"}},
		{"a name that looks like a second one", []rank{{0, card{Host: "a~2"}}, {1, card{Host: "a"}}, {2, card{Host: "a"}}}, []string{"a~2", "a", "a~3"}},
		{"a host divided", []rank{{0, card{Host: "a", Node: "x"}}, {0, card{Host: "a", Node: "y"}}, {1, card{Host: "b", Node: "x"}}}, []string{"x", "y", "x~2"}},
	} {
		var h hostNames
		var got []string
		for _, r := range c.ranks {
			got = append(got, h.name(r.host, r.card))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
