package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/weft-mpi/weft/bench"
	"github.com/weft-mpi/weft/internal/launch"
)

// ranksPerCore bounds -n: with more ranks a run would measure nothing but the
// scheduler.
const ranksPerCore = 32

// commands are the possible first arguments, besides the benchmarks.
var commands = []string{"list", "floor", "compare", "report", "help"}

// lookup returns a benchmark, or an error with the nearest name.
func lookup(name string, also ...string) (*bench.Benchmark, error) {
	if b, ok := bench.Lookup(name); ok {
		return b, nil
	}
	words := also
	for _, b := range bench.All() {
		words = append(words, b.Name)
	}
	return nil, usagef("there is no benchmark %q: did you mean %s? (osu-go list tells them all)", name, nearest(name, words))
}

// newSettings returns the defaults of a benchmark.
func newSettings(b *bench.Benchmark) *settings {
	return &settings{bench: b, o: b.Defaults, ranks: max(2, b.MinRanks), fabric: "auto", decimals: 2}
}

// setting is the pflag.Value of an option.
type setting struct {
	s    *settings
	o    *option
	text string
}

func (v *setting) String() string { return v.text }
func (v *setting) Type() string {
	if v.o.arg == "" {
		return "bool"
	}
	return v.o.arg
}
func (v *setting) Set(text string) error {
	v.text = text
	return v.o.set(v.s, text)
}

// flagSet makes the flags of s.bench.
func flagSet(s *settings) *pflag.FlagSet {
	fs := pflag.NewFlagSet(s.bench.Name, pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	fs.SortFlags = false
	for i := range options {
		o := &options[i]
		if !strings.Contains(s.bench.Flags, o.letter) {
			continue
		}
		f := fs.VarPF(&setting{s: s, o: o}, o.long, o.short, o.usage)
		switch {
		case o.arg == "":
			f.NoOptDefVal = "true"
		case o.optional != "":
			f.NoOptDefVal = o.optional
		}
	}
	return fs
}

// parseRun reads the command line of a benchmark.
func parseRun(name string, args []string) (*settings, error) {
	b, err := lookup(name, slices.Clone(commands)...)
	if err != nil {
		return nil, err
	}
	s := newSettings(b)
	fs := flagSet(s)
	if err := parseFlags(b.Name, fs, args); err != nil {
		return nil, err
	}
	if s.help || s.version {
		return s, nil
	}
	if fs.NArg() > 0 {
		return nil, usagef("%s takes flags only, what is %q?", b.Name, fs.Arg(0))
	}
	return s, s.check(fs)
}

// check checks the settings together, after fs has been parsed into them.
func (s *settings) check(fs *pflag.FlagSet) error {
	_, cores := processors()
	if most := min(ranksPerCore*cores, launch.MaxRanks); s.ranks > most {
		return usagef("-n %d: %d cores can sensibly run at most %d ranks (%d a core)", s.ranks, cores, most, ranksPerCore)
	}
	if err := s.bench.CheckRanks(s.ranks); err != nil {
		return usageError{err}
	}
	if err := s.bench.Check(&s.o); err != nil {
		return usageError{err}
	}
	fs.Visit(func(f *pflag.Flag) {
		if v, ok := f.Value.(*setting); ok && !v.o.private {
			s.forward = append(s.forward, "--"+f.Name+"="+f.Value.String())
		}
	})
	return nil
}

// parseFlags parses args, with the nearest name in the error about a flag that
// does not exist.
func parseFlags(name string, fs *pflag.FlagSet, args []string) error {
	err := fs.ParseAll(glueOptional(fs, args), onlyOnce(fs))
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		if err != nil {
			return usageError{fmt.Errorf("%s: %w", name, err)}
		}
		return nil
	}
	if unknown.GetSpecifiedShortnames() != "" {
		letter := unknown.GetSpecifiedName()
		return usagef("%s has no flag -%s%s", name, letter, meant(fs, letter))
	}
	long := unknown.GetSpecifiedName()
	if others := having(func(o *option) bool { return o.long == long }); others != "" {
		return usagef("%s has no flag --%s, only %s", name, long, others)
	}
	var names []string
	fs.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return usagef("%s has no flag --%s: did you mean --%s?", name, long, nearest(long, names))
}

// onlyOnce sets a flag, whose value is not empty, nor another one than before.
func onlyOnce(fs *pflag.FlagSet) func(*pflag.Flag, string) error {
	return func(f *pflag.Flag, value string) error {
		if value == "" {
			return fmt.Errorf("--%s has an empty value: give one, or leave the flag out", f.Name)
		}
		given, before := f.Changed, f.Value.String()
		if err := fs.Set(f.Name, value); err != nil {
			return err
		}
		if given && f.Value.String() != before {
			return fmt.Errorf("--%s is given twice, as %s and as %s: give it once", f.Name, before, f.Value)
		}
		return nil
	}
}

// meant suggests a flag for a letter that is no flag.
func meant(fs *pflag.FlagSet, letter string) string {
	for _, l := range []string{strings.ToLower(letter), strings.ToUpper(letter)} {
		if len(l) != 1 {
			continue // pflag panics on letters beyond ASCII
		}
		if f := fs.ShorthandLookup(l); f != nil {
			return fmt.Sprintf(": did you mean -%s, --%s?", l, f.Name)
		}
	}
	if others := having(func(o *option) bool { return o.short == letter }); others != "" {
		return ", only " + others
	}
	var letters []string
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Shorthand != "" {
			letters = append(letters, "-"+f.Shorthand)
		}
	})
	return ": it has " + strings.Join(letters, " ")
}

// having names the benchmarks that have an option.
func having(is func(*option) bool) string {
	var names []string
	for i := range options {
		for _, b := range bench.All() {
			if is(&options[i]) && strings.Contains(b.Flags, options[i].letter) {
				names = append(names, b.Name)
			}
		}
	}
	return strings.Join(names, ", ")
}

// glueOptional writes "-z50,99" as "-z=50,99", also inside a cluster. getopt,
// and so OSU, takes text attached to an option with an optional argument for
// that argument; pflag takes it for more switches.
func glueOptional(fs *pflag.FlagSet, args []string) []string {
	out := slices.Clone(args)
	for i := 0; i < len(out) && out[i] != "--"; i++ {
		a := out[i]
		if len(a) < 2 || a[0] != '-' || a[1] == '-' {
			continue
		}
	cluster:
		for at := 1; at < len(a); at++ {
			f := fs.ShorthandLookup(a[at : at+1])
			if f == nil {
				break
			}
			v, _ := f.Value.(*setting)
			rest := a[at+1:]
			switch {
			case f.NoOptDefVal == "": // takes the rest, or else the next argument
				if rest == "" {
					i++
				}
				break cluster
			case v != nil && v.o.optional != "":
				if rest != "" && rest[0] != '=' {
					out[i] = a[:at+1] + "=" + rest
				}
				break cluster
			}
		}
	}
	return out
}
