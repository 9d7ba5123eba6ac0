package setting

import "slices"

// Kind says who sets a variable.
type Kind uint8

const (
	User        Kind = iota // a user, alike for all ranks of a job
	Launcher                // weft run, for each rank
	Development             // scripts and tests of Weft itself
)

// Setting is a variable of the environment, an option in code, or both.
type Setting struct {
	Kind    Kind
	Name    string // of the variable; "" where there is an option only
	Option  string // the function of package mpi that sets the same, and wins; "" without one
	Values  string // what it takes, in the notation of a command's help
	Default string // a value, or words where there is no value for it
	Literal bool   // Default is a value that the variable takes
	PerRank bool   // ranks may have different ones
	Reader  string // the package that reads it
	What    string // one line, in plain text
	More    string // the rest, in Markdown
}

// List returns all settings of some kind, in the order of the documents. The caller
// owns it.
func List(k Kind) []Setting {
	return slices.DeleteFunc(slices.Clone(all), func(s Setting) bool { return s.Kind != k })
}

// Variables returns the variables of all kinds. The caller owns the list.
func Variables() []Setting {
	return slices.DeleteFunc(slices.Clone(all), func(s Setting) bool { return s.Name == "" })
}

// Find returns the setting of a variable.
func Find(name string) (Setting, bool) {
	i := slices.IndexFunc(all, func(s Setting) bool { return s.Name == name && name != "" })
	if i < 0 {
		return Setting{}, false
	}
	return all[i], true
}
