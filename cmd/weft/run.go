package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/internal/scrape"
	"github.com/weft-mpi/weft/mpi"
)

const runUsage = `weft run starts a program as the ranks of a job: on this machine, or on the hosts
that --hosts or --hostfile names, by an agent on each that ssh starts.

usage: weft run [FLAGS] PROGRAM [ARGUMENTS...]

`

// runNotes is the help after the flags.
const runNotes = `
Rank 0 reads weft's standard input. What ranks write comes out in whole lines of
up to 1 MiB; the beginning of a line appears after a tenth of a second where
there is one rank, or a terminal. The ranks themselves write into pipes, so a C
program may have to flush.

SIGINT, SIGTERM and SIGQUIT go to all ranks and end the job; SIGHUP does so as SIGTERM,
unless weft was started to ignore it (nohup). SIGUSR1 and SIGUSR2 go to all ranks. SIGTSTP
stops the ranks and weft, and SIGCONT continues them. Each rank's process group gets the
signal, a shell around the program too.

`

// mostSlack is the most by which the kernel may delay a rank's timers: the shortest limits
// of time in a job are of some seconds.
const mostSlack = time.Second

// runJob starts the ranks of a program and waits until they have exited.
func runJob(args []string, stdout, stderr io.Writer) int {
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	flags.SetInterspersed(false)
	n := flags.IntP("n", "n", 1, "start so many `RANKS`; -np is the same. Without it one, or as many as the hosts have slots")
	var on places
	on.flags(flags)
	label := flags.BoolP("label", "l", false, "begin each line of output with its rank")
	bind := flags.String("bind", "auto", "`HOW`, auto: a core for each rank if there are enough; none: leave it to the system")
	keepGoing := flags.Bool("keep-going", false, "let the job go on when a rank fails: the others are told")
	traced := flags.String("trace", "", "record messages, waits and collective calls into `FILE`, which Perfetto shows (WEFT_TRACE)")
	slack := flags.Duration("timer-slack", 0, "let the kernel delay the ranks' timers by so much, 4ms say, up to 1s; 0 leaves it")
	noRseq := flags.Bool("no-rseq", false, "keep the ranks' C library from restartable sequences (GLIBC_TUNABLES)")
	addr := flags.String("metrics", "", "serve the ranks' counters to Prometheus at `ADDR`, HOST:PORT or :PORT for the loopback interface")
	file := flags.String("metrics-file", "", "write the ranks' counters to `PATH`, for the textfile collector of the node exporter")
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "np" {
			name = "n"
		}
		return pflag.NormalizedName(name)
	})
	if code, done := parse(flags, withoutNP(flags, args), runUsage, runNotes+variables(), stdout, stderr); done {
		return code
	}
	how, ok := map[string]launch.Bind{"auto": launch.BindAuto, "none": launch.BindNone}[*bind]
	switch {
	case !ok:
		return wrong(stderr, fmt.Errorf("unknown --bind %q: use auto or none", *bind))
	case *slack < 0 || *slack > mostSlack:
		return wrong(stderr, fmt.Errorf("--timer-slack %v: a time of up to %v, or 0 to leave the timers as they are", *slack, mostSlack))
	case flags.Arg(0) == "":
		return wrong(stderr, errors.New("no program to run: write weft run -n RANKS PROGRAM"))
	}
	l := launch.Launch{N: *n, Path: flags.Arg(0), Args: flags.Args()[1:], Bind: how,
		Stdin: os.Stdin, Stdout: stdout, Stderr: stderr, Label: *label, KeepGoing: *keepGoing,
		TimerSlack: *slack, NoRseq: *noRseq}
	if err := on.place(&l, flags.Changed("n")); err != nil {
		return wrong(stderr, err)
	}
	if *traced != "" {
		file, err := filepath.Abs(*traced) // a rank may have gone elsewhere when it joins the job
		if err == nil {
			err = os.Setenv("WEFT_TRACE", file)
		}
		if err != nil {
			return wrong(stderr, fmt.Errorf("--trace %s: %w", *traced, err))
		}
	}
	if err := mpi.CheckEnvironment(); err != nil { // once, and not by each rank
		return wrong(stderr, err)
	}
	counters, err := startMetrics(*addr, *file, stderr)
	if err != nil {
		return wrong(stderr, err)
	}
	if counters != nil && l.Hosts != nil {
		fmt.Fprintln(stderr, "weft: --metrics shows the ranks of this host only: on other hosts a program can serve its counters itself (metrics.Serve)")
	}
	// Without a handler a write to a closed pipe would kill this process, and
	// leave behind the processes that ranks have started. Ranks do not inherit
	// the handler.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := launch.WithSignals(context.Background())
	defer stop()
	if counters != nil {
		l.Begun = func(id string, key launch.Key) { counters.Begun(id, key, l.N) }
	}
	err = l.Run(ctx)
	return finish(errors.Join(err, counters.Close()), stderr)
}

// startMetrics begins to show the ranks' counters if that is asked for.
func startMetrics(addr, file string, stderr io.Writer) (*scrape.Server, error) {
	if addr+file != "" && os.Getenv("WEFT_PEEK") == "0" {
		return nil, errors.New("--metrics asks the ranks at their sockets, which WEFT_PEEK=0 keeps them from opening: unset it")
	}
	return scrape.Start(scrape.Config{Command: "weft", Addr: addr, File: file, Messages: stderr})
}

// finish reports the errors of a job and returns weft's exit code.
func finish(err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	var lost *launch.OutputError
	if errors.As(err, &lost) && errors.Is(lost, syscall.EPIPE) {
		// The other errors follow from this one: the job was stopped.
		fmt.Fprintln(stderr, "weft:", lost)
		return 128 + int(syscall.SIGPIPE)
	}
	// A line for each rank that failed.
	fmt.Fprintln(stderr, "weft:", strings.ReplaceAll(err.Error(), "\n", "\nweft: "))
	var limit *launch.LimitError
	if errors.As(err, &limit) {
		return exitUsage
	}
	return launch.ExitCode(err)
}

// withoutNP replaces -np, a flag of MPICH and Open MPI, by --np: pflag reads
// -np as -n with the value p. The values of flags, and the program with its
// arguments, stay as they are.
func withoutNP(flags *pflag.FlagSet, args []string) []string {
	args = append([]string{}, args...)
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" || a == "-" || !strings.HasPrefix(a, "-") {
			break
		}
		if a == "-np" || strings.HasPrefix(a, "-np=") {
			a = "-" + a
			args[i] = a
		}
		if takesNext(flags, a) {
			i++
		}
	}
	return args
}

// takesNext reports whether the value of a flag, or of the last of several
// letters, is the next argument.
func takesNext(flags *pflag.FlagSet, arg string) bool {
	if long, ok := strings.CutPrefix(arg, "--"); ok {
		f := flags.Lookup(long) // nil for --flag=value
		return f != nil && f.NoOptDefVal == ""
	}
	for letters := arg[1:]; letters != ""; letters = letters[1:] {
		f := flags.ShorthandLookup(letters[:1])
		if f == nil {
			return false
		}
		if f.NoOptDefVal == "" {
			return letters[1:] == ""
		}
	}
	return false
}
