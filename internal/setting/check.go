package setting

import (
	"fmt"
	"slices"
	"strings"
)

// prefix begins the names of all variables.
const prefix = "WEFT_"

// reserved is in the names that are left to tests: WEFT_TEST_NODES,
// WEFT_MPI_TEST_ROLE.
const reserved = "_TEST_"

// UnknownError names a variable of the environment that nothing reads.
type UnknownError struct {
	Name, Value string
	Nearest     string // the name of a variable that is much like it, or ""
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("%s=%q: there is no such variable; %s", e.Name, e.Value, e.Remedy())
}

// Remedy says what the user can do.
func (e *UnknownError) Remedy() string {
	if e.Nearest != "" {
		return "did you mean " + e.Nearest + "?"
	}
	return "unset it; weft info -c lists those that there are"
}

// Unknown returns an *UnknownError about the first variable of env, a list of
// "name=value", that has a name of Weft's and is none of its, or nil. An empty one is
// not set. Names with _TEST_ in them are left to tests.
func Unknown(env []string) error {
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, prefix) || value == "" || strings.Contains(name, reserved) {
			continue
		}
		if _, ok := Find(name); !ok {
			return &UnknownError{Name: name, Value: value, Nearest: Nearest(name)}
		}
	}
	return nil
}

// Nearest returns the name of a user's variable that takes the fewest changes of a
// letter to make of name, or "" if it takes more than a third of the letters. A word
// that is left out counts as one change: WEFT_DEADLINE is near WEFT_TCP_DEADLINE.
func Nearest(name string) string {
	name = strings.TrimPrefix(strings.ToUpper(name), prefix)
	best, nearest := len(name)/3+1, ""
	for _, s := range List(User) {
		known := strings.TrimPrefix(s.Name, prefix)
		d := distance(name, known)
		if _, tail, ok := strings.Cut(known, "_"); ok { // without the transport
			d = min(d, 1+distance(name, tail))
		}
		if s.Name != "" && d < best {
			best, nearest = d, s.Name
		}
	}
	return nearest
}

// distance is Levenshtein's: how many letters to insert, remove or replace.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // from the letters of a so far to those of b up to each
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		above := slices.Clone(row)
		row[0] = i + 1
		for j := range len(b) {
			change := above[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, above[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
