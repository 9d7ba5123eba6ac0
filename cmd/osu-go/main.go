package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/weft-mpi/weft/internal/launch"
)

// Exit statuses.
const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// usageError is an error in the command line.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, a ...any) error { return usageError{fmt.Errorf(format, a...)} }

// said is an error whose message has been printed already: the program exits
// with its status.
type said struct{ status int }

func (said) Error() string { return "said already" }

// run is main without the process: it returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	err := dispatch(args, stdout, stderr)
	var usage usageError
	var quiet said
	switch {
	case err == nil:
		return 0
	case errors.As(err, &quiet):
		return quiet.status
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "osu-go: %v\n", err)
		return exitUsage
	}
	fmt.Fprintf(stderr, "osu-go: %s\n", strings.ReplaceAll(err.Error(), "\n", "\nosu-go: "))
	return launch.ExitCode(err)
}

func dispatch(args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		writeUsage(stderr)
		return usagef("name a benchmark: osu-go list tells them")
	}
	switch name, rest := args[0], args[1:]; name {
	case "help", "-h", "--help":
		writeUsage(stdout)
		return nil
	case "list":
		return list(rest, stdout)
	case "floor":
		return runFloor(rest, stdout)
	case "compare":
		return runCompare(rest, stdout, stderr)
	case "report":
		return runReport(rest, stdout, stderr)
	default:
		s, err := parseRun(name, rest)
		if err != nil {
			return err
		}
		return measure(s, stdout, stderr)
	}
}
