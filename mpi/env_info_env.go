package mpi

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// InfoEnv tells how this process was started, as far as that is known: command,
// argv (the arguments, with spaces between them), host, arch (Go's name), wdir and
// thread_level (MPI_Info_create_env, MPI-4.0 §10). A value that is longer than
// MaxInfoValue is left out. It may be called before Init and after Finalize. Local.
func InfoEnv() *Info {
	i := &Info{}
	put := func(key, value string) {
		if value != "" {
			i.Set(key, value) // one that is too long is not told
		}
	}
	if len(os.Args) > 0 {
		put("command", os.Args[0])
		put("argv", strings.Join(os.Args[1:], " "))
	}
	if host, err := os.Hostname(); err == nil {
		put("host", host)
	}
	put("arch", runtime.GOARCH)
	if dir, err := os.Getwd(); err == nil {
		put("wdir", dir)
	}
	put("thread_level", QueryThread().String())
	return i
}

// InfoEnv is what the function InfoEnv tells, and the number of ranks of the job as
// maxprocs and as soft (MPI_INFO_ENV, MPI-4.0 §11.2.1). Local.
func (w *World) InfoEnv() *Info {
	i := InfoEnv()
	if w != nil && w.comm != nil {
		n := fmt.Sprint(w.comm.size)
		i.Set("maxprocs", n)
		i.Set("soft", n)
	}
	return i
}
