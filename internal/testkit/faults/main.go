package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/mpi"
)

func main() {
	if text := os.Getenv(runVar); text != "" {
		if err := playRank(text); err != nil {
			fmt.Fprintln(os.Stderr, "faults:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := launch.WithSignals(context.Background())
	defer stop()
	err := command(ctx, os.Args[1:], os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		err = nil
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// command is the command with its arguments.
func command(ctx context.Context, args []string, out *os.File) error {
	flags := flag.NewFlagSet("faults", flag.ContinueOnError)
	m := matrix{}
	flags.IntVar(&m.runs, "runs", 100, "run each state, role and transport so often")
	match := flags.String("run", "", "run what matches the `REGEXP`: state/role/transport, as in FIN outstanding/sender/tcp")
	chosen := flags.String("transport", "", "a `LIST` with commas of fabrics; all that this machine has if empty")
	flags.Uint64Var(&m.seed, "seed", 1, "of the first run of each; it says when the kill comes")
	flags.DurationVar(&m.limit, "hang", time.Minute, "call a run hung after so long")
	flags.StringVar(&m.plant, "plant", "", "let a survivor `MISBEHAVE`, to see it found: hang, wrong, descriptor, goroutine, shm, process, unreached")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || m.runs < 1 {
		return fmt.Errorf("faults: give at least one run and no arguments, not -runs %d %q", m.runs, flags.Args())
	}
	var err error
	if m.match, err = regexp.Compile(*match); err != nil {
		return fmt.Errorf("faults: -run: %w", err)
	}
	if m.transports, err = transports(*chosen, out); err != nil {
		return err
	}
	if !wrapped {
		return errors.New("faults: this build has no points to kill a rank at: build it with -tags faults")
	}
	if err := prime(); err != nil {
		return fmt.Errorf("faults: %w", err)
	}
	// What a job leaves running becomes a child of this process.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("faults: become the subreaper: %w", err)
	}
	var status io.Writer
	if _, err := unix.IoctlGetTermios(int(os.Stderr.Fd()), unix.TCGETS); err == nil {
		status = os.Stderr
	}
	return m.print(ctx, out, status)
}

// transports are the fabrics to run over: those of the list, or all there are. It
// says which are left out, and why.
func transports(list string, out io.Writer) (names []string, err error) {
	if list != "" {
		names = strings.Split(list, ",")
		for _, name := range names {
			if err := mpi.FabricAvailable(name); err != nil {
				return nil, fmt.Errorf("faults: %w", err)
			}
		}
		return names, nil
	}
	for _, name := range []string{"shm", "tcp", "shm+tcp", "verbs"} {
		if err := mpi.FabricAvailable(name); err != nil {
			fmt.Fprintf(out, "left out: %v\n", err)
			continue
		}
		names = append(names, name)
	}
	return names, nil
}
