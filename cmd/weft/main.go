// Command weft starts the ranks of a program, on this machine or on several, tells what
// they do and why they hang, what a job would use on this machine, and checks it.
//
//	weft run -n 4 ./program arguments
//	weft run --hosts a:2,b:2 ./program arguments
//	weft stacks
//	weft top
//	weft trace merge -o FILE PARTS...
//	weft info
//	weft doctor
//	weft --version
//
// Its exit code is the first of these that applies:
//   - 2 if the command line or a variable is wrong, or a limit permits fewer ranks;
//   - 141 if the reader of the ranks' output has gone;
//   - 128+n if signal n has stopped weft;
//   - the code of MPI_Abort if a rank has called it;
//   - the code of the first rank that failed, 128+n if signal n has killed it;
//   - 1 if the ranks could not be started, a host is lost, a rank exited without
//     MPI_Finalize, something could not be written, or weft doctor has found a problem;
//   - 0.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/pflag"
)

// Exit codes besides those of ranks.
const (
	exitFailed = 1
	exitUsage  = 2
)

// command is a command of weft, named by its first argument.
type command struct {
	name, what string // what is "" for a command that weft starts, not a user
	// run gets the arguments after the name and returns the exit code.
	run func(args []string, stdout, stderr io.Writer) int
}

func commands() []command {
	return []command{
		{"run", "start a program as the ranks of a job, here or on several hosts", runJob},
		{"info", "what a job would use on this machine, and why; -c: the configuration", runInfo},
		{"stacks", "what each rank of a job waits for, and why the job hangs", runStacks},
		{"top", "what the ranks of a job do now, as a table", runTop},
		{"trace", "merge: join the traces of a job's ranks into one file", runTrace},
		{"doctor", "whether this machine is fit for the ranks of a job, and what to do", runDoctor},
		{"version", "the version of weft, and of the packets that its ranks exchange", runVersion},
		{"agent", "", runAgent},
	}
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run runs a command. It looks at nothing before: an agent starts as fast as it can.
func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage())
		return exitUsage
	}
	name, rest := args[0], args[1:]
	switch name {
	case "-h", "--help":
		name, rest = "help", nil
	case "--version":
		name = "version"
	}
	if name == "help" {
		if len(rest) == 0 {
			return say(stdout, stderr, usage())
		}
		name, rest = rest[0], []string{"--help"}
	}
	for _, c := range commands() {
		if c.name == name {
			return c.run(rest, stdout, stderr)
		}
	}
	return wrong(stderr, unknown(name))
}

func usage() string {
	var b strings.Builder
	b.WriteString("weft starts the ranks of a program.\n\nusage: weft COMMAND [FLAGS] ...\n\n")
	for _, c := range commands() {
		if c.what != "" {
			fmt.Fprintf(&b, "  %-8s %s\n", c.name, c.what)
		}
	}
	b.WriteString("\nweft COMMAND -h tells the flags of a command; weft run -h the environment variables too.\n")
	return b.String()
}

// unknown is the error about a first argument that is no command. It suggests a
// similar one, or lists all.
func unknown(name string) error {
	if strings.HasPrefix(name, "-") || strings.Contains(name, "/") {
		return fmt.Errorf("%s is no command: to start a program write weft run -n RANKS PROGRAM", name)
	}
	var names []string
	for _, c := range commands() {
		if c.what == "" {
			continue
		}
		if levenshtein.ComputeDistance(name, c.name) <= 2 {
			return fmt.Errorf("there is no command %q: did you mean weft %s?", name, c.name)
		}
		names = append(names, c.name)
	}
	return fmt.Errorf("there is no command %q: it is one of %s; to start a program write weft run -n RANKS PROGRAM", name, strings.Join(names, ", "))
}

// parse reads the flags of a command. Its help is text, the flags, then more.
// done says that the command is to exit with code at once.
func parse(flags *pflag.FlagSet, args []string, text, more string, stdout, stderr io.Writer) (code int, done bool) {
	flags.SortFlags = false
	help := flags.BoolP("help", "h", false, "print this help")
	flags.Usage = func() {}
	switch err := flags.ParseAll(args, onlyOnce(flags)); {
	case err != nil:
		return wrong(stderr, fmt.Errorf("%w (weft %s -h tells the flags)", err, flags.Name())), true
	case *help:
		return say(stdout, stderr, text+flags.FlagUsages()+more), true
	case flags.Name() != "run" && slices.Contains(flags.Args(), ""): // those of a program are its own
		return wrong(stderr, fmt.Errorf("weft %s was given an empty argument", flags.Name())), true
	}
	return 0, false
}

// onlyOnce sets a flag, whose value is not empty, nor another one than before.
func onlyOnce(flags *pflag.FlagSet) func(*pflag.Flag, string) error {
	return func(f *pflag.Flag, value string) error {
		name := strings.Repeat("-", min(2, len(f.Name))) + f.Name
		if value == "" {
			return fmt.Errorf("%s has an empty value: give one, or leave the flag out", name)
		}
		given, before := f.Changed, f.Value.String()
		if err := flags.Set(f.Name, value); err != nil {
			return err
		}
		if given && f.Value.String() != before {
			return fmt.Errorf("%s is given twice, as %s and as %s: give it once", name, before, f.Value)
		}
		return nil
	}
}

// say prints the requested text.
func say(stdout, stderr io.Writer, text string) int {
	if _, err := io.WriteString(stdout, text); err != nil {
		fmt.Fprintln(stderr, "weft:", err)
		return exitFailed
	}
	return 0
}

// wrong reports a wrong command line.
func wrong(stderr io.Writer, err error) int {
	fmt.Fprintln(stderr, "weft:", err)
	return exitUsage
}

// noArguments is the error of a command that was given some.
func noArguments(flags *pflag.FlagSet) error {
	if flags.NArg() == 0 {
		return nil
	}
	return errors.New("weft " + flags.Name() + " takes no arguments, it was given " + strings.Join(flags.Args(), " "))
}
