package mpi

import (
	"io"
	"log/slog"
	"time"

	"github.com/weft-mpi/weft/pt2pt"
)

// Option changes how a World is made.
type Option func(*options)

type options struct {
	fabric   string
	log      *slog.Logger
	logs     *records // what log has not handed on yet
	noThread bool
	limits   pt2pt.Limits
	watch    time.Duration
	watchTo  io.Writer
	noSignal bool
}

func makeOptions(opts []Option) options {
	o := options{fabric: "auto", log: slog.Default(), limits: pt2pt.DefaultLimits}
	for _, f := range opts {
		if f != nil {
			f(&o)
		}
	}
	user := newAside(o.log.Handler())
	o.log, o.logs = slog.New(user), user.q
	return o
}

// WithFabric chooses the transport by name, one of Fabrics. "auto", the
// default, takes shm between processes, or what WEFT_FABRIC says, and mem
// between goroutines.
func WithFabric(name string) Option { return func(o *options) { o.fabric = name } }

// WithLogger sets where the library reports what is worth knowing and no
// error of a call. The default, and what nil stands for, is slog.Default. Its
// handler is called on a goroutine apart, one record at a time, and may call
// anything but Finalize.
func WithLogger(log *slog.Logger) Option {
	return func(o *options) {
		if o.log = log; log == nil {
			o.log = slog.Default()
		}
	}
}

// WithoutProgressThread leaves all progress to the calls of the application.
// Goroutines that wait are still woken.
func WithoutProgressThread() Option { return func(o *options) { o.noThread = true } }

// Limits bound what messages take up at a rank that does not ask for them; see
// WithLimits.
type Limits = pt2pt.Limits

// DefaultLimits are what a World has without WithLimits: about 250 MB at most.
var DefaultLimits = pt2pt.DefaultLimits

// WithLimits bounds what messages take up at this rank that no receive has asked
// for. Beyond the limits the rest of them waits at the senders. A receive whose
// message waits behind Limits.Messages others while none of them is received for
// Limits.Stall fails with a pt2pt.LimitError instead of hanging.
func WithLimits(l Limits) Option { return func(o *options) { o.limits = l } }
