// Command weft starts the ranks of a program on this machine, and says what
// this machine has for them to talk over.
//
//	weft run -n 4 ./program arguments
//	weft info
//
// It exits with the code of the first rank that failed, 128+n if signal n has
// killed that rank or ended weft itself, 1 if the ranks could not be started or
// their output not written, and 2 on a wrong command line.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/weft-mpi/weft/boot"
)

const usage = `weft starts the ranks of a program on this machine.

usage: weft run [-n RANKS] [--bind auto|none] [--keep-going] PROGRAM [ARGUMENTS...]
       weft info    fabrics and RDMA devices, and why one can't be used

`

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	flags := pflag.NewFlagSet("weft", pflag.ContinueOnError)
	flags.SetInterspersed(false)
	n := flags.IntP("n", "n", 1, "ranks to start")
	bind := flags.String("bind", "auto", "auto: a core for each rank if there are enough; none: leave it to the system")
	keepGoing := flags.Bool("keep-going", false, "let the job go on when a rank fails: the others are told")
	slack := flags.Duration("timer-slack", 0, "let the kernel delay the ranks' timers by so much, 4ms say; 0 leaves it")
	noRseq := flags.Bool("no-rseq", false, "keep the ranks' C library from restartable sequences (GLIBC_TUNABLES)")
	flags.Usage = func() { fmt.Fprint(os.Stderr, usage, flags.FlagUsages()) }
	if len(args) == 1 && args[0] == "info" {
		return info(os.Stdout)
	}
	if len(args) == 0 || args[0] != "run" {
		if len(args) > 0 && (args[0] == "-h" || args[0] == "--help" || args[0] == "help") {
			flags.Usage()
			return 0
		}
		if len(args) > 0 {
			return wrong(fmt.Errorf("there is no command %q: it is run or info", args[0]))
		}
		flags.Usage()
		return 2
	}
	if err := flags.Parse(args[1:]); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return 0
		}
		return wrong(err)
	}
	binds := map[string]boot.Bind{"auto": boot.BindAuto, "none": boot.BindNone}
	how, ok := binds[*bind]
	switch {
	case !ok:
		return wrong(fmt.Errorf("unknown --bind %q: use auto or none", *bind))
	case flags.NArg() == 0:
		return wrong(errors.New("no program to run"))
	}
	ctx, stop := boot.WithSignals(context.Background())
	defer stop()
	l := boot.Launch{N: *n, Path: flags.Arg(0), Args: flags.Args()[1:], Bind: how,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, KeepGoing: *keepGoing,
		TimerSlack: *slack, NoRseq: *noRseq}
	err := l.Run(ctx)
	if err == nil {
		return 0
	}
	// A line for each rank that failed.
	fmt.Fprintln(os.Stderr, "weft:", strings.ReplaceAll(err.Error(), "\n", "\nweft: "))
	var limit *boot.LimitError
	if errors.As(err, &limit) {
		return 2
	}
	return boot.ExitCode(err)
}

func wrong(err error) int {
	fmt.Fprintln(os.Stderr, "weft:", err)
	return 2
}
