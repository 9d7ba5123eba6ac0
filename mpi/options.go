package mpi

import (
	"io"
	"log/slog"
	"time"

	"github.com/weft-mpi/weft/pt2pt"
	"github.com/weft-mpi/weft/report"
)

// Option changes how a World is made.
type Option func(*options)

type options struct {
	fabric   string
	log      *slog.Logger
	logs     *report.Aside // the log's handler
	noThread bool
	limits   Limits
	watch    time.Duration
	watchTo  io.Writer
	noSignal bool
}

func makeOptions(opts []Option) options {
	o := options{fabric: "auto", log: slog.Default(), limits: DefaultLimits}
	for _, f := range opts {
		if f != nil {
			f(&o)
		}
	}
	o.logs = report.NewAside(o.log.Handler())
	o.log = slog.New(o.logs)
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
// Goroutines that wait are still woken. Other ranks' calls then wait for this
// rank's next call where they need it: Ssend, sends of announced messages, and the
// completion of such sends after Cancel, which MPI has local (MPI-4.0 §3.5,
// §3.7.4, §3.8.4); so do Report and callbacks of OnComplete here.
func WithoutProgressThread() Option { return func(o *options) { o.noThread = true } }

// Limits bound what messages that no receive has asked for take up at a rank; see
// WithLimits. The first three are about messages whose bytes have come too: beyond
// them a peer only announces its further messages, so that its Send waits for the
// receive. Messages is about all, announced ones too: beyond it peers send nothing
// at all. What is on its way by then comes on top.
type Limits struct {
	PeerBytes    uint64 // bytes of one peer's messages
	PeerMessages int    // messages of one peer
	Bytes        uint64 // bytes of all peers' messages
	Messages     int    // messages of all peers

	// Stall is how long a rank may be at Messages without a receive taking one;
	// then the receives that wait for further ones fail with a LimitError.
	Stall time.Duration
}

// DefaultLimits are what a World has without WithLimits: 4 MB and 131,072 messages
// of one peer, 64 MB and 1,310,720 messages of all, ten seconds; about 250 MB in
// all.
var DefaultLimits = Limits(pt2pt.DefaultLimits)

// WithLimits bounds what messages take up at this rank that no receive has asked
// for. Beyond the limits the rest of them waits at the senders. A receive whose
// message waits behind Limits.Messages others while none of them is received for
// Limits.Stall fails with a LimitError instead of hanging.
func WithLimits(l Limits) Option { return func(o *options) { o.limits = l } }
