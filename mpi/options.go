package mpi

import (
	"log/slog"
)

// Option changes how a World is made.
type Option func(*options)

type options struct {
	fabric   string
	log      *slog.Logger
	noThread bool
}

func makeOptions(opts []Option) options {
	o := options{fabric: "auto", log: slog.Default()}
	for _, f := range opts {
		f(&o)
	}
	return o
}

// WithFabric chooses the transport by name, one of Fabrics. "auto", the
// default, takes shm between processes and mem between goroutines.
func WithFabric(name string) Option { return func(o *options) { o.fabric = name } }

// WithLogger sets where the library reports what is worth knowing and no
// error of a call. The default is slog.Default.
func WithLogger(log *slog.Logger) Option { return func(o *options) { o.log = log } }

// WithoutProgressThread leaves all progress to the calls of the application.
// Goroutines that wait are still woken.
func WithoutProgressThread() Option { return func(o *options) { o.noThread = true } }
